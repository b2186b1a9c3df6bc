#include "numerics/fp16_block.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/expects.h"
#include "base/intrinsics.h"
#include "numerics/cmac.h"

namespace dlasim::numerics {
namespace {

constexpr std::uint32_t kLanes = 64;
constexpr unsigned kDigits = 8;

}  // namespace

/// A kernel's weights: the operand, and the Booth digits of its lanes as bits.
struct Fp16Block::Kernel {
    Fp16Weights operand;
    std::uint64_t sign = 0;
    std::array<std::uint64_t, kDigits> one{}, two{}, negative{};
};
struct Fp16Block::Atom {
    Fp16Operand operand;
    std::uint64_t sign = 0;
};

namespace {

/// Lanes of two bytes, filled up with zeros.
std::span<const std::uint16_t> words(const std::uint8_t* from, std::uint32_t lanes, std::array<std::uint16_t, kLanes>& to)
{
    std::fill(to.begin() + lanes, to.end(), std::uint16_t{0});
    std::memcpy(to.data(), from, 2 * lanes);
    return to;
}

#if defined(__x86_64__)

/// Flags of 64 lanes as bits.
DLASIM_AVX512 std::uint64_t mask_of(const std::array<std::int8_t, kMaxLanes>& flags)
{
    const __m512i all = _mm512_loadu_si512(flags.data());
    return _mm512_test_epi8_mask(all, all);
}

DLASIM_AVX512 inline std::uint64_t bit(__m512i low, __m512i high, unsigned n)
{
    const __m512i mask = _mm512_set1_epi16(static_cast<short>(1u << n));
    return std::uint64_t{_mm512_test_epi16_mask(low, mask)} | std::uint64_t{_mm512_test_epi16_mask(high, mask)} << 32;
}

/// Booth digits of 64 magnitudes as bits: digit j comes from bits 2j + 1, 2j and 2j - 1.
DLASIM_AVX512 void digits(const std::uint16_t* magnitude, std::uint64_t* one, std::uint64_t* two, std::uint64_t* negative)
{
    const __m512i low = _mm512_loadu_si512(magnitude), high = _mm512_loadu_si512(magnitude + 32);
    std::uint64_t below = 0;
    for (unsigned j = 0; j < kDigits; ++j) {
        const std::uint64_t middle = bit(low, high, 2 * j), top = bit(low, high, 2 * j + 1);
        one[j] = middle ^ below;
        two[j] = (top ^ middle) & ~one[j];
        negative[j] = top;
        below = top;
    }
}

/// Operations on words of 16 bits in 32 lanes, or of 32 bits in 16 lanes.
struct Words16 {
    using Mask = __mmask32;
    static constexpr unsigned kCount = 32;
    DLASIM_AVX512 static inline __m512i set(int x) { return _mm512_set1_epi16(static_cast<short>(x)); }
    DLASIM_AVX512 static inline __m512i add(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
    DLASIM_AVX512 static inline __m512i sub(__m512i a, __m512i b) { return _mm512_sub_epi16(a, b); }
    DLASIM_AVX512 static inline __m512i left(__m512i a, unsigned n) { return _mm512_slli_epi16(a, n); }
    DLASIM_AVX512 static inline __m512i left(__m512i a, __m512i n) { return _mm512_sllv_epi16(a, n); }
    DLASIM_AVX512 static inline __m512i only(Mask m, __m512i a) { return _mm512_maskz_mov_epi16(m, a); }
    DLASIM_AVX512 static inline __m512i choose(__m512i a, Mask m, __m512i b) { return _mm512_mask_mov_epi16(a, m, b); }
    DLASIM_AVX512 static inline __m512i add_where(Mask m, __m512i a, __m512i b) { return _mm512_mask_add_epi16(a, m, a, b); }
    DLASIM_AVX512 static inline __m512i complement(Mask m, __m512i a) { return _mm512_mask_sub_epi16(a, m, set(-1), a); }
    DLASIM_AVX512 static inline Mask greater(__m512i a, __m512i b) { return _mm512_cmpgt_epu16_mask(a, b); }
};
struct Words32 {
    using Mask = __mmask16;
    static constexpr unsigned kCount = 16;
    DLASIM_AVX512 static inline __m512i set(int x) { return _mm512_set1_epi32(x); }
    DLASIM_AVX512 static inline __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
    DLASIM_AVX512 static inline __m512i sub(__m512i a, __m512i b) { return _mm512_sub_epi32(a, b); }
    DLASIM_AVX512 static inline __m512i left(__m512i a, unsigned n) { return _mm512_slli_epi32(a, n); }
    DLASIM_AVX512 static inline __m512i left(__m512i a, __m512i n) { return _mm512_sllv_epi32(a, n); }
    DLASIM_AVX512 static inline __m512i only(Mask m, __m512i a) { return _mm512_maskz_mov_epi32(m, a); }
    DLASIM_AVX512 static inline __m512i choose(__m512i a, Mask m, __m512i b) { return _mm512_mask_mov_epi32(a, m, b); }
    DLASIM_AVX512 static inline __m512i add_where(Mask m, __m512i a, __m512i b) { return _mm512_mask_add_epi32(a, m, a, b); }
    DLASIM_AVX512 static inline __m512i complement(Mask m, __m512i a) { return _mm512_mask_sub_epi32(a, m, set(-1), a); }
    DLASIM_AVX512 static inline Mask greater(__m512i a, __m512i b) { return _mm512_cmpgt_epu32_mask(a, b); }
};

/// A carry-save pair.
struct Pair {
    __m512i sum, carry;
};
template <class W>
DLASIM_AVX512 inline Pair add3(__m512i x, __m512i y, __m512i z)
{
    const __m512i majority = _mm512_ternarylogic_epi32(x, y, z, 0xe8);
    return {_mm512_ternarylogic_epi32(x, y, z, 0x96), W::add(majority, majority)};
}

/// Booth rows j .. j + 3 to two words, in the order of the multiplier's tree, as far as W holds them.
/// `inverted[j]`: lanes whose digit is negative.
template <class W>
DLASIM_AVX512 inline Pair half_tree(const std::uint64_t* one, const std::uint64_t* two, const std::uint64_t* inverted, unsigned lane,
                                    __m512i b, __m512i b2)
{
    using Mask = typename W::Mask;
    __m512i row[4];
    Mask negative[4];
    for (unsigned j = 0; j < 4; ++j) {
        negative[j] = static_cast<Mask>(inverted[j] >> lane);
        row[j] = W::only(static_cast<Mask>(one[j] >> lane), b);
        row[j] = W::choose(row[j], static_cast<Mask>(two[j] >> lane), b2);
        row[j] = W::complement(negative[j], row[j]);
        // 17 bits, the last one the complement of the sign.
        if constexpr (W::kCount == 16) row[j] = _mm512_xor_si512(_mm512_and_si512(row[j], W::set(0x1ffff)), W::set(0x10000));
    }
    // The correction of a row fills the free low bits of the next one.
    const __m512i in1 = W::add_where(negative[0], W::left(row[1], 2), W::set(1));
    const __m512i in2 = W::add_where(negative[1], W::left(row[2], 4), W::set(4));
    const __m512i in3 = W::add_where(negative[2], W::left(row[3], 6), W::set(16));
    const __m512i in4 = W::only(negative[3], W::set(64));
    const Pair p = add3<W>(row[0], in1, in2);
    const Pair q = add3<W>(p.sum, p.carry, in3);
    Pair r = add3<W>(q.sum, q.carry, in4);
    if constexpr (W::kCount == 16) r = {_mm512_and_si512(r.sum, W::set(0xffffff)), _mm512_and_si512(r.carry, W::set(0xffffff))};
    return r;
}

/// Lanes (from `lane` on) in which the low bits of the two words carry into the kept ones. Words of 16
/// bits hold what shifts of up to four steps look at.
template <class W>
DLASIM_AVX512 inline typename W::Mask lost_carries(const std::uint64_t* one, const std::uint64_t* two, const std::uint64_t* inverted,
                                                   unsigned lane, __m512i b, __m512i steps)
{
    const __m512i b2 = W::add(b, b);
    const Pair lower = half_tree<W>(one, two, inverted, lane, b, b2), upper = half_tree<W>(one + 4, two + 4, inverted + 4, lane, b, b2);
    const Pair three = add3<W>(lower.sum, lower.carry, W::left(upper.sum, 8));
    const Pair pair = add3<W>(three.sum, three.carry, W::left(upper.carry, 8));
    // A shift by the whole word gives 0: the mask is then all ones.
    const __m512i mask = W::sub(W::left(W::set(1), W::left(steps, 2)), W::set(1));
    return W::greater(_mm512_and_si512(pair.sum, mask), W::sub(mask, _mm512_and_si512(pair.carry, mask)));
}

DLASIM_AVX512 inline __m128i sixteen(__m512i bytes, unsigned part)
{
    return part == 0   ? _mm512_castsi512_si128(bytes)
           : part == 1 ? _mm512_extracti32x4_epi32(bytes, 1)
           : part == 2 ? _mm512_extracti32x4_epi32(bytes, 2)
                       : _mm512_extracti32x4_epi32(bytes, 3);
}

DLASIM_AVX512 inline int largest(__m512i exponents)
{
    const __m256i a = _mm256_max_epi8(_mm512_castsi512_si256(exponents), _mm512_extracti64x4_epi64(exponents, 1));
    __m128i b = _mm_max_epi8(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    b = _mm_max_epi8(b, _mm_setzero_si128());  // 0 if every lane is absent
    b = _mm_max_epi8(b, _mm_srli_epi16(b, 8));
    // The smallest of 255 - x; the upper bytes are made equal.
    const __m128i c = _mm_minpos_epu16(_mm_sub_epi16(_mm_set1_epi16(255), _mm_and_si128(b, _mm_set1_epi16(255))));
    return 255 - (_mm_cvtsi128_si32(c) & 0xffff);
}

constexpr std::int32_t kProductOffset = 0x55550000;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 38) - 1;

/// The aligned products of one kernel and one atom, 16 lanes a vector; the exponent they share.
DLASIM_AVX512 inline int terms(const Fp16Weights& w, std::uint64_t sign, const std::uint64_t* one, const std::uint64_t* two,
                               const std::uint64_t* negative, const Fp16Operand& d, __m512i (&term)[4])
{
    const __m512i exponents = _mm512_adds_epi8(_mm512_loadu_si512(w.exponent.data()), _mm512_loadu_si512(d.exponent.data()));
    const int top = largest(exponents);
    const __m512i shift = _mm512_subs_epi8(_mm512_set1_epi8(static_cast<char>(top)), exponents);
    const std::uint64_t live = _mm512_cmplt_epi8_mask(shift, _mm512_set1_epi8(8));
    const std::uint64_t shifted = live & _mm512_test_epi8_mask(shift, shift);
    const std::uint64_t far = shifted & _mm512_cmpgt_epi8_mask(shift, _mm512_set1_epi8(4));

    std::uint64_t carry = 0;
    if (shifted) {
        std::uint64_t inverted[kDigits];
        for (unsigned j = 0; j < kDigits; ++j) inverted[j] = (negative[j] ^ sign) & (one[j] | two[j]);
        for (unsigned half = 0; half < 2; ++half) {
            const auto here = static_cast<std::uint32_t>(shifted >> 32 * half), wide = static_cast<std::uint32_t>(far >> 32 * half);
            if (here != wide) {
                const __m512i b = _mm512_loadu_si512(d.magnitude.data() + 32 * half);
                const __m512i steps = _mm512_cvtepi8_epi16(half ? _mm512_extracti64x4_epi64(shift, 1) : _mm512_castsi512_si256(shift));
                carry |= std::uint64_t{lost_carries<Words16>(one, two, inverted, 32 * half, b, steps) & ~wide} << 32 * half;
            }
            for (unsigned part = 2 * half; part < 2 * half + 2; ++part) {
                const auto lanes = static_cast<__mmask16>(far >> 16 * part);
                if (!lanes) continue;
                const __m512i b =
                    _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(d.magnitude.data() + 16 * part)));
                const __m512i steps = _mm512_cvtepi8_epi32(sixteen(shift, part));
                carry |= std::uint64_t(lost_carries<Words32>(one, two, inverted, 16 * part, b, steps) & lanes) << 16 * part;
            }
        }
        carry &= shifted;
    }

