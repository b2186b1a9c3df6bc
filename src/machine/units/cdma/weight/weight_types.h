// What the parts of the weight side hand to each other.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "facts/cdma.h"
#include "traffic/memory.h"
#include "units/cdma/info_fifo.h"
#include "units/cdma/layer.h"
#include "units/cdma/request.h"

namespace dlasim::cdma {

/// What a request of the weight side asks for: WT, WMB, WGS.
enum class Stream : std::uint8_t { Weights, Mask, GroupSizes };

struct WeightRequest {
    ReadRequest request;
    Stream stream = Stream::Weights;
};

/// Group sizes that read number `read` of the layer brings: 8, the last one what is left.
inline std::uint32_t group_sizes(const LayerConfig& layer, std::uint32_t read)
{
    return std::min(facts::cdma::kGroupSizes, layer.kernel_groups - read * facts::cdma::kGroupSizes);
}

/// The FIFOs between the parts.
struct WeightFifos {
    InfoFifo<RequestInfo> info;     // requests in flight
    InfoFifo<std::uint32_t> sizes;  // WGS: bytes of the kernel groups to come
};

/// CBUF writes of a cycle, by stream.
struct WeightWrites {
    Atoms weights, mask;
};

/// Entries announced to CSC in a cycle, or that it releases.
struct WeightEntries {
    Entries weights;
    MaskEntries mask;
};

}  // namespace dlasim::cdma
