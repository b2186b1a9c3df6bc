#include "units/sdp/lut_window.h"

#include "base/bits.h"

namespace dlasim::sdp {

void LutWindow::configure(std::uint32_t value)
{
    address_ = bits(value, 0, 10);
    lo_ = bits(value, 16, 1);
    write_ = bits(value, 17, 1);
}

void LutWindow::write(std::uint32_t value)
{
    if (write_ && address_ < entries()) entry() = static_cast<std::uint16_t>(value);
    advance();
}

std::uint32_t LutWindow::read()
{
    const std::uint32_t value = address_ < entries() ? entry() : 0;
    advance();
    return value;
}

}  // namespace dlasim::sdp
