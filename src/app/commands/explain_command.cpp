#include "app/commands/explain_command.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <thread>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/point_run.h"
#include "app/sweep/sweep_children.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "explain/trial.h"
#include "files/console.h"
#include "files/input.h"
#include "files/printable.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kLongest = 24 * 3600;  // seconds of CPU time of a trial

/// Removed with everything in it.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "dlasim-XXXXXX").string())
    {
        if (!::mkdtemp(path_.data())) throw ConfigError(path_, "cannot be made, expected a folder for temporary files (TMPDIR)");
    }
    ~TemporaryFolder()
    {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return std::filesystem::path(path_) / name; }

private:
    std::string path_;
};

std::string result_file(const std::string& path)
{
    std::error_code none;
    return std::filesystem::is_directory(path, none) ? (std::filesystem::path(path) / "result.json").string() : path;
}

double figure(const OrderedJson& result, const char* key)
{
    return result.contains(key) && result[key].is_number() ? result[key].get<double>() : 0;
}

/// The first thing that a child said on standard error.
std::string refusal(const std::filesystem::path& messages)
{
    const std::string text = read_own_text(messages.string());
    const std::string line = text.substr(0, text.find('\n'));
    return line.starts_with("dlasim: ") ? line.substr(8) : line;
}

/// Runs the point as it was, then with each change.
class Trials {
public:
    Trials(const RecordedPoint& recorded, unsigned jobs)
        : recorded_(recorded),
          jobs_(jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency())),
          technology_(silicon::read_technology(silicon::kDefaultTechnology, "", ""))
    {
    }

    /// In the order of `trials`, the run itself in front. Empty after an interrupt.
    std::vector<Outcome> run(const std::vector<Trial>& trials)
    {
        watch_for_interrupt();
        const TemporaryFolder folder;
        const auto place = [&](std::size_t index) { return folder / std::to_string(index); };
        std::vector<Outcome> outcomes(trials.size() + 1);
        Children children(
            [&](std::size_t index, const Children::Tell& tell) {
                return run_point(trial_point(recorded_, index == 0 ? nullptr : &trials[index - 1]),
                                 {.folder = place(index).string(),
                                  .timing_only = true,
                                  .causes = false,
                                  .technology = &technology_,
                                  .on_result = [&](const OrderedJson& result) { tell(figures(result)); }});
            },
            place, kLongest);
        for (std::size_t next = 0; next < outcomes.size() || children.running() != 0;) {
            for (; next < outcomes.size() && children.running() < jobs_; ++next) {
                std::filesystem::create_directory(place(next));
                children.start(next);
            }
            for (const Children::Ended& ended : children.ended()) {
                outcomes[ended.index] = outcome_of(ended, place(ended.index));
                std::error_code none;
                std::filesystem::remove_all(place(ended.index), none);
            }
            if (interrupted()) return {};
        }
        return outcomes;
    }

private:
    static std::string figures(const OrderedJson& result)
    {
        OrderedJson few;
        for (const char* key : {"cycles", "area_mm2", "energy_uj"})
            if (result.contains(key)) few[key] = result[key];
        return few.dump();
    }

    static Outcome outcome_of(const Children::Ended& ended, const std::filesystem::path& folder)
    {
        Outcome outcome;
        if (ended.status == kDone && !ended.output.empty()) {
            const OrderedJson figures = parse_ordered_json(ended.output);
            outcome.cycles = figures["cycles"].get<std::int64_t>();
            outcome.area_mm2 = figure(figures, "area_mm2");
            outcome.energy_uj = figure(figures, "energy_uj");
            return outcome;
        }
        outcome.refused = refusal(folder / "messages.txt");
        if (outcome.refused.empty()) outcome.refused = fmt::format("ended with status {}", ended.status);
        return outcome;
    }

    const RecordedPoint& recorded_;
    unsigned jobs_;
    silicon::Technology technology_;
};

}  // namespace

int explain_command(const ExplainOptions& options)
{
    const std::string file = result_file(options.run);
    const Json result = read_json(file);
    const Explanation explanation = explain(result, file);
    OrderedJson json = explanation_json(explanation);
    std::string text = explanation_text(explanation);
    if (options.remedies != 0 || options.sizes) {
        const RecordedPoint recorded = recorded_point(result, file);
        std::vector<Trial> trials, sizes;
        if (options.remedies != 0) trials = remedies(explanation, recorded, options.remedies);
        if (options.sizes) sizes = size_trials(recorded);
        std::vector<Trial> all = trials;
        all.insert(all.end(), sizes.begin(), sizes.end());
        const std::vector<Outcome> outcomes = Trials(recorded, options.jobs).run(all);
        if (outcomes.empty()) {
            say_error("dlasim: interrupted, nothing said\n");
            return kInterrupted;
        }
        const Outcome& before = outcomes.front();
        if (before.cycles != explanation.run.cycles)
            throw ConfigError(file, before.refused.empty()
                                        ? fmt::format("takes {} cycles when it is run again, expected {}: it ran with options that change "
                                                      "time, or another version wrote it",
                                                      before.cycles, explanation.run.cycles)
                                        : "cannot be run again: " + before.refused);
        const auto middle = outcomes.begin() + 1 + static_cast<std::ptrdiff_t>(trials.size());
        const std::vector<Outcome> tried(outcomes.begin() + 1, middle), sized(middle, outcomes.end());
        if (options.remedies != 0) {
            json["remedies"] = trials_json(trials, tried, before);
            text += remedies_text(explanation, trials, tried, before);
        }
        if (options.sizes) {
            json["sizes"] = trials_json(sizes, sized, before);
            text += sizes_text(sizes, sized, before);
        }
    }
    const bool runs_again = !result.value("schema", "").starts_with("dlasim.replay");
    if (options.remedies == 0 && !options.sizes && runs_again)
        text += fmt::format("\nTo try what would change it: dlasim explain {} --remedies 10\n", printable(shell_word(options.run)));
    if (options.json) say("{}\n", json.dump(2, ' ', true));
    else say("{}", text);
    return kDone;
}

}  // namespace dlasim
