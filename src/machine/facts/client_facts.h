// What a machine says of the clients of its memory. Their ids and names: client.h; their weights are registers of MCIF:
// units/mcif/core.cpp.
#pragma once
#include "base/bits.h"
#include "facts/hardware.h"

namespace dlasim {

/// [spec] sdp.md 2.8: max(4, ceil(latency * min(throughput, width / 32 bit) / (width / 8 bit))).
constexpr std::uint32_t latency_fifo(const Hardware& hw, std::uint32_t throughput)
{
    const std::uint32_t bytes = hw.memory.primary.width_bytes;
    const std::uint32_t rate = throughput < bytes / 4 ? throughput : bytes / 4;
    const std::uint32_t depth = ceil_div(hw.memory.fifo_cover_cycles * rate, bytes);
    return depth < 4 ? 4 : depth;
}

/// Read credits in response beats, 0 without a limit.
struct ClientFacts {
    const char* key;                           // in descriptions of machines
    const char* meaning;                       // of that key
    std::uint32_t full_credit;                 // of nv_full. [spec] fabric.md 1.1, column "credit depth"
    std::uint32_t (*credit)(const Hardware&);  // of the configurable generation, which lacks BDMA and Rubik
};

/// In the order of Client.
inline constexpr std::array<ClientFacts, kClients> kClientFacts{{
    {"bdma", "read credit of BDMA: the depth of its latency FIFO", 245, [](const Hardware&) { return 0U; }},
    {"sdp", "read credit of SDP: the depth of its latency FIFO", 80,
     [](const Hardware& hw) { return latency_fifo(hw, hw.sdp.max_throughput()); }},
    {"pdp", "read credit of PDP: the depth of its latency FIFO", 61,
     [](const Hardware& hw) { return latency_fifo(hw, hw.pdp.throughput); }},
    {"cdp", "read credit of CDP: the depth of its latency FIFO", 61,  // [spec] cdp.md, parameters: D
     [](const Hardware& hw) { return latency_fifo(hw, hw.cdp.throughput); }},
    {"rubik", "read credit of Rubik: the depth of its latency FIFO", 80, [](const Hardware&) { return 0U; }},
    {"sdp_bs", "read credit of BS: the depth of its latency FIFO", 160,
     [](const Hardware& hw) { return latency_fifo(hw, 4 * hw.sdp.bs_throughput); }},
    {"sdp_bn", "read credit of BN: the depth of its latency FIFO", 160,
     [](const Hardware& hw) { return latency_fifo(hw, 4 * hw.sdp.bn_throughput); }},
    {"sdp_ew", "read credit of EW: the depth of its latency FIFO", 80,
     [](const Hardware& hw) { return hw.sdp.has_ew ? latency_fifo(hw, 4 * hw.sdp.ew_throughput) : 0; }},
    {"cdma_data", "read credit of CDMA for data: 0, it returns none", 0, [](const Hardware&) { return 0U; }},
    {"cdma_weight", "read credit of CDMA for weights: 0, it returns none", 0, [](const Hardware&) { return 0U; }},
}};

}  // namespace dlasim
