#include "units/csc/direct_loader.h"

#include <algorithm>

namespace dlasim::csc {

DirectLoader::DirectLoader(const Hardware& hw, DataRing& ring, bool values)
    : entry_bytes_(hw.cbuf.entry_bytes), atoms_per_entry_(std::max(1u, hw.atoms_per_entry())), values_(values), ring_(ring)
{
}

void DirectLoader::start_layer(const LayerConfig& layer)
{
    layer_ = &layer;
    stripe_ = first_position();
}

DirectLoader::Part DirectLoader::part_of(const Package& p) const
{
    if (ring_.paired() && ring_.slice() % 2 == 1) return {0, 0, 0, entry_bytes_ / 2};
    const std::uint32_t bytes = p.channels * layer_->element_bytes;
    Part part{0, 0, entry_bytes_, 0};
    if (!p.last_slice) return part;
    for (std::uint32_t parts = atoms_per_entry_; parts > 1 && bytes <= part.bytes / 2; parts /= 2) {
        ++part.shift;
        part.mask = 2 * part.mask + 1;
        part.bytes /= 2;
    }
    return part;
}

void DirectLoader::advance(Position& position) const
{
    const LayerConfig& l = *layer_;
    if (position.output >= l.last_output_column) {
        position = {0, -l.pad_left, position.row + static_cast<std::int32_t>(l.y_stride)};
    } else {
        ++position.output;
        position.column += static_cast<std::int32_t>(l.x_stride);
    }
}

void DirectLoader::load(const Package& p, Cycle at, PackageAtoms& out)
{
    const LayerConfig& l = *layer_;
    const std::uint32_t batches = l.loaded_batches;
    out.lanes = p.channels;
    const Part part = part_of(p);
    if (counts(part.shift)) return count(p, part.shift);
    out.make_room(p.length * batches);
    const auto columns = static_cast<std::int32_t>(p.kernel_column * l.x_dilation);
    const auto rows = static_cast<std::int32_t>(p.kernel_row * l.y_dilation);
    const auto last_column = static_cast<std::int32_t>(l.last_column), last_row = static_cast<std::int32_t>(l.last_row);
    const std::uint8_t** atom = out.atoms.data();
    Cycle enable = at + facts::csc::kDataRead;
    Position position = stripe_;
    for (std::uint32_t left = p.length; left != 0; --left) {
        const std::int32_t column = position.column + columns, row = position.row + rows;
        if (column < 0 || column > last_column || row < 0 || row > last_row) {
            ring_.forget(0);
            for (std::uint32_t b = 0; b < batches; ++b) *atom++ = ring_.padding();
            enable += batches;
        } else {
            const auto in_row = static_cast<std::uint32_t>(column);
            const std::uint32_t offset = part.first + (in_row & part.mask) * part.bytes;
            for (std::uint32_t b = 0; b < batches; ++b, ++enable) {
                const std::uint32_t address = ring_.address(row, b * l.entries, in_row >> part.shift);
                ring_.request(0, address, false, enable);
                *atom++ = ring_.entry(address) + offset;
            }
        }
        if (left == 1 && !p.channel_end) break;
        advance(position);
    }
    end(p, position);
}

/// What load() does is a matter of counting, and neighbours in a row of the output never have two entries of one address.
bool DirectLoader::counts(std::uint32_t shift) const
{
    return !values_ && layer_->loaded_batches == 1 && ring_.counts() && (layer_->x_stride >> shift) + 1 < ring_.entries();
}

/// As load(): row of the output after row.
void DirectLoader::count(const Package& p, std::uint32_t shift)
{
    const LayerConfig& l = *layer_;
    const auto columns = static_cast<std::int32_t>(p.kernel_column * l.x_dilation);
    const auto rows = static_cast<std::int32_t>(p.kernel_row * l.y_dilation);
    Position position = stripe_;
    for (std::uint32_t left = p.length; left != 0;) {
        const std::uint32_t length = std::min(left, l.last_output_column + 1 - position.output);
        count_run(position.column + columns, position.row + rows, length, shift);
        left -= length;
        position.output += length - 1;
        position.column += static_cast<std::int32_t>((length - 1) * l.x_stride);
        advance(position);
    }
    end(p, position);
}

/// Of `length` positions in a row of the output, from that input column on.
void DirectLoader::count_run(std::int32_t column, std::int32_t row, std::uint32_t length, std::uint32_t shift)
{
    const LayerConfig& l = *layer_;
    const auto stride = static_cast<std::int32_t>(l.x_stride), last_column = static_cast<std::int32_t>(l.last_column);
    const auto count = static_cast<std::int32_t>(length);
    const std::int32_t padded = column < 0 ? std::min(count, (-column + stride - 1) / stride) : 0;  // in front
    const std::int32_t first = column + padded * stride;
    const bool outside = row < 0 || row > static_cast<std::int32_t>(l.last_row) || padded == count || first > last_column;
    if (padded != 0 || outside) ring_.forget(0);
    if (outside) return;
    const std::int32_t inside = std::min(count - padded, (last_column - first) / stride + 1);
    const auto from = static_cast<std::uint32_t>(first) >> shift, to = static_cast<std::uint32_t>(first + (inside - 1) * stride) >> shift;
    const bool every = l.x_stride >> shift != 0;  // each position has an entry of its own
    ring_.request_run(ring_.address(row, 0, from), ring_.address(row, 0, to), every ? static_cast<std::uint32_t>(inside) : to - from + 1);
    if (padded + inside != count) ring_.forget(0);
}

/// Only a package that completes the sums moves the walk on.
void DirectLoader::end(const Package& p, const Position& position)
{
    if (p.group_end) stripe_ = first_position();
    else if (p.channel_end) stripe_ = position;
}

}  // namespace dlasim::csc
