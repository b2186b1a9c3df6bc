#include "units/csc/pixel_window.h"

#include <algorithm>
#include <cstring>

namespace dlasim::csc {

PixelWindow::PixelWindow(std::uint32_t entry_bytes) : entry_bytes_(entry_bytes), current_(entry_bytes, 0), previous_(entry_bytes, 0) {}

void PixelWindow::start_layer()
{
    shift_ = start_ = entry_bytes_;
    current_pad_ = previous_pad_ = true;
}

void PixelWindow::pad()
{
    padded_ = true;
    previous_pad_ = current_pad_;
    current_pad_ = true;
}

std::uint8_t* PixelWindow::load(bool values)
{
    loaded_ = true;
    previous_pad_ = current_pad_;
    current_pad_ = false;
    if (values && !previous_pad_) previous_.swap(current_);
    return current_.data();
}

void PixelWindow::slide(std::uint32_t step, bool fetched, bool paired_reads)
{
    const std::uint32_t moved = shift_ + std::min(step, entry_bytes_) - (fetched && loaded_ ? entry_bytes_ : 0);
    shift_ = fetched && padded_ && !paired_reads ? moved & (entry_bytes_ - 1) : moved;
}

void PixelWindow::copy(std::uint8_t* to, std::uint32_t count, const DataRing& ring) const
{
    const std::uint8_t* current = current_pad_ ? ring.padding() : current_.data();
    const std::uint8_t* previous = previous_pad_ ? ring.padding() : previous_.data();
    // The shift counter is as wide as two entries.
    std::uint32_t shift = shift_ & (2 * entry_bytes_ - 1);
    if (shift >= entry_bytes_) {
        shift -= entry_bytes_;
        previous = current;
        current = ring.zeros();
    }
    const std::uint32_t first = std::min(count, entry_bytes_ - shift);
    std::memcpy(to, previous + shift, first);
    std::memcpy(to + first, current, count - first);
}

}  // namespace dlasim::csc
