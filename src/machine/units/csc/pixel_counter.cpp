#include "units/csc/pixel_counter.h"

#include <algorithm>

namespace dlasim::csc {

void PixelCounter::start_layer(const LayerConfig& layer, bool paired)
{
    layer_ = &layer;
    paired_ = paired;
    const std::uint32_t last = layer.last_weight_channel;
    pixel_ = layer.x_stride * layer.components;
    first_ = layer.fetch_rows == 1 ? std::min(last, lanes_ - 1) : (layer.fetch_rows - 1) * pixel_ + last % lanes_;
    step_ = pixel_ * layer.fetch_rows;
    chunk_ = pixel_ * silicon_.image_stripe;
    left_over_ = last % lanes_ + 1;
    now_ = slice_ = stripe_ = first_;
    slices_seen_ = 2;
    counts_on_ = false;
    odd_ = odd_stripe_ = false;
}

void PixelCounter::stand_until(Cycle at)
{
    if (counts_on_) slices_seen_ = static_cast<std::uint32_t>(slices_seen_ + (at - came_ - 1)) % facts::csc::kSliceCount;
    counts_on_ = false;
    came_ = at;
}

void PixelCounter::advance(const Package& p, bool stripe_end, bool column_end)
{
    if (stripe_end && p.block_end) end_block(p, column_end);
    else if (stripe_end) now_ = slice_;
    else now_ = (now_ + step_) & 0xffff;
}

/// To the next channel slice, or to the next stripe.
void PixelCounter::end_block(const Package& p, bool column_end)
{
    if (p.channel_end) {
        now_ = stripe_ = column_end ? first_ : (stripe_ + chunk_) & 0xffff;
    } else if (silicon_.short_slice_count) {
        // A defect: the count is one short when the last slice is a full slice plus one element.
        const std::uint32_t channel = layer_->last_weight_channel, last = channel / lanes_ + (channel % lanes_ != 0);
        now_ = slice_ + (slices_seen_ >= last ? left_over_ : lanes_);
    } else {
        now_ = stripe_ + left_over_;
    }
    slice_ = now_;
    slices_seen_ = p.channel_end ? 2 : (slices_seen_ + 1) % facts::csc::kSliceCount;
    counts_on_ = !p.channel_end && p.length == 1 && layer_->fetch_rows == 1;
    if (!paired_) return;
    if (!p.channel_end) odd_ = !odd_;
    else odd_ = odd_stripe_ = !column_end && odd_stripe_ != (pixel_ % 2 != 0);
}

}  // namespace dlasim::csc
