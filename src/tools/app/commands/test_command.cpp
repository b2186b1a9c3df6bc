#include "app/commands/test_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "app/commands/run_command.h"
#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/sweep_children.h"
#include "base/error.h"
#include "base/files/claims.h"
#include "base/files/console.h"
#include "base/files/input.h"
#include "base/files/output.h"
#include "config/file_kind.h"
#include "config/npy.h"
#include "golden/memory/expected.h"
#include "replay/events.h"
#include "suite/verdict.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// output.npy beside the tensor of the suite's; says what differs. The machine's values are those of dlasim's reference already.
bool is_expected(const fs::path& output, const SuiteCase& one)
{
    const NpyArray found = read_npy_array(output.string(), "output"), wanted = read_npy_array(one.expected.string(), "expected");
    if (found.values.size() != wanted.values.size())
        throw ConfigError(one.expected.string(),
                          fmt::format("has {} values, expected the {} of the output", wanted.values.size(), found.values.size()));
    ComparedArrays arrays{found.values, wanted.values, {1, 1, 1, 1}, found.type == "<f2"};
    for (std::size_t i = 0; i < found.shape.size(); ++i)  // the last four dimensions; those before are a batch
        arrays.shape[i + 4 < found.shape.size() ? 0 : i + 4 - found.shape.size()] *= found.shape[i];
    const Difference difference = dlasim::difference(arrays, one.values, one.expected.string());
    if (difference.equal()) return true;
    say_error("{}: {}; dlasim's own reference agrees with the machine\n", printable(one.name), printable(difference_text(difference)));
    return false;
}

class TestRun {
public:
    TestRun(const TestOptions& options, const Suite& suite)
        : options_(options),
          suite_(suite),
          claim_(std::in_place, options.out, OutputClaim::Extent::Folder),
          runs_(suite.cases.size()),
          verdicts_(suite.cases.size()),
          started_(suite.cases.size()),
          ended_(suite.cases.size())
    {
    }

    /// False if it was interrupted.
    bool run()
    {
        Children children([&](std::size_t index, const Children::Tell& tell) { return run_case(index, tell); },
                          [&](std::size_t index) { return folder(index); }, options_.limit);
        const std::size_t jobs = options_.jobs != 0 ? options_.jobs : std::max(1U, std::thread::hardware_concurrency());
        std::size_t next = 0;
        const auto start_some = [&] {
            for (; next < suite_.cases.size() && children.running() < jobs; ++next) {
                make_folder(folder(next));
                started_[next] = Clock::now();
                children.start(next);
            }
        };
        for (start_some(); children.running() != 0;) {
            const std::vector<Children::Ended> list = children.ended();
            if (interrupted()) return false;
            start_some();
            for (const Children::Ended& child : list) take(child);
        }
        return true;
    }

    const std::vector<CaseRun>& runs() const { return runs_; }
    const std::vector<Verdict>& verdicts() const { return verdicts_; }
    std::size_t count(Verdict::Kind kind) const { return static_cast<std::size_t>(std::ranges::count(verdicts_, kind, &Verdict::kind)); }

    /// With --update. Cycles that become golden: of cases that ran to their end with the right values, and accurately enough.
    std::vector<std::optional<std::uint64_t>> golden() const
    {
        std::vector<std::optional<std::uint64_t>> cycles;
        for (std::size_t i = 0; i < runs_.size(); ++i)
            cycles.push_back(verdicts_[i].kind == Verdict::Kind::Passed ? runs_[i].cycles : std::nullopt);
        return cycles;
    }

private:
    fs::path folder(std::size_t index) const { return fs::path(options_.out) / suite_.cases[index].name; }

