// A package (one block operation) and the loop nest that produces them in order.
//
//   for group / for output row (image) / for stripe / for channel slice / for kernel row / for kernel column
//
// Source  csc.md 1.5.
#pragma once
#include <cstdint>

#include "units/csc/layer.h"

namespace dlasim {

struct Package {
    std::uint32_t kernel_column = 0, kernel_row = 0;  // offsets s, r
    std::uint32_t channels = 0;                       // elements of an atom that belong to this slice
    std::uint32_t weight_elements = 0;                // elements of a kernel row in the weight stream
    std::uint32_t sub_rows = 0;                       // kernel rows packed in this package, minus one
    std::uint32_t kernels = 0;
    std::uint32_t length = 0;     // output positions of the stripe
    std::uint32_t size = 0;       // atoms, batches included: what credits and the flush count
    std::uint32_t execution = 0;  // cycles DL is busy
    std::uint32_t loads = 0;      // cycles WL is busy
    bool last_slice = false;
    bool block_end = false;  // last kernel row and column of the slice
    bool channel_end = false, group_end = false, layer_end = false;
};

class PackageGenerator {
public:
    PackageGenerator() = default;
    explicit PackageGenerator(const CscLayer& layer);

    bool done() const { return done_; }
    /// The package that next() returns. pre: !done()
    const Package& peek() const { return package_; }
    void next();

private:
    void start_stripe();
    void fill();

    const CscLayer* layer_ = nullptr;
    bool done_ = true;
    std::uint32_t group_ = 0, row_ = 0, left_ = 0, slice_ = 0, r_ = 0, s_ = 0;
    bool last_stripe_ = false;
    Package package_;
};

inline PackageGenerator::PackageGenerator(const CscLayer& layer) : layer_(&layer), done_(false)
{
    left_ = layer.atoms;
    start_stripe();
    fill();
}

inline void PackageGenerator::start_stripe()
{
    const CscLayer& l = *layer_;
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

inline void PackageGenerator::fill()
{
    const CscLayer& l = *layer_;
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

inline void PackageGenerator::next()
{
    const CscLayer& l = *layer_;
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

}  // namespace dlasim
