// Direct convolution: the atoms of a package, one entry an atom or a part of one.
//
//   output position ─► column, row of the input ─┬─ outside ──► an atom of padding
//                                                └─ inside ───► entry ─► part of it: the channels of the slice
//
// The channels of the last slice are packed: an entry holds 1, 2 or 4 of its columns. In nv_full an int8 entry holds two
// slices. The walk of a stripe is repeated for every kernel position and channel slice; it may go over rows.
//
// Without values only the number of reads counts: of the positions in a row of the output it is known at once.
//
// Shapes  atom: the slice's channels.
// Source  csc.md 1.8.1, 1.8.2, 1.8.5.
#pragma once
#include <cstdint>

#include "units/csc/data_ring.h"
#include "units/csc/package.h"
#include "units/csc/package_atoms.h"

namespace dlasim::csc {

class DirectLoader {
public:
    DirectLoader(const Hardware& hardware, DataRing& ring, bool values);

    void start_layer(const LayerConfig& layer);
    /// Loads a package popped in cycle `at`.
    void load(const Package& package, Cycle at, PackageAtoms& out);

private:
    /// Where the walk is.
    struct Position {
        std::uint32_t output = 0;          // column
        std::int32_t column = 0, row = 0;  // of the input
    };
    struct Part {
        std::uint32_t shift = 0, mask = 0;   // entry = column >> shift, part = column & mask
        std::uint32_t bytes = 0, first = 0;  // of a part; where part 0 begins
    };
    Part part_of(const Package& package) const;
    bool counts(std::uint32_t shift) const;
    void count(const Package& package, std::uint32_t shift);
    void count_run(std::int32_t column, std::int32_t row, std::uint32_t length, std::uint32_t shift);
    Position first_position() const { return {0, -layer_->pad_left, -layer_->pad_top}; }
    void advance(Position& position) const;
    void end(const Package& package, const Position& position);

    const std::uint32_t entry_bytes_, atoms_per_entry_;
    const bool values_;
    DataRing& ring_;
    const LayerConfig* layer_ = nullptr;
    Position stripe_;  // where the stripe begins
};

}  // namespace dlasim::csc
