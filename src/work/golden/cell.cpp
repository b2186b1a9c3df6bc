#include "golden/cell.h"

#include <algorithm>
#include <bit>

#include "base/expects.h"

namespace dlasim {
namespace {

constexpr std::size_t kLanes = CellAtom::kLanes, kCellKernels = CellKernels::kTogether, kDigits = CellKernels::kDigits;
constexpr std::uint32_t kOffset = 0x55550000;  // Q
constexpr unsigned kVanished = 8;              // steps
constexpr int kMaxPlaces = 4 * kVanished;      // that a product is shifted by
constexpr unsigned kHalfTree = 24;             // bits of its words
using Each = CellKernels::Each;

/// The lanes of every kernel by the steps that their products are shifted, and how many the farthest one is.
struct Steps {
    alignas(64) std::array<Each, kVanished> at;
    std::array<std::int32_t, kCellKernels> top;  // the largest exponent, 4 * E3
    unsigned most = 0;
};

DLASIM_FORM void align(const CellKernels& w, const CellAtom& d, Steps& steps)
{
    alignas(64) std::array<Each, 4> sum;
    alignas(64) Each live, candidates, below;
    alignas(64) std::array<Each, 4> largest;
    for (std::size_t k = 0; k < kCellKernels; ++k) {
        std::uint64_t carry = w.exponent[0][k] & d.exponent[0];
        sum[0][k] = w.exponent[0][k] ^ d.exponent[0];
        for (unsigned i = 1; i < 3; ++i) {
            const std::uint64_t a = w.exponent[i][k], b = d.exponent[i];
            sum[i][k] = a ^ b ^ carry;
            carry = (a & b) | (carry & (a | b));
        }
        sum[3][k] = carry;
        candidates[k] = live[k] = w.live[k] & d.live;
    }
    for (unsigned i = 4; i-- > 0;)
        for (std::size_t k = 0; k < kCellKernels; ++k) {
            const std::uint64_t some = (candidates[k] & sum[i][k]) != 0 ? ~std::uint64_t{0} : 0;
            candidates[k] &= sum[i][k] | ~some;
            largest[i][k] = some;
        }
    // largest - sum in slices; lanes whose sum is larger are not live.
    alignas(64) std::array<Each, 4> under;
    for (std::size_t k = 0; k < kCellKernels; ++k) below[k] = 0;
    for (unsigned i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < kCellKernels; ++k) {
            const std::uint64_t a = largest[i][k], b = sum[i][k];
            under[i][k] = a ^ b ^ below[k];
            below[k] = (~a & b) | (~(a ^ b) & below[k]);
        }
    for (unsigned s = 0; s < kVanished; ++s) {
        std::uint64_t any = 0;
        for (std::size_t k = 0; k < kCellKernels; ++k) {
            std::uint64_t lanes = live[k] & ~under[3][k];
            for (unsigned i = 0; i < 3; ++i) lanes &= s >> i & 1 ? under[i][k] : ~under[i][k];
            steps.at[s][k] = lanes;
            any |= lanes;
        }
        if (any != 0) steps.most = s;
    }
    for (std::size_t k = 0; k < kCellKernels; ++k)
        steps.top[k] = static_cast<std::int32_t>((largest[0][k] & 4) | (largest[1][k] & 8) | (largest[2][k] & 16) | (largest[3][k] & 32));
}

/// The multiplier's tree of carry-save adders, a bit of its words after the other.
struct Tree {
    enum { kLow, kHigh = 3, kBoth = 6, kCarries = 9 };

    const CellKernels& w;
    const CellAtom& d;
    alignas(64) std::array<Each, kDigits> minus;  // digits that are subtracted, of products of their sign
    alignas(64) std::array<Each, kCarries> carry;
    alignas(64) Each lost;

    DLASIM_FORM Tree(const CellKernels& weights, const CellAtom& data) : w(weights), d(data)
    {
        for (Each& each : carry)
            for (std::uint64_t& word : each) word = 0;
        for (std::uint64_t& word : lost) word = 0;
        for (std::size_t j = 0; j < kDigits; ++j)
            for (std::size_t k = 0; k < kCellKernels; ++k)
                minus[j][k] = (w.minus[j][k] ^ w.negative[k] ^ d.negative) & (w.one[j][k] | w.two[j][k]);
    }

