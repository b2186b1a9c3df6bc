// The operations of a recorded program, a line each: on the terminal, in result.json and as steps of the page.
//
// Shapes  as the registers describe them at the last launch of an operation (loadable/write/recovery.h); cycles count from t0.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "loadable/write/recovery.h"
#include "report/timeline/timeline.h"
#include "workload/run_result.h"

namespace dlasim {

/// pre: the run looked for its operations; `list` are those of its program.
struct ReplayedOperations {
    const std::vector<loadable::ProgramOperation>& list;
    const RunResult& run;
    const Hardware& hardware;
};

/// Columns, rows and channels; absent without a cube.
nlohmann::ordered_json size_json(const loadable::Cube* cube);
/// What its cycles went to, without those before t0; empty if it did not end.
std::vector<CauseCycles> causes_of(const RunResult& run, const OperationTimes& times);
/// "3 CONV SDP": its number from 1, and its units as the driver names them.
std::string operation_name(const std::vector<loadable::ProgramOperation>& list, std::size_t i);
nlohmann::ordered_json replayed_operations_json(const ReplayedOperations& operations);
std::vector<PlacedKey> replayed_operation_keys();
/// Within 80 columns, unless a run of 10^8 cycles needs more.
std::string operations_text(const ReplayedOperations& operations);
/// Those that ended.
std::vector<Span> operation_spans(const ReplayedOperations& operations);

}  // namespace dlasim
