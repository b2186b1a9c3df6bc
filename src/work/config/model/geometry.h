#pragma once
#include <cstdint>

namespace dlasim {

/// Steps in x and y.
struct Extent {
    std::uint32_t x = 1, y = 1;
    bool operator==(const Extent&) const = default;
};

/// A cube of elements.
struct CubeSize {
    std::uint32_t width = 1, height = 1, channels = 1;
};

/// Padding on four sides.
struct Sides {
    std::uint32_t left = 0, right = 0, top = 0, bottom = 0;
};

}  // namespace dlasim