    const __m512i offset = _mm512_set1_epi32(kProductOffset), minus = _mm512_set1_epi32(1);
    for (unsigned part = 0; part < 4; ++part) {
        const __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(w.magnitude.data() + 16 * part)));
        const __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(d.magnitude.data() + 16 * part)));
        __m512i p = _mm512_madd_epi16(a, b);  // the upper halves are 0
        p = _mm512_mask_sub_epi32(p, static_cast<__mmask16>(sign >> 16 * part), _mm512_setzero_si512(), p);
        const __mmask16 moved = static_cast<__mmask16>(shifted >> 16 * part);
        if (moved) {
            const __m512i bits = _mm512_slli_epi32(_mm512_cvtepi8_epi32(sixteen(shift, part)), 2);
            p = _mm512_mask_sub_epi32(p, moved, _mm512_srlv_epi32(_mm512_add_epi32(p, offset), bits), _mm512_srlv_epi32(offset, bits));
            p = _mm512_mask_sub_epi32(p, static_cast<__mmask16>(carry >> 16 * part), p, minus);
        }
        term[part] = _mm512_maskz_mov_epi32(static_cast<__mmask16>(live >> 16 * part), p);
    }
    return top;
}

std::int64_t word(int exponent, std::int64_t mantissa)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(exponent) << 40 | (static_cast<std::uint64_t>(mantissa) & kMantissaMask));
}

