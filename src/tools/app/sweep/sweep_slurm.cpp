#include "app/sweep/sweep_slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "app/folder_lock.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/child_program.h"
#include "app/sweep/sweep_progress.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/number.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxRefusals = 30;  // of squeue in a row: a controller may be away for a while
constexpr std::chrono::milliseconds kQueueLook{1000};

/// The last line that a program printed.
std::string last_line(const std::string& text)
{
    std::string last;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) last = line;
    return last;
}

/// A path as sbatch takes it: with its patterns escaped.
std::string job_pattern(const fs::path& path)
{
    std::string pattern;
    for (const char c : path.string()) {
        if (c == '\\')  // sbatch would read no pattern at all then
            throw ConfigError(path.string(), "holds a backslash, expected a folder without one for --slurm (--out)");
        pattern.append(c == '%' ? 2 : 1, c);
    }
    return pattern;
}

class SlurmSweep {
public:
    SlurmSweep(const SweepOptions& options, const Sweep& sweep, const SweepIdentity& identity, SweepFolder& folder)
        : options_(options), sweep_(sweep), identity_(identity), folder_(folder), shards_(folder.shards())
    {
    }
    /// Submits what is missing until all points have ended. False after an interrupt.
    bool run();
    std::size_t missing();

private:
    std::vector<std::size_t> open_shards();
    void submit(const std::vector<std::size_t>& shards);
    bool wait(const std::string& job);
    bool wait_for_writers(const std::vector<std::size_t>& list) const;
    std::string states_of(const std::string& job, bool& gone) const;
    void collect();
    fs::path shard(std::size_t i) const { return shards_ / std::to_string(i); }
    std::size_t shards() const { return std::min(options_.slurm, sweep_.points.size()); }

    const SweepOptions& options_;
    const Sweep& sweep_;
    const SweepIdentity& identity_;
    SweepFolder& folder_;
    fs::path shards_;
};

std::size_t SlurmSweep::missing() { return sweep_.points.size() - folder_.store().kept(); }

/// Shards of which points are missing here.
std::vector<std::size_t> SlurmSweep::open_shards()
{
    std::set<std::size_t> ended;
    for (const auto& [point, status] : folder_.store().statuses())
        if (folder_.keeps(point, status)) ended.insert(point);
    std::set<std::size_t> open;
    for (std::size_t point = 0; point < sweep_.points.size(); ++point)
        if (!ended.contains(point)) open.insert(point % shards() + 1);
    return {open.begin(), open.end()};
}

void SlurmSweep::submit(const std::vector<std::size_t>& list)
{
    std::string array;
    for (const std::size_t i : list) array.append(array.empty() ? "" : ",").append(std::to_string(i));
    std::string task =
        fmt::format("exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {} --limit {} --resume --out {}/\"$SLURM_ARRAY_TASK_ID\"",
                    shell_word(fs::read_symlink("/proc/self/exe").string()), shell_word(sweep_.file), shards(), options_.jobs,
                    options_.limit, shell_word(shards_.string()));
    if (!options_.technology.empty()) task += " --technology " + shell_word(options_.technology);
    if (options_.timing_only) task += " --timing-only";
    if (!options_.causes) task += " --no-causes";
    if (options_.pages) task += " --pages";
    const ProgramEnd end =
        run_program({"sbatch", "--parsable", "--array=" + array, fmt::format("--cpus-per-task={}", options_.jobs), "--job-name=dlasim",
                     "--output=" + job_pattern(shards_) + "/task-%a.txt", "--open-mode=append", "--requeue", "--wrap", task});
    if (end.status == 127) throw ConfigError("--slurm", "sbatch cannot be run, expected the programs of Slurm");
    const std::string job = last_line(end.out).substr(0, last_line(end.out).find(';'));
    const auto number = whole_number(job, 1);
    if (end.status != 0 || !number)
        throw ConfigError("--slurm", "sbatch refuses: " + printable(last_line(end.said)) + ", expected a job that Slurm takes");
    folder_.keep_job(*number);
    if (!options_.quiet) say("job {} of Slurm: {} of {} shards\n", job, list.size(), shards());
    std::fflush(stdout);
}

