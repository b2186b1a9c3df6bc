#include "app/commands/explain_command.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <thread>

#include "app/interrupt.h"
#include "app/status.h"
#include "app/sweep/point_run.h"
#include "app/sweep/sweep_children.h"
#include "app/sweep/sweep_row.h"
#include "base/error.h"
#include "base/files/console.h"
#include "base/files/input.h"
#include "base/files/output.h"
#include "base/files/printable.h"
#include "explain/slack.h"
#include "silicon/area.h"

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

/// The first line that a child printed on standard error.
std::string refusal(const std::filesystem::path& messages)
{
    const std::string text = read_own_text(messages.string());
    const std::string line = text.substr(0, text.find('\n'));
    return line.starts_with("dlasim: ") ? line.substr(8) : line;
}

using Set = std::vector<Trial>;

/// Runs the point with sets of changes.
class Trials {
public:
    Trials(const RecordedPoint& recorded, unsigned jobs)
        : recorded_(recorded),
          jobs_(jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency())),
          technology_(silicon::read_technology(silicon::kDefaultTechnology, "", ""))
    {
    }

    /// In the order of `sets`; that of no changes is the run itself. Empty after an interrupt.
    std::vector<Outcome> run(const std::vector<Set>& sets)
    {
        watch_for_interrupt();
        const TemporaryFolder folder;
        const auto place = [&](std::size_t index) { return folder / std::to_string(index); };
        std::vector<Outcome> outcomes(sets.size());
        Children children(
            [&](std::size_t index, const Children::Tell& tell) {
                const SweepPoint point = trial_point(recorded_, sets[index]);
                return run_point(point, {.folder = place(index).string(),
                                         .timing_only = true,
                                         .causes = false,
                                         .technology = &technology_,
                                         .on_result = [&](const OrderedJson& result) { tell(figures(result, point.hardware)); }});
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

    /// Area of the machine with a change, without a run; none where a rule forbids it.
    std::optional<double> area(const Trial& trial) const
    {
        try {
            return silicon::area_mm2(technology_, trial_point(recorded_, std::span(&trial, 1)).hardware);
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    }
    double area() const { return silicon::area_mm2(technology_, trial_point(recorded_, {}).hardware); }

private:
    static std::string figures(const OrderedJson& result, const Hardware& hardware)
    {
        OrderedJson few;
        for (const char* key : {"cycles", "area_mm2", "energy_uj"})
            if (result.contains(key)) few[key] = result[key];
        if (few.contains("cycles")) few["time_us"] = few["cycles"].get<double>() / hardware.clock_mhz;
        return few.dump();
    }

    static Outcome outcome_of(const Children::Ended& ended, const std::filesystem::path& folder)
    {
        Outcome outcome;
        if (ended.status == kDone && !ended.output.empty()) {
            const OrderedJson figures = parse_ordered_json(ended.output);
            outcome.cycles = figures["cycles"].get<std::int64_t>();
            outcome.time_us = figure(figures, "time_us");
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

/// What `explain` tries beside the run itself.
struct Asked {
    std::vector<Trial> remedies, sizes, slack;
};

Asked trials_of(const TrialOptions& options, const Explanation& explanation, const RecordedPoint& recorded, const Trials& trials)
{
    Asked asked;
    if (options.remedies != 0) asked.remedies = remedies(explanation, recorded, options.remedies);
    if (options.sizes) asked.sizes = size_trials(recorded);
    if (options.slack < 0) return asked;
    asked.slack = slack_trials(recorded);
    const double area = trials.area();
    std::erase_if(asked.slack, [&](const Trial& trial) {
        const std::optional<double> smaller = trials.area(trial);
        return !smaller || (trial.change.of == Change::Of::Hardware && !trial.of_clock() && *smaller >= area);
    });
    return asked;
}

/// The changes together: in their order each one that keeps the limit with those before it. False after an interrupt.
bool put_together(std::vector<Slack>& list, const Outcome& before, double share, Trials& trials)
{
    Set all;
    for (const Slack& slack : list) all.push_back(slack.trial);
    std::vector<Set> first_ones;  // the first, the first two, ..
    for (std::size_t n = 1; n <= all.size(); ++n) first_ones.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
    const std::vector<Outcome> at_once = trials.run(first_ones);
    if (at_once.empty()) return false;
    Set kept;
    for (std::size_t i = 0; i < list.size(); ++i) {
        kept.push_back(list[i].trial);
        const std::vector<Outcome> ended = kept.size() == i + 1 ? std::vector<Outcome>{at_once[i]} : trials.run({kept});
        if (ended.empty()) return false;
        if (within(ended.front(), before, share)) list[i].together = ended.front();
        else kept.pop_back();
    }
    return true;
}

/// What trials found.
struct Found {
    OrderedJson json = OrderedJson::object();
    std::string text;
    Outcome before;  // the run itself, again
};

/// None after an interrupt.
std::optional<Found> try_changes(const TrialOptions& options, const Explanation& explanation, const Json& result, const std::string& file)
{
    Found found;
    const RecordedPoint recorded = recorded_point(result, file);
    Trials trials(recorded, options.jobs);
    const Asked asked = trials_of(options, explanation, recorded, trials);
    std::vector<Set> sets(1);
    for (const std::vector<Trial>* list : {&asked.remedies, &asked.sizes, &asked.slack})
        for (const Trial& trial : *list) sets.push_back({trial});
    const std::vector<Outcome> outcomes = trials.run(sets);
    if (outcomes.empty()) return std::nullopt;
    const Outcome& before = found.before = outcomes.front();
    if (before.cycles != explanation.run.cycles)
        throw ConfigError(file, before.refused.empty()
                                    ? fmt::format("takes {} cycles when repeated, expected {}: it ran with options that change "
                                                  "time, or another version wrote it",
                                                  before.cycles, explanation.run.cycles)
                                    : "cannot be run again: " + before.refused);
    auto next = outcomes.begin() + 1;
    const auto ended = [&](const std::vector<Trial>& of) {
        const auto from = next;
        next += static_cast<std::ptrdiff_t>(of.size());
        return std::vector<Outcome>(from, next);
    };
    const std::vector<Outcome> tried = ended(asked.remedies), sized = ended(asked.sizes), smaller = ended(asked.slack);
    if (options.remedies != 0) {
        found.json["remedies"] = trials_json(asked.remedies, tried, before);
        found.text += remedies_text(explanation, asked.remedies, tried, before);
    }
    if (options.sizes) {
        found.json["sizes"] = trials_json(asked.sizes, sized, before);
        found.text += sizes_text(asked.sizes, sized, before);
    }
    if (options.slack >= 0) {
        const double share = options.slack / 100;
        std::vector<Slack> list = largest_slack(asked.slack, smaller, before, share);
        if (!list.empty() && !put_together(list, before, share, trials)) return std::nullopt;
        found.json["slack"] = slack_json(list, before);
        found.text += slack_text(list, before, share);
    }
    return found;
}

}  // namespace

int explain_command(const ExplainOptions& options)
{
    std::optional<OutputFile> page;
    if (!options.html.empty()) page.emplace(options.html);
    const std::string file = result_file(options.run);
    const Json result = read_json(file);
    const Explanation explanation = explain(result, file);
    OrderedJson json = explanation_json(explanation);
    std::string text = explanation_text(explanation);
    std::optional<Found> found;
    if (options.any()) {
        found = try_changes(options, explanation, result, file);
        if (!found) {
            say_error("dlasim: interrupted, nothing printed\n");
            return kInterrupted;
        }
        json.update(found->json);
        text += found->text;
    } else if (kind_in_result(result))
        text += fmt::format("\nTo simulate fixes: dlasim explain {} --remedies 10\n", printable(shell_word(options.run)));
    if (options.json) say("{}\n", json.dump(2, ' ', true));
    else say("{}", text);
    if (page) page->commit(explanation_page(explanation, found ? tried_html(found->json, found->before) : ""));
    return kDone;
}

std::optional<TriedSections> tried_sections(
    const TrialOptions& options, const std::function<int(const std::string&, const std::function<void(const OrderedJson&)>&)>& run)
{
    if (!options.any()) return TriedSections{};
    watch_for_interrupt();
    const TemporaryFolder folder;
    Children child(
        [&](std::size_t, const Children::Tell& tell) {
            return run((folder / "run").string(), [&](const OrderedJson& result) { tell(result.dump()); });
        },
        [&](std::size_t) { return folder / ""; }, kLongest);
    child.start(0);
    std::vector<Children::Ended> ended;
    while (child.running() != 0 && !interrupted()) std::ranges::copy(child.ended(), std::back_inserter(ended));
    if (interrupted()) return std::nullopt;
    if (ended.empty() || ended.front().status != kDone || ended.front().output.empty())
        throw ConfigError("--html", "found a run without a result, expected one to try changes of: " + refusal(folder / "messages.txt"));
    const Json result = parse_json(ended.front().output, "result.json");
    const std::optional<Found> found = try_changes(options, explain(result, "result.json"), result, "result.json");
    if (!found) return std::nullopt;
    return TriedSections{tried_styles(), tried_html(found->json, found->before)};
}

}  // namespace dlasim
