#include "numerics/cmac.h"

#include <algorithm>

#include "base/expects.h"
#include "numerics/fp.h"

namespace dlasim::numerics {

// The inner loops are written for the vectoriser.
#if defined(__GNUC__)
#define DLASIM_INLINE inline __attribute__((always_inline))
#else
#define DLASIM_INLINE inline
#endif

namespace {

/// The multiplier's two words add up to the product plus this.
constexpr std::uint32_t kProductOffset = 0x55550000;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 38) - 1;
constexpr std::size_t kStep = 16;  // lanes are a multiple of it
constexpr int kVanished = 8;       // products shifted by that many steps are dropped

/// A carry-save pair of the multiplier, in as many low bits as T has.
template <class T>
struct Pair {
    T sum, carry;
};
template <class T>
DLASIM_INLINE Pair<T> add3(T x, T y, T z)
{
    const T majority = static_cast<T>((x & y) | (z & (x | y)));
    return {static_cast<T>(x ^ y ^ z), static_cast<T>(majority + majority)};
}

/// Row and correction of Booth digit `j`: digit * B + 2^16, in the form the multiplier makes it.
template <class T>
struct Row {
    T value, correction;
};
template <class T>
DLASIM_INLINE Row<T> booth_row(const Fp16Weights& w, std::size_t j, std::size_t lane, T b, T sign)
{
    const T one = static_cast<T>(w.one[j][lane]), two = static_cast<T>(w.two[j][lane]);
    const T negative = static_cast<T>((static_cast<T>(w.negative[j][lane]) ^ sign) & (one | two));
    const T multiple = static_cast<T>((b & one) | (static_cast<T>(b + b) & two));
    // 17 bits: inverted where the digit is negative, bit 16 is its complement.
    T value = static_cast<T>(multiple ^ negative);
    if constexpr (sizeof(T) > 2) value = (value & 0x1ffff) ^ 0x10000;
    return {value, static_cast<T>(negative & 1)};
}

/// Five rows to two words, in the order of the multiplier's tree. Rows j .. j + 3.
template <class T>
DLASIM_INLINE Pair<T> half_tree(const Fp16Weights& w, std::size_t j, std::size_t lane, T b, T sign)
{
    const Row<T> r0 = booth_row<T>(w, j, lane, b, sign), r1 = booth_row<T>(w, j + 1, lane, b, sign);
    const Row<T> r2 = booth_row<T>(w, j + 2, lane, b, sign), r3 = booth_row<T>(w, j + 3, lane, b, sign);
    const T in1 = static_cast<T>(r1.value << 2 | r0.correction);
    const T in2 = static_cast<T>(r2.value << 4 | r1.correction << 2);
    const T in3 = static_cast<T>(r3.value << 6 | r2.correction << 4);
    const T in4 = static_cast<T>(r3.correction << 6);
    const Pair<T> p = add3<T>(r0.value, in1, in2);
    const Pair<T> q = add3<T>(p.sum, p.carry, in3);
    const Pair<T> r = add3<T>(q.sum, q.carry, in4);
    if constexpr (sizeof(T) > 2) return {r.sum & 0xffffff, r.carry & 0xffffff};
    return r;
}

/// The low `4 * steps` bits, for steps 0..7 of four bits as far as T has them. No branch, for the vectoriser.
template <class T, unsigned Step = 0>
DLASIM_INLINE T low_bits(T steps)
{
    if constexpr (Step == 2 * sizeof(T) || Step == kVanished - 1) {
        return 0;
    } else {
        const T taken = static_cast<T>(-static_cast<T>(steps > Step));
        return static_cast<T>((taken & static_cast<T>(T{15} << (4 * Step))) | low_bits<T, Step + 1>(steps));
    }
}

/// Where the low `4 * shift` bits of the two words carry into the kept ones: 1, else 0. T must hold
/// those bits for every shift below kVanished that occurs.
template <class T>
DLASIM_INLINE void lost_carries(const Fp16Weights& w, const Fp16Operand& d, const std::int8_t* shift, std::int8_t* carry)
{
    const std::size_t lanes = d.lanes;
    for (std::size_t i = 0; i < lanes; ++i) {
        const T b = static_cast<T>(d.magnitude[i]);
        const T sign = static_cast<T>(static_cast<std::int8_t>(d.sign[i] ^ w.sign[i]));
        const Pair<T> lower = half_tree<T>(w, 0, i, b, sign);
        Pair<T> upper{0, 0};
        if constexpr (sizeof(T) > 1) upper = half_tree<T>(w, 4, i, b, sign);
        const T upper_sum = static_cast<T>(sizeof(T) > 1 ? upper.sum << 8 : 0);
        const T upper_carry = static_cast<T>(sizeof(T) > 1 ? upper.carry << 8 : 0);
        const Pair<T> three = add3<T>(lower.sum, lower.carry, upper_sum);
        const Pair<T> words = add3<T>(three.sum, three.carry, upper_carry);
        const T mask = low_bits<T>(static_cast<T>(shift[i]));
        const T low = static_cast<T>(words.sum & mask);
        carry[i] = low > static_cast<T>(mask - static_cast<T>(words.carry & mask));
    }
}

struct Terms {
    alignas(64) std::array<std::int32_t, kMaxLanes> lane;
    unsigned exponent;
};

/// The aligned products of all lanes.
DLASIM_INLINE void align_products(const Fp16Weights& w, const Fp16Operand& d, Terms& terms)
{
    const std::size_t lanes = d.lanes;
    alignas(64) std::array<std::int8_t, kMaxLanes> shift;
    alignas(64) std::array<std::int8_t, kMaxLanes> carry;

    std::int8_t largest = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
        shift[i] = static_cast<std::int8_t>(w.exponent[i] + d.exponent[i]);
        largest = std::max(largest, shift[i]);
    }
    std::int8_t furthest = 0;  // of those that do not vanish
    for (std::size_t i = 0; i < lanes; ++i) {
        const auto s = static_cast<std::int8_t>(largest - shift[i]);
        shift[i] = std::min<std::int8_t>(s, kVanished);
        furthest = std::max(furthest, s < kVanished ? s : std::int8_t{0});
    }
    terms.exponent = static_cast<unsigned>(largest);

