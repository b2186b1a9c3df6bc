// Off-chip traffic of a convolution in elements: what no order of its loops can do without, the best tiling of the communication-optimal
// dataflow, and four simpler dataflows beside it. No machine: only a chip with a given capacity in elements.
//
//   block     b images x x * y places x z kernels of the output stay on the chip as sums; inputs come channel by channel, each with one
//             tap of z kernels:   b * x * y * z + b * x' * y' + z <= S,   x' = (x - 1) * stride + kernel
//   traffic   weights once for each block of places, inputs with their halo (padding is not fetched) once for each block of kernels,
//             outputs once
//
// Source  Chen, Han, Wang, HPCA 2020 (arXiv:1911.05662): the bound 2 * MACs / sqrt(R * S) + outputs, with R = kernel / stride both ways,
//         and the dataflow with k = 1. The simpler dataflows are our definitions: traffic_bound.cpp.
// Error   VGG-16, batch 3, 16 bits, nine sizes of the chip: equal to the published procedure's figures (tests/unit/traffic_bound_test).
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "config/model/layer.h"

namespace dlasim {

/// Elements.
struct TiledTraffic {
    std::uint64_t images = 0, columns = 0, rows = 0, kernels = 0;  // of a block
    std::uint64_t weights = 0, inputs = 0, outputs = 0;
    std::uint64_t all() const { return weights + inputs + outputs; }
};

/// Blocks by their balance b * x * y / (R * z), products that a weight has in them to products that an input has: the least traffic of
/// those whose balance is within half an octave of 2^octave. The bound asks for a balance of 1.
using TrafficByOctave = std::map<int, std::uint64_t>;

struct Dataflows {
    double bound = 0;
    std::optional<TiledTraffic> best;  // none: the chip holds not even one place
    TrafficByOctave balances;
    // All kernels of a place stay; the largest plane of places stays; the inputs stay; the weights stay.
    std::optional<std::uint64_t> all_kernels, all_places, inputs_stay, weights_stay;
};

/// `layer`: a convolution of one group. `on_chip`: elements.
Dataflows dataflows_of(const Layer& layer, double on_chip);

}  // namespace dlasim
