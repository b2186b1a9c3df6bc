// What a search may change in the plan of a network: a decision of a step (config/model/decisions.h), or its tiling.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network/plan.h"
#include "report/network/search_report.h"

namespace dlasim {

/// Another value of a decision, or another tiling.
struct OtherPlan {
    std::optional<CutWay> way;
    std::uint32_t value = 0;
    friend bool operator==(const OtherPlan&, const OtherPlan&) = default;
};

/// What a step could have in place of what it has.
struct PlanChoice {
    std::size_t layer = 0;  // of the network
    std::string step;
    std::optional<PlanDecision> decision;  // none: the tiling
    std::uint32_t was = 0;
    std::vector<OtherPlan> others;
    std::vector<std::size_t> steps;  // that it changes, in order; none: the whole network
    std::int64_t cycles = 0;         // the most of one of them
    std::int64_t above_bound = 0;    // cycles of all of them above their bounds

    std::pair<std::size_t, std::optional<PlanDecision>> key() const { return {layer, decision}; }
};

struct PlanChange {
    const PlanChoice* choice;
    OtherPlan other;
};
using PlanChanges = std::vector<PlanChange>;  // made together

/// Those of the plan, first the steps with most cycles above their bounds. `cycles`: of each step.
std::vector<PlanChoice> choices_of(const NetworkPlan& plan, const NetworkOptions& options, const std::vector<std::int64_t>& cycles);
/// Steps of the plan follow each other, or one reads what the other makes, or is the other.
bool neighbours(const NetworkPlan& plan, const PlanChoice& a, const PlanChoice& b);
void apply(Network& network, const PlanChanges& changes);
/// The planner could do as it was asked.
bool has_decided(const NetworkPlan& plan, const PlanChanges& changes);
ChangedDecision changed(const Network& network, const PlanChange& change);

}  // namespace dlasim
