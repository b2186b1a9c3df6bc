#include "numerics/pdp.h"

#include <algorithm>
#include <cstring>

#include "numerics/fp.h"

namespace dlasim::numerics {
namespace {

constexpr std::uint32_t kSeventeen = 0x1ffff;
/// 1 to 8 as fp17.
constexpr std::array<std::uint32_t, 8> kKernelFp17{0x7c00, 0x8000, 0x8200, 0x8400, 0x8500, 0x8600, 0x8700, 0x8800};

/// The low `bits` bits of v, signed.
constexpr std::int64_t wrap(std::int64_t v, unsigned bits)
{
    const unsigned unused = 64 - bits;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << unused) >> unused;
}
constexpr std::int32_t wrap32(std::int32_t v, unsigned bits)
{
    const unsigned unused = 32 - bits;
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << unused) >> unused;
}

/// v * recip / 2^16 to the nearest, ties away from zero, cut to `bits` bits. A positive result has bits - 1 of them
/// before its half is added, so the carry can reach the sign.
constexpr std::int32_t times_reciprocal(std::int32_t v, std::uint32_t recip, unsigned bits)
{
    const std::int64_t product = std::int64_t{v} * recip, whole = product >> 16;
    if (product < 0) return static_cast<std::int32_t>(wrap(whole + ((product & 0xffff) > 0x8000), bits));
    const std::int64_t kept = whole & ((std::int64_t{1} << (bits - 1)) - 1);
    return static_cast<std::int32_t>(wrap(kept + (product >> 15 & 1), bits));
}

/// Larger or smaller of two fp16 patterns by sign and magnitude; a NaN wins, the first of two.
constexpr std::uint32_t select_fp16(std::uint32_t first, std::uint32_t second, bool larger)
{
    if (Fp16::is_nan(first)) return first;
    if (Fp16::is_nan(second)) return second;
    const auto order = [](std::uint32_t x) {  // ascending as the numbers, -0 below +0
        return x & 0x8000 ? -1 - static_cast<std::int32_t>(x & 0x7fff) : static_cast<std::int32_t>(x);
    };
    return (order(first) > order(second)) == larger ? first : second;
}

struct Widths {
    unsigned line, window, padded, after_width, out;
};
/// Bits of the integer sums after each step.
constexpr Widths widths(const PoolConfig& c)
{
    if (c.precision == Precision::Int16) return {22, 22, 22, 19, 16};
    return {11, 14, c.padded_bits, 11, 8};
}
bool average(const PoolConfig& c) { return c.method == PoolMethod::Average; }
bool fp16(const PoolConfig& c) { return c.precision == Precision::Fp16; }
std::int32_t signed_pad(const PoolConfig& c, std::uint32_t n) { return wrap32(static_cast<std::int32_t>(c.pad[n]), 19); }

std::uint32_t pattern(std::int32_t lane) { return static_cast<std::uint32_t>(lane); }
std::int32_t lane(std::uint32_t pattern) { return static_cast<std::int32_t>(pattern); }
std::int32_t add_fp17(std::int32_t a, std::int32_t b) { return lane(fp_add<Fp17>(pattern(a), pattern(b))); }

/// The extremum of both, whose first operand is `first`.
void select(const PoolConfig& c, std::int32_t* window, const std::int32_t* next, std::size_t count, bool window_first)
{
    const bool larger = c.method == PoolMethod::Maximum;
    if (fp16(c)) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t w = pattern(window[i]), n = pattern(next[i]);
            window[i] = lane(window_first ? select_fp16(w, n, larger) : select_fp16(n, w, larger));
        }
    } else if (larger) {
        for (std::size_t i = 0; i < count; ++i) window[i] = std::max(window[i], next[i]);
    } else {
        for (std::size_t i = 0; i < count; ++i) window[i] = std::min(window[i], next[i]);
    }
}

