#include "config/measured.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "config/hardware.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

// [spec] docs/hardware/configurations.md: the other two presets follow from the same rules.
constexpr std::array<std::string_view, 5> kMeasured{"nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"};
constexpr std::array<std::string_view, 3> kNoCycles{"clock_mhz", "memory.address_bits", "memory.secondary.bytes"};

bool same(Hardware a, Hardware b)
{
    return a.generation == b.generation && std::ranges::all_of(hardware_fields(), [&](const HardwareField& field) {
               return std::ranges::find(kNoCycles, field.path) != kNoCycles.end() ||
                      (field.flag ? *field.flag(a) == *field.flag(b) : *field.number(a) == *field.number(b));
           });
}

}  // namespace

bool is_measured(const Hardware& hardware)
{
    return std::ranges::any_of(kMeasured, [&](std::string_view name) { return same(*find_preset(name), hardware); });
}

}  // namespace dlasim
