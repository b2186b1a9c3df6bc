// Lines and columns of a tensor in memory: what an operation reads or writes of it.
#pragma once
#include <cstdint>

namespace dlasim {

/// [first, first + count); as long as nothing else is known all of them.
struct Interval {
    std::uint32_t first = 0, count = UINT32_MAX;
    bool meets(const Interval& other) const
    {
        return first < std::uint64_t{other.first} + other.count && other.first < std::uint64_t{first} + count;
    }
    bool operator==(const Interval&) const = default;
};

struct PlaneArea {
    Interval lines{}, columns{};
    bool meets(const PlaneArea& other) const { return lines.meets(other.lines) && columns.meets(other.columns); }
    bool operator==(const PlaneArea&) const = default;
};

}  // namespace dlasim
