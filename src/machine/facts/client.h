// The units that read and write memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dlasim {

/// Memory clients by their AXI id (fabric.md 1.1).
enum class Client : std::uint8_t { Bdma, Sdp, Pdp, Cdp, Rubik, SdpBs, SdpBn, SdpEw, CdmaData, CdmaWeight };
inline constexpr std::size_t kClients = 10;
inline constexpr std::array<const char*, kClients> kClientNames{"BDMA",   "SDP",    "PDP",    "CDP",      "RBK",
                                                                "SDP_BS", "SDP_BN", "SDP_EW", "CDMA_DAT", "CDMA_WT"};
inline constexpr std::size_t kWriteClients = 5;

/// The unit that it belongs to: SDP of SDP_BS.
constexpr std::string_view unit_of_client(std::size_t client)
{
    const std::string_view name = kClientNames[client];
    return name.substr(0, name.find('_'));
}

}  // namespace dlasim
