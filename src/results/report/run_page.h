// The page of a run: one file in HTML that needs no other and no network. docs/TIMELINE.md.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/timeline/timeline.h"
#include "workload/run_result.h"

namespace dlasim {

struct RunPage {
    std::string name, command;           // of the work; that runs it again
    nlohmann::ordered_json result;       // result.json
    nlohmann::ordered_json explanation;  // of `dlasim explain --json`; null if causes were not looked for
    std::vector<Span> spans;             // steps
    OverTime::Parts parts;
    std::string tried_styles, tried;  // sections of what was tried; empty if nothing was
};

/// pre: the run recorded events. The more it did the coarser its lanes: the page stays below 5 MB.
std::string run_page(const RunResult& run, const RunPage& page);

}  // namespace dlasim
