// The window to the look-up tables: S_LUT_ACCESS_CFG and S_LUT_ACCESS_DATA. The address steps with every
// access and stays at the last entry. A read that comes too soon after a new address returns the entry of
// the old one.
//
// Source  cdp.md 5.1.
#pragma once
#include <cstdint>

#include "base/cycle.h"
#include "facts/cdp.h"
#include "numerics/sdp_y.h"

namespace dlasim::cdp {

class LutWindow {
public:
    explicit LutWindow(numerics::LutTables& tables) : tables_(tables) {}
    void configure(std::uint32_t value, Cycle at)
    {
        old_ = now_;
        now_ = {value & 0x3ff, (value >> 16 & 1) != 0};
        writes_ = value >> 17 & 1;
        settled_ = at + facts::cdp::kTableReadSettles;
    }
    void write(std::uint32_t value)
    {
        if (writes_ && now_.address <= last(now_)) entry(now_) = static_cast<std::uint16_t>(value);
        step();
    }
    std::uint32_t read(Cycle at)
    {
        const Place& place = at < settled_ ? old_ : now_;
        const std::uint32_t value = place.address <= last(place) ? entry(place) : 0;
        step();
        return value;
    }

private:
    struct Place {
        std::uint32_t address = 0;
        bool lo = false;
    };
    static std::uint32_t last(const Place& place)
    {
        return static_cast<std::uint32_t>(place.lo ? numerics::kLoEntries : numerics::kLeEntries) - 1;
    }
    std::uint16_t& entry(const Place& place) { return place.lo ? tables_.lo[place.address] : tables_.le[place.address]; }
    void step()
    {
        if (now_.address != last(now_)) now_.address = (now_.address + 1) & 0x3ff;
    }

    numerics::LutTables& tables_;
    Place now_, old_;
    bool writes_ = false;
    Cycle settled_ = 0;
};

}  // namespace dlasim::cdp
