// dlasim lint: checks a register program against the programming rules of the hardware, without running it. Exit statuses: 0 no rule is
// broken, 1 some are, 2 bad input.
#pragma once
#include "app/commands/planned_program.h"

namespace dlasim {

struct LintOptions : ProgramOptions {
    bool json = false;
};

int lint_command(const LintOptions& options);

}  // namespace dlasim