    /// Digit J times the data, 17 bits, the last one says that the digit is not negative. Bits from 0 on.
    template <unsigned J, int Bit>
    DLASIM_FORM std::uint64_t row(std::size_t k) const
    {
        if constexpr (Bit < 0 || Bit > 16) return 0;
        else if constexpr (Bit == 16) return ~minus[J][k];
        else if constexpr (Bit == 0) return (w.one[J][k] & d.slice[0]) ^ minus[J][k];
        else return ((w.one[J][k] & d.slice[Bit]) | (w.two[J][k] & d.slice[Bit - 1])) ^ minus[J][k];
    }
    /// The correction of digit J, which is in the free bits below the next row.
    template <unsigned J, int Bit>
    DLASIM_FORM std::uint64_t correction(std::size_t k) const
    {
        if constexpr (Bit == 0) return minus[J][k];
        else return 0;
    }
    DLASIM_FORM static std::uint64_t add(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t& carry)
    {
        carry = (x & y) | (x & z) | (y & z);
        return x ^ y ^ z;
    }
    /// Four rows and their corrections to two words; the carries from bit to bit begin at `First`.
    template <unsigned J, int Bit, std::size_t First>
    DLASIM_FORM void half(std::size_t k, std::uint64_t& sum, std::uint64_t& carried)
    {
        if constexpr (Bit < 0 || Bit >= static_cast<int>(kHalfTree)) {
            sum = carried = 0;
        } else {
            const std::uint64_t r0 = row<J, Bit>(k), r1 = row<J + 1, Bit - 2>(k) | correction<J, Bit>(k),
                                r2 = row<J + 2, Bit - 4>(k) | correction<J + 1, Bit - 2>(k),
                                r3 = row<J + 3, Bit - 6>(k) | correction<J + 2, Bit - 4>(k), r4 = correction<J + 3, Bit - 6>(k);
            const std::uint64_t c0 = carry[First][k], c1 = carry[First + 1][k];
            carried = carry[First + 2][k];
            sum = add(add(add(r0, r1, r2, carry[First][k]), c0, r3, carry[First + 1][k]), c1, r4, carry[First + 2][k]);
        }
    }
    template <int Bit>
    DLASIM_FORM void bit()
    {
        for (std::size_t k = 0; k < kCellKernels; ++k) {
            std::uint64_t low, low_carry, high, high_carry;
            half<0, Bit, kLow>(k, low, low_carry);
            half<4, Bit - 8, kHigh>(k, high, high_carry);
            const std::uint64_t c0 = carry[kBoth][k], c1 = carry[kBoth + 1][k], c2 = carry[kBoth + 2][k];
            const std::uint64_t sum = add(add(low, low_carry, high, carry[kBoth][k]), c0, high_carry, carry[kBoth + 1][k]);
            carry[kBoth + 2][k] = (sum & c1) | (sum & c2) | (c1 & c2);
        }
    }
    /// The lowest four bits of a shift by Step, and of those that are farther.
    template <unsigned Step>
    DLASIM_FORM void lose(const Steps& steps)
    {
        if constexpr (Step < kVanished) {
            if (Step > steps.most) return;
            constexpr int kFirst = 4 * static_cast<int>(Step - 1);
            bit<kFirst>();
            bit<kFirst + 1>();
            bit<kFirst + 2>();
            bit<kFirst + 3>();
            for (std::size_t k = 0; k < kCellKernels; ++k) lost[k] |= carry[kBoth + 2][k] & steps.at[Step][k];
            lose<Step + 1>(steps);
        }
    }
};

/// A product shifted; beyond kMaxPlaces nothing is left.
DLASIM_FORM std::int32_t cut(std::int32_t weight, std::int32_t datum, std::int32_t places)
{
    const std::uint32_t bits = static_cast<std::uint32_t>(places) & (kMaxPlaces - 1);
    const std::uint32_t shifted = ((static_cast<std::uint32_t>(weight * datum) + kOffset) >> bits) - (kOffset >> bits);
    return places < kMaxPlaces ? static_cast<std::int32_t>(shifted) : 0;
}

/// The products of all lanes of a kernel, shifted.
DLASIM_FORM void cut_all(const std::int16_t* weights, const std::int8_t* weight_places, const CellAtom& d, std::int32_t top,
                         std::int32_t* __restrict terms)
{
    const std::int16_t* data = d.number.data();
    const std::int8_t* places = d.places.data();
    for (std::size_t i = 0; i < kLanes; ++i) terms[i] = cut(weights[i], data[i], top - weight_places[i] - places[i]);
}

/// What the shifts take from the sum of a lane's product, of every kernel. One function for both below: it is long.
DLASIM_FORM void lost_of(const CellKernels* w, const CellAtom* d, Steps* steps, Each* lost)
{
    align(*w, *d, *steps);
    Tree tree(*w, *d);
    tree.lose<1>(*steps);
    *lost = tree.lost;
}

DLASIM_FORM void sums_of(const CellKernels* w, const CellAtom* d, const Steps* steps, const Each* lost, std::int64_t* sums)
{
    for (std::size_t k = 0; k < w->count; ++k) {
        alignas(64) std::array<std::int32_t, kLanes> terms;
        cut_all(w->number[k].data(), w->places[k].data(), *d, steps->top[k], terms.data());
        std::int64_t sum = 0;
        for (const std::int32_t term : terms) sum += term;
        sums[k] = sum - std::popcount((*lost)[k]);
    }
}

DLASIM_FORM void terms_of(const CellKernels* w, const CellAtom* d, const Steps* steps, const Each* lost, std::int32_t* terms)
{
    for (std::size_t k = 0; k < w->count; ++k, terms += kLanes) {
        cut_all(w->number[k].data(), w->places[k].data(), *d, steps->top[k], terms);
        for (std::size_t i = 0; i < kLanes; ++i) terms[i] -= static_cast<std::int32_t>((*lost)[k] >> i & 1);
    }
}

std::uint64_t word(std::int32_t exponent, std::int64_t mantissa)
{
    return static_cast<std::uint64_t>(exponent) << 38 | (static_cast<std::uint64_t>(mantissa) & ((std::uint64_t{1} << 38) - 1));
}

/// {all ones, sign, ten bits of mantissa, zeros}; a weight wins over a datum.
std::uint64_t nan_word(const CellKernels& w, std::size_t k, const CellAtom& d)
{
    const std::uint16_t value = w.nans[k] ? w.nan_values[k] : d.nan_value;
    return std::uint64_t{63} << 38 | std::uint64_t{static_cast<std::uint16_t>(value >> 15)} << 37 | std::uint64_t{value & 1023u} << 27;
}

/// Puts the words of kernels with NaN in place.
void put_nan(const CellKernels& w, const CellAtom& d, Each& words)
{
    for (std::size_t k = 0; k < w.count && (w.nan || d.nan); ++k)
        if (w.nans[k] || d.nan) words[k] = nan_word(w, k, d);
}

/// A bit of all lanes.
DLASIM_FORM std::uint64_t slice_of(const std::uint16_t* words, unsigned bit)
{
    std::uint64_t lanes = 0;
    for (std::size_t i = 0; i < kLanes; ++i) lanes |= std::uint64_t{static_cast<std::uint16_t>(words[i] >> bit & 1)} << i;
    return lanes;
}

DLASIM_FORM void take_apart(const std::uint16_t* values, CellAtom* a)
{
    std::array<std::uint16_t, kLanes> magnitude, field;
    for (std::size_t i = 0; i < kLanes; ++i) {
        const std::uint16_t e = values[i] >> 10 & 31, m = values[i] & 1023;
        field[i] = e;
        magnitude[i] = static_cast<std::uint16_t>((e != 0 ? 1024 + m : 2 * m) << (e & 3));
        a->number[i] = static_cast<std::int16_t>(values[i] >> 15 ? -magnitude[i] : magnitude[i]);
        a->places[i] = static_cast<std::int8_t>(e & 28);
    }
    for (unsigned b = 0; b < a->exponent.size(); ++b) a->exponent[b] = slice_of(field.data(), b + 2);
    for (unsigned b = 0; b < a->slice.size(); ++b) a->slice[b] = slice_of(magnitude.data(), b);
    a->negative = slice_of(values, 15);
    a->live = 0;
    for (const std::uint64_t lanes : a->slice) a->live |= lanes;
}

// ------------------------------------------------------------------------------------ accumulator
__extension__ using Wide = __int128;
constexpr unsigned kMantissa = 40, kNan = 255;
constexpr std::uint64_t kOnes = (std::uint64_t{1} << kMantissa) - 1;

/// The low `width` bits as a signed number.
std::int64_t extended(std::uint64_t x, unsigned width) { return static_cast<std::int64_t>(x << (64 - width)) >> (64 - width); }

/// How often a number of `width` bits can be doubled.
unsigned spare(std::int64_t x, unsigned width)
{
    return static_cast<unsigned>(std::countl_zero(static_cast<std::uint64_t>(x < 0 ? ~x : x))) - (65 - width);
}

struct Aligned {
    std::int64_t value;
    unsigned cut;  // first and second bit that fell off, and whether any of the others is set
};
Aligned aligned(std::int64_t mantissa, unsigned shift)
{
    const Wide moved = (static_cast<Wide>(mantissa) << kMantissa) >> std::min(shift, 2 * kMantissa);
    const std::uint64_t lost = static_cast<std::uint64_t>(moved) & kOnes;
    return {static_cast<std::int64_t>(moved >> kMantissa),
            static_cast<unsigned>(lost >> 39) << 2 | static_cast<unsigned>(lost >> 38 & 1) << 1 | ((lost & (kOnes >> 2)) != 0 ? 1u : 0u)};
}

}  // namespace

CellAtom::CellAtom(const Values& values, Vectors vectors)
{
    in_form<take_apart>(vectors, values.data(), this);
    const auto first = std::find_if(values.begin(), values.end(), [](std::uint16_t x) { return (x & 0x7fff) > 0x7c00; });
    nan = first != values.end();
    if (nan) nan_value = *first;
}

CellKernels::CellKernels(std::span<const CellAtom::Values> kernels, Vectors vectors) : count(kernels.size())
{
    DLASIM_EXPECTS(count <= kCellKernels);
    for (std::size_t k = 0; k < count; ++k) {
        const CellAtom atom(kernels[k], vectors);
        nans[k] = atom.nan;
        nan |= atom.nan;
        nan_values[k] = atom.nan_value;
        live[k] = atom.live;
        negative[k] = atom.negative;
        for (std::size_t i = 0; i < exponent.size(); ++i) exponent[i][k] = atom.exponent[i];
        for (std::size_t j = 0; j < kDigits; ++j) {
            const std::uint64_t high = atom.slice[2 * j + 1], middle = atom.slice[2 * j], low = j == 0 ? 0 : atom.slice[2 * j - 1];
            one[j][k] = middle ^ low;
            two[j][k] = (high & ~middle & ~low) | (~high & middle & low);
            minus[j][k] = high;
        }
        number[k] = atom.number;
        places[k] = atom.places;
    }
}

void cell_words(const CellKernels& kernels, const CellAtom& data, Each& words, Vectors vectors)
{
    Steps steps;
    Each lost;
    std::array<std::int64_t, kCellKernels> sums;
    in_form<lost_of>(vectors, &kernels, &data, &steps, &lost);
    in_form<sums_of>(vectors, &kernels, &data, &steps, &lost, sums.data());
    words = {};
    for (std::size_t k = 0; k < kernels.count; ++k) words[k] = word(steps.top[k], sums[k]);
    put_nan(kernels, data, words);
}

void cell_tiles(const CellKernels& kernels, const CellAtom& data, std::array<Each, 4>& words, Vectors vectors)
{
    Steps steps;
    Each lost;
    std::array<std::int32_t, kCellKernels * kLanes> terms;
    in_form<lost_of>(vectors, &kernels, &data, &steps, &lost);
    in_form<terms_of>(vectors, &kernels, &data, &steps, &lost, terms.data());
    // A^T G A with the rows of A^T: 1 1 1 0 and 0 1 -1 -1.
    constexpr int kRows[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = {};
        for (std::size_t k = 0; k < kernels.count; ++k) {
            std::int64_t sum = 0;
            for (std::size_t r = 0; r < 4; ++r)
                for (std::size_t q = 0; q < 4; ++q) {
                    const int factor = kRows[i / 2][r] * kRows[i % 2][q];
                    for (std::size_t c = 0; factor != 0 && c < 4; ++c)
                        sum += factor * std::int64_t{terms[k * kLanes + 4 * (4 * r + q) + c]};
                }
            words[i][k] = word(steps.top[k], sum);
        }
        put_nan(kernels, data, words[i]);
    }
}

std::uint64_t accumulated(std::uint64_t sum, std::uint64_t word)
{
    const auto old_exponent = static_cast<unsigned>(sum >> kMantissa & 255), new_exponent = static_cast<unsigned>(word >> 38 & 63);
    if (old_exponent == kNan) return std::uint64_t{kNan} << kMantissa | (sum & kOnes) >> 29 << 29;
    if (new_exponent == 63) return std::uint64_t{kNan} << kMantissa | (word >> 27 & 0x7ff) << 29;

    const std::int64_t old = extended(sum, kMantissa), m36 = extended(word, 36);
    const unsigned doublings = spare(m36, 36);
    const std::int64_t fresh = extended(static_cast<std::uint64_t>(m36) << doublings, 36) * 16;
    const unsigned ex = extended(word, 38) == 0 ? 0 : new_exponent + 47 - doublings, ep = old == 0 ? 0 : old_exponent;
    const unsigned e = std::max(ex, ep);
    const Aligned a = aligned(fresh, e - ex), b = aligned(old, e - ep);
    const std::int64_t z = (a.value + b.value) * 8 + (ex > ep ? b.cut : ex < ep ? a.cut : 0);
    const unsigned free = spare(z, 44);
    unsigned exponent = (e + 1 - free) & 255;
    const std::int64_t v = extended(static_cast<std::uint64_t>(z) << free, 44);
    // To 40 bits, half away from zero.
    std::int64_t m = v >> 4;
    const bool up = (v & 8) != 0 && (v >= 0 || (v & 7) != 0);
    if (up) ++m;
    constexpr std::int64_t kTop = std::int64_t{1} << 39;
    if (up && m == kTop) {
        m = kTop / 2;
        exponent = (exponent + 1) & 255;
    } else if (up && m == -kTop / 2) {
        m = -kTop;
        exponent = (exponent - 1) & 255;
    }
    return m == 0 ? 0 : std::uint64_t{exponent} << kMantissa | (static_cast<std::uint64_t>(m) & kOnes);
}

std::uint32_t accumulator_result(std::uint64_t sum)
{
    const std::int64_t m = extended(sum, kMantissa);
    const auto exponent = static_cast<std::uint32_t>(sum >> kMantissa & 255), sign = m < 0 ? 1u : 0u;
    if (m == 0) return 0;
    if (exponent == kNan) return sign << 31 | 255u << 23 | static_cast<std::uint32_t>(sum >> 29 & 0x3ff);
    const auto magnitude = static_cast<std::uint64_t>(m < 0 ? -m : m);  // 2^38 .. 2^39
    const auto all = static_cast<std::uint32_t>((magnitude >> 15) + (magnitude >> 14 & 1));
    // 2^24 after rounding, or -2^39: one exponent more, no fraction.
    return sign << 31 | ((exponent + 64 + (all >> 24)) & 255) << 23 | (all >> 24 ? 0 : all & 0x7fffff);
}

}  // namespace dlasim
