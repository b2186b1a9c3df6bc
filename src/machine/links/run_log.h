// What a run that is recorded keeps beside its probes: stripes on their way through the array, layers of register groups. Units write
// into it through pointers that are null when nobody asked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cycle.h"

namespace dlasim {

/// One weight set and the atoms that slide past it, with the cycles in which it reaches each unit. kNever: never.
struct StripeTimes {
    Cycle weights = kNever;    // CSC begins to load its weights
    Cycle data = kNever;       // CSC begins to send its atoms
    Cycle array = kNever;      // the first atom is at the port of CMAC
    Cycle sums = kNever;       // its sums are at the port of CACC
    Cycle delivered = kNever;  // CACC takes over its first result: of stripes that complete sums
    Cycle sent = kNever;       // SDP has taken its last result, likewise
    std::uint32_t atoms = 0, kernels = 0;
    bool layer_end = false;
};

/// In the order of CSC, which is that of all units after it.
class StripeLog {
public:
    StripeTimes& add() { return stripes_.emplace_back(); }
    /// The next one whose sums come; null if none is known.
    StripeTimes* next_sums() { return summed_ < stripes_.size() ? &stripes_[summed_++] : nullptr; }
    /// Number of entries that the last one in CACC delivers.
    void delivers(Cycle first, std::uint64_t entries)
    {
        if (summed_ == 0 || entries == 0) return;
        stripes_[summed_ - 1].delivered = first;
        promised_ += entries;
        waiting_.push_back({summed_ - 1, promised_});
    }
    /// SDP has taken an entry.
    void entry_sent(Cycle at)
    {
        ++sent_;
        if (first_ == waiting_.size() || waiting_[first_].end > sent_) return;
        stripes_[waiting_[first_++].stripe].sent = at;
    }
    const std::vector<StripeTimes>& all() const { return stripes_; }

private:
    struct Waiting {
        std::size_t stripe;
        std::uint64_t end;  // entries sent when it is
    };
    std::vector<StripeTimes> stripes_;
    std::vector<Waiting> waiting_;
    std::size_t summed_ = 0, first_ = 0;
    std::uint64_t promised_ = 0, sent_ = 0;
};

/// A register group works for a layer.
struct GroupUse {
    unsigned group = 0;
    Cycle enabled = 0, started = 0, done = 0;  // software has written D_OP_ENABLE, the data path begins, it is done
};

}  // namespace dlasim
