#include "units/sdp/read/operand_walk.h"

#include <algorithm>

namespace dlasim::sdp {

void OperandWalk::start(const ReadLayer& layer)
{
    pixels_ = layer.pixels();
    surfaces_ = layer.surfaces;
    pixel_ = 0;
    surface_ = 0;
    on_ = true;
}

void OperandWalk::step()
{
    const bool last = ends();
    if (surface_ends()) {
        pixel_ = 0;
        ++surface_;
    } else {
        ++pixel_;
    }
    if (last) on_ = false;
}

void PairReplay::start(const ReadLayer& layer)
{
    *this = {};
    on_ = layer.per_element && layer.batch > 1;
    width_ = layer.width;
    batches_ = layer.batch;
    collected_ = pixels_of_command(layer);
}

void PairReplay::step()
{
    const std::uint32_t size = std::min(width_ - x_, 2u);
    if (++second_ < size) return;
    second_ = 0;
    if (++batch_ < batches_) return;
    batch_ = 0;
    stuck_ = size != std::min(collected_ - x_, 2u);
    x_ = x_ + size < width_ ? x_ + size : 0;
}

}  // namespace dlasim::sdp
