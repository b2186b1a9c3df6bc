#include "units/csc/package.h"

#include "base/bits.h"

namespace dlasim::csc {

PackageGenerator::PackageGenerator(const LayerConfig& layer) : layer_(&layer), done_(false)
{
    left_ = layer.atoms;
    start_stripe();
    fill();
}

void PackageGenerator::start_stripe()
{
    const LayerConfig& l = *layer_;
    std::uint32_t length = l.lower;
    if (left_ <= l.upper) length = left_;
    else if (l.long_stripes && left_ >= 2 * l.upper) length = l.upper;
    last_stripe_ = length == left_;
    package_.length = length;
    package_.size = l.mode == ConvMode::Image ? length : length * l.batches;
    package_.execution = l.mode == ConvMode::Image ? round_up(length, l.fetch_rows) : package_.size;
    const bool last_group = group_ + 1 == l.groups;
    package_.kernels = last_group ? l.last_kernel % l.kernel_group + 1 : l.kernel_group;
    package_.loads = ceil_div(package_.kernels, l.kernels_per_load);
}

void PackageGenerator::fill()
{
    const LayerConfig& l = *layer_;
    Package& p = package_;
    p.kernel_column = s_;
    p.kernel_row = r_;
    p.last_slice = slice_ + 1 == l.slices;
    p.channels = l.slice_size(p.last_slice);
    p.weight_elements = l.mode == ConvMode::Winograd ? 64 : p.channels;
    const bool last_row = r_ + l.row_step >= l.kernel_rows;
    p.sub_rows = last_row ? (l.kernel_rows - 1) % l.row_step : l.row_step - 1;
    p.block_end = last_row && s_ + 1 == l.kernel_columns;
    p.channel_end = p.block_end && p.last_slice;
    p.group_end = p.channel_end && last_stripe_ && row_ + 1 == l.rows;
    p.layer_end = p.group_end && group_ + 1 == l.groups;
}

void PackageGenerator::next()
{
    const LayerConfig& l = *layer_;
    const auto step = [&] {
        if (++s_ < l.kernel_columns) return;
        s_ = 0;
        if ((r_ += l.row_step) < l.kernel_rows) return;
        r_ = 0;
        if (++slice_ < l.slices) return;
        slice_ = 0;
        left_ -= package_.length;
        if (left_ == 0) {
            left_ = l.atoms;
            if (++row_ == l.rows) {
                row_ = 0;
                if (++group_ == l.groups) {
                    done_ = true;
                    return;
                }
            }
        }
        start_stripe();
    };
    step();
    if (!done_) fill();
}

void state_of(State& s, Package& p)
{
    for (const std::uint32_t part :
         {p.kernel_column, p.kernel_row, p.channels, p.weight_elements, p.sub_rows, p.kernels, p.length, p.size, p.execution, p.loads})
        s.same(part);
    for (bool* const flag : {&p.last_slice, &p.block_end, &p.channel_end, &p.group_end, &p.layer_end}) s.same(*flag);
}

void PackageGenerator::state(State& s)
{
    s.same(done_);
    if (done_) return;
    const LayerConfig& l = *layer_;
    s.position(group_, 0, std::int64_t{l.groups} - 2);
    s.inner_position(row_, std::int64_t{l.rows} - 2, group_);
    const std::uint32_t whole = l.long_stripes ? 2 * l.upper : l.upper + 1;
    s.inner_position_down(left_, whole, std::uint64_t{group_} * l.rows + row_);
    for (std::uint32_t* const inner : {&slice_, &r_, &s_}) s.same(*inner);
    s.same(last_stripe_);
    state_of(s, package_);
}

}  // namespace dlasim::csc