    if (furthest == 0) std::fill(carry.begin(), carry.end(), std::int8_t{0});
    else if (furthest <= 2) lost_carries<std::uint8_t>(w, d, shift.data(), carry.data());
    else if (furthest <= 4) lost_carries<std::uint16_t>(w, d, shift.data(), carry.data());
    else lost_carries<std::uint32_t>(w, d, shift.data(), carry.data());

    for (std::size_t i = 0; i < lanes; ++i) {
        const std::int32_t magnitude = w.magnitude[i] * d.magnitude[i];
        const std::int32_t sign = d.sign[i] ^ w.sign[i];
        const std::int32_t offset = kProductOffset;
        const std::int32_t product = (magnitude ^ sign) - sign;
        const std::int32_t steps = 4 * std::min<std::int32_t>(shift[i], kVanished - 1);
        const std::int32_t kept = ((product + offset) >> steps) - (offset >> steps) - carry[i];
        terms.lane[i] = shift[i] < kVanished ? kept : 0;
    }
}

DLASIM_FORM std::int64_t sum_of_products(const Fp16Weights* weights, const Fp16Operand* data, unsigned* exponent)
{
    const Fp16Weights& w = *weights;
    const Fp16Operand& d = *data;
    Terms terms;
    align_products(w, d, terms);
    *exponent = terms.exponent;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < d.lanes; ++i) sum += terms.lane[i];
    return sum;
}

DLASIM_FORM void sums_of_positions(const Fp16Weights* weights, const Fp16Operand* data, std::int64_t* sums, unsigned* exponent)
{
    const Fp16Weights& w = *weights;
    const Fp16Operand& d = *data;
    constexpr std::size_t kPositions = 16;
    Terms terms;
    align_products(w, d, terms);
    *exponent = terms.exponent;
    const std::size_t channels = d.lanes / kPositions;
    for (std::size_t g = 0; g < kPositions; ++g) {
        sums[g] = 0;
        for (std::size_t c = 0; c < channels; ++c) sums[g] += terms.lane[g * channels + c];
    }
}

CmacWord word(std::int64_t mantissa, unsigned exponent)
{
    return std::uint64_t{exponent} << 40 | (static_cast<std::uint64_t>(mantissa) & kMantissaMask);
}
CmacWord nan_word(std::uint16_t value)
{
    return std::uint64_t{63} << 38 | std::uint64_t{Fp16::sign(value)} << 37 | std::uint64_t{Fp16::mantissa(value)} << 27;
}

/// Booth digit `j` of all lanes, from bits 2j + 1, 2j and 2j - 1 of the magnitude.
DLASIM_FORM void digits_of(Fp16Weights* weights, std::size_t j)
{
    Fp16Weights& w = *weights;
    std::int8_t* __restrict one = w.one[j].data(), * __restrict two = w.two[j].data();
    std::int8_t* __restrict negative = w.negative[j].data();
    const std::uint16_t* __restrict magnitude = w.magnitude.data();
    const std::size_t lanes = w.lanes;
    for (std::size_t i = 0; i < lanes; ++i) {
        const auto code = static_cast<std::uint16_t>(std::uint32_t{magnitude[i]} << 1 >> (2 * j));
        const std::uint16_t low = code & 1, middle = (code >> 1) & 1, high = (code >> 2) & 1;
        const std::uint16_t odd = middle ^ low;
        one[i] = static_cast<std::int8_t>(-odd);
        two[i] = static_cast<std::int8_t>(-((high ^ middle) & (odd ^ 1)));
        negative[i] = static_cast<std::int8_t>(-high);
    }
}

