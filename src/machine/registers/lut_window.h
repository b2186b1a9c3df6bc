// The window of software to a pair of look-up tables: S_LUT_ACCESS_CFG sets an address that S_LUT_ACCESS_DATA counts on.
//
// Source  sdp.md 1.3, cdp.md 5.1.
#pragma once
#include <cstdint>
#include <span>

#include "base/cycle.h"

namespace dlasim {

class LutWindow {
public:
    /// What SDP and CDP have differently.
    struct Kind {
        bool stays_at_end = false;  // the address does not count beyond the last entry
        Cycle read_settles = 0;     // a read closer to a new address sees the entry of the old one
    };
    LutWindow(std::span<std::uint16_t> le, std::span<std::uint16_t> lo, Kind kind) : le_(le), lo_(lo), kind_(kind) {}

    /// S_LUT_ACCESS_CFG written in cycle `at`.
    void configure(std::uint32_t value, Cycle at);
    /// Changes an entry, if the window is set to write.
    void write(std::uint32_t value);
    /// S_LUT_ACCESS_CFG with the address that was counted on.
    std::uint32_t configuration() const;
    /// The entry, or 0 beyond the table.
    std::uint32_t read(Cycle at);

private:
    struct Place {
        std::uint32_t address = 0;
        bool lo = false;
    };
    std::uint16_t* entry(const Place& place) const;
    void count();

    std::span<std::uint16_t> le_, lo_;
    Kind kind_;
    Place now_, old_;
    bool writes_ = false;
    Cycle settled_ = 0;
};

}  // namespace dlasim
