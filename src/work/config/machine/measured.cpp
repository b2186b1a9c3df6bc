#include "config/machine/measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "config/machine/hardware.h"

namespace dlasim {
namespace {

constexpr std::array<std::string_view, 3> kNoCycles{"clock_mhz", "memory.address_bits", "memory.secondary.bytes"};

constexpr double kOtherGeneration = 100;

MeasuredMachine measured_machine(const std::string& preset, const std::vector<std::string>& settings = {}, bool pixels = true)
{
    std::string name = preset;
    for (const std::string& setting : settings) name += (name == preset ? " with " : ", ") + setting;
    return {name, load_hardware(preset, settings), pixels};
}

}  // namespace

/// [spec] docs/hardware/README.md: the other two presets follow from the same rules; open_points.md E8: two more machines.
const std::vector<MeasuredMachine>& measured_machines()
{
    static const std::vector<MeasuredMachine> measured{measured_machine("nv_full"),
                                                       measured_machine("nv_large"),
                                                       measured_machine("nv_medium_512"),
                                                       measured_machine("nv_small_256"),
                                                       measured_machine("nv_small"),
                                                       measured_machine("nv_large", {"mac.atomic_c=128"}, false),
                                                       measured_machine("nv_small", {"cbuf.banks=16", "cbuf.bank_depth=128"})};
    return measured;
}

double distance_of(const Hardware& a, const Hardware& b)
{
    Hardware left = a, right = b;
    double sum = a.generation == b.generation ? 0 : kOtherGeneration;
    for (const HardwareField& field : hardware_fields()) {
        if (std::ranges::find(kNoCycles, field.path) != kNoCycles.end()) continue;
        if (field.flag) sum += *field.flag(left) == *field.flag(right) ? 0 : 1;
        else if (const std::uint32_t x = *field.number(left), y = *field.number(right); x != y)
            sum += std::abs(std::log2((x + 1.0) / (y + 1.0)));
    }
    return sum;
}

bool is_measured(const Hardware& hardware, bool pixels)
{
    return std::ranges::any_of(
        measured_machines(), [&](const MeasuredMachine& of) { return (of.pixels || !pixels) && distance_of(of.hardware, hardware) == 0; });
}

}  // namespace dlasim
