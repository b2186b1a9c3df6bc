// Whether the reference was measured at these sizes: tests/data has its cycles.
#pragma once
#include "facts/hardware.h"
#include "files/keys.h"

namespace dlasim {

/// False for every machine that differs from the measured configurations in what its cycles depend on: its cycles follow from the
/// parametrised rules of the specification (docs/DEVIATIONS.md, D8). The clock, the address width and the size of CVSRAM are no matter.
bool is_measured(const Hardware& hardware);

/// What stands behind a machine's name in tables: "" or ", unmeasured".
inline const char* measured_text(const Hardware& hardware) { return is_measured(hardware) ? "" : ", unmeasured sizes (DEVIATIONS D8)"; }

inline constexpr KeyRow kMeasuredKey{
    "measured", "flag", "",
    "the reference was measured with this machine: tests/data; false for all other sizes, whose cycles follow "
    "from the rules of the specification: DEVIATIONS.md, D8"};

}  // namespace dlasim
