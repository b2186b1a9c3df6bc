#include "units/sdp/read/read_requests.h"

#include <algorithm>

#include "facts/sdp.h"

namespace dlasim::sdp {

void ReadRequests::start(const ReadLayer& layer)
{
    *this = {};
    layer_ = layer;
    more_ = true;
    single_ = layer.one_pixel() || (!layer.features && !layer.per_element);
    make();
}

void ReadRequests::make()
{
    const ReadLayer& l = layer_;
    if (single_) {
        front_ = {Address{l.base & l.address_mask}, (l.narrowing ? 2 : 1) * l.atoms_per_atom * l.surfaces};
        return;
    }
    const auto at = [&](std::uint64_t address) { return Address{address & l.address_mask}; };
    const std::uint64_t surface = l.base + (l.narrowing ? 2 * s_ + half_ : s_) * l.surface_stride;
    if (l.narrowing) {
        front_ = {at(surface + h_ * l.line_stride + std::uint64_t{x_} * l.atom), std::min(facts::sdp::kSegment16to8, l.width - x_)};
    } else if (l.winograd && !l.features) {
        const std::uint32_t pair = std::min(2u, l.width - x_);
        front_ = {at(surface + (4 * h_ + row_) * l.line_stride + std::uint64_t{x_} * l.atoms_per_atom * l.atom), pair * l.atoms_per_atom};
    } else {
        front_ = {at(surface + h_ * l.line_stride), l.atoms_per_atom * l.width};
    }
}

void ReadRequests::pop()
{
    const auto step = [](std::uint32_t& counter, std::uint32_t limit) {
        if (++counter < limit) return false;
        counter = 0;
        return true;
    };
    const ReadLayer& l = layer_;
    if (single_) {
        more_ = l.features && !step(pass_, l.batch);
    } else {
        const bool pairs = l.winograd && !l.features;
        bool line_done = true;
        if (l.narrowing) {
            line_done = false;
            if (step(half_, 2)) {
                x_ += facts::sdp::kSegment16to8;
                line_done = x_ >= l.width;
            }
        } else if (pairs) {
            line_done = false;
            if (step(row_, 4)) {
                x_ += 2;
                line_done = x_ >= l.width;
            }
        }
        if (line_done) {
            x_ = 0;
            const bool passes_done = !l.features || step(pass_, l.batch);
            if (passes_done && step(h_, pairs ? std::max(1u, l.height / 4) : l.height)) more_ = !step(s_, l.surfaces);
        }
    }
    if (more_) make();
}

}  // namespace dlasim::sdp
