// The units that read and write memory. A client is a name in Client and a row of kClientFacts. Its unit's ports have its links, which
// platform/top.cpp connects.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dlasim {

/// Memory clients by their AXI id (fabric.md 1.1).
enum class Client : std::uint8_t { Bdma, Sdp, Pdp, Cdp, Rubik, SdpBs, SdpBn, SdpEw, CdmaData, CdmaWeight };
inline constexpr std::size_t kClients = static_cast<std::size_t>(Client::CdmaWeight) + 1;  // the last one
inline constexpr std::size_t kWriteClients = static_cast<std::size_t>(Client::Rubik) + 1;  // those that write have the lowest ids

/// Throughputs in a cycle, as sdp.md 2.8 has them for the depths of latency FIFOs; 0 of an engine that the machine lacks.
struct ReadRates {
    std::uint32_t sdp, bs, bn, ew, pdp, cdp;
};

/// Read credits are in response beats, 0 without a limit.
struct ClientFacts {
    const char* name;
    const char* key;                       // of its read credits, in descriptions of machines
    const char* meaning;                   // of that key
    const char* weight;                    // its fields RD_WEIGHT_... and WR_WEIGHT_... of MCIF and CVIF
    std::uint32_t place;                   // in the read arbiter of the configurable generation; 0: not there. [spec] fabric.md 1.1
    std::uint32_t full_credit;             // of nv_full. [spec] fabric.md 1.1, column "credit depth"
    std::uint32_t ReadRates::*throughput;  // its latency FIFO in the configurable generation, hence its credit; null: it returns none
};

// clang-format off
/// In the order of Client.
inline constexpr std::array<ClientFacts, kClients> kClientFacts{{
    {"BDMA",     "bdma",        "read credit of BDMA: the depth of its latency FIFO",     "BDMA",     0, 245, nullptr},
    {"SDP",      "sdp",         "read credit of SDP: the depth of its latency FIFO",      "SDP",      3,  80, &ReadRates::sdp},
    {"PDP",      "pdp",         "read credit of PDP: the depth of its latency FIFO",      "PDP",      7,  61, &ReadRates::pdp},
    {"CDP",      "cdp",         "read credit of CDP: the depth of its latency FIFO",      "CDP",      8,  61, &ReadRates::cdp},
    {"RBK",      "rubik",       "read credit of Rubik: the depth of its latency FIFO",    "RBK",      0,  80, nullptr},
    {"SDP_BS",   "sdp_bs",      "read credit of BS: the depth of its latency FIFO",       "SDP_B",    4, 160, &ReadRates::bs},
    {"SDP_BN",   "sdp_bn",      "read credit of BN: the depth of its latency FIFO",       "SDP_N",    5, 160, &ReadRates::bn},
    {"SDP_EW",   "sdp_ew",      "read credit of EW: the depth of its latency FIFO",       "SDP_E",    6,  80, &ReadRates::ew},
    {"CDMA_DAT", "cdma_data",   "read credit of CDMA for data: 0, it returns none",       "CDMA_DAT", 1,   0, nullptr},
    {"CDMA_WT",  "cdma_weight", "read credit of CDMA for weights: 0, it returns none",    "CDMA_WT",  2,   0, nullptr},
}};
// clang-format on
inline constexpr auto kClientNames = [] {
    std::array<const char*, kClients> names{};
    std::ranges::transform(kClientFacts, names.begin(), &ClientFacts::name);
    return names;
}();

/// The unit that it belongs to: SDP of SDP_BS.
constexpr std::string_view unit_of_client(std::size_t client)
{
    const std::string_view name = kClientNames[client];
    return name.substr(0, name.find('_'));
}

}  // namespace dlasim
