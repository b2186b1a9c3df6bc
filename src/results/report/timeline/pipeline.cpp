#include "report/timeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace dlasim {
namespace {

struct PipelineEvent {
    std::int64_t at = 0;
    std::string line;
};

}  // namespace

std::string pipeline_text(const RunResult& run, const TimelineSelection& shown)
{
    const auto relative = [&](Cycle cycle) { return static_cast<std::int64_t>(cycle) - static_cast<std::int64_t>(run.t0); };
    std::vector<PipelineEvent> events;
    std::size_t id = 0, retired = 0;
    std::vector<std::pair<std::int64_t, std::size_t>> ends;  // of stripes: cycle, id
    for (std::size_t i = 0; i < run.stripes.size(); ++i) {
        const StripeTimes& s = run.stripes[i];
        const std::int64_t weights = relative(std::min(s.weights, s.data)), data = relative(s.data), array = relative(s.array);
        if (weights < 1 || s.sums == kNever || array < shown.from || array >= shown.to) continue;
        const std::int64_t sums = relative(s.sums), added = sums + s.atoms;
        const bool sent = s.delivered != kNever && s.sent != kNever;
        events.push_back({weights, fmt::format("I\t{}\t{}\t0\nL\t{}\t0\tstripe {}: {} atoms, {} kernels{}\n", id, i, id, i + 1, s.atoms,
                                               s.kernels, s.layer_end ? ", the last of its layer" : "")});
        std::int64_t from = weights;
        const char* stage = "W";
        const auto next = [&](const char* name, std::int64_t at) {
            if (at > from) {
                events.push_back({from, fmt::format("S\t{}\t0\t{}\n", id, stage)});
                events.push_back({at, fmt::format("E\t{}\t0\t{}\n", id, stage)});
                from = at;
            }
            stage = name;
        };
        next("S", data);
        next("M", array);
        next("A", sums);
        if (sent) next("O", std::max(relative(s.delivered), from));
        const std::int64_t end = sent ? std::max(relative(s.sent) + 1, from) : added;
        next("", end);
        ends.emplace_back(end, id++);
    }
    std::stable_sort(ends.begin(), ends.end());
    for (const auto& [at, stripe] : ends) events.push_back({at, fmt::format("R\t{}\t{}\t0\n", stripe, retired++)});
    std::stable_sort(events.begin(), events.end(), [](const PipelineEvent& a, const PipelineEvent& b) { return a.at < b.at; });
    std::int64_t now = events.empty() ? 0 : events.front().at;
    std::string text = fmt::format("Kanata\t0004\nC=\t{}\n", now);
    for (const PipelineEvent& event : events) {
        if (event.at != now) fmt::format_to(std::back_inserter(text), "C\t{}\n", event.at - now);
        now = event.at;
        text += event.line;
    }
    return text;
}

}  // namespace dlasim
