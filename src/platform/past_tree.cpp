#include "platform/past_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/expects.h"

namespace dlasim {
namespace {
constexpr std::size_t kMostRuns = 1u << 18;  // parts of them in the tree
}

bool PastTree::runs_fill() const { return runs_ > kMostRuns / 2; }

void PastTree::sort_cuts()
{
    if (!std::ranges::is_sorted(cuts_)) std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

PastTree::Node PastTree::add(Node parent)
{
    const Cycle time = nodes_[parent].time;
    nodes_.push_back({.parent = parent, .time = time, .slices = {}});
    nodes_.back().all_runs = keeps_runs_;
    return static_cast<Node>(nodes_.size() - 1);
}

void PastTree::grow(Node node, Cycle to, ExactCause cause)
{
    Past& past = nodes_[node];
    DLASIM_EXPECTS(past.time <= to);
    if (past.time == to) return;
    add_run(past, {cause, to - past.time});
    spend(past, to, cause);
}

void PastTree::spend(Past& past, Cycle to, ExactCause cause)
{
    while (past.time < to) {
        CauseSlice& slice = open_slice(past);
        const Cycle until = std::min(to, slice.end);
        slice.add(cause, until - past.time);
        past.time = until;
    }
}

void PastTree::grow(Node node, const std::vector<CauseCycles>& spent, std::uint64_t times)
{
    const Cycle period = sum_of(spent);
    DLASIM_EXPECTS(period != 0);
    Past& past = nodes_[node];
    add_runs(past, spent, times);
    while (times != 0) {
        CauseSlice& slice = open_slice(past);
        const std::uint64_t whole = std::min(times, (slice.end - past.time) / period);
        if (whole == 0)
            for (const CauseCycles& part : spent) spend(past, past.time + part.cycles, part.cause);
        else
            for (const CauseCycles& part : spent) slice.add(part.cause, whole * part.cycles);
        past.time += whole * period;
        times -= std::max<std::uint64_t>(whole, 1);
    }
}

void PastTree::grow(Node node, Cycle to, const std::vector<SpentRuns>& spent)
{
    Cycle cycles = 0;
    for (const SpentRuns& runs : spent) cycles += runs.times * sum_of(*runs.parts);
    Cycle longer = to - time(node) - cycles;
    for (const SpentRuns& runs : spent) {
        if (longer == 0) {
            grow(node, *runs.parts, runs.times);
            continue;
        }
        for (std::uint64_t n = 0; n < runs.times; ++n)
            for (const CauseCycles& part : *runs.parts) grow(node, time(node) + part.cycles + std::exchange(longer, 0), part.cause);
    }
}

/// There is room for so many more; else those of the node are not kept.
bool PastTree::room_for(Past& past, std::size_t parts)
{
    if (!keeps_runs_ || !past.all_runs) return false;
    if (runs_ + parts > kMostRuns) return forget_runs(past), false;
    runs_ += parts;
    past.parts += parts;
    return true;
}

void PastTree::add_run(Past& past, const CauseCycles& run)
{
    const bool goes_on = !past.runs.empty() && past.runs.back().times == 1 && past.runs.back().parts.use_count() == 1;
    if (goes_on && past.runs.back().parts->back().cause == run.cause) {
        past.runs.back().parts->back().cycles += run.cycles;
    } else if (room_for(past, 1)) {
        if (goes_on) past.runs.back().parts->push_back(run);
        else past.runs.push_back({std::make_shared<std::vector<CauseCycles>>(1, run), 1});
    }
}

void PastTree::add_runs(Past& past, const std::vector<CauseCycles>& parts, std::uint64_t times)
{
    if (room_for(past, parts.size())) past.runs.push_back({std::make_shared<std::vector<CauseCycles>>(parts), times});
}

void PastTree::forget_runs(Past& past)
{
    past.all_runs = false;
    past.runs = {};
    runs_ -= std::exchange(past.parts, 0);
}

/// Those of the node behind it are its own now.
void PastTree::join_runs(Past& past, Past& later)
{
    if (!past.all_runs || !later.all_runs) {
        forget_runs(past);
        return forget_runs(later);
    }
    past.parts += later.parts;
    if (past.runs.empty()) past.runs = std::move(later.runs);
    else past.runs.insert(past.runs.end(), std::move_iterator(later.runs.begin()), std::move_iterator(later.runs.end()));
}

void PastTree::forget_runs(Cycle until)
{
    for (Past& past : nodes_)
        if (past.time <= until) forget_runs(past);
}

std::optional<std::vector<SpentRuns>> PastTree::between(Node from, Node to) const
{
    std::vector<Node> line;
    for (Node node = to; node != from; node = nodes_[node].parent) {
        if (node == kRoot || !nodes_[node].all_runs) return std::nullopt;
        line.push_back(node);
    }
    std::vector<SpentRuns> spent;
    for (auto at = line.rbegin(); at != line.rend(); ++at) spent.insert(spent.end(), nodes_[*at].runs.begin(), nodes_[*at].runs.end());
    return spent;
}

/// The slice that the cycle behind the node's end belongs to.
CauseSlice& PastTree::open_slice(Past& past)
{
    if (past.slices.empty() || past.slices.back().end <= past.time) past.slices.push_back({slice_end(past.time + 1), {}});
    return past.slices.back();
}

/// The last cycle of the slice that `at` belongs to: finer at the begin of a run, which may be a short one.
Cycle PastTree::slice_end(Cycle at) const
{
    const Cycle width = at < 1u << 14 ? 1u << 6 : at < 1u << 20 ? 1u << 10 : 1u << 14;
    const Cycle grid = (at + width - 1) / width * width;
    const auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), at);
    return cut != cuts_.end() ? std::min(*cut, grid) : grid;
}

