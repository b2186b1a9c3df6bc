#include <sstream>

#include "app/commands/kinds_of_runs.h"
#include "app/execution.h"
#include "app/status.h"
#include "base/files/console.h"
#include "base/files/printable.h"
#include "report/program_description.h"
#include "report/replay_result.h"

namespace dlasim {

int show(const PlannedRecording& planned, const RunOptions&)
{
    say("{}", recording_description(planned.recorded));
    return kDone;
}

int run(PlannedRecording& planned, const RunOptions& options)
{
    const MeasuredCase& recorded = planned.recorded;
    const RecordingHost& host = planned.runs;
    const std::vector<loadable::ProgramOperation> operations = loadable::program_operations(recorded.recording.program, recorded.hardware);
    RunFiles files(options);
    RunOptions how = options;
    how.operations = true;
    how.records_events = recorded.expected && recorded.expected->needs_events();
    const auto tell = [&](const Replayed& replayed) {
        const std::string name = printable(recorded.recording.name);
        std::istringstream lines(replayed.differences_text());
        for (std::string line; std::getline(lines, line);) say_error("{}: {}\n", name, line);
        for (const std::string& check : replayed.run.failed_checks) say_error("{}: {}\n", name, check);
    };
    const auto report = [&](const RunResult& run) -> CommandReport {
        const Replayed replayed{recorded, run, host.contents(), operations, options.values};
        tell(replayed);
        return {.result = replay_json(replayed),
                .table = replay_table(replayed),
                .right = replayed.wrong() == 0,
                .regions = {recorded.recording, host.contents()},
                .spans = operation_spans(replayed.ran())};
    };
    return execute(planned.workload(), planned.runs, how, files, report, [&](const RunResult& run) {
        if (recorded.expected && !recorded.expected->finished) tell({recorded, run, host.contents(), operations, options.values});
        return WrittenRegions{recorded.recording, host.contents()};
    });
}

}  // namespace dlasim
