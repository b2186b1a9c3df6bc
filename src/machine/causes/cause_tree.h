// What the cycles up to the points went to where walks come from: a tree, for walks have most of their way in common.
//
//   root ── cycles of all ──┬── cycles of one walk ── point
//                           └── cycles of others ──┬── point
//                                                  └── point
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "facts/causes.h"

namespace dlasim {

class CauseTree {
public:
    using Node = std::uint32_t;
    static constexpr Node kRoot = 0;  // before cycle 0

    /// The last cycle of a slice that is to end there. In any order.
    void cut(Cycle at) { cuts_.push_back(at); }
    /// Before nodes are grown.
    void sort_cuts();
    /// Another node above `parent`, which ends in the same cycle until it grows.
    Node add(Node parent);
    /// As add() and grow(). Many walks end in one long run, each in another cycle: what they have in common of it is one node.
    Node add(Node parent, Cycle to, ExactCause cause);
    /// The cycles up to `to` went to it, too.
    void grow(Node node, Cycle to, ExactCause cause);
    Cycle time(Node node) const { return nodes_[node].time; }
    /// Forgets what none of them needs, and makes one of what all that need it have in common. They become what they are called now.
    void compress(const std::vector<Node*>& needed);
    /// From cycle 0 to where the node ends.
    Causes causes(Node node) const;

private:
    struct Past {
        Node parent = kRoot;
        Cycle time = 0;
        std::vector<CauseSlice> slices;  // of the cycles after the parent's; by their last cycle
    };
    void spend(Past& past, Cycle to, ExactCause cause);
    CauseSlice& open_slice(Past& past);
    Cycle slice_end(Cycle at) const;
    static void append(std::vector<CauseSlice>& slices, std::vector<CauseSlice>&& more);

    std::vector<Past> nodes_ = std::vector<Past>(1);  // parents before children
    std::vector<Cycle> cuts_;
    // Of long runs, until nodes are compressed: by parent, cause and end
    std::unordered_map<std::uint64_t, Node> common_;
};

}  // namespace dlasim
