// Whether the reference was measured at these sizes: tests/data has its cycles.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "facts/hardware.h"

namespace dlasim {

/// A machine that was measured.
struct MeasuredMachine {
    std::string name;  // as machine_name() has it
    Hardware hardware;
    bool pixels = true;  // with image input
};
const std::vector<MeasuredMachine>& measured_machines();
/// How unlike two machines are in what cycles depend on: 0 if they are equal in it, about 1 for a size of twice as much and for a switch.
double distance_of(const Hardware& a, const Hardware& b);

/// False for every machine that differs from the measured configurations in what its cycles depend on: its cycles follow from the
/// parametrised rules of the specification (docs/DEVIATIONS.md, D8). The clock, the address width and the size of CVSRAM are no matter.
/// `pixels`: it reads pixels.
bool is_measured(const Hardware& hardware, bool pixels);

inline constexpr KeyRow kMeasuredKey{
    "measured", "flag", "",
    "the reference was measured with this machine; false for all other sizes, whose cycles follow "
    "from the rules of the specification, and for image input where it cannot be measured: DEVIATIONS.md, D8"};

inline constexpr KeyRow kMachineKey{"machine", "text", "", "the preset, and what differs from it"};

}  // namespace dlasim
