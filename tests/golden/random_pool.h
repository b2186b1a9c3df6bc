// Random poolings whose windows are legal: kernels of 1 to 8, any stride, paddings up to the kernel, round up or down.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>

#include "config/model/layer.h"

namespace dlasim {

class PoolMaker {
public:
    explicit PoolMaker(std::mt19937& random) : random_(random) {}

    Pool make(std::uint32_t width, std::uint32_t height, Precision precision)
    {
        Pool pool;
        pool.function = static_cast<PoolFunction>(in(0, 2));
        pool.ceil = in(1, 3) == 1;
        pool.x = axis(width, pool);
        pool.y = axis(height, pool);
        if (pool.function == PoolFunction::Average && in(1, 2) == 1) {
            if (precision == Precision::Fp16) pool.pad_value = (static_cast<double>(in(0, 64)) - 32) / 8;
            else pool.pad_value = static_cast<double>(in(0, 200)) - 100;
        }
        return pool;
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }

    PoolAxis axis(std::uint32_t size, const Pool& pool)
    {
        for (;;) {
            PoolAxis a;
            a.kernel = in(1, 2) == 1 ? in(1, 3) : in(1, 8);
            a.stride = in(1, 2) == 1 ? in(1, 2) : in(1, 8);
            if (in(1, 2) == 1) a.before = in(0, std::min(a.kernel - 1, 5u)), a.after = in(0, a.kernel - 1);
            if (a.kernel > size + a.before + a.after) continue;
            const std::int64_t pad_after = a.pad_after(size, pool.ceil);
            if (pad_after >= a.kernel || pad_after > 7) continue;
            if (pool.function == PoolFunction::Average && pad_after > std::int64_t{a.after}) continue;
            return a;
        }
    }

    std::mt19937& random_;
};

}  // namespace dlasim
