#include "report/timeline/over_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace dlasim {
namespace {

/// Samples at the ends of parts of a power of two of cycles, at most kMaxParts, and the last one.
std::vector<const Sample*> ends_of(const std::vector<Sample>& samples, Cycle cycles, Cycle& width)
{
    const auto first = std::find_if(samples.rbegin(), samples.rend(), [last = kNever](const Sample& s) mutable {
                           const bool anew = s.cycle >= last;  // t0 has been marked since
                           last = s.cycle;
                           return anew;
                       }).base();
    width = 64;
    while (cycles / width >= OverTime::kMaxParts) width *= 2;
    std::vector<const Sample*> ends;
    for (auto sample = first; sample != samples.end() && sample->cycle <= cycles; ++sample)
        if (sample->cycle % width == 0 || sample->cycle == cycles) ends.push_back(&*sample);
    return ends;
}

const std::map<std::string, std::string> kSeriesUnits{{"clock", "cycles"}, {"bytes", "bytes"}, {"rows", "requests"}, {"power", "mW"}};

/// The value of a level over [from, to), on average.
class LevelMean {
public:
    explicit LevelMean(const LevelValues& level) : level_(level) {}
    double mean(std::int64_t from, std::int64_t to)
    {
        double sum = 0;
        for (std::int64_t at = from; at < to;) {
            while (next_ < level_.values.size() && level_.values[next_].first <= at) value_ = level_.values[next_++].second;
            const std::int64_t until = next_ < level_.values.size() ? std::min(to, level_.values[next_].first) : to;
            sum += static_cast<double>(value_) * static_cast<double>(until - at);
            at = until;
        }
        return to > from ? sum / static_cast<double>(to - from) : 0;
    }

private:
    const LevelValues& level_;
    std::size_t next_ = 0;
    std::int64_t value_ = 0;
};

const UnitPhases* unit_of(const RunResult& run, const std::string& name)
{
    const auto there = std::ranges::find(run.phases, name, &UnitPhases::unit);
    return there == run.phases.end() ? nullptr : &*there;
}

/// Cycles of each part in which SDP, PDP or both did their work.
void add_overlap(const RunResult& run, OverTime::Parts& parts)
{
    const UnitPhases *sdp = unit_of(run, "sdp"), *pdp = unit_of(run, "pdp");
    if (!sdp || !pdp || pdp->runs.empty()) return;
    std::vector<std::pair<std::int64_t, int>> edges;  // cycle, +1 or +2 or less: who begins or ends
    for (const auto& [unit, bit] : {std::pair{sdp, 1}, std::pair{pdp, 2}})
        for (const PhaseRun& r : unit->runs)
            if (r.phase == Phase::Issuing) {
                edges.emplace_back(r.start, bit);
                edges.emplace_back(r.start + static_cast<std::int64_t>(r.cycles), -bit);
            }
    std::sort(edges.begin(), edges.end());
    constexpr std::array kNames{"", "SDP alone", "PDP alone", "both at once"};
    std::array<std::vector<double>, 4> spent;
    for (auto& values : spent) values.assign(parts.ends.size(), 0);
    std::size_t part = 0;
    std::int64_t at = 1;
    int who = 0;
    const auto spend = [&](std::int64_t until) {
        while (at < until && part < parts.ends.size()) {
            const std::int64_t end = std::min(until, parts.ends[part] + 1);
            spent[static_cast<std::size_t>(who)][part] += static_cast<double>(end - at);
            at = std::max(at, end);
            if (at > parts.ends[part]) ++part;
        }
    };
    for (const auto& [cycle, change] : edges) {
        spend(cycle);
        who += change;
    }
    for (std::size_t i = 1; i < spent.size(); ++i) parts.series.push_back({"overlap", kNames[i], "cycles", std::move(spent[i])});
}

}  // namespace