    /// In the child.
    int run_case(std::size_t index, const Children::Tell& tell)
    {
        const SuiteCase& one = suite_.cases[index];
        RunOptions run;
        run.file = one.file.string();
        run.model = one.model;
        run.hardware = one.hardware;
        run.memory = one.memory;
        run.settings = one.settings;
        run.values = !one.timing_only;
        run.tolerance = one.values;
        run.out = folder(index).string();
        run.quiet = run.report = run.reproducible = true;
        run.sync = Sync::Later;
        run.on_result = [&](const nlohmann::ordered_json& result) {
            tell(nlohmann::json{{"cycles", result["cycles"]}, {"accuracy", result.value("accuracy", nlohmann::ordered_json())}}.dump());
        };
        const int status = run_command(run);
        if (status != kDone || one.expected.empty()) return status;
        claim_.reset();  // what has been written is read now
        return is_expected(folder(index) / kTensorFile, one) ? kDone : kMismatch;
    }

    void take(const Children::Ended& child)
    {
        CaseRun& run = runs_[child.index];
        run.status = child.status;
        run.said = read_own_text((folder(child.index) / "messages.txt").string());
        run.seconds = seconds_since(started_[child.index]);
        if (!child.output.empty()) {
            const nlohmann::json told = nlohmann::json::parse(child.output);
            run.cycles = told["cycles"].get<std::uint64_t>();
            if (told["accuracy"].is_number()) run.accuracy = told["accuracy"].get<double>();
        }
        const SuiteCase& one = suite_.cases[child.index];
        Verdict& verdict = verdicts_[child.index] = verdict_of(one, run);
        const bool only_cycles = verdict.kind == Verdict::Kind::Passed || verdict.type == std::string_view("Cycles");
        if (options_.update && only_cycles && run.cycles) verdict = {Verdict::Kind::Passed, updated(one, *run.cycles)};
        ended_[child.index] = true;
        for (; said_ < ended_.size() && ended_[said_]; ++said_) say_verdict(said_);  // in the order of the list, whoever is faster
        std::fflush(stdout);                                                         // whoever follows a log sees it now
    }

    void say_verdict(std::size_t index) const
    {
        if (options_.quiet && verdicts_[index].kind == Verdict::Kind::Passed) return;
        say("{}", verdict_line(suite_.cases[index], runs_[index], verdicts_[index]));
    }

    static std::string updated(const SuiteCase& one, std::uint64_t cycles)
    {
        return !one.cycles             ? "golden cycles written"
               : *one.cycles == cycles ? ""
                                       : fmt::format("golden cycles were {}", grouped(*one.cycles));
    }

    const TestOptions& options_;
    const Suite& suite_;
    std::optional<OutputClaim> claim_;  // no input is there
    std::vector<CaseRun> runs_;
    std::vector<Verdict> verdicts_;
    std::vector<Clock::time_point> started_;
    std::vector<bool> ended_;
    std::size_t said_ = 0;  // verdicts
};

}  // namespace

int test_command(const TestOptions& options)
{
    watch_for_interrupt();
    const fs::path golden = fs::path(options.folder) / kSuiteFile;
    if (!options.update) claim_input(golden);
    const Suite suite = read_suite(options.folder, options.defaults, options.out);
    TestRun run(options, suite);
    std::optional<OutputFile> junit, file;
    if (!options.junit.empty()) junit.emplace(options.junit);
    if (options.update) file.emplace(golden);
    const Clock::time_point start = Clock::now();
    if (!run.run()) {
        say_error("dlasim: interrupted, nothing written\n");
        return kInterrupted;
    }
    const std::size_t failed = run.count(Verdict::Kind::Failed), broken = run.count(Verdict::Kind::Error), all = suite.cases.size();
    if (junit) junit->commit(junit_xml(suite, run.runs(), run.verdicts(), seconds_since(start)));
    if (file) file->commit(json_file_text(updated_suite(suite, run.golden()), 2));
    if (!options.quiet)
        say("{} case{}: {} passed, {} failed, {} with an error; results in {}{}{}\n", all, all == 1 ? "" : "s", all - failed - broken,
            failed, broken, printable(options.out), junit ? ", " + printable(options.junit) : "",
            !file                                   ? ""
            : run.count(Verdict::Kind::Passed) == 0 ? ", no golden cycles"
                                                    : ", golden cycles in " + printable(golden.string()));
    return failed + broken == 0 ? kDone : kMismatch;
}

}  // namespace dlasim
