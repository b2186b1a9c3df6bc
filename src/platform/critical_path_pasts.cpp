// What the walks of a window leave for the next ones.
#include <algorithm>

#include "base/expects.h"
#include "platform/critical_path.h"

namespace dlasim {

Causes CriticalPath::causes(Cycle t0, Cycle done, bool interrupt)
{
    std::uint32_t past = entries_.interrupt;
    cut(t0);
    cut(done);
    if (done > floor_) {
        begin_window();
        const std::uint32_t last = walk({.place = interrupt ? TrailPlace::Pin : TrailPlace::Software}, done);
        past = keep_walks()[last];
    }
    std::vector<std::uint32_t> line{past};
    while (line.back() != 0) line.push_back(pasts_[line.back()].parent);
    Causes causes;
    for (auto p = line.rbegin(); p != line.rend(); ++p)
        for (const CauseSlice& slice : pasts_[*p].slices) {
            if (causes.slices.empty() || causes.slices.back().end != slice.end) causes.slices.push_back({slice.end, {}});
            for (const CauseCycles& spent : slice.spent) causes.slices.back().add(spent.cause, spent.cycles);
        }
    return causes.after(t0, done);
}

/// A past for every walk.
std::vector<std::uint32_t> CriticalPath::keep_walks()
{
    std::vector<std::vector<std::uint32_t>> cuts(walks_.size(), {0});
    for (const Walk& walk : walks_)
        if (walk.joins) cuts[walk.joins->walk].push_back(walk.joins->runs);
    std::vector<std::uint32_t> result(walks_.size());
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> made(walks_.size());  // runs, past
    const auto past_at = [&](std::uint32_t walk, std::uint32_t runs) {
        for (const auto& [at, past] : made[walk])
            if (at == runs) return past;
        DLASIM_EXPECTS(false);
        return 0u;
    };
    for (std::uint32_t w = 0; w < walks_.size(); ++w) {
        const Walk& walk = walks_[w];
        std::sort(cuts[w].begin(), cuts[w].end());
        cuts[w].erase(std::unique(cuts[w].begin(), cuts[w].end()), cuts[w].end());
        std::uint32_t parent = walk.joins ? past_at(walk.joins->walk, walk.joins->runs) : walk.past;
        std::size_t to = walk.runs.size();
        for (auto cut = cuts[w].rbegin(); cut != cuts[w].rend(); ++cut) {
            if (*cut != to) {
                Past past;
                past.parent = parent;
                past.time = *cut == 0 ? walk.start : walk.runs[*cut - 1].after;
                add_runs(past, walk, *cut, to);
                parent = static_cast<std::uint32_t>(pasts_.size());
                pasts_.push_back(std::move(past));
                to = *cut;
            }
            made[w].emplace_back(*cut, parent);
        }
        result[w] = parent;
    }
    return result;
}

void CriticalPath::add_runs(Past& past, const Walk& walk, std::size_t from, std::size_t to)
{
    for (std::size_t i = to; i-- > from;) {
        const Cycle end = i == 0 ? walk.start : walk.runs[i - 1].after;
        spread(past.slices, walk.runs[i].after, end, walk.runs[i].cause);
    }
}

void CriticalPath::spread(std::vector<CauseSlice>& slices, Cycle after, Cycle to, ExactCause cause) const
{
    while (after < to) {
        if (slices.empty() || slices.back().end <= after) slices.push_back({slice_end(after + 1), {}});
        const Cycle until = std::min(to, slices.back().end);
        slices.back().add(cause, until - after);
        after = until;
    }
}

/// The last cycle of the slice that `at` belongs to: finer at the begin of a run, which may be a short one.
Cycle CriticalPath::slice_end(Cycle at) const
{
    const Cycle width = at < 1u << 14 ? 1u << 6 : at < 1u << 20 ? 1u << 10 : kWindow;  // no wider: a cut of a later window comes too late
    const Cycle grid = (at + width - 1) / width * width;
    const auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), at);
    return cut != cuts_.end() ? std::min(*cut, grid) : grid;
}

/// What all entries have in common goes into the trunk, what none needs is forgotten.
void CriticalPath::prune()
{
    std::vector<std::uint32_t> users(pasts_.size());  // children and entries that are needed
    std::vector<bool> needed(pasts_.size());
    const auto need = [&](std::uint32_t past) {
        ++users[past];
        for (; !needed[past] && past != 0; past = pasts_[past].parent) {
            needed[past] = true;
            ++users[pasts_[past].parent];
        }
    };
    for (const std::uint32_t past : entries_.places) need(past);
    for (const auto& [number, past] : entries_.bursts) need(past);
    if (entries_.interrupted != 0) need(entries_.interrupt);

    std::vector<std::uint32_t> becomes(pasts_.size());
    std::vector<Past> kept(1);
    kept[0] = std::move(pasts_[0]);
    bool trunk = users[0] == 1;
    for (std::uint32_t p = 1; p < pasts_.size(); ++p) {  // parents come before their children
        if (!needed[p]) continue;
        Past& past = pasts_[p];
        if (trunk && becomes[past.parent] == 0) {
            for (CauseSlice& slice : past.slices) {
                if (kept[0].slices.empty() || kept[0].slices.back().end != slice.end) kept[0].slices.push_back(std::move(slice));
                else
                    for (const CauseCycles& spent : slice.spent) kept[0].slices.back().add(spent.cause, spent.cycles);
            }
            kept[0].time = past.time;
            becomes[p] = 0;
            trunk = users[p] == 1;
            continue;
        }
        becomes[p] = static_cast<std::uint32_t>(kept.size());
        past.parent = becomes[past.parent];
        kept.push_back(std::move(past));
    }
    pasts_ = std::move(kept);
    for (std::uint32_t& past : entries_.places) past = becomes[past];
    for (auto& [number, past] : entries_.bursts) past = becomes[past];
    entries_.interrupt = becomes[entries_.interrupt];
}

}  // namespace dlasim
