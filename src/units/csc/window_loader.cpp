// Image and Winograd: the part of DL that slides windows over entries. Source  csc.md 1.8.3-1.8.5, 1.9, 1.14.
#include <algorithm>
#include <cstring>

#include "facts/csc.h"
#include "numerics/tile_block.h"
#include "units/csc/data_loader.h"

namespace dlasim {
namespace {
constexpr std::uint32_t kNoAddress = UINT32_MAX;
constexpr std::uint32_t kJumpBelow = 32;  // entries narrower than the widest pixel step are read in pairs
constexpr std::uint32_t kTileChannels = 4, kTileLanes = numerics::kTileLanes, kPositionBytes = 8;
}  // namespace

void DataLoader::load_windows(const Package& p, Cycle at, PackageAtoms& out)
{
    const CscLayer& l = *layer_;
    const bool image = l.mode == ConvMode::Image;
    const std::uint32_t steps = l.fetch_rows;
    const std::uint32_t atom_bytes = image ? lanes_ * l.element_bytes : 2 * kTileLanes;
    out.lanes = image ? (steps == 1 ? p.channels : lanes_) : kTileLanes;
    out.make_room(p.length, atom_bytes + 64);
    const std::uint32_t mask = full_ ? 0xfff : 0xffff;
    Cycle enable = at + (image ? steps == 1   ? facts::csc::kDataRead
                                 : steps == 2 ? facts::csc::kDataReadTwoRows
                                              : facts::csc::kDataReadFourRows
                               : facts::csc::kDataReadWinograd);
    std::array<bool, 4> loads{}, pads{};
    std::uint32_t made = 0;
    bool exact = false;  // Winograd: the tile is the current entry
    for (std::uint32_t s = 0, h = 0, k = 0;; ++k, ++enable) {
        const bool last_h = h == steps - 1;
        const bool s_last = s + 1 == p.length, stripe_end = s_last && last_h;
        const bool column_end = now_.output >= l.last_output_column && last_h;
        const std::int64_t row = std::int64_t{now_.row} + p.kernel_row + h;
        std::uint32_t in_row;
        bool pad = false, skip;
        if (image) {
            in_row = pixel_ * l.element_bytes / entry_bytes_;
            pad = row < 0 || row > l.last_row;
            skip = (full_ ? in_row : in_row >> 2) > l.last_entry;
        } else {
            in_row = static_cast<std::uint32_t>(now_.column) >> 2;
            skip = now_.column >= 4 && (now_.column & 2) && s >= 2;
            if (h == 0) exact = (now_.column & 2) != 0;
        }
        Level& level = levels_[h];
        loads[h] = false;
        pads[h] = pad;
        if (pad) {
            last_[h] = kNoAddress;
            level.previous_pad = level.current_pad;
            level.current_pad = true;
        } else if (!skip) {
            const std::uint32_t address = wrap(base_ + slice_address_ + (row_address(row) & mask) + in_row);
            const bool begin = k < steps;
            if (address != last_[h] || (image && begin)) {
                ++reads_;
                if (read_probe) record_read(enable);
                loads[h] = true;
                if (image) fetch_image(p, level, address, begin);
                else if (values_) {
                    if (!begin) level.previous.swap(level.current);
                    std::memcpy(level.current.data(), entry(address), entry_bytes_);
                }
            }
            last_[h] = address;
        }
        if (image) {
            // The rows of an atom meet at the response stage: once all of them have been fetched.
            if (last_h)
                for (std::uint32_t i = 0; i < steps && made < p.length; ++i, ++made) {
                    for (std::uint32_t q = 0; q < steps; ++q) {
                        if (made == 0) continue;
                        Level& row_level = levels_[q];
                        const bool loaded = i == 0 && loads[q], padded = i == 0 && pads[q];
                        const bool jumps = !full_ && entry_bytes_ < kJumpBelow && pixel_bytes_ > entry_bytes_;
                        const std::uint32_t moved = row_level.shift + std::min(pixel_bytes_, entry_bytes_) - (loaded ? entry_bytes_ : 0);
                        row_level.shift = padded && !jumps ? moved & (entry_bytes_ - 1) : moved;
                    }
                    if (values_) image_atom(p, out.bytes.data() + std::size_t{made} * (atom_bytes + 64));
                }
        } else if (made < p.length) {
            if (values_) winograd_atom(h == 1, exact, out.bytes.data() + std::size_t{made} * (atom_bytes + 64));
            ++made;
        }
        if (last_h) {
            if (image) advance_pixel(p, stripe_end, column_end);
            if (stripe_end && !p.channel_end) now_ = stripe_;
            else {
                if (column_end) {
                    now_.output = steps - 1;
                    now_.column = 2;
                    const std::int32_t first = image ? -l.pad_top : 0;
                    now_.row = stripe_end && p.group_end ? first : now_.row + static_cast<std::int32_t>(l.y_stride);
                } else {
                    now_.output += steps;
                    now_.column += 2;
                }
                if (stripe_end) stripe_ = now_;
            }
        }
        if (stripe_end) break;
        h = last_h ? 0 : h + 1;
        if (!s_last) ++s;
    }
    if (image)
        for (Level& level : levels_) {
            if (p.block_end) level.shift_start = full_ && odd_ ? entry_bytes_ + entry_bytes_ / 2 : entry_bytes_;
            level.shift = level.shift_start;
        }
}

void DataLoader::advance_pixel(const Package& p, bool stripe_end, bool column_end)
{
    const CscLayer& l = *layer_;
    if (stripe_end && p.block_end) {
        if (p.channel_end) {
            pixel_ = column_end ? pixel_start_ : (pixel_stripe_ + pixel_chunk_) & 0xffff;
            pixel_stripe_ = pixel_;
        } else if (full_) {
            pixel_ = pixel_stripe_ + pixel_next_slice_;
        } else {
            // The silicon tells the last slice by a count that is one short when it is a full slice plus one element.
            const std::uint32_t wch = l.last_weight_channel, last = wch / lanes_ + (wch % lanes_ != 0);
            pixel_ = pixel_slice_ + (slices_seen_ >= last ? pixel_next_slice_ : lanes_);
        }
        pixel_slice_ = pixel_;
        slices_seen_ = p.channel_end ? 2 : slices_seen_ + 1;
        if (full_ && l.int8()) {
            const bool step_odd = (l.x_stride * l.components) & 1;
            if (!p.channel_end) odd_ = !odd_;
            else odd_ = column_end ? false : step_odd ? !odd_stripe_ : odd_stripe_;
            if (p.channel_end) odd_stripe_ = odd_;
        }
    } else if (stripe_end) {
        pixel_ = pixel_slice_;
    } else {
        pixel_ = (pixel_ + pixel_step_) & 0xffff;
    }
}

void DataLoader::fetch_image(const Package& p, Level& level, std::uint32_t address, bool begin)
{
    const bool was_pad = level.current_pad;
    level.previous_pad = was_pad;
    level.current_pad = false;
    if (!values_) return;
    if (!was_pad) level.previous.swap(level.current);
    const bool jumps = !full_ && entry_bytes_ < kJumpBelow && pixel_bytes_ > entry_bytes_;
    if (!jumps) {
        std::memcpy(level.current.data(), entry(address), entry_bytes_);
        return;
    }
    const std::uint32_t n = p.channels, end = pixel_ % lanes_ + 1;
    const bool pair = end < n && !begin;
    const std::uint32_t shift = pair ? end + lanes_ - n : end > n && !begin ? end - n : 0;
    if (pair) {
        // Before the start of the ring lies the last row of the bank behind it: a defect of the silicon.
        const std::uint32_t before = address == 0 ? ring_entries_ + bank_depth_ - 1 : address - 1;
        std::memcpy(jump_.data(), entry(before), entry_bytes_);
        std::memcpy(jump_.data() + entry_bytes_, entry(address), entry_bytes_);
    } else {
        std::memcpy(jump_.data(), entry(address), entry_bytes_);
        std::memset(jump_.data() + entry_bytes_, 0, entry_bytes_);
    }
    std::memcpy(level.current.data(), jump_.data() + std::min(shift, entry_bytes_), entry_bytes_);
}

void DataLoader::image_atom(const Package& p, std::uint8_t* lanes) const
{
    const CscLayer& l = *layer_;
    const std::uint32_t steps = l.fetch_rows, segment = lanes_ / steps * l.element_bytes;
    const std::uint32_t keep = std::min(p.channels * l.element_bytes, segment);
    if (steps != 1) std::memset(lanes, 0, lanes_ * l.element_bytes);
    for (std::uint32_t q = 0; q <= p.sub_rows && q < steps; ++q) {
        const Level& level = levels_[q];
        const std::uint8_t* current = level.current_pad ? pad_.data() : level.current.data();
        const std::uint8_t* previous = level.previous_pad ? pad_.data() : level.previous.data();
        // The window is {previous, current}, then {current, 0}; the counter is 8 bits wide.
        std::uint32_t shift = level.shift & (2 * entry_bytes_ - 1);
        if (shift >= entry_bytes_) {
            shift -= entry_bytes_;
            previous = current;
            current = zero_.data();
        }
        const std::uint32_t first = std::min(keep, entry_bytes_ - shift);
        std::memcpy(lanes + q * segment, previous + shift, first);
        std::memcpy(lanes + q * segment + first, current, keep - first);
    }
}

void DataLoader::winograd_atom(bool lower, bool exact, std::uint8_t* lanes) const
{
    const CscLayer& l = *layer_;
    const bool bytes = l.int8();
    const std::uint32_t first_channel = bytes && slice_ % 2 == 1 ? kTileChannels : 0;
    std::int16_t tile[kTileLanes];
    for (std::uint32_t i = 0; i < kTileLanes / kTileChannels; ++i) {
        const std::uint32_t row = i / 4 + (lower ? 2 : 0), c = i % 4;
        const bool old = !exact && c < 2;
        const std::uint32_t column = exact ? c : old ? c + 2 : c - 2;
        const Level& level = levels_[row / 4];
        const std::uint8_t* at = (old ? level.previous : level.current).data() + (row % 4 * 4 + column) * kPositionBytes;
        if (bytes)
            for (std::uint32_t ch = 0; ch < kTileChannels; ++ch)
                tile[kTileChannels * i + ch] = static_cast<std::int8_t>(at[first_channel + ch]);
        else std::memcpy(tile + kTileChannels * i, at, kPositionBytes);
    }
    if (l.precision == Precision::Fp16) {
        std::uint16_t in[kTileLanes], out[kTileLanes];
        std::memcpy(in, tile, sizeof in);
        numerics::transform_tiles_fp16(in, out);
        std::memcpy(lanes, out, sizeof out);
    } else {
        std::int16_t out[kTileLanes];
        numerics::transform_tiles(bytes, l.pra_truncate, tile, out);
        std::memcpy(lanes, out, sizeof out);
    }
}

}  // namespace dlasim
