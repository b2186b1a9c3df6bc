// What software reads back of a finished layer: counters are copied to the registers of their group
// when the group is released, and read 0 while it is enabled.
//
// Source  sdp.md 3.2.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace dlasim::sdp {

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

}  // namespace dlasim::sdp
