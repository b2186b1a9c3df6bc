// dlasim explain: why a run took its cycles, and what changes gain.
#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/trial_options.h"

namespace dlasim {

struct ExplainOptions : TrialOptions {
    std::string run;  // a result.json, or the folder that has it
    bool json = false;
    std::string html;  // a page; empty: none
};

int explain_command(const ExplainOptions& options);

/// What trials found, as sections of the page of a run. `run`: runs the same work in a child, with timing only, and gives its result.
/// Empty if nothing is asked for; none after an interrupt.
std::optional<TriedSections> tried_sections(
    const TrialOptions& options,
    const std::function<int(const std::string& folder, const std::function<void(const nlohmann::ordered_json&)>&)>& run);

}  // namespace dlasim
