// dlasim lint: checks a register program against the programming rules of the hardware, without running it. Exit statuses: 0 no rule is
// broken, 1 some are, 2 bad input.
#pragma once
#include "plan/planned.h"

namespace dlasim {

struct LintOptions : PlanOptions {
    bool json = false, quiet = false;
};

int lint_command(LintOptions options);

}  // namespace dlasim
