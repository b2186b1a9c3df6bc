// Rows of PIPEs. Occupancy only.
//
//   in ──►│ n │ … │ 2 │ 1 │──► valid(), flag()      a stage moves if the next one moves or is empty
//
// Source  sdp.md 2.1.
#pragma once
#include <bit>
#include <cstdint>

#include "elements/occupancy.h"

namespace dlasim::elements {

/// Up to 32 PIPEs in a row. Every beat carries a flag. A row of none has no state; its user is the wire.
class FlaggedRow {
public:
    explicit FlaggedRow(unsigned stages = 0) : stages_(stages) {}

    unsigned stages() const { return stages_; }
    bool valid() const { return full_ & 1; }
    /// Of the beat at the output; pre: valid().
    bool flag() const { return flags_ & 1; }
    bool empty() const { return full_ == 0; }
    /// Cycles until the foremost flagged beat can be at the output; kNoBeat if there is none.
    unsigned distance() const
    {
        const std::uint32_t flagged = full_ & flags_;
        return flagged ? static_cast<unsigned>(std::countr_zero(flagged)) : kNoBeat;
    }
    void sweep(bool in, bool flag, Flow& flow)
    {
        const auto stuck = flow.ready ? 0u : static_cast<unsigned>(std::countr_one(full_));
        if (stuck >= stages_) {
            flow.ready = false;
            return;
        }
        const std::uint32_t keep = (std::uint32_t{1} << stuck) - 1;
        flow.changed |= in || (full_ & ~keep);
        full_ = (full_ & keep) | (full_ >> 1 & ~keep) | std::uint32_t{in} << (stages_ - 1);
        flags_ = (flags_ & keep) | (flags_ >> 1 & ~keep) | std::uint32_t{flag} << (stages_ - 1);
        flow.ready = true;
    }

    /// That many cycles in which everything moves: the beats that enter, and the flags they carry, the first in bit 0. The
    /// flagged beats that were at the output, the first in bit 0.
    std::uint32_t flow(unsigned cycles, std::uint32_t in, std::uint32_t flags)
    {
        const std::uint64_t full = full_ | std::uint64_t{in} << stages_, flagged = flags_ | std::uint64_t{flags} << stages_;
        full_ = static_cast<std::uint32_t>(full >> cycles);
        flags_ = static_cast<std::uint32_t>(flagged >> cycles);
        return static_cast<std::uint32_t>(full & flagged) & ((1u << cycles) - 1);
    }

private:
    unsigned stages_;
    std::uint32_t full_ = 0, flags_ = 0;  // bit 0: the stage at the output
};

}  // namespace dlasim::elements
