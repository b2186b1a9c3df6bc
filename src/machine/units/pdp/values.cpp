#include "units/pdp/values.h"

#include <algorithm>
#include <cstring>

#include "numerics/fp.h"

namespace dlasim::pdp {

void Values::start(const LayerConfig& layer)
{
    layer_ = &layer;
    nan_outputs_ = 0;
    if (!on_) return;
    Source& source = sources_[layer.flying];
    input_ = &source.bytes;
    surface_begin_ = source.end;
    source.end += layer.atoms_in() * silicon_.atom_bytes;
    lanes_ = silicon_.atom_bytes / static_cast<std::uint32_t>(layer.pool.element_bytes());
    atoms_left_ = layer.out.total() * layer.out_surfaces * layer.out_height;
    pass_ = 0;
    open_pass();
}

void Values::open_pass()
{
    const LayerConfig& layer = *layer_;
    width_ = layer.in.width(pass_);
    out_width_ = layer.out.width(pass_);
    pad_left_ = pass_ == 0 ? layer.pad_left : 0;
    elements_.resize(std::max(elements_.size(), std::size_t{width_} * lanes_));
    for (auto& line : lines_) line.resize(std::max(line.size(), std::size_t{out_width_} * lanes_));
    out_.resize(std::max(out_.size(), std::size_t{out_width_} * silicon_.atom_bytes));
    surface_ = 0;
    open_surface();
}

void Values::open_surface()
{
    in_line_ = out_line_ = 0;
    open_line(surface_begin_);
    out_column_ = ready_ = 0;
}

/// A line of the input begins at that position.
void Values::open_line(std::uint64_t position)
{
    line_begin_ = position;
    input_->release(position);
    read_ = columns_ = 0;
}

/// The real elements of a window; a program without sense, whose window has none, gets the one next to it.
Values::Window Values::window(std::uint32_t out, std::uint32_t stride, std::uint32_t pad, std::uint32_t kernel, std::uint32_t length)
{
    const std::int64_t start = std::int64_t{out} * stride - pad;
    const auto begin = static_cast<std::uint32_t>(std::clamp<std::int64_t>(start, 0, std::int64_t{length} - 1));
    const std::int64_t end = std::min<std::int64_t>(start + kernel, length);
    return {begin, static_cast<std::uint32_t>(std::max<std::int64_t>(end - begin, 1))};
}

/// Pools along the current line of the input as far as its bytes have arrived.
void Values::pool_line()
{
    const LayerConfig& layer = *layer_;
    const std::uint64_t arrived = input_->end() > line_begin_ ? (input_->end() - line_begin_) / silicon_.atom_bytes : 0;
    const auto pixels = static_cast<std::uint32_t>(std::min<std::uint64_t>(width_, arrived));
    for (; read_ < pixels; ++read_) {
        std::array<std::uint8_t, kMaxBeatBytes> bytes;
        input_->read(line_begin_ + std::uint64_t{read_} * silicon_.atom_bytes, bytes.data(), silicon_.atom_bytes);
        numerics::pool_read(layer.pool, bytes.data(), elements_.data() + std::size_t{read_} * lanes_, lanes_);
    }
    for (; columns_ < out_width_; ++columns_) {
        const Window columns = window(columns_, layer.stride_x, pad_left_, layer.pool.kernel_width, width_);
        if (columns.begin + columns.real > read_) return;
        std::int32_t* const to = pooled(in_line_, columns_);
        const std::int32_t* from = elements_.data() + std::size_t{columns.begin} * lanes_;
        std::copy_n(from, lanes_, to);
        for (std::uint32_t i = 1; i < columns.real; ++i) numerics::pool_along_line(layer.pool, to, from += lanes_, lanes_);
        numerics::pool_end_line(layer.pool, to, columns.real, lanes_);
    }
}

/// Completes columns of the output line: all that can be.
void Values::pool_columns()
{
    const LayerConfig& layer = *layer_;
    const Window rows = window(out_line_, layer.stride_y, layer.pad_top, layer.pool.kernel_height, layer.height);
    const std::uint32_t last = rows.begin + rows.real - 1;
    for (; in_line_ < last; ++in_line_) {
        pool_line();
        open_line(line_begin_ + std::uint64_t{width_} * silicon_.atom_bytes);
    }
    if (in_line_ == last) pool_line();
    const std::uint32_t complete = in_line_ == last ? columns_ : out_width_;
    if (complete <= ready_) return;
    const std::size_t count = std::size_t{complete - ready_} * lanes_;
    sums_.resize(std::max(sums_.size(), count));
    std::copy_n(pooled(rows.begin, ready_), count, sums_.data());
    for (std::uint32_t row = 1; row < rows.real; ++row)
        numerics::pool_across_lines(layer.pool, sums_.data(), pooled(rows.begin + row, ready_), count);
    numerics::pool_write(layer.pool, sums_.data(), rows.real, out_.data() + std::size_t{ready_} * silicon_.atom_bytes, count);
    ready_ = complete;
}

void Values::next(std::uint8_t* bytes)
{
    if (!on_ || atoms_left_ == 0) {
        std::memset(bytes, 0, silicon_.atom_bytes);
        return;
    }
    if (out_column_ >= ready_) pool_columns();
    std::memcpy(bytes, out_.data() + std::size_t{out_column_} * silicon_.atom_bytes, silicon_.atom_bytes);
    if (layer_->pool.precision == Precision::Fp16) count_nan(bytes);
    --atoms_left_;
    if (++out_column_ < out_width_) return;
    out_column_ = ready_ = 0;
    if (++out_line_ < layer_->out_height) return;
    surface_begin_ += std::uint64_t{width_} * layer_->height * silicon_.atom_bytes;
    if (++surface_ < layer_->out_surfaces) return open_surface();
    if (++pass_ < layer_->out.count) open_pass();
}

void Values::count_nan(const std::uint8_t* bytes)
{
    // The silicon copies the count before the last beat of the layer has been added.
    const std::uint32_t counted = atoms_left_ == 1 ? lanes_ - lanes_ / silicon_.beats : lanes_;
    for (std::uint32_t i = 0; i < counted; ++i) {
        std::uint16_t half;
        std::memcpy(&half, bytes + 2 * i, 2);
        nan_outputs_ += numerics::Fp16::is_nan(half);
    }
}

}  // namespace dlasim::pdp