/// The word of one kernel and one atom.
DLASIM_AVX512 std::int64_t product_avx512(const Fp16Weights& w, std::uint64_t sign, const std::uint64_t* one, const std::uint64_t* two,
                                          const std::uint64_t* negative, const Fp16Operand& d)
{
    __m512i term[4];
    const int top = terms(w, sign, one, two, negative, d, term);
    // Four terms of 29 bits fit 32.
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(term[0], term[1]), _mm512_add_epi32(term[2], term[3]));
    const __m512i wide =
        _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(sum)), _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(sum, 1)));
    return word(top, _mm512_reduce_add_epi64(wide));
}

/// The four words of one kernel and one tile.
DLASIM_AVX512 void tile_avx512(const Fp16Weights& w, std::uint64_t sign, const std::uint64_t* one, const std::uint64_t* two,
                               const std::uint64_t* negative, const Fp16Operand& d, std::int64_t* words, std::uint32_t pitch)
{
    __m512i term[4];
    const int top = terms(w, sign, one, two, negative, d, term);
    std::array<std::int64_t, 16> positions;
    for (unsigned part = 0; part < 4; ++part) {
        // The four channels of a position are neighbours.
        const __m512i pairs = _mm512_add_epi32(term[part], _mm512_shuffle_epi32(term[part], _MM_PERM_CDAB));
        const __m512i fours = _mm512_add_epi32(pairs, _mm512_shuffle_epi32(pairs, _MM_PERM_BADC));
        const __m128i sums = _mm512_castsi512_si128(_mm512_maskz_compress_epi32(0x1111, fours));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(positions.data() + 4 * part), _mm256_cvtepi32_epi64(sums));
    }
    const std::array<std::int64_t, 4> outputs = winograd_outputs(positions);
    for (std::size_t j = 0; j < outputs.size(); ++j) words[j * pitch] = word(top, outputs[j]);
}
#endif

}  // namespace

