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

}  // namespace dlasim::csc
