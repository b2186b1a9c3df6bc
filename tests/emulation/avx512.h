// AVX2 and AVX-512 on any processor: what SIMDe computes under the names of the intrinsics, and those it does not have yet, written down
// from Intel's reference of the instructions. The code with intrinsics is compiled with it to be run where the processor could not.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include <array>
#include <cstdint>
#include <cstring>

using __mmask16 = simde__mmask16;
using __mmask32 = simde__mmask32;
using __mmask64 = simde__mmask64;
#undef _mm512_madd_epi16  // SIMDe 0.7.4 gives the name to the form with a mask
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)

namespace emulation {

template <class T, class Vector>
auto lanes_of(const Vector& v)
{
    std::array<T, sizeof(Vector) / sizeof(T)> lanes;
    std::memcpy(lanes.data(), &v, sizeof v);
    return lanes;
}
template <class Vector, class Lanes>
Vector vector_of(const Lanes& lanes)
{
    static_assert(sizeof(Vector) == sizeof(Lanes));
    Vector v;
    std::memcpy(&v, lanes.data(), sizeof v);
    return v;
}

/// Every lane of a narrow vector in a wider one.
template <class To, class From, class Vector>
__m512i widened(const Vector& from)
{
    const auto narrow = lanes_of<From>(from);
    std::array<To, narrow.size()> wide;
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = narrow[i];
    return vector_of<__m512i>(wide);
}

template <class T>
std::uint64_t greater(const __m512i& a, const __m512i& b)
{
    const auto x = lanes_of<T>(a), y = lanes_of<T>(b);
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mask |= std::uint64_t{x[i] > y[i]} << i;
    return mask;
}

template <class T>
T sum(const __m512i& v)
{
    T all = 0;
    for (const T lane : lanes_of<T>(v)) all += lane;
    return all;
}

}  // namespace emulation

inline __mmask32 _mm512_cmpgt_epu16_mask(__m512i a, __m512i b) { return static_cast<__mmask32>(emulation::greater<std::uint16_t>(a, b)); }
inline __mmask16 _mm512_cmpgt_epu32_mask(__m512i a, __m512i b) { return static_cast<__mmask16>(emulation::greater<std::uint32_t>(a, b)); }
inline __m512i _mm512_cvtepi32_epi64(__m256i a) { return emulation::widened<std::int64_t, std::int32_t>(a); }
inline __m512i _mm512_cvtepi8_epi32(__m128i a) { return emulation::widened<std::int32_t, std::int8_t>(a); }
inline __m512i _mm512_cvtepu16_epi32(__m256i a) { return emulation::widened<std::uint32_t, std::uint16_t>(a); }
inline std::int32_t _mm512_reduce_add_epi32(__m512i a) { return static_cast<std::int32_t>(emulation::sum<std::uint32_t>(a)); }
inline std::int64_t _mm512_reduce_add_epi64(__m512i a) { return static_cast<std::int64_t>(emulation::sum<std::uint64_t>(a)); }

inline __m512i _mm512_mask_sub_epi16(__m512i from, __mmask32 mask, __m512i a, __m512i b)
{
    return _mm512_mask_mov_epi16(from, mask, _mm512_sub_epi16(a, b));
}
/// Reads only the bytes of the mask.
inline __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void* from)
{
    std::array<std::uint8_t, 64> lanes{};
    for (std::size_t i = 0; i < lanes.size(); ++i)
        if (mask >> i & 1) lanes[i] = static_cast<const std::uint8_t*>(from)[i];
    return emulation::vector_of<__m512i>(lanes);
}
inline __m512i _mm512_shuffle_epi32(__m512i a, int order)
{
    const auto x = emulation::lanes_of<std::uint32_t>(a);
    std::array<std::uint32_t, 16> to;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = x[i / 4 * 4 + static_cast<std::size_t>(order >> i % 4 * 2 & 3)];
    return emulation::vector_of<__m512i>(to);
}
constexpr int _MM_PERM_CDAB = 0xb1, _MM_PERM_BADC = 0x4e;