Fp16Block::Fp16Block(std::uint32_t max_kernels, Vectors vectors)
    : vectors_(chosen(vectors)),
      wide_(vectors_ == Vectors::Avx512),
      kernel_(std::make_unique<Kernel[]>(max_kernels)),
      atom_(std::make_unique<Atom>()),
      max_kernels_(max_kernels)
{
}
Fp16Block::~Fp16Block() = default;

void Fp16Block::load(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels loaded, std::uint32_t lanes)
{
    const std::uint32_t kernels = loaded.count();
    DLASIM_EXPECTS(kernels <= max_kernels_ && lanes <= kLanes);
    kernels_ = kernels;
    lanes_ = lanes;
    std::array<std::uint16_t, kLanes> buffer;
    for (std::uint32_t k = 0; k < kernels; ++k) {
        Kernel& kernel = kernel_[k];
        const auto values = words(weights + std::size_t{k} * weight_pitch, lanes, buffer);
#if defined(__x86_64__)
        if (wide_) {
            // The digits are made here; the long way only names the NaN.
            unpack_fp16(values, static_cast<Fp16Operand&>(kernel.operand), vectors_);
            kernel.sign = mask_of(kernel.operand.sign);
            digits(kernel.operand.magnitude.data(), kernel.one.data(), kernel.two.data(), kernel.negative.data());
            continue;
        }
#endif
        unpack_fp16(values, kernel.operand, vectors_);
    }
}

