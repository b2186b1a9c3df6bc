// What a run of BDMA, Rubik or CDP says of itself: result.json as for a layer, and the table on the terminal.
#pragma once
#include "lowering/transfer_plan.h"
#include "report/parts.h"

namespace dlasim {

struct TransferResult {
    const Transfer& transfer;
    const Hardware& hardware;
    const MemorySpec& memory;
    const TransferPlan& plan;
    const RunResult& run;
    std::optional<Comparison> comparison;  // none with --timing-only
    double wall_seconds = 0;
    std::optional<Difference> expected = std::nullopt;  // from the tensor of the user's
    std::string output_file = {};                       // of the output tensor, empty without one

    /// From t0 to the last done interrupt.
    std::uint64_t cycles() const { return run.cycles; }
    double cycles_per_second() const { return wall_seconds > 0 ? static_cast<double>(run.end) / wall_seconds : 0; }
};

std::vector<Bound> transfer_bounds(const TransferPlan& plan, const MemorySpec& memory);
OrderedJson result_json(const TransferResult& result);
std::string summary_table(const TransferResult& result);

}  // namespace dlasim
