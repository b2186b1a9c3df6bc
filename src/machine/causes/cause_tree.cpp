#include "causes/cause_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/expects.h"

namespace dlasim {
namespace {

constexpr Cycle kCommonEnd = 1u << 10;  // common nodes of long runs end in multiples of it

}  // namespace

void CauseTree::sort_cuts()
{
    if (!std::ranges::is_sorted(cuts_)) std::ranges::sort(cuts_);
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

CauseTree::Node CauseTree::add(Node parent)
{
    const Cycle time = nodes_[parent].time;
    nodes_.push_back({.parent = parent, .time = time, .slices = {}});
    return static_cast<Node>(nodes_.size() - 1);
}

CauseTree::Node CauseTree::add(Node parent, Cycle to, ExactCause cause)
{
    if (const Cycle end = to / kCommonEnd * kCommonEnd; end > time(parent) + kCommonEnd) {
        const std::uint64_t key = std::uint64_t{parent} << 32 | (end / kCommonEnd & 0xffff) << 16 |
                                  static_cast<std::uint64_t>(cause.cause) << 8 | std::uint64_t{cause.client};
        Node& common = common_.try_emplace(key, kRoot).first->second;
        if (common == kRoot) grow(common = add(parent), end, cause);
        if (time(common) == end) parent = common;  // else a run of 2^26 cycles more
    }
    const Node node = add(parent);
    grow(node, to, cause);
    return node;
}

void CauseTree::grow(Node node, Cycle to, ExactCause cause)
{
    Past& past = nodes_[node];
    DLASIM_EXPECTS(past.time <= to);
    if (past.time == to) return;
    spend(past, to, cause);
}

void CauseTree::spend(Past& past, Cycle to, ExactCause cause)
{
    while (past.time < to) {
        CauseSlice& slice = open_slice(past);
        const Cycle until = std::min(to, slice.end);
        slice.add(cause, until - past.time);
        past.time = until;
    }
}

/// The slice that the cycle after the node's end belongs to.
CauseSlice& CauseTree::open_slice(Past& past)
{
    if (past.slices.empty() || past.slices.back().end <= past.time) past.slices.push_back({slice_end(past.time + 1), {}});
    return past.slices.back();
}

/// The last cycle of the slice that `at` belongs to: finer at the begin of a run, which may be a short one.
Cycle CauseTree::slice_end(Cycle at) const
{
    const Cycle width = at < 1u << 14 ? 1u << 6 : at < 1u << 20 ? 1u << 10 : 1u << 14;
    const Cycle grid = (at + width - 1) / width * width;
    const auto cut = std::lower_bound(cuts_.begin(), cuts_.end(), at);
    return cut != cuts_.end() ? std::min(*cut, grid) : grid;
}

void CauseTree::append(std::vector<CauseSlice>& slices, std::vector<CauseSlice>&& more)
{
    // a cut that came after a slice had begun
    if (!slices.empty() && !more.empty()) slices.back().end = std::min(slices.back().end, more.front().end);
    for (CauseSlice& slice : more) {
        if (slices.empty() || slices.back().end != slice.end) slices.push_back(std::move(slice));
        else
            for (const CauseCycles& spent : slice.spent) slices.back().add(spent.cause, spent.cycles);
    }
}

void CauseTree::compress(const std::vector<Node*>& needed)
{
    std::vector<std::uint32_t> users(nodes_.size());  // children and points
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
        if (!kept[node]) continue;
        const Node parent = becomes[past.parent];
        if (users[past.parent] == 1) {
            append(left[parent].slices, std::move(past.slices));
            left[parent].time = past.time;
            becomes[node] = parent;
            continue;
        }
        past.parent = parent;
        becomes[node] = static_cast<Node>(left.size());
        left.push_back(std::move(past));
    }
    nodes_ = std::move(left);
    common_.clear();
    Cycle oldest = kNever;
    for (Node* node : needed) {
        *node = becomes[*node];
        oldest = std::min(oldest, time(*node));
    }
    std::erase_if(cuts_, [oldest](Cycle cut) { return cut <= oldest; });
}

Causes CauseTree::causes(Node node) const
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
