// Winograd: the atoms of a package are transformed 4 x 4 tiles of four channels.
//
//                    column 0 1   2 3 4 5
//       entry of rows 0-3   previous│current      two tiles a column step: rows 0-3 and rows 2-5;
//       entry of rows 4-5   entry   │entry        they begin at column 2 where the step is odd, else at column 0
//
// An entry is 4 x 4 positions of 8 bytes: four channels of 16 bits, or eight of int8 for two slices. It is fetched for an even
// column step, and for the first tiles of a stripe.
//
// Shapes  atom: 64 lanes of 16 bits, position * 4 + channel.
// Source  csc.md 1.8.2, 1.8.4, 1.8.5, 1.9.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "units/csc/data_ring.h"
#include "units/csc/package.h"
#include "units/csc/package_atoms.h"
#include "units/csc/window_walk.h"

namespace dlasim::csc {

class TileLoader {
public:
    TileLoader(const Hardware& hardware, DataRing& ring, bool values);

    void start_layer(const LayerConfig& layer);
    /// Loads a package popped in cycle `at`.
    void load(const Package& package, Cycle at, PackageAtoms& out);

private:
    /// Four input rows of the window.
    struct Rows {
        std::vector<std::uint8_t> current, previous;
    };
    void fetch(const Package& package, std::uint32_t h, bool keeps_previous, Cycle enable);
    void gather(bool lower, bool exact, std::int16_t* tile) const;
    void transform(const std::int16_t* tile, std::uint8_t* lanes) const;

    const std::uint32_t entry_bytes_;
    const bool values_;
    DataRing& ring_;
    const LayerConfig* layer_ = nullptr;

    WindowWalk walk_;
    std::array<Rows, 2> rows_;
};

}  // namespace dlasim::csc
