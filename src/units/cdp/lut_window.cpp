#include "units/cdp/lut_window.h"

namespace dlasim::cdp {

void LutWindow::configure(std::uint32_t value, Cycle at)
{
    old_ = now_;
    now_ = {value & 0x3ff, (value >> 16 & 1) != 0};
    writes_ = value >> 17 & 1;
    settled_ = at + facts::cdp::kTableReadSettles;
}

void LutWindow::write(std::uint32_t value)
{
    if (writes_ && now_.address <= last(now_)) entry(now_) = static_cast<std::uint16_t>(value);
    step();
}

std::uint32_t LutWindow::read(Cycle at)
{
    const Place& place = at < settled_ ? old_ : now_;
    const std::uint32_t value = place.address <= last(place) ? entry(place) : 0;
    step();
    return value;
}

std::uint32_t LutWindow::last(const Place& place)
{
    return static_cast<std::uint32_t>(place.lo ? numerics::kLoEntries : numerics::kLeEntries) - 1;
}

void LutWindow::step()
{
    if (now_.address != last(now_)) now_.address = (now_.address + 1) & 0x3ff;
}

}  // namespace dlasim::cdp
