// Whether the reference was measured at these sizes: tests/data has its cycles.
#pragma once
#include "base/files/keys.h"
#include "facts/hardware.h"

namespace dlasim {

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
