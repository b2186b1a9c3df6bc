// The bytes that a plan moves, tensor by tensor, and how few they could be.
//
//   compulsory     every tensor once: what is read is read, the output is written
//   communication  2 * P / sqrt(R * S) - 2 * S elements, reads and writes together, whatever the order of the loops
//
//   P  products of elements that are there: those with padding move nothing
//   S  elements that the chip holds: CBUF and accumulators
//   R  products that an element of the input has with one kernel: ceil(kernel / stride), both ways
//
// Between two moments with 2 * S transfers the chip has at most 3 * S elements of input, weights and output, of which
// sqrt(R * S * S * S) products can be made (Loomis and Whitney): that is the number of products for 2 * S transfers, and the last
// moments not counted.
//
// Source  Chen, Han, Wang, HPCA 2020 (arXiv:1911.05662), 2 * MACs / sqrt(R * S); the term 2 * S: Smith et al., 2019
// (arXiv:1702.02017). Not included: communication of Winograd, of compressed weights and of results that are pooled or compared on the
// chip: 0 there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "config/json_object.h"
#include "lowering/plan.h"

namespace dlasim {

struct TensorTraffic {
    const char* name = "";  // input, weights, bs, bn, ew, output; phases, parts: what is read and written again to put them together
    bool primary = true, written = false;
    std::uint64_t bytes = 0;  // of memory that it takes
    std::uint64_t moved = 0;  // by all parts, whole atoms
    /// How often each byte moves, on average.
    double times() const { return bytes == 0 ? 0 : static_cast<double>(moved) / static_cast<double>(bytes); }
};

struct Traffic {
    std::vector<TensorTraffic> tensors;  // those that are there
    std::uint64_t communication = 0;     // bytes
    std::uint64_t moved() const;
    std::uint64_t compulsory() const;
    /// The larger bound's name.
    std::uint64_t largest() const { return communication > compulsory() ? communication : compulsory(); }
    const char* binding() const { return communication > compulsory() ? "communication" : "compulsory"; }
};

/// By name what moves.
OrderedJson tensors_json(const Traffic& traffic);
/// Its keys.
std::vector<PlacedKey> tensor_keys();

Traffic traffic_of(const LayerPlan& plan, const Layer& layer, const Hardware& hardware);

/// The bound in elements; 0 where the chip holds all. `reuse`: R, `on_chip`: S.
double communication_bound(double products, double reuse, double on_chip);

}  // namespace dlasim
