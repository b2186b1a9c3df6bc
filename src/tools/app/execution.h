// A workload run by a command: files opened before it, the simulation with its line of progress, then the results and the table.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "app/run_options.h"
#include "base/files/output_folder.h"
#include "platform/simulate.h"
#include "replay/events.h"
#include "report/timeline/timeline.h"

namespace dlasim {

/// The files of every command, opened before the run: what cannot be written is refused now. A command adds its own to the folder.
struct RunFiles {
    explicit RunFiles(const RunOptions& options);
    /// Those that record the run, after all files of the folder: of two in one place the message names the one that was asked for.
    void open_records(const RunOptions& options);
    /// Where there is no folder.
    void commit_records();

    std::optional<OutputFolder> folder;
    OutputFile *events = nullptr, *timeline = nullptr, *waves = nullptr, *waves_layout = nullptr, *html = nullptr, *pipeline = nullptr,
               *trace = nullptr, *accesses = nullptr, *report = nullptr, *diff = nullptr, *compute = nullptr,
               *bandwidth = nullptr;  // null: not wanted

private:
    OutputFile* open_record(const std::string& file);
    std::deque<OutputFile> records_;
};

/// The report of a command on a completed run.
struct CommandReport {
    nlohmann::ordered_json result;
    std::string table;
    bool right = true;                 // every value is what it must be
    WrittenRegions regions = {};       // of memory, for the events
    std::size_t runs = kRecordedRuns;  // of a probe, likewise: at most this many
    std::vector<Span> spans = {};      // for timeline and page; none: the run itself
};

/// The technology that was asked for; with --point without it that of the sweep.
std::shared_ptr<const silicon::Technology> technology_of(const RunOptions& options);

/// Runs it, writes result.json and what else is wanted, says the table. Exit status; throws MachineError if the machine hangs: of the files
/// the events alone are written then, with what is `left` in memory.
int execute(const Workload& workload, Host& host, const RunOptions& options, RunFiles& files,
            const std::function<CommandReport(RunResult& run)>& report,
            const std::function<WrittenRegions(const RunResult& run)>& left = {});

}  // namespace dlasim
