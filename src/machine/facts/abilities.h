// What a machine can do beyond its sizes, and where its silicon is wrong: the questions that software - lowering, reference, bounds - asks
// of it. Which generation answers how is decided here.
//
//   [spec]  document and section named
#pragma once
#include "facts/csc.h"
#include "facts/hardware.h"
#include "facts/sdp.h"

namespace dlasim::facts {

inline constexpr std::uint32_t kNoLimit = UINT32_MAX;

struct Abilities {
    bool words = false;                   // int16 and fp16 beside int8, pixels of more than 8 bits. [spec] sdp.md 4.6
    std::uint32_t most_pixel_row = 0;     // elements of a kernel row of pixels. [spec] programming.md 4
    bool short_slice_count = false;       // pixels: the last slice is detected by a count that can be wrong (sums_wrongly). [spec] csc.md 6
    std::uint64_t most_line_entries = 0;  // CBUF entries of a line: what D_ENTRY_PER_SLICE holds. [spec] csc.md 1.2
    std::uint32_t most_buffer_entries = 0;   // of the whole CBUF: the width of an entry's address. [spec] cbuf.md 0
    std::uint64_t longest_stripe = 0;        // output places for which weights are loaded once. [spec] csc.md 1.5.1
    std::uint64_t longest_pixel_stripe = 0;  // the same of pixels. [spec] csc.md 1.5.1
    std::uint32_t pixel_slice = 0;           // elements of a kernel row of pixels that are summed at once. [spec] csc.md 1.3
    bool cacc_pauses = false;                // a cycle between the results of two places. [spec] cacc.md 3.5
    std::uint32_t dead_shift = 0;            // BS, BN: right shifts from here on give 0. [spec] sdp.md 4.1
    bool equal_in_bytes = false;             // int8: EW's comparison leaves the low byte of its lane. [spec] sdp.md 4.2
    bool far_le_is_negative = false;  // LE: a distance of 2^31 or more counts as negative where a step is 2^33 or more. [spec] sdp.md 4.5

    /// The silicon sums kernel rows of pixels of `row` elements wrongly for lines of certain numbers of output positions. [spec] csc.md 6,
    /// points 10, 11
    bool sums_wrongly(std::uint32_t row, std::uint32_t places) const
    {
        if (!short_slice_count) return false;
        const bool one_more = row > 2 * pixel_slice && (row - 1) % pixel_slice == 0;
        const bool alone = row > 3 * pixel_slice && row % pixel_slice != 0 && places % longest_pixel_stripe == 1;
        return one_more || alone;
    }
};

inline Abilities abilities(const Hardware& hw)
{
    const csc::Facts sequencer = csc::of(hw);
    const sdp::Arithmetic post = sdp::arithmetic(hw.generation);
    const bool full = hw.full();
    return {.words = sequencer.words,
            .most_pixel_row = full ? 2 * hw.mac.atomic_c : kNoLimit,
            .short_slice_count = sequencer.short_slice_count,
            .most_line_entries = std::uint64_t{1} << sequencer.entry_bits,
            .most_buffer_entries = full ? 4096u : 32768u,
            .longest_stripe = sequencer.upper,
            .longest_pixel_stripe = sequencer.image_stripe,
            .pixel_slice = hw.mac.atomic_c,
            .cacc_pauses = !full,
            .dead_shift = post.dead_shift,
            .equal_in_bytes = post.narrow_lanes,
            .far_le_is_negative = post.far_le_is_negative};
}

}  // namespace dlasim::facts
