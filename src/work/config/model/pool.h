// Pooling as the user describes it: every channel by itself, the maximum, the minimum or the average of a window.
//
//   output (y, x) = function over rows y * stride - before ... + kernel, columns alike
//
// Maximum and minimum ignore the padding. The average always divides by the whole kernel: its padding counts, with
// the pad value.
//
// Source  pdp.md 1.2.
#pragma once
#include <algorithm>
#include <cstdint>

namespace dlasim {

enum class PoolFunction : std::uint8_t { Max, Min, Average };

/// One direction of a window, in elements.
struct PoolAxis {
    std::uint32_t kernel = 1, stride = 1, before = 0, after = 0;  // padding on both sides

    /// Windows over `size` elements; pre: the kernel fits the padded size. `ceil` makes one more where elements are left,
    /// if it begins in front of the far padding.
    std::uint32_t outputs(std::uint32_t size, bool ceil) const
    {
        const std::uint32_t way = size + before + after - kernel;
        std::uint32_t count = (ceil ? (way + stride - 1) / stride : way / stride) + 1;
        if (ceil && (count - 1) * stride >= size + before) --count;
        return count;
    }
    /// Elements of padding that the last window reaches; negative: elements at the end that no window touches.
    std::int64_t pad_after(std::uint32_t size, bool ceil) const
    {
        return std::int64_t{outputs(size, ceil) - 1} * stride + kernel - before - size;
    }
};

/// Elements [begin, end) that some windows touch, and the padding before and after them.
struct TouchedElements {
    std::uint32_t begin = 0, end = 0, before = 0, after = 0;
    std::uint32_t count() const { return end - begin; }
};

/// Of windows [first, first + count) over `size` elements. pre: they touch one
inline TouchedElements touched_elements(const PoolAxis& axis, std::uint32_t size, std::uint32_t first, std::uint32_t count)
{
    const std::int64_t from = std::int64_t{first} * axis.stride - axis.before,
                       to = from + std::int64_t{count - 1} * axis.stride + axis.kernel;
    const std::int64_t begin = std::max<std::int64_t>(0, from), end = std::min<std::int64_t>(size, to);
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(std::max(begin, end)), static_cast<std::uint32_t>(begin - from),
            static_cast<std::uint32_t>(to - end)};
}

struct Pool {
    PoolFunction function = PoolFunction::Max;
    PoolAxis x, y;
    double pad_value = 0;  // average: a number of the layer's precision
    bool ceil = false;
};

inline const char* function_name(PoolFunction function)
{
    constexpr const char* kNames[] = {"max", "min", "average"};
    return kNames[static_cast<int>(function)];
}

}  // namespace dlasim