std::int64_t Fp16Block::product(const Kernel& kernel, const Atom& atom) const
{
#if defined(__x86_64__)
    if (wide_ && !kernel.operand.nan && !atom.operand.nan)
        return product_avx512(kernel.operand, kernel.sign ^ atom.sign, kernel.one.data(), kernel.two.data(), kernel.negative.data(),
                              atom.operand);
#endif
    return static_cast<std::int64_t>(dot_fp16(kernel.operand, atom.operand, vectors_));
}

void Fp16Block::tile(const Kernel& kernel, const Atom& atom, std::int64_t* to, std::uint32_t pitch) const
{
#if defined(__x86_64__)
    if (wide_ && !kernel.operand.nan && !atom.operand.nan) {
        tile_avx512(kernel.operand, kernel.sign ^ atom.sign, kernel.one.data(), kernel.two.data(), kernel.negative.data(), atom.operand, to,
                    pitch);
        return;
    }
#endif
    const std::array<CmacWord, 4> outputs = winograd_fp16(kernel.operand, atom.operand, vectors_);
    for (std::size_t j = 0; j < outputs.size(); ++j) to[j * pitch] = static_cast<std::int64_t>(outputs[j]);
}

void Fp16Block::unpack(const std::uint8_t* from)
{
    std::array<std::uint16_t, kLanes> buffer;
    unpack_fp16(words(from, lanes_, buffer), atom_->operand, vectors_);
#if defined(__x86_64__)
    if (wide_) atom_->sign = mask_of(atom_->operand.sign);
#endif
}

void Fp16Block::multiply(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* to, std::uint32_t pitch)
{
    for (std::uint32_t i = 0; i < count; ++i, to += pitch) {
        unpack(atoms[i]);
        for (std::uint32_t k = 0; k < kernels_; ++k) to[k] = product(kernel_[k], *atom_);
        std::fill(to + kernels_, to + pitch, 0);
    }
}

void Fp16Block::multiply_tiles(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* to, std::uint32_t pitch)
{
    DLASIM_EXPECTS(lanes_ == kLanes);
    for (std::uint32_t i = 0; i < count; ++i, to += std::size_t{4} * pitch) {
        unpack(atoms[i]);
        std::fill(to, to + std::size_t{4} * pitch, 0);
        for (std::uint32_t k = 0; k < kernels_; ++k) tile(kernel_[k], *atom_, to + k, pitch);
    }
}

}  // namespace dlasim::numerics
