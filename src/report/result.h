// What a run says of itself: result.json (interfaces.md 2) and the table on the terminal.
//
// Shapes  units: cycles by phase, their sum equal to `cycles`, from t0 to the done interrupt.
#pragma once
#include <optional>

#include "config/json_object.h"
#include "golden/compare.h"
#include "golden/expected.h"
#include "platform/machine.h"
#include "report/bounds.h"
#include "report/parts.h"

namespace dlasim {

/// Everything about one layer run, before it is text.
struct LayerResult {
    const Layer& layer;
    const Hardware& hardware;
    const MemorySpec& memory;
    const Plan& plan;
    const RunResult& run;
    std::optional<Comparison> comparison;  // none with --timing-only
    double wall_seconds = 0;
    std::optional<Difference> expected = std::nullopt;  // from the tensor of the user's
    std::string output_file = "";                       // of the output tensor, empty without one

    std::uint64_t cycles() const { return run.interrupt_cycles.empty() ? 0 : static_cast<std::uint64_t>(run.interrupt_cycles.back()); }
    double utilization() const;
    double cycles_per_second() const { return wall_seconds > 0 ? static_cast<double>(run.end) / wall_seconds : 0; }
};

/// A unit's phases from t0 to the done interrupt. Outside of it a unit is gated: before t0 nothing
/// has been started (the op-enables take longer to arrive), afterwards everything is done.
std::array<Cycle, kPhases> window_phases(const UnitReport& unit, Cycle cycles);

OrderedJson result_json(const LayerResult& result);
std::string summary_table(const LayerResult& result);

}  // namespace dlasim