OverTime::Parts OverTime::parts(const RunResult& run, const Energy& energy, double clock_mhz) const
{
    Parts parts;
    const std::vector<const Sample*> ends = ends_of(samples_, run.cycles, parts.width);
    if (ends.empty()) return parts;
    for (const Sample* end : ends) parts.ends.push_back(static_cast<std::int64_t>(end->cycle));
    std::map<std::pair<std::string, std::string>, std::vector<double>> totals;
    std::vector<std::pair<std::string, std::string>> order;
    const auto note = [&](const std::string& group, const std::string& name, std::size_t part, double value) {
        const auto [there, fresh] = totals.try_emplace({group, name}, ends.size(), 0.0);
        if (fresh) order.push_back(there->first);
        there->second[part] = value;
    };
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const Sample& s = *ends[i];
        for (const UnitReport& unit : s.units) {
            std::uint64_t on = 0;  // of the domain that is on for the longest time
            for (const auto& [domain, cycles] : unit.clock_on) on = std::max<std::uint64_t>(on, cycles);
            if (!unit.clock_on.empty()) note("clock", unit.name, i, static_cast<double>(on));
        }
        for (const auto& [client, bytes] : s.read_by_client) note("bytes", client + " reads", i, static_cast<double>(bytes));
        for (const auto& [client, bytes] : s.written_by_client) note("bytes", client + " writes", i, static_cast<double>(bytes));
        if (s.row_hits + s.row_misses + s.row_conflicts != 0) {
            note("rows", "hits", i, static_cast<double>(s.row_hits));
            note("rows", "misses", i, static_cast<double>(s.row_misses));
            note("rows", "conflicts", i, static_cast<double>(s.row_conflicts));
        }
        const auto [chip, memory] = energy(s.cycle);
        if (chip != 0) note("power", "accelerator", i, chip);
        if (memory != 0) note("power", "memory", i, memory);
    }
    for (const auto& key : order) {
        std::vector<double> values = std::move(totals[key]);
        for (std::size_t i = values.size(); i-- > 1;) values[i] -= values[i - 1];
        if (std::ranges::all_of(values, [](double v) { return v == 0; })) continue;
        if (key.first == "power")
            for (std::size_t i = 0; i < values.size(); ++i)  // pJ a part: 1e-3 mW at 1 MHz
                values[i] *= 1e-3 * clock_mhz / static_cast<double>(parts.ends[i] - (i ? parts.ends[i - 1] : 0));
        parts.series.push_back({key.first, key.second, kSeriesUnits.at(key.first), std::move(values)});
    }
    for (const LevelValues& level : run.levels) {
        if (level.values.empty()) continue;
        Series part{"level", level.name, level.name.starts_with("CBUF") ? "entries" : "credits", {}};
        LevelMean mean(level);
        mean.mean(level.values.front().first, 1);
        for (std::size_t i = 0; i < ends.size(); ++i) part.values.push_back(mean.mean((i ? parts.ends[i - 1] : 0) + 1, parts.ends[i] + 1));
        parts.series.push_back(std::move(part));
    }
    add_overlap(run, parts);
    return parts;
}

nlohmann::ordered_json parts_json(const OverTime::Parts& parts)
{
    if (parts.ends.empty()) return nullptr;
    nlohmann::ordered_json series = nlohmann::ordered_json::array();
    for (const OverTime::Series& s : parts.series) {
        nlohmann::ordered_json values = nlohmann::ordered_json::array();
        for (const double v : s.values) {  // four digits are enough for a picture
            const double scale = v == 0 ? 1 : std::pow(10, std::max(0.0, 3 - std::floor(std::log10(std::abs(v)))));
            const double rounded = std::round(v * scale) / scale;
            if (rounded == std::floor(rounded)) values.push_back(static_cast<std::int64_t>(rounded));
            else values.push_back(rounded);
        }
        series.push_back({{"group", s.group}, {"name", s.name}, {"unit", s.unit}, {"values", std::move(values)}});
    }
    return {{"width", parts.width}, {"ends", parts.ends}, {"series", std::move(series)}};
}

}  // namespace dlasim
