// Image: the atoms of a package from windows that slide along the lines of one, two or four kernel rows at once.
//
//   pixel counter ─► entry of the line ─► request ─► (1) window of each kernel row ─► segments of the atom
//
// Every step fetches one kernel row; the rows of an atom meet at the response stage once all of them have been fetched. Vertical
// padding is made here, horizontal padding was written by CDMA.
//
// Entries narrower than the widest pixel step (32 bytes) are read in pairs: the window jumps from pair to pair.
//
// Shapes  atom: AC lanes, in equal segments of the kernel rows.
// Source  csc.md 1.8, 1.14.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "units/csc/data_ring.h"
#include "units/csc/package.h"
#include "units/csc/package_atoms.h"
#include "units/csc/pixel_counter.h"
#include "units/csc/pixel_window.h"
#include "units/csc/window_walk.h"

namespace dlasim::csc {

class ImageLoader {
public:
    ImageLoader(const Hardware& hardware, DataRing& ring, bool values);

    void start_layer(const LayerConfig& layer);
    /// Loads a package popped in cycle `at`.
    void load(const Package& package, Cycle at, PackageAtoms& out);

private:
    void fetch_row(const Package& package, std::uint32_t h, bool forced, Cycle enable);
    void read(const Package& package, std::uint32_t address, bool forced, std::uint8_t* to);
    void slide(bool fetched);
    void make_atom(const Package& package, std::uint8_t* lanes) const;
    bool paired_reads() const;

    const facts::csc::Facts silicon_;
    const std::uint32_t entry_bytes_, lanes_;
    const bool values_;
    DataRing& ring_;
    const LayerConfig* layer_ = nullptr;
    std::uint32_t pixel_bytes_ = 0;  // BS: from window to window

    WindowWalk walk_;
    PixelCounter pixel_;
    std::array<PixelWindow, DataRing::kRows> windows_;  // (1)
    std::vector<std::uint8_t> pair_;                    // two entries that are read together
};

}  // namespace dlasim::csc
