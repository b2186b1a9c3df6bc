// Image and Winograd: the part of DL that slides windows over entries. Source  csc.md 1.8.3-1.8.5, 1.9, 1.14.
#include <algorithm>
#include <cstring>

#include "facts/csc.h"
#include "numerics/tile_block.h"
#include "units/csc/data_loader.h"

namespace dlasim {
namespace {
constexpr std::uint32_t kTileChannels = 4, kTileLanes = numerics::kTileLanes, kPositionBytes = 8;
constexpr std::uint32_t kTileAtom = 2 * kTileLanes + 64;
}  // namespace

/// Entries narrower than the widest pixel step are read in pairs.
bool DataLoader::jumps() const { return entry_bytes_ < facts::csc::kJumpBelow && pixel_bytes_ > entry_bytes_; }

/// Requests the entry of kernel row `h` unless it is the one requested last; true if it is read.
bool DataLoader::request(std::uint32_t h, std::uint32_t address, bool always, Cycle enable)
{
    const bool reads = always || address != last_[h];
    last_[h] = address;
    if (!reads) return false;
    ++reads_;
    if (read_probe) record_read(enable);
    return true;
}

/// The walk goes to the next window; at the end of a stripe to where the next package begins.
void DataLoader::advance_window(const Package& p, bool stripe_end, std::int32_t first_row)
{
    const CscLayer& l = *layer_;
    if (stripe_end && !p.channel_end) {
        now_ = stripe_;
        return;
    }
    if (now_.output >= l.last_output_column) {
        now_ = {l.fetch_rows - 1, 2, stripe_end && p.group_end ? first_row : now_.row + static_cast<std::int32_t>(l.y_stride)};
    } else {
        now_.output += l.fetch_rows;
        now_.column += 2;
    }
    if (stripe_end) stripe_ = now_;
}

void DataLoader::load_image(const Package& p, Cycle at, PackageAtoms& out)
{
    const CscLayer& l = *layer_;
    const std::uint32_t rows = l.fetch_rows, steps = round_up(p.length, rows), atom_bytes = lanes_ * l.element_bytes + 64;
    out.lanes = rows == 1 ? p.channels : lanes_;
    out.make_room(p.length, atom_bytes);
    Cycle enable = at + (rows == 1 ? facts::csc::kDataRead : rows == 2 ? facts::csc::kDataReadTwoRows : facts::csc::kDataReadFourRows);
    for (std::uint32_t k = 0, made = 0; k < steps; ++k, ++enable) {
        const std::uint32_t h = k % rows;
        fetch_image_row(p, h, k < rows, enable);
        if (h + 1 != rows) continue;
        // The rows of an atom meet at the response stage: once all of them have been fetched.
        for (std::uint32_t i = 0; i < rows && made < p.length; ++i, ++made) {
            if (made != 0) shift_levels(i == 0);
            if (values_) image_atom(p, out.bytes.data() + std::size_t{made} * atom_bytes);
        }
        const bool stripe_end = k + 1 == steps;
        advance_pixel(p, stripe_end, now_.output >= l.last_output_column);
        advance_window(p, stripe_end, -l.pad_top);
    }
    for (Level& level : levels_) {
        if (p.block_end) level.shift_start = odd_ ? entry_bytes_ + entry_bytes_ / 2 : entry_bytes_;
        level.shift = level.shift_start;
    }
}

/// Kernel row `h` of the window at the pixel: padding, an entry that is still there, or a read.
void DataLoader::fetch_image_row(const Package& p, std::uint32_t h, bool begin, Cycle enable)
{
    const CscLayer& l = *layer_;
    Level& level = levels_[h];
    const std::int64_t row = std::int64_t{now_.row} + p.kernel_row + h;
    const std::uint32_t in_row = pixel_ * l.element_bytes / entry_bytes_;
    level.loaded = false;
    level.padded = row < 0 || row > l.last_row;
    if (level.padded) {
        last_[h] = kNoAddress;
        level.previous_pad = level.current_pad;
        level.current_pad = true;
    } else if (in_row >> facts_.row_limit_shift <= l.last_entry) {
        const std::uint32_t address = wrap(base_ + slice_address_ + (row_address(row) & facts_.address_mask) + in_row);
        level.loaded = request(h, address, begin, enable);
        if (level.loaded) fetch_image(p, level, address, begin);
    }
}

/// The windows slide on by a pixel step; `fetched`: over what fetch_image_row() did to them.
void DataLoader::shift_levels(bool fetched)
{
    for (std::uint32_t q = 0; q < layer_->fetch_rows; ++q) {
        Level& level = levels_[q];
        const std::uint32_t entry = fetched && level.loaded ? entry_bytes_ : 0;
        const std::uint32_t moved = level.shift + std::min(pixel_bytes_, entry_bytes_) - entry;
        level.shift = fetched && level.padded && !jumps() ? moved & (entry_bytes_ - 1) : moved;
    }
}

void DataLoader::load_tiles(const Package& p, Cycle at, PackageAtoms& out)
{
    const CscLayer& l = *layer_;
    const std::uint32_t rows = l.fetch_rows, steps = round_up(p.length, rows);
    out.lanes = kTileLanes;
    out.make_room(p.length, kTileAtom);
    Cycle enable = at + facts::csc::kDataReadWinograd;
    bool exact = false;  // the tile is the current entry
    for (std::uint32_t k = 0; k < steps; ++k, ++enable) {
        const std::uint32_t h = k % rows;
        const bool odd = now_.column & 2, stripe_end = k + 1 == steps;
        if (h == 0) exact = odd;
        // The entry of an odd column came with the column before it, but for the first tiles of a stripe.
        if (const bool skip = now_.column >= 4 && odd && std::min(k, p.length - 1) >= 2; !skip) {
            const std::uint32_t line = row_address(std::int64_t{now_.row} + p.kernel_row + h) & facts_.address_mask;
            const std::uint32_t address = wrap(base_ + slice_address_ + line + (static_cast<std::uint32_t>(now_.column) >> 2));
            if (request(h, address, false, enable) && values_) {
                Level& level = levels_[h];
                if (k >= rows) level.previous.swap(level.current);
                std::memcpy(level.current.data(), entry(address), entry_bytes_);
            }
        }
        if (k < p.length && values_) winograd_atom(h == 1, exact, out.bytes.data() + std::size_t{k} * kTileAtom);
        if (h + 1 == rows) advance_window(p, stripe_end, 0);
    }
}

void DataLoader::advance_pixel(const Package& p, bool stripe_end, bool column_end)
{
    const CscLayer& l = *layer_;
    if (stripe_end && p.block_end) {
        if (p.channel_end) {
            pixel_ = column_end ? pixel_start_ : (pixel_stripe_ + pixel_chunk_) & 0xffff;
            pixel_stripe_ = pixel_;
        } else if (facts_.short_slice_count) {
            // A defect: the count is one short when the last slice is a full slice plus one element.
            const std::uint32_t wch = l.last_weight_channel, last = wch / lanes_ + (wch % lanes_ != 0);
            pixel_ = pixel_slice_ + (slices_seen_ >= last ? pixel_next_slice_ : lanes_);
        } else {
            pixel_ = pixel_stripe_ + pixel_next_slice_;
        }
        pixel_slice_ = pixel_;
        slices_seen_ = p.channel_end ? 2 : slices_seen_ + 1;
        if (paired_) {
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
    if (!jumps()) {
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
