#include "config/machine/measured.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "config/machine/hardware.h"

namespace dlasim {
namespace {

struct Machine {
    Hardware hardware;
    bool pixels = true;  // with image input
};
/// [spec] docs/hardware/README.md: the other two presets follow from the same rules; open_points.md E8: two more machines.
const std::vector<Machine>& machines()
{
    static const std::vector<Machine> measured{{load_hardware("nv_full")},
                                               {load_hardware("nv_large")},
                                               {load_hardware("nv_medium_512")},
                                               {load_hardware("nv_small_256")},
                                               {load_hardware("nv_small")},
                                               {load_hardware("nv_large", {"mac.atomic_c=128"}), false},
                                               {load_hardware("nv_small", {"cbuf.banks=16", "cbuf.bank_depth=128"})}};
    return measured;
}
constexpr std::array<std::string_view, 3> kNoCycles{"clock_mhz", "memory.address_bits", "memory.secondary.bytes"};

bool same(Hardware a, Hardware b)
{
    return a.generation == b.generation && std::ranges::all_of(hardware_fields(), [&](const HardwareField& field) {
               return std::ranges::find(kNoCycles, field.path) != kNoCycles.end() ||
                      (field.flag ? *field.flag(a) == *field.flag(b) : *field.number(a) == *field.number(b));
           });
}

}  // namespace

bool is_measured(const Hardware& hardware, bool pixels)
{
    return std::ranges::any_of(machines(), [&](const Machine& of) { return (of.pixels || !pixels) && same(of.hardware, hardware); });
}

}  // namespace dlasim
