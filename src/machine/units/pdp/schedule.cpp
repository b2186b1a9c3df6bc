#include "units/pdp/schedule.h"

#include <algorithm>

namespace dlasim::pdp {
namespace {

constexpr std::uint32_t kMaxFlushed = 7, kMaxTabled = 6;  // outputs kept in the units; those of the table for short lines
constexpr std::uint32_t kShortLine = 8;

/// One direction of a window over `length` elements.
struct Axis {
    std::uint32_t length, kernel, stride, before, after;  // elements; padding on both sides

    std::int64_t end(std::uint32_t window) const  // its last element, padding counted
    {
        return std::int64_t{window} * stride - before + kernel - 1;
    }
    /// Windows that begin on the line and end on it or in its padding.
    std::uint32_t windows() const
    {
        std::uint32_t count = 0;
        const std::int64_t last = std::int64_t{length} - 1;
        while (std::int64_t{count} * stride - before <= last && end(count) <= last + after) ++count;
        return count;
    }
    /// No window has its last element on the line with the left padding alone.
    bool is_short() const { return length - 1 + before < kernel - 1; }
    /// Windows that are kept after the end of the line, if it is a short one.
    std::uint32_t tabled() const
    {
        const std::int64_t room = std::int64_t{length} - 1 + before + after - (kernel - 1);
        for (std::uint32_t n = kMaxTabled; n > 0; --n)
            if (room == std::int64_t{n} * stride) return n;
        return 0;
    }
};

/// Elements of the next line that have no output of their own, and outputs kept after a line.
struct Kept {
    std::uint32_t free = 0, count = 0;
    /// All of them at the most: a program whose padding is as wide as its window leaves no element free.
    std::uint32_t bubbles() const { return count >= free ? std::min(count - free + 1, count) : 0; }
};
Kept kept(const Axis& axis, bool short_line)
{
    const std::uint32_t count = std::min(axis.after / axis.stride, kMaxFlushed);
    if (short_line) return {axis.length, count ? axis.tabled() : 0};
    return {axis.kernel - axis.before, count};
}

Flush flush_of(const Axis& axis, const Kept& kept, bool flushes)
{
    Flush flush;
    flush.outputs.assign(axis.length, false);
    for (std::uint32_t window = 0, count = axis.windows(); window < count; ++window) {
        const std::int64_t at = std::min<std::int64_t>(axis.end(window), std::int64_t{axis.length} - 1);
        if (at >= 0) flush.outputs[static_cast<std::size_t>(at)] = true;
    }
    if (!flushes) return flush;
    flush.between = kept.bubbles();
    flush.carried = kept.free == 1 ? 0 : kept.count - flush.between;
    flush.at_end = kept.count;
    return flush;
}

}  // namespace

void HorizontalSchedule::start(const LayerConfig& layer)
{
    passes_ = layer.in;
    lines_ = layer.surfaces * layer.height;
    const std::uint32_t kernel = layer.pool.kernel_width, stride = layer.stride_x;
    if (passes_.count == 1) {
        const Axis axis{layer.width, kernel, stride, layer.pad_left, layer.pad_right};
        flush_[0] = flush_of(axis, kept(axis, layer.width <= kShortLine && axis.is_short()), true);
    } else {
        const Axis first{passes_.first, kernel, stride, layer.pad_left, 0}, mid{passes_.mid, kernel, stride, 0, 0};
        const Axis last{passes_.last, kernel, stride, 0, layer.pad_right};
        flush_[0] = flush_of(first, {}, false);
        flush_[1] = flush_of(mid, {}, false);
        const bool short_line = last.is_short();
        Kept after = kept(last, short_line);
        if (!short_line) after.free = stride < kernel ? kernel : kernel + stride;
        flush_[2] = flush_of(last, after, true);
    }
    pass_ = line_ = x_ = carried_ = 0;
    width_ = passes_.width(0);
    now_ = &flush_[0];
    bubbles_ = false;
    open_pixel();
}

void HorizontalSchedule::open_pixel() { run_ = {silicon_.beats, true, x_ < carried_ || now_->outputs[x_]}; }

void HorizontalSchedule::advance()
{
    if (!bubbles_) {
        if (++x_ < width_) return open_pixel();
        const bool end = line_ + 1 == lines_;
        const std::uint32_t flushed = end ? now_->at_end : now_->between;
        if (flushed != 0) {
            bubbles_ = true;
            run_ = {std::uint64_t{flushed} * silicon_.beats, false, true};
            return;
        }
    }
    bubbles_ = false;
    x_ = 0;
    carried_ = now_->carried;
    if (++line_ == lines_) {
        if (++pass_ == passes_.count) return;  // no beats are left
        line_ = carried_ = 0;
        width_ = passes_.width(pass_);
        now_ = &flush_[pass_ + 1 == passes_.count ? 2 : 1];
    }
    open_pixel();
}

namespace {

/// Line units in use. pdp.md 1.6.
std::uint32_t line_units(std::uint32_t kernel, std::uint32_t stride)
{
    if (stride >= kernel) return 1;
    if (stride == 1) return kernel;
    if (stride == 2) return (kernel + 1) / 2;
    return stride == 3 && kernel > 6 ? 3 : 2;
}

}  // namespace

void VerticalSchedule::start(const LayerConfig& layer)
{
    passes_ = layer.out;
    height_ = layer.height;
    surfaces_ = layer.surfaces;
    const Axis axis{layer.height, layer.pool.kernel_height, layer.stride_y, layer.pad_top, layer.pad_bottom};
    const Kept after = kept(axis, height_ <= kShortLine && axis.is_short());
    flush_ = flush_of(axis, after, true);

    // A row that is still kept in a unit which the next surface needs immediately becomes a bubble, and so do those before it.
    constexpr std::uint32_t kTablePadding = 6;
    if (layer.pad_top < kTablePadding) occupied_ = axis.stride < 4 ? axis.before / axis.stride : axis.before >= axis.stride;
    std::uint32_t finished = 0;
    for (std::uint32_t window = 0, count = axis.windows(); window < count; ++window)
        finished += axis.end(window) < std::int64_t{height_} - 1;
    const std::uint32_t units = line_units(axis.kernel, axis.stride), overlapping = after.count - flush_.between;
    std::uint32_t more = 0;
    if (overlapping >= 2)
        for (std::uint32_t row = 0; row < overlapping; ++row)
            if ((finished % units + 1 + flush_.between + row) % units <= occupied_) more = row + 1;
    flush_.between += more;
    flush_.carried = after.free == 1 || (flush_.between != 0 && more >= overlapping) ? 0 : after.count - flush_.between;

    pass_ = surface_ = carried_ = 0;
    line_ = 0;
    open_line();
}

void VerticalSchedule::open_line()
{
    part_ = Part::Line;
    run_ = {line_beats(), true, line_ < carried_ || flush_.outputs[line_]};
}

void VerticalSchedule::advance()
{
    if (part_ == Part::Line && passes_.width(pass_) == 1) {
        part_ = Part::Void;
        run_ = {facts::pdp::kVoidBeats, false, false};
        return;
    }
    const bool ends = surface_ + 1 == surfaces_;
    if (part_ != Part::Flush) {
        if (++line_ < height_) return open_line();
        const std::uint32_t flushed = ends ? flush_.at_end : flush_.between;
        if (flushed != 0) {
            part_ = Part::Flush;
            run_ = {flushed * line_beats(), false, true};
            return;
        }
    }
    line_ = 0;
    carried_ = flush_.carried;
    if (++surface_ == surfaces_) {
        if (++pass_ == passes_.count) return;  // no beats are left
        surface_ = carried_ = 0;
    }
    open_line();
}

}  // namespace dlasim::pdp