/// A NaN weight wins over a NaN datum.
bool nan_result(const Fp16Weights& w, const Fp16Operand& d, CmacWord& result)
{
    if (!w.nan && !d.nan) return false;
    result = nan_word(w.nan ? w.nan_value : d.nan_value);
    return true;
}

template <class T, class Sum>
Sum dot(std::span<const T> weights, std::span<const T> data)
{
    DLASIM_EXPECTS(weights.size() == data.size());
    Sum sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) sum += static_cast<Sum>(weights[i]) * data[i];
    return sum;
}

template <class T, class Sum>
std::array<Sum, 4> winograd(std::span<const T> weights, std::span<const T> data)
{
    std::array<Sum, 16> sums;
    const std::size_t channels = data.size() / sums.size();
    for (std::size_t g = 0; g < sums.size(); ++g)
        sums[g] = dot<T, Sum>(weights.subspan(g * channels, channels), data.subspan(g * channels, channels));
    return winograd_outputs(sums);
}

/// Takes lanes apart; returns whether one of them is NaN.
DLASIM_FORM bool unpack(std::span<const std::uint16_t> values, Fp16Operand* operand)
{
    Fp16Operand& out = *operand;
    std::uint16_t* __restrict magnitude = out.magnitude.data();
    std::int8_t* __restrict exponent = out.exponent.data(), * __restrict sign = out.sign.data();
    std::uint16_t special = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t x = values[i], e = (x >> 10) & 31, m = x & 1023;
        const std::uint16_t significand = e ? m | 1024 : m + m;
        const std::uint16_t twice = e & 2 ? static_cast<std::uint16_t>(significand << 2) : significand;
        magnitude[i] = e & 1 ? static_cast<std::uint16_t>(twice << 1) : twice;
        exponent[i] = (x & 0x7fff) ? static_cast<std::int8_t>(e >> 2) : Fp16Operand::kAbsent;
        sign[i] = (x & 0x8000) ? -1 : 0;
        special |= (x & 0x7fff) > 0x7c00;
    }
    return special != 0;
}

}  // namespace

void unpack_fp16(std::span<const std::uint16_t> values, Fp16Operand& out, Vectors vectors)
{
    DLASIM_EXPECTS(values.size() <= kMaxLanes && values.size() % kStep == 0);
    out.lanes = values.size();
    out.nan = in_form<unpack>(vectors, values, &out);
    if (!out.nan) return;
    out.nan_value = *std::find_if(values.begin(), values.end(), [](std::uint16_t x) { return Fp16::is_nan(x); });
}

void unpack_fp16(std::span<const std::uint16_t> values, Fp16Weights& out, Vectors vectors)
{
    unpack_fp16(values, static_cast<Fp16Operand&>(out), vectors);
    for (std::size_t j = 0; j < out.one.size(); ++j) in_form<digits_of>(vectors, &out, j);
}

CmacWord dot_fp16(const Fp16Weights& weights, const Fp16Operand& data, Vectors vectors)
{
    DLASIM_EXPECTS(weights.lanes == data.lanes);
    CmacWord result;
    if (nan_result(weights, data, result)) return result;
    unsigned exponent;
    const std::int64_t sum = in_form<sum_of_products>(vectors, &weights, &data, &exponent);
    return word(sum, exponent);
}

std::array<CmacWord, 4> winograd_fp16(const Fp16Weights& weights, const Fp16Operand& data, Vectors vectors)
{
    DLASIM_EXPECTS(weights.lanes == data.lanes);
    CmacWord nan;
    if (nan_result(weights, data, nan)) return {nan, nan, nan, nan};
    std::array<std::int64_t, 16> sums;
    unsigned exponent;
    in_form<sums_of_positions>(vectors, &weights, &data, sums.data(), &exponent);
    std::array<CmacWord, 4> words;
    const std::array<std::int64_t, 4> outputs = winograd_outputs(sums);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(outputs[i], exponent);
    return words;
}

std::int64_t dot_int16(std::span<const std::int16_t> weights, std::span<const std::int16_t> data)
{
    return dot<std::int16_t, std::int64_t>(weights, data);
}
std::int32_t dot_int8(std::span<const std::int8_t> weights, std::span<const std::int8_t> data)
{
    return dot<std::int8_t, std::int32_t>(weights, data);
}
std::array<std::int64_t, 4> winograd_int16(std::span<const std::int16_t> weights, std::span<const std::int16_t> data)
{
    return winograd<std::int16_t, std::int64_t>(weights, data);
}
std::array<std::int32_t, 4> winograd_int8(std::span<const std::int8_t> weights, std::span<const std::int8_t> data)
{
    return winograd<std::int8_t, std::int32_t>(weights, data);
}

}  // namespace dlasim::numerics