void PastTree::append(std::vector<CauseSlice>& slices, std::vector<CauseSlice>&& more)
{
    // a cut that came after a slice had begun
    if (!slices.empty() && !more.empty()) slices.back().end = std::min(slices.back().end, more.front().end);
    for (CauseSlice& slice : more) {
        if (slices.empty() || slices.back().end != slice.end) slices.push_back(std::move(slice));
        else
            for (const CauseCycles& spent : slice.spent) slices.back().add(spent.cause, spent.cycles);
    }
}

void PastTree::compress(const std::vector<Node*>& needed)
{
    std::vector<std::uint32_t> users(nodes_.size());  // children and spots
    std::vector<bool> kept(nodes_.size());
    for (const Node* node : needed) {
        ++users[*node];
        for (Node at = *node; !kept[at] && at != kRoot; at = nodes_[at].parent) {
            kept[at] = true;
            ++users[nodes_[at].parent];
        }
    }
    std::vector<Node> becomes(nodes_.size());
    std::vector<Past> left(1);
    left[kRoot] = std::move(nodes_[kRoot]);
    for (Node node = 1; node < nodes_.size(); ++node) {
        Past& past = nodes_[node];
        if (!kept[node]) {
            forget_runs(past);
            continue;
        }
        const Node parent = becomes[past.parent];
        if (users[past.parent] == 1) {
            append(left[parent].slices, std::move(past.slices));
            join_runs(left[parent], past);
            left[parent].time = past.time;
            becomes[node] = parent;
            continue;
        }
        past.parent = parent;
        becomes[node] = static_cast<Node>(left.size());
        left.push_back(std::move(past));
    }
    nodes_ = std::move(left);
    Cycle oldest = kNever;
    for (Node* node : needed) {
        *node = becomes[*node];
        oldest = std::min(oldest, time(*node));
    }
    std::erase_if(cuts_, [oldest](Cycle cut) { return cut <= oldest; });
}

Causes PastTree::causes(Node node) const
{
    std::vector<Node> line{node};
    while (line.back() != kRoot) line.push_back(nodes_[line.back()].parent);
    Causes causes;
    for (auto at = line.rbegin(); at != line.rend(); ++at) {
        std::vector<CauseSlice> slices = nodes_[*at].slices;
        append(causes.slices, std::move(slices));
    }
    return causes;
}

}  // namespace dlasim