void store(std::size_t element_bytes, std::int32_t value, std::uint8_t* bytes, std::size_t i)
{
    if (element_bytes == 1) {
        bytes[i] = static_cast<std::uint8_t>(value);
    } else {
        const auto half = static_cast<std::uint16_t>(value);
        std::memcpy(bytes + 2 * i, &half, 2);
    }
}

}  // namespace

void pool_read(const PoolConfig& c, const std::uint8_t* bytes, std::int32_t* lanes, std::size_t count)
{
    if (c.precision == Precision::Int8) {
        for (std::size_t i = 0; i < count; ++i) lanes[i] = static_cast<std::int8_t>(bytes[i]);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t half;
        std::memcpy(&half, bytes + 2 * i, 2);
        if (!fp16(c)) {
            lanes[i] = static_cast<std::int16_t>(half);
            continue;
        }
        if (c.nan_to_zero && Fp16::is_nan(half)) half = 0;
        lanes[i] = lane(average(c) ? fp16_to_fp17(half) : half);
    }
}

void pool_along_line(const PoolConfig& c, std::int32_t* window, const std::int32_t* next, std::size_t count)
{
    if (!average(c)) return select(c, window, next, count, true);
    if (fp16(c)) {
        for (std::size_t i = 0; i < count; ++i) window[i] = add_fp17(window[i], next[i]);
    } else {
        for (std::size_t i = 0; i < count; ++i) window[i] += next[i];
    }
}

void pool_end_line(const PoolConfig& c, std::int32_t* window, std::uint32_t real, std::size_t count)
{
    if (!average(c)) return;
    const std::uint32_t missing = c.kernel_width - real;
    if (fp16(c)) {  // +0 is added, too
        for (std::size_t i = 0; i < count; ++i) window[i] = add_fp17(window[i], lane(c.pad[missing] & kSeventeen));
        return;
    }
    const unsigned bits = widths(c).line;
    const std::int32_t pad = missing == 0 ? 0 : wrap32(signed_pad(c, missing), bits);
    for (std::size_t i = 0; i < count; ++i) window[i] = wrap32(window[i] + pad, bits);
}

void pool_across_lines(const PoolConfig& c, std::int32_t* window, const std::int32_t* line, std::size_t count)
{
    if (!average(c)) return select(c, window, line, count, false);
    if (fp16(c)) {
        for (std::size_t i = 0; i < count; ++i) window[i] = add_fp17(line[i], window[i]);
    } else {
        const unsigned bits = widths(c).window;
        for (std::size_t i = 0; i < count; ++i) window[i] = wrap32(window[i] + line[i], bits);
    }
}

void pool_write(const PoolConfig& c, const std::int32_t* window, std::uint32_t real, std::uint8_t* bytes, std::size_t count)
{
    const std::size_t size = c.element_bytes();
    if (!average(c)) {
        for (std::size_t i = 0; i < count; ++i) store(size, window[i], bytes, i);
        return;
    }
    const std::uint32_t missing = c.kernel_height - real, width = c.recip_width & kSeventeen, height = c.recip_height & kSeventeen;
    if (fp16(c)) {
        const std::uint32_t pad = fp_multiply<Fp17>(c.pad[missing] & kSeventeen, kKernelFp17[c.kernel_width - 1]);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t sum = fp_add<Fp17>(pattern(window[i]), pad);
            store(size, fp17_to_fp16(fp_multiply<Fp17>(fp_multiply<Fp17>(sum, width), height)), bytes, i);
        }
        return;
    }
    const Widths bits = widths(c);
    const std::int32_t pad = missing == 0 ? 0 : wrap32(signed_pad(c, missing) * static_cast<std::int32_t>(c.kernel_width), bits.window);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t sum = wrap32(window[i] + pad, bits.padded);
        store(size, times_reciprocal(times_reciprocal(sum, width, bits.after_width), height, bits.out), bytes, i);
    }
}

}  // namespace dlasim::numerics
