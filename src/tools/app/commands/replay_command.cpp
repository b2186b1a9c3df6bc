#include "app/commands/replay_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "app/execution.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "base/error.h"
#include "base/files/console.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "facts/presets.h"
#include "report/program_description.h"
#include "report/replay_result.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

/// The trace file of a folder: input.txn, or the one .cfg in it.
fs::path trace_file(const fs::path& program)
{
    std::error_code error;
    if (!fs::is_directory(program, error)) return program;
    if (fs::exists(program / "input.txn", error)) return program / "input.txn";
    std::vector<fs::path> found;
    for (auto entry = fs::directory_iterator(program, error); !error && entry != fs::directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".cfg") found.push_back(entry->path());
    if (error) throw ConfigError(program.string(), "cannot be read (" + error.message() + "), expected a folder with a trace");
    if (found.size() != 1)
        throw ConfigError(program.string(), fmt::format("holds {} .cfg files and no input.txn, expected one trace", found.size()));
    return found.front();
}

}  // namespace

MeasuredCase read_recording(const std::string& program, const std::string& hardware_name, const std::string& memory)
{
    std::error_code error;
    if (!fs::exists(program, error)) throw ConfigError(program, error ? "cannot be opened (" + error.message() + ")" : "does not exist");
    std::optional<Hardware> hardware;
    if (!hardware_name.empty()) hardware = load_hardware(hardware_name);
    const fs::path file = trace_file(program);
    MeasuredCase recorded;
    if (file.extension() == ".json") {
        recorded = read_measured_case(file, hardware);
    } else if (file.extension() == ".txn") {
        recorded.hardware = hardware.value_or(*find_preset("nv_full"));
        recorded.recording = read_txn_trace(file, recorded.hardware);
    } else if (file.extension() == ".cfg") {
        recorded.hardware = hardware.value_or(*find_preset("nv_small"));
        recorded.recording = read_cfg_trace(file, recorded.hardware);
    } else {
        throw ConfigError(file.string(), "is neither a measured case (.json) nor a trace (.cfg, input.txn)");
    }
    if (memory.empty()) return recorded;
    const MemorySpec instead = parse_memory(memory);
    recorded.same_memory = memory_json(instead) == memory_json(recorded.memory);
    recorded.memory = instead;
    return recorded;
}

int replay_command(const ReplayOptions& options)
{
    watch_for_interrupt();  // before the first file
    const MeasuredCase recorded = read_recording(options.program, options.hardware, options.memory);
    if (options.describe) {
        say("{}", recording_description(recorded));
        return kDone;
    }
    const std::vector<loadable::ProgramOperation> operations = loadable::program_operations(recorded.recording.program, recorded.hardware);
    RunFiles files(options, !options.out.empty());
    RecordingHost host(recorded.recording);
    CommonOptions how = options;
    how.operations = true;
    how.records_events = recorded.expected && recorded.expected->needs_events();
    const auto tell = [&](const Replayed& replayed) {
        const std::string name = printable(recorded.recording.name);
        std::istringstream lines(replayed.differences_text());
        for (std::string line; std::getline(lines, line);) say_error("{}: {}\n", name, line);
        for (const std::string& check : replayed.run.failed_checks) say_error("{}: {}\n", name, check);
    };
    const auto report = [&](const RunResult& run) -> CommandReport {
        const Replayed replayed{recorded, run, host.contents(), operations, !options.timing_only};
        tell(replayed);
        return {.result = replay_json(replayed),
                .table = replay_table(replayed),
                .right = replayed.wrong() == 0,
                .regions = {recorded.recording, host.contents()},
                .spans = operation_spans(replayed.ran())};
    };
    return execute(workload_of(recorded, options.program), host, how, files, report, [&](const RunResult& run) {
        if (recorded.expected && !recorded.expected->finished) tell({recorded, run, host.contents(), operations, !options.timing_only});
        return WrittenRegions{recorded.recording, host.contents()};
    });
}

}  // namespace dlasim
