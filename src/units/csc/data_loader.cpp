#include "units/csc/data_loader.h"

#include <algorithm>
#include <cstring>

namespace dlasim {

void PackageAtoms::make_room(std::uint32_t count, std::uint32_t size)
{
    if (atoms.size() < count) atoms.resize(count);
    if (bytes.size() < std::size_t{count} * size) bytes.resize(std::size_t{count} * size);
    for (std::uint32_t i = 0; i < count; ++i) atoms[i] = bytes.data() + std::size_t{i} * size;
}

DataLoader::DataLoader(const Hardware& hw, Cbuf& cbuf, bool values)
    : facts_(facts::csc::of(hw)),
      entry_bytes_(hw.cbuf.entry_bytes),
      bank_depth_(hw.cbuf.bank_depth),
      lanes_(hw.mac.atomic_c),
      parts_(std::max(1u, hw.atoms_per_entry())),
      values_(values),
      cbuf_(cbuf)
{
    pad_.assign(entry_bytes_ + 64, 0);
    zero_.assign(entry_bytes_ + 64, 0);
    jump_.assign(2 * entry_bytes_, 0);
    for (Level& level : levels_) {
        level.current.assign(entry_bytes_, 0);
        level.previous.assign(entry_bytes_, 0);
    }
}

void DataLoader::start_layer(const CscLayer& layer)
{
    layer_ = &layer;
    paired_ = entry_bytes_ == 2 * lanes_ * layer.element_bytes;
    ring_entries_ = layer.data_banks * bank_depth_;
    const bool windows = layer.mode != ConvMode::Direct;
    now_.output = windows ? layer.fetch_rows - 1 : 0;
    now_.column = windows ? 2 : -layer.pad_left;
    now_.row = layer.mode == ConvMode::Winograd ? 0 : -layer.pad_top;
    stripe_ = now_;
    slice_ = slice_address_ = 0;
    last_.fill(kNoAddress);
    for (std::size_t i = 0; i < pad_.size(); ++i)
        pad_[i] = static_cast<std::uint8_t>(layer.int8() || i % 2 == 0 ? layer.pad_value : layer.pad_value >> 8);

    const std::uint32_t step = layer.x_stride * layer.components, wch = layer.last_weight_channel;
    pixel_start_ = layer.fetch_rows == 4 ? 3 * step + wch % 64 : layer.fetch_rows == 2 ? step + wch % 64 : std::min(wch, lanes_ - 1);
    pixel_step_ = step * layer.fetch_rows;
    pixel_bytes_ = step * layer.element_bytes;
    pixel_chunk_ = step * facts_.image_stripe;
    pixel_next_slice_ = wch % lanes_ + 1;
    pixel_ = pixel_slice_ = pixel_stripe_ = pixel_start_;
    slices_seen_ = 2;
    odd_ = odd_stripe_ = false;
    for (Level& level : levels_) {
        level.shift = level.shift_start = entry_bytes_;
        level.current_pad = level.previous_pad = true;
    }
}

std::uint32_t DataLoader::release(const CscLayer& of, std::uint32_t slices)
{
    const std::uint32_t released = of.entries * of.loaded_batches * slices;
    base_ = (base_ + released) % ring_entries_;
    return released;
}

const std::uint8_t* DataLoader::entry(std::uint32_t address) const
{
    return address < cbuf_.entries() ? cbuf_.entry(address) : zero_.data();
}

std::uint32_t DataLoader::row_address(std::int64_t row) const
{
    const std::uint32_t entries = layer_->row_entries * layer_->loaded_batches;
    return static_cast<std::uint32_t>(row * entries);
}

/// Enables in a row become one run of the probe.
void DataLoader::record_read(Cycle enable)
{
    if (run_length_ != 0 && run_start_ + run_length_ == enable) {
        ++run_length_;
        return;
    }
    if (run_length_ != 0) read_probe->run(run_start_, run_length_);
    run_start_ = enable;
    run_length_ = 1;
}

void DataLoader::load(const Package& package, Cycle at, PackageAtoms& out)
{
    const std::uint64_t reads = reads_;
    if (layer_->mode == ConvMode::Direct) load_direct(package, at, out);
    else if (layer_->mode == ConvMode::Image) load_image(package, at, out);
    else load_tiles(package, at, out);
    cbuf_.data_reads += reads_ - reads;
    if (read_probe && run_length_ != 0) {
        read_probe->run(run_start_, run_length_);
        run_length_ = 0;
    }
    if (package.block_end) end_slice(package);
}

void DataLoader::end_slice(const Package& package)
{
    const CscLayer& l = *layer_;
    if (package.channel_end) {
        slice_ = slice_address_ = 0;
        return;
    }
    const bool half = paired_ && slice_ % 2 == 0;
    if (l.mode != ConvMode::Image && !half) slice_address_ += l.data_width;
    ++slice_;
}

/// Which part of which entry holds the atom of a column: the channels of the last slice are packed.
DataLoader::Selection DataLoader::select(const Package& p) const
{
    if (paired_ && slice_ % 2 == 1) return {0, 0, 0, entry_bytes_ / 2};
    const std::uint32_t n = p.channels * layer_->element_bytes;
    Selection s{0, 0, entry_bytes_, 0};
    if (!p.last_slice) return s;
    for (std::uint32_t parts = parts_; parts > 1 && n <= s.part_bytes / 2; parts /= 2) {
        ++s.shift;
        s.mask = 2 * s.mask + 1;
        s.part_bytes /= 2;
    }
    return s;
}

void DataLoader::load_direct(const Package& p, Cycle at, PackageAtoms& out)
{
    const CscLayer& l = *layer_;
    const std::uint32_t batches = l.loaded_batches, count = p.length * batches;
    if (out.atoms.size() < count) out.atoms.resize(count);
    out.lanes = p.channels;
    const Selection part = select(p);
    const std::uint32_t mask = facts_.address_mask;
    const std::int32_t columns = static_cast<std::int32_t>(p.kernel_column * l.x_dilation);
    const std::int32_t rows = static_cast<std::int32_t>(p.kernel_row * l.y_dilation);
    const std::int32_t last_column = static_cast<std::int32_t>(l.last_column), last_row = static_cast<std::int32_t>(l.last_row);
    const std::uint8_t** atom = out.atoms.data();
    const std::uint8_t* const memory = cbuf_.entry(0);
    const std::uint32_t entries = cbuf_.entries(), start = base_ + slice_address_;
    Cycle enable = at + facts::csc::kDataRead;
    Position position = now_;
    std::uint32_t last = last_[0];
    std::uint64_t reads = 0;
    for (std::uint32_t left = p.length; left != 0; --left) {
        const std::int32_t column = position.column + columns, row = position.row + rows;
        if (column < 0 || column > last_column || row < 0 || row > last_row) {
            last = kNoAddress;
            for (std::uint32_t b = 0; b < batches; ++b) *atom++ = pad_.data();
            enable += batches;
        } else {
            const std::uint32_t line = row_address(row), at_column = static_cast<std::uint32_t>(column) >> part.shift;
            const std::uint32_t offset = part.offset + (static_cast<std::uint32_t>(column) & part.mask) * part.part_bytes;
            for (std::uint32_t b = 0; b < batches; ++b, ++enable) {
                const std::uint32_t address = wrap(start + ((line + b * l.entries) & mask) + at_column);
                if (address != last) {
                    ++reads;
                    last = address;
                    if (read_probe) record_read(enable);
                }
                *atom++ = (address < entries ? memory + std::size_t{address} * entry_bytes_ : zero_.data()) + offset;
            }
        }
        if (left == 1 && !p.channel_end) break;
        if (position.output >= l.last_output_column) {
            position.output = 0;
            position.column = -l.pad_left;
            position.row += static_cast<std::int32_t>(l.y_stride);
        } else {
            ++position.output;
            position.column += static_cast<std::int32_t>(l.x_stride);
        }
    }
    last_[0] = last;
    reads_ += reads;
    if (p.group_end) stripe_ = {0, -l.pad_left, -l.pad_top};
    else if (p.channel_end) stripe_ = position;
    now_ = stripe_;
}

}  // namespace dlasim
