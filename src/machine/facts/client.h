// The units that read and write memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dlasim {

/// Memory clients by their AXI id (fabric.md 1.1).
enum class Client : std::uint8_t { Bdma, Sdp, Pdp, Cdp, Rubik, SdpBs, SdpBn, SdpEw, CdmaData, CdmaWeight };
inline constexpr std::size_t kClients = static_cast<std::size_t>(Client::CdmaWeight) + 1;  // the last one
inline constexpr auto kClientNames =
    std::to_array<const char*>({"BDMA", "SDP", "PDP", "CDP", "RBK", "SDP_BS", "SDP_BN", "SDP_EW", "CDMA_DAT", "CDMA_WT"});
static_assert(kClientNames.size() == kClients);
inline constexpr std::size_t kWriteClients = static_cast<std::size_t>(Client::Rubik) + 1;  // those that write have the lowest ids

/// The unit that it belongs to: SDP of SDP_BS.
constexpr std::string_view unit_of_client(std::size_t client)
{
    const std::string_view name = kClientNames[client];
    return name.substr(0, name.find('_'));
}

}  // namespace dlasim