/// "2 PENDING, 1 RUNNING"; `gone` if no task is left.
std::string SlurmSweep::states_of(const std::string& job, bool& gone) const
{
    const ProgramEnd end = run_program({"squeue", "--noheader", "--array", "--states=all", "--jobs=" + job, "--format=%T"});
    if (end.status != 0) {
        gone = end.said.find("Invalid job id") != std::string::npos;  // long ago
        return gone ? "" : "squeue refuses: " + printable(last_line(end.said));
    }
    static const std::set<std::string> kOver{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE",      "FAILED",
                                             "NODE_FAIL", "PREEMPTED", "TIMEOUT",   "OUT_OF_MEMORY", "REVOKED"};
    std::map<std::string, std::size_t> states;
    std::istringstream lines(end.out);
    gone = true;
    for (std::string state; std::getline(lines, state); ++states[state]) gone = gone && kOver.contains(state);
    std::string text;
    for (const auto& [state, tasks] : states) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tasks, state);
    return text;
}

bool SlurmSweep::wait(const std::string& job)
{
    std::string shown;
    int refusals = 0;
    for (;;) {
        bool gone = false;
        const std::string states = states_of(job, gone);
        if (!options_.quiet && states != shown && !states.empty()) {
            say("job {}: {}\n", job, states);
            std::fflush(stdout);
        }
        shown = states;
        if (gone) return true;
        refusals = states.starts_with("squeue refuses") ? refusals + 1 : 0;
        if (refusals >= kMaxRefusals) throw ConfigError("--slurm", states + "; --resume waits for job " + job + " again");
        for (int i = 0; i < 10 && !interrupted(); ++i) std::this_thread::sleep_for(kQueueLook / 10);
        if (!interrupted()) continue;
        run_program({"scancel", job});
        for (int i = 0; i < 100 && !gone; ++i) {  // its tasks write what they have
            std::this_thread::sleep_for(kQueueLook / 5);
            states_of(job, gone);
        }
        return false;
    }
}

/// A node that was lost to Slurm may still compute: while it writes, every task of its shard would be refused. False after an interrupt.
bool SlurmSweep::wait_for_writers(const std::vector<std::size_t>& list) const
{
    for (const std::size_t i : list) {
        bool shown = options_.quiet;
        while (FolderLock::held(shard(i) / "points")) {
            if (!shown) {
                say("shard {}: a task of an earlier job still writes into {}; waiting for its end\n", i, printable(shard(i).string()));
                std::fflush(stdout);
            }
            shown = true;
            if (interrupted()) return false;
            std::this_thread::sleep_for(kQueueLook / 10);
        }
    }
    return true;
}

void SlurmSweep::collect()
{
    std::error_code none;
    for (std::size_t i = 1; i <= shards(); ++i) {
        if (!fs::exists(shard(i) / "points.db", none)) continue;
        try {
            folder_.take_from(shard(i), identity_);
        } catch (const ConfigError& error) {  // begun by a task that was lost before it had a point
            say_error("dlasim: warning: {}\n", printable(error.what()));
        }
    }
}

bool SlurmSweep::run()
{
    folder_.begin_shards(shards());
    if (const std::uint64_t job = folder_.job(); job != 0) {
        const bool over = wait(std::to_string(job));
        collect();
        if (!over) return false;
    }
    for (;;) {
        const bool alone = wait_for_writers(open_shards());
        collect();
        if (!alone) return false;
        const std::vector<std::size_t> open = open_shards();
        if (open.empty()) return true;
        const std::size_t before = missing();
        submit(open);
        const bool over = wait(std::to_string(folder_.job()));
        collect();
        if (!over) return false;
        if (missing() == 0) return true;
        if (missing() == before && std::ranges::none_of(open, [&](std::size_t i) { return FolderLock::held(shard(i) / "points"); }))
            throw ConfigError("--slurm",
                              fmt::format("{} of {} points did not complete, and the last job completed none of them: see {}, and --resume",
                                          missing(), sweep_.points.size(), (shards_ / "task-*.txt").string()));
    }
}

}  // namespace

int slurm_points(const SweepOptions& options, const Sweep& sweep, const SweepIdentity& identity, SweepFolder& folder,
                 const PageFacts& facts)
{
    SlurmSweep slurm(options, sweep, identity, folder);
    const bool all = slurm.run();
    const std::string csv = folder.write_tables(facts).string();
    if (!all) {
        say_error("dlasim: interrupted with {} of {} points{}; --resume continues\n", sweep.points.size() - slurm.missing(),
                  sweep.points.size(), csv.empty() ? "" : "; written " + printable(csv));
        return kInterrupted;
    }
    folder.remove_shards();
    Tally tally;
    for (const auto& [point, status] : folder.store().statuses()) tally.add(status);
    if (!options.quiet) say("{}; written {}\n", tally.text(sweep.points.size()), printable(csv));
    return tally.status();
}

}  // namespace dlasim
