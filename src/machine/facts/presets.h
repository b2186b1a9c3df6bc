#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "facts/hardware.h"

namespace dlasim {

/// Default of every command and of the library.
inline constexpr const char* kDefaultHardware = "nv_full";

/// The seven configurations of the reference, in the order of hardware/README.md reversed: largest first.
std::span<const Hardware> presets();
/// Lanes that a tile of Winograd takes: 16 positions of four channels. [spec] csc.md 1.9
inline constexpr std::uint32_t kWinogradLanes = 64;
/// Null if there is no preset of that name.
const Hardware* find_preset(std::string_view name);
/// Read credits that follow from latency, port width and SDP throughputs (configurable generation).
std::array<std::uint32_t, kClients> configurable_credits(const Hardware& hardware);

}  // namespace dlasim
