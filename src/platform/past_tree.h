// What the cycles up to the spots went to where walks come from: a tree, for walks have most of their way in common.
//
//   root ── cycles of all ──┬── cycles of one walk ── spot
//                           └── cycles of others ──┬── spot
//                                                  └── spot
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "facts/causes.h"

namespace dlasim {

/// What cycles went to, the earliest first, so many times one after the other.
struct SpentRuns {
    std::shared_ptr<std::vector<CauseCycles>> parts;  // shared with all who ask for them: then they do not change any more
    std::uint64_t times = 1;
};

class PastTree {
public:
    using Node = std::uint32_t;
    static constexpr Node kRoot = 0;  // before cycle 0

    /// The last cycle of a slice that is to end there. In any order.
    void cut(Cycle at) { cuts_.push_back(at); }
    /// Before nodes are grown.
    void sort_cuts();
    /// Another node above `parent`, which ends in the same cycle until it grows.
    Node add(Node parent);
    /// The cycles up to `to` went to it, too.
    void grow(Node node, Cycle to, ExactCause cause);
    /// The cycles behind it went to these, in this order, so many `times` one after the other.
    void grow(Node node, const std::vector<CauseCycles>& spent, std::uint64_t times);
    /// The cycles up to `to` went to these, one after the other; the first one is so much longer, or shorter, that it comes out.
    void grow(Node node, Cycle to, const std::vector<SpentRuns>& spent);
    /// What is spent from now on is kept one after the other too, or not.
    void keep_runs(bool keep) { keeps_runs_ = keep; }
    /// So many are kept that there is not much room for more.
    bool runs_fill() const;
    /// Of cycles up to that one it need not be.
    void forget_runs(Cycle until);
    /// What the cycles between two nodes went to, in this order; nothing if that is not known, or `from` not on the way to `to`.
    std::optional<std::vector<SpentRuns>> between(Node from, Node to) const;
    Cycle time(Node node) const { return nodes_[node].time; }
    /// Forgets what none of them needs, and makes one of what all that need it have in common. They become what they are called now.
    void compress(const std::vector<Node*>& needed);
    /// From cycle 0 to where the node ends.
    Causes causes(Node node) const;

private:
    struct Past {
        Node parent = kRoot;
        Cycle time = 0;
        std::vector<CauseSlice> slices;  // of the cycles behind the parent's; by their last cycle
        std::vector<SpentRuns> runs{};   // of the same, in the order of time, where they are kept
        std::size_t parts = 0;           // of these
        bool all_runs = true;
    };
    void spend(Past& past, Cycle to, ExactCause cause);
    bool room_for(Past& past, std::size_t parts);
    void add_run(Past& past, const CauseCycles& run);
    void add_runs(Past& past, const std::vector<CauseCycles>& parts, std::uint64_t times);
    void forget_runs(Past& past);
    void join_runs(Past& past, Past& later);
    CauseSlice& open_slice(Past& past);
    Cycle slice_end(Cycle at) const;
    static void append(std::vector<CauseSlice>& slices, std::vector<CauseSlice>&& more);

    std::vector<Past> nodes_ = std::vector<Past>(1);  // parents before children
    std::vector<Cycle> cuts_;
    bool keeps_runs_ = false;
    std::size_t runs_ = 0;  // parts of all
};

}  // namespace dlasim
