#pragma once
#include <span>
#include <string_view>

#include "facts/hardware.h"

namespace dlasim {

/// The seven configurations of the reference, in the order of configurations.md reversed: largest first.
std::span<const Hardware> presets();
/// Null if there is no preset of that name.
const Hardware* find_preset(std::string_view name);

}  // namespace dlasim
