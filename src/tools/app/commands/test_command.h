// dlasim test: a regression suite, every case in a process of its own. docs/REGRESSION.md.
#pragma once
#include <string>

#include "suite/suite.h"

namespace dlasim {

struct TestOptions {
    std::string folder, out = "out", junit;
    SuiteDefaults defaults;
    unsigned jobs = 0;             // cases that run side by side; 0: as many as there are processors
    std::uint64_t limit = 86'400;  // seconds of CPU time that a case may take
    bool update = false, quiet = false;
};

/// 0: every case passed; 1: some did not.
int test_command(const TestOptions& options);

}  // namespace dlasim
