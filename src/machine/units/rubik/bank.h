// A bank of Rubik's register file: filled with the reads of a block, drained as its writes.
//
//   contract   [row][column] atoms  ─►  column by column, its rows
//   split      [column] atoms       ─►  plane by plane, its columns, zeros after the last one
//   merge      [plane][column]      ─►  column by column, its planes, zeros after the last one
//
// Shapes  64 atoms of 32 bytes; a beat is one or two atoms in, one or two out.
// Source  rubik.md 1.4, 1.5.
#pragma once
#include <array>
#include <cstdint>

#include "units/rubik/layer.h"

namespace dlasim::rubik {

using Atom = std::array<std::uint8_t, kAtomBytes>;

class Bank {
public:
    void open(const Block& block);
    /// One beat of 64 bytes; true if it was the last one. pre: not yet full
    bool fill(const std::uint8_t* beat);

    /// Atoms of the next beat to drain.
    std::uint32_t drain_atoms() const;
    /// Writes them to `out`; true if it was the last beat.
    bool drain(Atom* out);

private:
    Atom atom(std::uint32_t outer, std::uint32_t inner) const;
    std::uint32_t outer_count() const;
    std::uint32_t inner_count() const;

    static constexpr std::uint32_t kAtoms = 64;
    Block block_;
    std::array<Atom, kAtoms> atoms_{};
    std::uint32_t request_ = 0, filled_ = 0;  // filling: request of the block, atoms of it
    std::uint32_t outer_ = 0, inner_ = 0;     // draining: column or plane, atom of it (merge: columns only)
};

}  // namespace dlasim::rubik
