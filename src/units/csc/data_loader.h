// DL, the data loader: walks the output positions of a package, reads the CBUF entry each of them
// needs (once while it stays the same) and selects the bytes of the atom.
//
//   direct    one entry an atom, or a part of one in the last channel slice (packed); padding
//             replaces the whole atom
//   image     a window of two entries slides along the line, one for each of up to four kernel rows
//   Winograd  a window of 6 x 6 positions; its 4 x 4 tiles are transformed channel by channel
//
// The walk of the same stripe is repeated for every kernel position and channel slice; only a
// package that completes the sums moves it on.
//
// Shapes  atom: slice channels (direct), AC lanes (image), 64 lanes of 16 bits (Winograd).
// Source  csc.md 1.8, 1.9, 1.14.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "facts/csc.h"
#include "links/probe.h"
#include "units/cbuf/cbuf.h"
#include "units/csc/package.h"

namespace dlasim {

/// The atoms of a package as CMAC gets them: pointers into the CBUF, or into `bytes`.
struct PackageAtoms {
    std::vector<const std::uint8_t*> atoms;
    std::vector<std::uint8_t> bytes;
    std::uint32_t lanes = 0;

    /// Room for `count` atoms of `size` bytes each in `bytes`, which the atoms point to.
    void make_room(std::uint32_t count, std::uint32_t size);
};

class DataLoader {
public:
    DataLoader(const Hardware& hardware, Cbuf& cbuf, bool values);

    void reset_ring() { base_ = 0; }
    void start_layer(const CscLayer& layer);
    /// The ring starts `slices` of that layer later.
    std::uint32_t release(const CscLayer& of, std::uint32_t slices);

    /// Loads a package popped in cycle `at`.
    void load(const Package& package, Cycle at, PackageAtoms& out);

    std::uint64_t reads() const { return reads_; }
    Probe* read_probe = nullptr;  // sc2buf_dat_rd

private:
    static constexpr std::uint32_t kNoAddress = UINT32_MAX;
    /// Where the walk is: output column, input column, input row.
    struct Position {
        std::uint32_t output = 0;
        std::int32_t column = 0, row = 0;
    };
    /// One of four kernel rows in flight: current and previous entry, and the byte of the window an atom starts at.
    struct Level {
        std::vector<std::uint8_t> current, previous;
        bool current_pad = true, previous_pad = true;
        bool loaded = false, padded = false;  // by the last step
        std::uint32_t shift = 0, shift_start = 0;
    };
    struct Selection {
        std::uint32_t shift = 0, mask = 0;  // entry = column >> shift, part = column & mask
        std::uint32_t part_bytes = 0, offset = 0;
    };

    void load_direct(const Package& package, Cycle at, PackageAtoms& out);
    void load_image(const Package& package, Cycle at, PackageAtoms& out);
    void load_tiles(const Package& package, Cycle at, PackageAtoms& out);
    Selection select(const Package& package) const;
    std::uint32_t row_address(std::int64_t row) const;
    /// Wraps an address once, as the silicon does.
    std::uint32_t wrap(std::uint32_t address) const { return address >= ring_entries_ ? address - ring_entries_ : address; }
    const std::uint8_t* entry(std::uint32_t address) const;
    void record_read(Cycle enable);

    bool request(std::uint32_t h, std::uint32_t address, bool always, Cycle enable);
    void advance_window(const Package& package, bool stripe_end, std::int32_t first_row);
    void fetch_image_row(const Package& package, std::uint32_t h, bool begin, Cycle enable);
    void shift_levels(bool fetched);
    bool jumps() const;
    void fetch_image(const Package& package, Level& level, std::uint32_t address, bool begin);
    void image_atom(const Package& package, std::uint8_t* lanes) const;
    void winograd_atom(bool lower, bool exact, std::uint8_t* lanes) const;
    void advance_pixel(const Package& package, bool stripe_end, bool column_end);
    void end_slice(const Package& package);

    const facts::csc::Facts facts_;
    const std::uint32_t entry_bytes_, bank_depth_, lanes_, parts_;
    const bool values_;
    Cbuf& cbuf_;
    const CscLayer* layer_ = nullptr;

    std::uint32_t base_ = 0;  // ring start, entries
    std::uint32_t ring_entries_ = 1;
    Position now_, stripe_;                // stripe_: where the stripe begins
    std::uint32_t slice_ = 0;              // cop: channel slices done
    bool paired_ = false;                  // two channel slices share an entry
    std::uint32_t slice_address_ = 0;      // cb
    std::array<std::uint32_t, 4> last_{};  // address of the last request of each row in flight

    // Image and Winograd.
    std::array<Level, 4> levels_;
    std::uint32_t pixel_ = 0, pixel_slice_ = 0, pixel_stripe_ = 0;      // last element needed; bases
    std::uint32_t pixel_start_ = 0, pixel_step_ = 0, pixel_bytes_ = 0;  // init, add, BS
    std::uint32_t pixel_chunk_ = 0, pixel_next_slice_ = 0, slices_seen_ = 2;
    bool odd_ = false, odd_stripe_ = false;

    std::vector<std::uint8_t> pad_, zero_;
    std::vector<std::uint8_t> jump_;  // two entries that are read together
    std::uint64_t reads_ = 0;
    Cycle run_start_ = 0, run_length_ = 0;  // read enables in a row, for the probe
};

}  // namespace dlasim
