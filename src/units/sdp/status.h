// What software reads back of a finished layer: counters are copied to the registers of their group
// when the group is released, and read 0 while it is enabled. And the window to the look-up tables.
//
// Source  sdp.md 1.3, 3.2.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/gated_clock.h"
#include "numerics/sdp_y.h"
#include "registers/register_file.h"

namespace dlasim {

/// Values of the read-only registers of both groups.
template <std::size_t kCount>
class GroupStatus {
public:
    explicit GroupStatus(const std::array<std::uint32_t, kCount>& offsets) : offsets_(offsets) {}
    void latch(unsigned group, const std::array<std::uint32_t, kCount>& values) { values_[group] = values; }
    std::optional<std::uint32_t> read(std::uint32_t offset, unsigned group, bool enabled) const
    {
        const auto found = std::find(offsets_.begin(), offsets_.end(), offset);
        if (found == offsets_.end()) return std::nullopt;
        return enabled ? 0 : values_[group][static_cast<std::size_t>(found - offsets_.begin())];
    }

private:
    std::array<std::uint32_t, kCount> offsets_;
    std::array<std::array<std::uint32_t, kCount>, 2> values_{};
};

/// S_LUT_ACCESS_CFG and S_LUT_ACCESS_DATA.
class LutWindow {
public:
    explicit LutWindow(numerics::LutTables& tables) : tables_(tables) {}
    void configure(std::uint32_t value)
    {
        address_ = value & 0x3ff;
        lo_ = value >> 16 & 1;
        write_ = value >> 17 & 1;
    }
    void write(std::uint32_t value)
    {
        if (write_ && address_ < entries()) entry() = static_cast<std::uint16_t>(value);
        advance();
    }
    std::uint32_t read()
    {
        const std::uint32_t value = address_ < entries() ? entry() : 0;
        advance();
        return value;
    }

private:
    std::size_t entries() const { return lo_ ? tables_.lo.size() : tables_.le.size(); }
    std::uint16_t& entry() { return lo_ ? tables_.lo[address_] : tables_.le[address_]; }
    void advance() { address_ = (address_ + 1) & 0x3ff; }

    numerics::LutTables& tables_;
    std::uint32_t address_ = 0;
    bool lo_ = false, write_ = false;
};

}  // namespace dlasim
