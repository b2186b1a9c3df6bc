#include "registers/lut_window.h"

#include "registers/lut_fields.h"

namespace dlasim {
namespace {

using Access = decltype(reg::sdp::S_LUT_ACCESS_CFG);

}  // namespace

void LutWindow::configure(std::uint32_t value, Cycle at)
{
    old_ = now_;
    now_ = {Access::LUT_ADDR.get(value), Access::LUT_TABLE_ID.get(value) != 0};
    writes_ = Access::LUT_ACCESS_TYPE.get(value) != 0;
    settled_ = at + kind_.read_settles;
}

std::uint32_t LutWindow::configuration() const { return now_.address | std::uint32_t{now_.lo} << 16 | std::uint32_t{writes_} << 17; }

void LutWindow::write(std::uint32_t value)
{
    if (std::uint16_t* place = entry(now_); writes_ && place) *place = static_cast<std::uint16_t>(value);
    count();
}

std::uint32_t LutWindow::read(Cycle at)
{
    const std::uint16_t* place = entry(at < settled_ ? old_ : now_);
    const std::uint32_t value = place ? *place : 0;
    count();
    return value;
}

/// Null beyond the table.
std::uint16_t* LutWindow::entry(const Place& place) const
{
    const std::span<std::uint16_t> table = place.lo ? lo_ : le_;
    return place.address < table.size() ? &table[place.address] : nullptr;
}

void LutWindow::count()
{
    if (kind_.stays_at_end && now_.address + 1 == (now_.lo ? lo_ : le_).size()) return;
    now_.address = (now_.address + 1) & Access::LUT_ADDR.max_value();
}

}  // namespace dlasim
