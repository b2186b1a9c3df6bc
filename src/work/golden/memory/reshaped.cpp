#include "golden/memory/reshaped.h"

#include <algorithm>

namespace dlasim {

Tensor contracted(const Tensor& sub_cubes, Extent stride)
{
    Tensor out(1, sub_cubes.c, sub_cubes.h * stride.y, sub_cubes.w * stride.x);
    for (std::uint32_t c = 0; c < out.c; ++c)
        for (std::uint32_t y = 0; y < out.h; ++y)
            for (std::uint32_t x = 0; x < out.w; ++x)
                out.at(0, c, y, x) = sub_cubes.at(y % stride.y * stride.x + x % stride.x, c, y / stride.y, x / stride.x);
    return out;
}

Tensor padded(const Tensor& cube, std::uint32_t channels, std::uint32_t width)
{
    Tensor out(cube.n, channels, cube.h, width);
    for (std::uint32_t n = 0; n < cube.n; ++n)
        for (std::uint32_t c = 0; c < std::min(channels, cube.c); ++c)
            for (std::uint32_t y = 0; y < cube.h; ++y)
                for (std::uint32_t x = 0; x < std::min(width, cube.w); ++x) out.at(n, c, y, x) = cube.at(n, c, y, x);
    return out;
}

}  // namespace dlasim
