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
    void configure(std::uint32_t value, Cycle at);
    void write(std::uint32_t value);
    std::uint32_t read(Cycle at);

private:
    struct Place {
        std::uint32_t address = 0;
        bool lo = false;
    };
    static std::uint32_t last(const Place& place);
    std::uint16_t& entry(const Place& place) { return place.lo ? tables_.lo[place.address] : tables_.le[place.address]; }
    void step();

    numerics::LutTables& tables_;
    Place now_, old_;
    bool writes_ = false;
    Cycle settled_ = 0;
};

}  // namespace dlasim::cdp
