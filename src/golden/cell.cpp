#include "golden/cell.h"

#include <algorithm>
#include <bit>

namespace dlasim {
namespace {

constexpr std::size_t kLanes = CellAtom::kLanes;
constexpr std::uint32_t kOffset = 0x55550000;     // Q
constexpr unsigned kVanished = 8;                 // steps
constexpr unsigned kDepth = 4 * (kVanished - 1);  // bits that a product can lose
constexpr unsigned kHalfTree = 24;
using Slices = std::array<std::uint64_t, kDepth>;

struct Words {
    Slices sum{}, carry{};
};

/// A row of full adders over the lowest `depth` bits of numbers of `width` bits.
Words full_adders(const Slices& x, const Slices& y, const Slices& z, unsigned depth, unsigned width = kDepth)
{
    Words out;
    for (unsigned i = 0; i < std::min(depth, width); ++i) {
        out.sum[i] = x[i] ^ y[i] ^ z[i];
        if (i + 1 < std::min(depth, width)) out.carry[i + 1] = (x[i] & y[i]) | (x[i] & z[i]) | (y[i] & z[i]);
    }
    return out;
}

/// Digit j of the weights times the data, 17 bits, shifted left by `left`; the last bit says that the digit is not negative.
Slices row(const CellWeights& w, const CellAtom& d, unsigned j, std::uint64_t minus, unsigned left, unsigned depth)
{
    Slices out{};
    for (unsigned i = 0; i <= 16 && i + left < depth; ++i) {
        if (i == 16) out[i + left] = ~minus;
        else out[i + left] = ((w.one[j] & d.slice[i]) | (i == 0 ? 0 : w.two[j] & d.slice[i - 1])) ^ minus;
    }
    return out;
}

/// Four rows and their corrections, first digit j, to two words.
Words half_tree(const CellWeights& w, const CellAtom& d, unsigned j, std::uint64_t sign, unsigned depth)
{
    std::array<std::uint64_t, 4> minus;
    for (unsigned i = 0; i < 4; ++i) minus[i] = (w.minus_inverted[j + i] & sign) | (w.minus[j + i] & ~sign);
    std::array<Slices, 5> in;
    for (unsigned i = 0; i < 4; ++i) in[i] = row(w, d, j + i, minus[i], 2 * i, depth);
    in[4] = {};
    // A correction stands in the free bits below the next row.
    for (unsigned i = 0; i < 4; ++i)
        if (2 * i < depth) in[i + 1][2 * i] |= minus[i];
    const Words a = full_adders(in[0], in[1], in[2], depth, kHalfTree), b = full_adders(a.sum, a.carry, in[3], depth, kHalfTree);
    return full_adders(b.sum, b.carry, in[4], depth, kHalfTree);
}

Slices shifted_by_eight(const Slices& x)
{
    Slices out{};
    std::copy(x.begin(), x.end() - 8, out.begin() + 8);
    return out;
}

/// Lanes whose lost bits carry; `at[s]`: lanes that are shifted by s steps.
std::uint64_t lost_carries(const CellWeights& w, const CellAtom& d, const std::array<std::uint64_t, kVanished>& at)
{
    unsigned steps = kVanished - 1;
    while (steps > 0 && at[steps] == 0) --steps;
    if (steps == 0) return 0;
    const unsigned depth = 4 * steps;
    const std::uint64_t sign = w.negative ^ d.negative;
    const Words low = half_tree(w, d, 0, sign, depth);
    Words high;
    if (depth > 8) high = half_tree(w, d, 4, sign, depth - 8);
    const Words three = full_adders(low.sum, low.carry, shifted_by_eight(high.sum), depth);
    const Words two = full_adders(three.sum, three.carry, shifted_by_eight(high.carry), depth);
    std::uint64_t carry = 0, lost = 0;
    for (unsigned i = 0; i < depth; ++i) {
        carry = (two.sum[i] & two.carry[i]) | (two.sum[i] & carry) | (two.carry[i] & carry);
        if (i % 4 == 3) lost |= carry & at[(i + 1) / 4];
    }
    return lost;
}

/// The largest exponent, and which lanes lie how many steps below it.
unsigned align(const CellWeights& w, const CellAtom& d, std::array<std::uint64_t, kVanished>& at)
{
    const std::uint64_t live = w.live & d.live;
    std::array<std::uint64_t, 4> sum{};
    std::uint64_t carry = 0;
    for (unsigned i = 0; i < 3; ++i) {
        sum[i] = w.exponent[i] ^ d.exponent[i] ^ carry;
        carry = (w.exponent[i] & d.exponent[i]) | (carry & (w.exponent[i] | d.exponent[i]));
    }
    sum[3] = carry;
    std::uint64_t candidates = live;
    unsigned largest = 0;
    for (unsigned i = 4; i-- > 0;)
        if ((candidates & sum[i]) != 0) {
            candidates &= sum[i];
            largest |= 1u << i;
        }
    for (unsigned s = 0; s < kVanished; ++s) {
        at[s] = largest < s ? 0 : live;
        for (unsigned i = 0; i < 4; ++i) at[s] &= (largest - s) >> i & 1 ? sum[i] : ~sum[i];
    }
    return largest;
}

/// The terms of all lanes. `kept`: lanes that are neither zero nor shifted out.
DLASIM_FORM void terms_of(const std::int32_t* weights, const std::int32_t* weight_steps, const std::int32_t* data,
                          const std::int32_t* data_steps, std::int32_t largest, std::uint64_t kept, std::uint64_t negative,
                          std::uint64_t lost, std::int32_t* terms)
{
    for (std::size_t i = 0; i < kLanes; ++i) {
        const std::int32_t below = static_cast<std::int32_t>(negative >> i & 1), live = static_cast<std::int32_t>(kept >> i & 1);
        const std::int32_t magnitude = weights[i] * data[i], product = (magnitude ^ -below) + below;
        const std::uint32_t bits = static_cast<std::uint32_t>(4 * (largest - weight_steps[i] - data_steps[i])) & 31;
        const std::uint32_t cut = ((static_cast<std::uint32_t>(product) + kOffset) >> bits) - (kOffset >> bits);
        terms[i] = (static_cast<std::int32_t>(cut) - static_cast<std::int32_t>(lost >> i & 1)) & -live;
    }
}

struct Terms {
    unsigned exponent;  // of the word
    std::array<std::int32_t, kLanes> term;
};

void terms(const CellWeights& w, const CellAtom& d, Terms& out, Vectors vectors)
{
    std::array<std::uint64_t, kVanished> at;
    const unsigned largest = align(w, d, at);
    std::uint64_t kept = 0;
    for (const std::uint64_t lanes : at) kept |= lanes;
    in_form<terms_of>(vectors, w.magnitude.data(), w.steps.data(), d.magnitude.data(), d.steps.data(), static_cast<std::int32_t>(largest),
                      kept, w.negative ^ d.negative, lost_carries(w, d, at), out.term.data());
    out.exponent = 4 * largest;
}

std::uint64_t word(unsigned exponent, std::int64_t mantissa)
{
    return std::uint64_t{exponent} << 38 | (static_cast<std::uint64_t>(mantissa) & ((std::uint64_t{1} << 38) - 1));
}

/// {all ones, sign, ten bits of mantissa, zeros}; a weight wins over a datum.
std::uint64_t nan_word(const CellWeights& w, const CellAtom& d)
{
    const std::uint16_t value = w.nan ? w.nan_value : d.nan_value;
    return std::uint64_t{63} << 38 | std::uint64_t{static_cast<std::uint16_t>(value >> 15)} << 37 | std::uint64_t{value & 1023u} << 27;
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

CellAtom::CellAtom(std::span<const std::uint16_t, kLanes> values)
{
    for (std::size_t i = 0; i < kLanes; ++i) {
        const std::uint16_t x = values[i];
        const unsigned e = x >> 10 & 31, m = x & 1023;
        if (e == 31 && m != 0 && !nan) {
            nan = true;
            nan_value = x;
        }
        const std::uint64_t lane = std::uint64_t{1} << i;
        if ((x & 0x7fff) != 0) live |= lane;
        if (x >> 15) negative |= lane;
        steps[i] = static_cast<std::int32_t>(e >> 2);
        magnitude[i] = static_cast<std::int32_t>((e != 0 ? 1024 + m : 2 * m) << (e & 3));
        for (unsigned b = 0; b < exponent.size(); ++b) exponent[b] |= std::uint64_t{e >> (b + 2) & 1} << i;
        for (unsigned b = 0; b < slice.size(); ++b) slice[b] |= static_cast<std::uint64_t>(magnitude[i] >> b & 1) << i;
    }
}

CellWeights::CellWeights(std::span<const std::uint16_t, kLanes> values) : CellAtom(values)
{
    for (unsigned j = 0; j < one.size(); ++j) {
        const std::uint64_t high = slice[2 * j + 1], middle = slice[2 * j], low = j == 0 ? 0 : slice[2 * j - 1];
        one[j] = middle ^ low;
        two[j] = (high & ~middle & ~low) | (~high & middle & low);
        minus[j] = high & ~(middle & low);
        minus_inverted[j] = ~high & (middle | low);
    }
}

std::uint64_t cell_word(const CellWeights& weights, const CellAtom& data, Vectors vectors)
{
    if (weights.nan || data.nan) return nan_word(weights, data);
    Terms t;
    terms(weights, data, t, vectors);
    std::int64_t sum = 0;
    for (const std::int32_t term : t.term) sum += term;
    return word(t.exponent, sum);
}

std::array<std::uint64_t, 4> cell_tile(const CellWeights& weights, const CellAtom& data, Vectors vectors)
{
    if (weights.nan || data.nan) {
        const std::uint64_t nan = nan_word(weights, data);
        return {nan, nan, nan, nan};
    }
    Terms t;
    terms(weights, data, t, vectors);
    // A^T G A with the rows of A^T: 1 1 1 0 and 0 1 -1 -1.
    constexpr int kRows[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
    std::array<std::uint64_t, 4> words;
    for (std::size_t i = 0; i < 4; ++i) {
        std::int64_t sum = 0;
        for (std::size_t r = 0; r < 4; ++r)
            for (std::size_t q = 0; q < 4; ++q) {
                const int factor = kRows[i / 2][r] * kRows[i % 2][q];
                for (std::size_t c = 0; factor != 0 && c < 4; ++c) sum += factor * std::int64_t{t.term[4 * (4 * r + q) + c]};
            }
        words[i] = word(t.exponent, sum);
    }
    return words;
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
