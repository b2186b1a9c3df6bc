// The memories around a copy: what they hold before it, made by seed and address, and what they must hold after it.
//
//   before(): every page with a source or a destination ──► the machine ──► after(): every page with a destination
//
// A byte that no destination covers must be as it was: in the gaps, before and after.
#pragma once
#include "config/model/stream.h"
#include "config/model/transfer.h"
#include "golden/memory/atom_set.h"
#include "golden/memory/contents.h"

namespace dlasim {

class CopiedMemory final : public MemoryCheck {
public:
    CopiedMemory(Copy copy, std::uint64_t seed);

    void before(const Write& write) const override;
    /// Copies the blocks one after the other, then compares.
    Findings after(const MemoryAfterRun& remains) const override;

private:
    std::vector<std::uint8_t> made(const Place& page) const;

    const Copy copy_;
    std::array<Stream, 2> streams_;  // in CVSRAM, in DBB memory
    AtomSet sources_, destinations_;
};

/// Calls `line(surface, line)` for each line of a block, in the order of the machine.
template <class Line>
void for_each_line(const CopyBlock& block, Line line)
{
    for (std::uint32_t s = 0; s < block.surfaces; ++s)
        for (std::uint32_t l = 0; l < block.lines; ++l) line(s, l);
}

/// Puts the lines of one end of a block into the set, with `around` bytes on both sides.
void insert_lines(AtomSet& set, const CopyBlock& block, const BlockEnd& end, std::uint64_t around = 0);

}  // namespace dlasim
