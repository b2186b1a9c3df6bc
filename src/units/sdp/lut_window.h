// The window of software to the look-up tables: S_LUT_ACCESS_CFG sets an address that S_LUT_ACCESS_DATA counts on.
//
// Source  sdp.md 1.3.
#pragma once
#include <cstddef>
#include <cstdint>

#include "numerics/sdp_y.h"

namespace dlasim::sdp {

class LutWindow {
public:
    explicit LutWindow(numerics::LutTables& tables) : tables_(tables) {}
    void configure(std::uint32_t value);
    /// Changes an entry, if the window is set to write.
    void write(std::uint32_t value);
    std::uint32_t read();

private:
    std::size_t entries() const { return lo_ ? tables_.lo.size() : tables_.le.size(); }
    std::uint16_t& entry() { return lo_ ? tables_.lo[address_] : tables_.le[address_]; }
    void advance() { address_ = (address_ + 1) & 0x3ff; }

    numerics::LutTables& tables_;
    std::uint32_t address_ = 0;
    bool lo_ = false, write_ = false;
};

}  // namespace dlasim::sdp
