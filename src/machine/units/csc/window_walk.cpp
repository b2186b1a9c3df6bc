#include "units/csc/window_walk.h"

namespace dlasim::csc {

void WindowWalk::start_layer(const LayerConfig& layer, std::int32_t first_row)
{
    layer_ = &layer;
    first_row_ = first_row;
    now_ = stripe_ = {layer.fetch_rows - 1, kFirstColumn, first_row};
}

void WindowWalk::advance(const Package& p, bool stripe_end)
{
    if (stripe_end && !p.channel_end) {
        now_ = stripe_;
        return;
    }
    if (column_end()) {
        const std::int32_t below = now_.row + static_cast<std::int32_t>(layer_->y_stride);
        now_ = {layer_->fetch_rows - 1, kFirstColumn, stripe_end && p.group_end ? first_row_ : below};
    } else {
        now_.output += layer_->fetch_rows;
        now_.column += kColumns;
    }
    if (stripe_end) stripe_ = now_;
}

}  // namespace dlasim::csc
