// What software reads back of a finished layer: counters are copied to the registers of their group
// when the group is released, and read 0 while it is enabled.
//
// Source  sdp.md 1.3, 3.2.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "units/sdp/value/values.h"

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

/// Of SDP.
class CoreStatus : public GroupStatus<11> {
public:
    CoreStatus();
    void latch(unsigned group, bool unequal, const ValueCounters& values, std::uint64_t write_stall);
};

/// Of SDP_RDMA.
class ReadStatus : public GroupStatus<6> {
public:
    ReadStatus();
    /// `nan`: NaN and infinity were counted; `stalls`: of MRDMA, BRDMA, NRDMA, ERDMA.
    void latch(unsigned group, const ValueCounters& values, bool nan, const std::array<std::uint64_t, kReadEngines>& stalls);
};

}  // namespace dlasim::sdp
