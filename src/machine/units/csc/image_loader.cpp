#include "units/csc/image_loader.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"

namespace dlasim::csc {

ImageLoader::ImageLoader(const Hardware& hw, DataRing& ring, bool values)
    : silicon_(facts::csc::of(hw)),
      entry_bytes_(hw.cbuf.entry_bytes),
      lanes_(hw.mac.atomic_c),
      values_(values),
      ring_(ring),
      pixel_(silicon_, lanes_),
      windows_{PixelWindow(entry_bytes_), PixelWindow(entry_bytes_), PixelWindow(entry_bytes_), PixelWindow(entry_bytes_)},
      pair_(2 * entry_bytes_, 0)
{
}

void ImageLoader::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    pixel_bytes_ = layer.x_stride * layer.components * layer.element_bytes;
    walk_.start_layer(layer, -layer.pad_top);
    pixel_.start_layer(layer, ring_.paired());
    for (PixelWindow& window : windows_) window.start_layer();
}

bool ImageLoader::paired_reads() const { return entry_bytes_ < facts::csc::kJumpBelow && pixel_bytes_ > entry_bytes_; }

void ImageLoader::load(const Package& p, Cycle at, PackageAtoms& out)
{
    const std::uint32_t rows = layer_->fetch_rows, steps = round_up(p.length, rows), atom_bytes = lanes_ * layer_->element_bytes + 64;
    out.lanes = rows == 1 ? p.channels : lanes_;
    pixel_.stand_until(at);
    out.make_room_in_bytes(p.length, atom_bytes);
    Cycle enable = at + (rows == 1 ? facts::csc::kDataRead : rows == 2 ? facts::csc::kDataReadTwoRows : facts::csc::kDataReadFourRows);
    for (std::uint32_t step = 0, made = 0; step < steps; ++step, ++enable) {
        const std::uint32_t h = step % rows;
        fetch_row(p, h, step < rows, enable);
        if (h + 1 != rows) continue;
        for (std::uint32_t i = 0; i < rows && made < p.length; ++i, ++made) {
            if (made != 0) slide(i == 0);
            if (values_) make_atom(p, out.atom(made, atom_bytes));
        }
        const bool stripe_end = step + 1 == steps;
        pixel_.advance(p, stripe_end, walk_.column_end());
        walk_.advance(p, stripe_end);
    }
    for (PixelWindow& window : windows_) {
        if (p.block_end) window.start_at(pixel_.odd() ? entry_bytes_ + entry_bytes_ / 2 : entry_bytes_);
        window.end_stripe();
    }
}

/// Kernel row `h` of the window at the pixel: padding, an entry that is still there, or a read.
void ImageLoader::fetch_row(const Package& p, std::uint32_t h, bool forced, Cycle enable)
{
    PixelWindow& window = windows_[h];
    const std::int64_t row = std::int64_t{walk_.row()} + p.kernel_row + h;
    const std::uint32_t column = pixel_.element() * layer_->element_bytes / entry_bytes_;
    window.begin_fetch();
    if (row < 0 || row > layer_->last_row) {
        ring_.forget(h);
        window.pad();
    } else if (column >> silicon_.row_limit_shift <= layer_->last_entry) {
        const std::uint32_t address = ring_.address(row, 0, column);
        // Rows at once that the kernel does not have, and the position after the last one of an odd number, have no weights.
        const bool used = h <= p.sub_rows && column <= layer_->last_entry;
        if (!ring_.request(h, address, forced, enable, used)) return;
        std::uint8_t* const to = window.load(values_);
        if (values_) read(p, address, forced, to);
    }
}

void ImageLoader::read(const Package& p, std::uint32_t address, bool forced, std::uint8_t* to)
{
    if (!paired_reads()) {
        std::memcpy(to, ring_.entry(address), entry_bytes_);
        return;
    }
    // The last element needed: it is too close to the start of its entry, so the one before is read with it; or it is, and
    // the atom begins inside the entry.
    const std::uint32_t n = p.channels, end = pixel_.element() % lanes_ + 1;
    const bool with_before = end < n && !forced;
    const std::uint32_t shift = with_before ? end + lanes_ - n : end > n && !forced ? end - n : 0;
    if (with_before) {
        std::memcpy(pair_.data(), ring_.entry_before(address), entry_bytes_);
        std::memcpy(pair_.data() + entry_bytes_, ring_.entry(address), entry_bytes_);
    } else {
        std::memcpy(pair_.data(), ring_.entry(address), entry_bytes_);
        std::memset(pair_.data() + entry_bytes_, 0, entry_bytes_);
    }
    std::memcpy(to, pair_.data() + std::min(shift, entry_bytes_), entry_bytes_);
}

/// The windows slide on by a pixel step; `fetched`: over what fetch_row() did to them.
void ImageLoader::slide(bool fetched)
{
    for (std::uint32_t q = 0; q < layer_->fetch_rows; ++q) windows_[q].slide(pixel_bytes_, fetched, paired_reads());
}

void ImageLoader::make_atom(const Package& p, std::uint8_t* lanes) const
{
    const std::uint32_t rows = layer_->fetch_rows, segment = lanes_ / rows * layer_->element_bytes;
    const std::uint32_t count = std::min(p.channels * layer_->element_bytes, segment);
    if (rows != 1) std::memset(lanes, 0, lanes_ * layer_->element_bytes);
    for (std::uint32_t q = 0; q <= p.sub_rows && q < rows; ++q) windows_[q].copy(lanes + q * segment, count, ring_);
}

}  // namespace dlasim::csc
