// Where the clock of a recording without a mark starts, and what its program switches on.
#pragma once
#include <array>
#include <map>
#include <string>

#include "facts/hardware.h"
#include "workload/program.h"

namespace dlasim {

/// Puts t0 where all programs have it: after the first D_OP_ENABLE of CDMA, or, if the program begins without a convolution, after the
/// last enable of what it starts first. A program that has its mark, or starts nothing, stays as it is.
void mark_first_launch(Program& program);

/// Follows the writes of a program and names what it switches on that a machine does not have.
class MissingUnits {
public:
    explicit MissingUnits(const Hardware& hardware) : hardware_(hardware) {}
    /// Empty if this write switches on nothing that is missing.
    std::string of(const RegisterWrite& write);

private:
    const Hardware& hardware_;
    unsigned producer_ = 0;                  // of SDP
    std::array<std::uint32_t, 2> ew_{1, 1};  // SDP.D_DP_EW_CFG by group: bypassed
};

}  // namespace dlasim
