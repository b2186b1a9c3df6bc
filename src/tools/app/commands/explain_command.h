// dlasim explain: why a run took its cycles, and what changes gain.
#pragma once
#include <cstddef>
#include <string>

namespace dlasim {

struct ExplainOptions {
    std::string run;           // a result.json, or the folder that has it
    std::size_t remedies = 0;  // largest number that is tried
    bool sizes = false;        // --sensitivity
    double slack = -1;         // percent more cycles that a smaller machine may take; below 0: not asked
    unsigned jobs = 0;         // 0: as many as there are processors
    bool json = false;
    std::string html;  // a page; empty: none
};

int explain_command(const ExplainOptions& options);

}  // namespace dlasim
