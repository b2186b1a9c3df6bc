#include "numerics/mac_block.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/expects.h"
#include "base/intrinsics.h"

namespace dlasim::numerics {

// The weights as groups of lanes, a row of kWidth kernels for each group:
//   bytes, words    int16 pairs  [block of kernels][lanes / 2][kWidth][2], words split into two planes
//   Avx512, bytes   bytes + 128  [block of kernels][lanes / 4][kWidth][4]: VNNI wants one side unsigned
//   Avx512, words   int16 pairs, two planes; both in one if there are at most eight kernels
// int16 weights are high * 256 + low, low unsigned: the sums of either plane fit 32 bits.
struct MacBlock::Form {
    std::vector<std::uint8_t> storage;
    std::size_t plane = 0;  // bytes from the low to the high plane
    std::uint8_t* data() { return aligned; }
    std::uint8_t* aligned = nullptr;
    mutable std::vector<std::int16_t> wide;  // [kTogether][between]: atoms as int16, a pair each for every group of lanes
};

namespace {

constexpr std::uint32_t kWidth = MacBlock::kWidth;
constexpr std::uint32_t kTogether = 8;  // atoms that are made pairs of int16 together

// ------------------------------------------------------------------------------------------ pairs
/// Sets the lanes of all kernels of a plane of pairs; value(weights of a kernel, lane).
template <class Value>
void fill_pairs(std::int16_t* to, const std::uint8_t* weights, std::uint32_t pitch, std::uint32_t kernels, std::uint32_t lanes, Value value)
{
    const std::uint32_t groups = ceil_div(lanes, 2u);
    std::fill_n(to, std::size_t{round_up(kernels, kWidth)} * groups * 2, std::int16_t{0});
    for (std::uint32_t k = 0; k < kernels; ++k, weights += pitch) {
        std::int16_t* pair = to + (std::size_t{k / kWidth} * groups * kWidth + k % kWidth) * 2;
        for (std::uint32_t c = 0; c + 1 < lanes; c += 2, pair += 2 * kWidth) {
            pair[0] = value(weights, c);
            pair[1] = value(weights, c + 1);
        }
        if (lanes % 2) pair[0] = value(weights, lanes - 1);
    }
}

std::int16_t byte_of(const std::uint8_t* weights, std::uint32_t lane) { return static_cast<std::int8_t>(weights[lane]); }
std::int16_t low_of(const std::uint8_t* weights, std::uint32_t lane) { return weights[2 * lane]; }
std::int16_t high_of(const std::uint8_t* weights, std::uint32_t lane) { return static_cast<std::int8_t>(weights[2 * lane + 1]); }

void widen(const std::uint8_t* atom, std::uint32_t lanes, std::int16_t* to)
{
    for (std::uint32_t c = 0; c < lanes; ++c) to[c] = static_cast<std::int8_t>(atom[c]);
    to[lanes] = 0;
}
DLASIM_FORM void join(const std::int32_t* low, const std::int32_t* high, std::int64_t* sums)
{
    for (std::uint32_t k = 0; k < kWidth; ++k) sums[k] = std::int64_t{high[k]} * 256 + low[k];
}

// Sums [count][pitch] of atoms that are `between` elements from each other with one block of kernels.
using MultiplyPairs = void (*)(const std::int16_t* plane, std::uint32_t groups, const std::int16_t* atoms, std::size_t between,
                               std::uint32_t count, std::int32_t* sums, std::size_t pitch);

void multiply_pairs_portable(const std::int16_t* plane, std::uint32_t groups, const std::int16_t* atoms, std::size_t between,
                             std::uint32_t count, std::int32_t* sums, std::size_t pitch)
{
    for (; count != 0; --count, atoms += between, sums += pitch) {
        std::int32_t acc[kWidth] = {};
        const std::int16_t* weights = plane;
        for (std::uint32_t g = 0; g < groups; ++g, weights += 2 * kWidth)
            for (std::uint32_t k = 0; k < kWidth; ++k) acc[k] += weights[2 * k] * atoms[2 * g] + weights[2 * k + 1] * atoms[2 * g + 1];
        std::copy_n(acc, kWidth, sums);
    }
}

#if defined(__x86_64__)
void multiply_pairs_sse2(const std::int16_t* plane, std::uint32_t groups, const std::int16_t* atoms, std::size_t between,
                         std::uint32_t count, std::int32_t* sums, std::size_t pitch)
{
    for (; count != 0; --count, atoms += between, sums += pitch) {
        __m128i acc[4] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
        const std::int16_t* weights = plane;
        for (std::uint32_t g = 0; g < groups; ++g, weights += 2 * kWidth) {
            std::int32_t pair;
            std::memcpy(&pair, atoms + 2 * g, 4);
            const __m128i d = _mm_set1_epi32(pair);
            for (int i = 0; i < 4; ++i)
                acc[i] = _mm_add_epi32(acc[i], _mm_madd_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + 8 * i)), d));
        }
        for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + 4 * i), acc[i]);
    }
}

DLASIM_AVX2 void widen_avx2(const std::uint8_t* atom, std::uint32_t lanes, std::int16_t* to)
{
    for (; lanes >= 16; lanes -= 16, atom += 16, to += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(atom))));
    widen(atom, lanes, to);
}

/// Sums of N atoms, `between` elements from one to the next, in rows of `pitch`: a row of weights is read once for all of them.
template <std::uint32_t N>
DLASIM_AVX2 inline void multiply_pairs(const std::int16_t* plane, std::uint32_t groups, const std::int16_t* atoms, std::size_t between,
                                       std::int32_t* sums, std::size_t pitch)
{
    __m256i a[N], b[N];
    for (std::uint32_t i = 0; i < N; ++i) a[i] = b[i] = _mm256_setzero_si256();
    for (std::uint32_t g = 0; g < groups; ++g, plane += 2 * kWidth, atoms += 2) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plane));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plane + kWidth));
        for (std::uint32_t i = 0; i < N; ++i) {
            std::int32_t pair;
            std::memcpy(&pair, atoms + i * between, 4);
            const __m256i d = _mm256_set1_epi32(pair);
            a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(low, d));
            b[i] = _mm256_add_epi32(b[i], _mm256_madd_epi16(high, d));
        }
    }
    for (std::uint32_t i = 0; i < N; ++i) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + i * pitch), a[i]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + i * pitch + 8), b[i]);
    }
}

DLASIM_AVX2 void multiply_pairs_avx2(const std::int16_t* plane, std::uint32_t groups, const std::int16_t* atoms, std::size_t between,
                                     std::uint32_t count, std::int32_t* sums, std::size_t pitch)
{
    for (; count >= 4; count -= 4, atoms += 4 * between, sums += 4 * pitch) multiply_pairs<4>(plane, groups, atoms, between, sums, pitch);
    for (; count != 0; --count, atoms += between, sums += pitch) multiply_pairs<1>(plane, groups, atoms, between, sums, pitch);
}

// --------------------------------------------------------------------------------------- AVX-512
/// 16 rows of 16 words to 16 columns.
DLASIM_AVX512 inline void transpose(__m512i (&r)[16])
{
    __m512i t[16], u[16];
    for (int i = 0; i < 8; ++i) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 4; ++i) {
        u[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        u[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        u[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    // u[4 * i + j], 128-bit lane q: word 4 * q + j of rows 4 * i .. 4 * i + 3.
    for (int j = 0; j < 4; ++j) {
        const __m512i a = _mm512_shuffle_i32x4(u[j], u[4 + j], 0x88), b = _mm512_shuffle_i32x4(u[j], u[4 + j], 0xdd);
        const __m512i c = _mm512_shuffle_i32x4(u[8 + j], u[12 + j], 0x88), d = _mm512_shuffle_i32x4(u[8 + j], u[12 + j], 0xdd);
        r[j] = _mm512_shuffle_i32x4(a, c, 0x88);
        r[8 + j] = _mm512_shuffle_i32x4(a, c, 0xdd);
        r[4 + j] = _mm512_shuffle_i32x4(b, d, 0x88);
        r[12 + j] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
}

inline std::uint64_t low_bits(std::uint32_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

DLASIM_AVX512 void fill_bytes_avx512(std::uint8_t* to, const std::uint8_t* weights, std::uint32_t pitch, std::uint32_t kernels,
                                     std::uint32_t lanes)
{
    const __m512i offset = _mm512_set1_epi8(-128);
    for (std::uint32_t block = 0; block < kernels; block += kWidth)
        for (std::uint32_t lane = 0; lane < lanes; lane += 64) {
            const std::uint32_t part = std::min(64u, lanes - lane);
            const __mmask64 mask = low_bits(part);
            __m512i row[16];
            for (std::uint32_t k = 0; k < kWidth; ++k)
                row[k] = block + k < kernels
                             ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, weights + std::size_t{block + k} * pitch + lane), offset)
                             : offset;
            transpose(row);
            for (std::uint32_t g = 0; g < ceil_div(part, 4u); ++g, to += 64) _mm512_storeu_si512(to, row[g]);
        }
}

/// The sum of all lanes of v[i] is in lane i of the result for i < 4, in lane 4 + i for the others.
DLASIM_AVX512 inline __m512i add_lanes(const __m512i (&v)[8])
{
    __m512i t[4], u[2];
    for (int i = 0; i < 4; ++i)
        t[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
    for (int i = 0; i < 2; ++i)
        u[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(t[2 * i], t[2 * i + 1]), _mm512_unpackhi_epi64(t[2 * i], t[2 * i + 1]));
    const __m512i w = _mm512_add_epi32(_mm512_shuffle_i32x4(u[0], u[1], 0x88), _mm512_shuffle_i32x4(u[0], u[1], 0xdd));
    return _mm512_add_epi32(w, _mm512_shuffle_i32x4(w, w, 0xb1));
}

DLASIM_AVX512 inline __m512i lane_of(__m512i v, int lane) { return _mm512_permutexvar_epi32(_mm512_set1_epi32(lane), v); }
DLASIM_AVX512 inline __m512i four(const std::uint8_t* at)
{
    std::int32_t x;
    std::memcpy(&x, at, 4);
    return _mm512_set1_epi32(x);
}

/// Eight atoms with kWidth kernels: eight sums in registers, a row of weights read once for all of them.
DLASIM_AVX512 inline void multiply_bytes8(const std::uint8_t* plane, std::uint32_t lanes, const std::uint8_t* const* atoms,
                                          std::int32_t* sums, std::uint32_t pitch)
{
    const std::uint32_t groups = ceil_div(lanes, 4u);
    // The weights are 128 too large: that much of the sum of the data is taken off first.
    const __mmask64 last = low_bits((4 * groups - 1) % 64 + 1);
    __m512i data[8];
    for (int i = 0; i < 8; ++i) {
        const std::uint8_t* at = atoms[i];
        data[i] = _mm512_setzero_si512();
        for (std::uint32_t left = 4 * groups; left > 64; left -= 64, at += 64)
            data[i] = _mm512_dpbusd_epi32(data[i], _mm512_set1_epi8(-128), _mm512_loadu_si512(at));
        data[i] = _mm512_dpbusd_epi32(data[i], _mm512_set1_epi8(-128), _mm512_maskz_loadu_epi8(last, at));
    }
    const __m512i excess = _mm512_sub_epi32(_mm512_setzero_si512(), add_lanes(data));
    __m512i s0 = lane_of(excess, 0), s1 = lane_of(excess, 1), s2 = lane_of(excess, 2), s3 = lane_of(excess, 3);
    __m512i s4 = lane_of(excess, 8), s5 = lane_of(excess, 9), s6 = lane_of(excess, 10), s7 = lane_of(excess, 11);
    const std::uint8_t *a0 = atoms[0], *a1 = atoms[1], *a2 = atoms[2], *a3 = atoms[3], *a4 = atoms[4], *a5 = atoms[5], *a6 = atoms[6],
                       *a7 = atoms[7];
    for (std::uint32_t c = 0; c < 4 * groups; c += 4, plane += 64) {
        const __m512i w = _mm512_loadu_si512(plane);
        s0 = _mm512_dpbusd_epi32(s0, w, four(a0 + c));
        s1 = _mm512_dpbusd_epi32(s1, w, four(a1 + c));
        s2 = _mm512_dpbusd_epi32(s2, w, four(a2 + c));
        s3 = _mm512_dpbusd_epi32(s3, w, four(a3 + c));
        s4 = _mm512_dpbusd_epi32(s4, w, four(a4 + c));
        s5 = _mm512_dpbusd_epi32(s5, w, four(a5 + c));
        s6 = _mm512_dpbusd_epi32(s6, w, four(a6 + c));
        s7 = _mm512_dpbusd_epi32(s7, w, four(a7 + c));
    }
    const __m512i all[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
    for (int i = 0; i < 8; ++i) _mm512_storeu_si512(sums + std::size_t(i) * pitch, all[i]);
}

DLASIM_AVX512 inline void multiply_bytes1(const std::uint8_t* plane, std::uint32_t lanes, const std::uint8_t* atom, std::int32_t* sums)
{
    const std::uint32_t groups = ceil_div(lanes, 4u);
    __m512i data = _mm512_setzero_si512(), sum;
    for (std::uint32_t lane = 0; lane < 4 * groups; lane += 64)
        data = _mm512_dpbusd_epi32(data, _mm512_set1_epi8(-128), _mm512_maskz_loadu_epi8(low_bits(4 * groups - lane), atom + lane));
    sum = _mm512_set1_epi32(-_mm512_reduce_add_epi32(data));
    for (std::uint32_t g = 0; g < groups; ++g, plane += 64) sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(plane), four(atom + 4 * g));
    _mm512_storeu_si512(sums, sum);
}

DLASIM_AVX512 void multiply_bytes_avx512(const std::uint8_t* plane, std::uint32_t lanes, const std::uint8_t* const* atoms,
                                         std::uint32_t count, std::int32_t* sums, std::uint32_t pitch)
{
    for (; count >= 8; count -= 8, atoms += 8, sums += std::size_t{8} * pitch) multiply_bytes8(plane, lanes, atoms, sums, pitch);
    for (; count != 0; --count, ++atoms, sums += pitch) multiply_bytes1(plane, lanes, *atoms, sums);
}

DLASIM_AVX512 void fill_pairs16_avx512(std::int16_t* low, std::int16_t* high, const std::uint8_t* weights, std::uint32_t pitch,
                                       std::uint32_t kernels, std::uint32_t lanes)
{
    const __m512i low_byte = _mm512_set1_epi16(0xff);
    for (std::uint32_t block = 0; block < kernels; block += kWidth)
        for (std::uint32_t lane = 0; lane < lanes; lane += 32) {
            const std::uint32_t part = std::min(32u, lanes - lane);
            const __mmask64 mask = low_bits(2 * part);
            __m512i row[16], upper[16];
            for (std::uint32_t k = 0; k < kWidth; ++k) {
                const __m512i w = block + k < kernels ? _mm512_maskz_loadu_epi8(mask, weights + std::size_t{block + k} * pitch + 2 * lane)
                                                      : _mm512_setzero_si512();
                row[k] = _mm512_and_si512(w, low_byte);
                upper[k] = _mm512_srai_epi16(w, 8);
            }
            transpose(row);
            transpose(upper);
            for (std::uint32_t g = 0; g < ceil_div(part, 2u); ++g, low += 32, high += 32) {
                _mm512_storeu_si512(low, row[g]);
                _mm512_storeu_si512(high, upper[g]);
            }
        }
}

/// Up to eight kernels: their low parts are columns 0 to 7 of one plane, their high parts columns 8 to 15.
constexpr std::uint32_t kFused = kWidth / 2;

DLASIM_AVX512 void fill_fused_avx512(std::int16_t* plane, const std::uint8_t* weights, std::uint32_t pitch, std::uint32_t kernels,
                                     std::uint32_t lanes)
{
    for (std::uint32_t lane = 0; lane < lanes; lane += 32) {
        const std::uint32_t part = std::min(32u, lanes - lane);
        const __mmask64 mask = low_bits(2 * part);
        __m512i row[16];
        for (std::uint32_t k = 0; k < kFused; ++k) {
            const __m512i w =
                k < kernels ? _mm512_maskz_loadu_epi8(mask, weights + std::size_t{k} * pitch + 2 * lane) : _mm512_setzero_si512();
            row[k] = _mm512_and_si512(w, _mm512_set1_epi16(0xff));
            row[kFused + k] = _mm512_srai_epi16(w, 8);
        }
        transpose(row);
        for (std::uint32_t g = 0; g < ceil_div(part, 2u); ++g, plane += 32) _mm512_storeu_si512(plane, row[g]);
    }
}

template <int N>
DLASIM_AVX512 inline void multiply_fused(const std::int16_t* plane, std::uint32_t lanes, const std::uint8_t* const* atoms,
                                         std::int64_t* sums, std::uint32_t pitch)
{
    __m512i acc[N];
    for (int i = 0; i < N; ++i) acc[i] = _mm512_setzero_si512();
    const std::uint32_t pairs = lanes / 2;
    for (std::uint32_t g = 0; g < pairs; ++g, plane += 32) {
        const __m512i w = _mm512_loadu_si512(plane);
        for (int i = 0; i < N; ++i) {
            std::int32_t pair;
            std::memcpy(&pair, atoms[i] + 4 * g, 4);
            acc[i] = _mm512_add_epi32(acc[i], _mm512_madd_epi16(w, _mm512_set1_epi32(pair)));
        }
    }
    for (int i = 0; i < N; ++i) {
        if (lanes % 2) {
            std::uint16_t last;
            std::memcpy(&last, atoms[i] + 4 * pairs, 2);
            acc[i] = _mm512_add_epi32(acc[i], _mm512_madd_epi16(_mm512_loadu_si512(plane), _mm512_set1_epi32(last)));
        }
        const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(acc[i]));
        const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(acc[i], 1));
        std::int64_t* to = sums + std::size_t(i) * pitch;
        _mm512_storeu_si512(to, _mm512_add_epi64(low, _mm512_slli_epi64(high, 8)));
        _mm512_storeu_si512(to + kFused, _mm512_setzero_si512());
    }
}

DLASIM_AVX512 void multiply_fused_avx512(const std::int16_t* plane, std::uint32_t lanes, const std::uint8_t* const* atoms,
                                         std::uint32_t count, std::int64_t* sums, std::uint32_t pitch)
{
    for (; count >= 8; count -= 8, atoms += 8, sums += std::size_t{8} * pitch) multiply_fused<8>(plane, lanes, atoms, sums, pitch);
    for (; count != 0; --count, ++atoms, sums += pitch) multiply_fused<1>(plane, lanes, atoms, sums, pitch);
}

template <int N>
DLASIM_AVX512 inline void multiply_planes(const std::int16_t* low, const std::int16_t* high, std::uint32_t groups, bool odd,
                                          const std::uint8_t* const* atoms, std::int64_t* sums, std::uint32_t pitch)
{
    __m512i l[N], h[N];
    for (int i = 0; i < N; ++i) l[i] = h[i] = _mm512_setzero_si512();
    for (std::uint32_t g = 0; g < groups; ++g, low += 32, high += 32) {
        const __m512i wl = _mm512_loadu_si512(low), wh = _mm512_loadu_si512(high);
        const bool half = odd && g + 1 == groups;  // the weight of the other lane is 0
        for (int i = 0; i < N; ++i) {
            std::int32_t pair = 0;
            if (half) std::memcpy(&pair, atoms[i] + 4 * g, 2);
            else std::memcpy(&pair, atoms[i] + 4 * g, 4);
            const __m512i d = _mm512_set1_epi32(pair);
            l[i] = _mm512_add_epi32(l[i], _mm512_madd_epi16(wl, d));
            h[i] = _mm512_add_epi32(h[i], _mm512_madd_epi16(wh, d));
        }
    }
    for (int i = 0; i < N; ++i) {
        for (int part = 0; part < 2; ++part) {
            const __m256i a = part ? _mm512_extracti64x4_epi64(l[i], 1) : _mm512_castsi512_si256(l[i]);
            const __m256i b = part ? _mm512_extracti64x4_epi64(h[i], 1) : _mm512_castsi512_si256(h[i]);
            const __m512i sum = _mm512_add_epi64(_mm512_cvtepi32_epi64(a), _mm512_slli_epi64(_mm512_cvtepi32_epi64(b), 8));
            _mm512_storeu_si512(sums + std::size_t(i) * pitch + 8 * part, sum);
        }
    }
}

DLASIM_AVX512 void multiply_planes_avx512(const std::int16_t* low, const std::int16_t* high, std::uint32_t lanes,
                                          const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* sums, std::uint32_t pitch)
{
    const std::uint32_t groups = ceil_div(lanes, 2u);
    for (; count >= 4; count -= 4, atoms += 4, sums += std::size_t{4} * pitch)
        multiply_planes<4>(low, high, groups, lanes & 1, atoms, sums, pitch);
    for (; count != 0; --count, ++atoms, sums += pitch) multiply_planes<1>(low, high, groups, lanes & 1, atoms, sums, pitch);
}
#endif

/// How atoms and kernels are multiplied as pairs.
struct Pairs {
    void (*widen)(const std::uint8_t* atom, std::uint32_t lanes, std::int16_t* to);
    MultiplyPairs multiply;
};
Pairs pairs_of(Vectors vectors)
{
#if defined(__x86_64__)
    if (vectors == Vectors::Avx2) return {widen_avx2, multiply_pairs_avx2};
    if (vectors == Vectors::Sse2) return {widen, multiply_pairs_sse2};
#endif
    static_cast<void>(vectors);
    return {widen, multiply_pairs_portable};
}

}  // namespace

MacBlock::MacBlock(std::uint32_t max_kernels, std::uint32_t max_lanes, Vectors vectors)
    : vectors_(chosen(vectors)), pitch_(round_up(max_kernels, kWidth)), max_lanes_(round_up(max_lanes, 4u)), form_(std::make_unique<Form>())
{
    DLASIM_EXPECTS(available(vectors));
    form_->plane = std::size_t{pitch_} * max_lanes_ * 2;
    form_->storage.assign(2 * form_->plane + 64, 0);
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(form_->storage.data()) % 64;
    form_->aligned = form_->storage.data() + (misaligned ? 64 - misaligned : 0);
    form_->wide.assign(std::size_t{kTogether} * max_lanes_ + 1, 0);
}
MacBlock::~MacBlock() = default;

void MacBlock::load_int8(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels loaded, std::uint32_t lanes)
{
    const std::uint32_t kernels = loaded.count();
    DLASIM_EXPECTS(kernels <= pitch_ && lanes <= max_lanes_);
    lanes_ = lanes;
#if defined(__x86_64__)
    if (vectors_ == Vectors::Avx512) {
        // Kernels that are not there have the weight 0: 128 as it is stored.
        fill_bytes_avx512(form_->data(), weights, weight_pitch, kernels, lanes);
        const std::size_t used = std::size_t{round_up(kernels, kWidth)} * round_up(lanes, 4u),
                          all = std::size_t{pitch_} * round_up(lanes, 4u);
        std::memset(form_->data() + used, 128, all - used);
        return;
    }
#endif
    std::int16_t* plane = reinterpret_cast<std::int16_t*>(form_->data());
    fill_pairs(plane, weights, weight_pitch, kernels, lanes, byte_of);
    const std::size_t row = std::size_t{round_up(lanes, 2u)}, used = round_up(kernels, kWidth) * row;
    std::fill_n(plane + used, pitch_ * row - used, std::int16_t{0});
}

void MacBlock::multiply_int8(const std::uint8_t* const* atoms, std::uint32_t count, std::int32_t* sums) const
{
#if defined(__x86_64__)
    if (vectors_ == Vectors::Avx512) {
        for (std::uint32_t block = 0; block < pitch_; block += kWidth)
            multiply_bytes_avx512(form_->aligned + std::size_t{block} * round_up(lanes_, 4u), lanes_, atoms, count, sums + block, pitch_);
        return;
    }
#endif
    const std::uint32_t groups = ceil_div(lanes_, 2u);
    const std::size_t between = std::size_t{groups} * 2;
    const std::int16_t* plane = reinterpret_cast<const std::int16_t*>(form_->aligned);
    std::int16_t* wide = form_->wide.data();
    const Pairs pairs = pairs_of(vectors_);
    for (std::uint32_t done = 0; done < count; done += kTogether, atoms += kTogether) {
        const std::uint32_t now = std::min(kTogether, count - done);
        for (std::uint32_t i = 0; i < now; ++i) pairs.widen(atoms[i], lanes_, wide + i * between);
        for (std::uint32_t block = 0; block < pitch_; block += kWidth)
            pairs.multiply(plane + block * between, groups, wide, between, now, sums + std::size_t{done} * pitch_ + block, pitch_);
    }
}

void MacBlock::load_int16(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels loaded, std::uint32_t lanes)
{
    const std::uint32_t kernels = loaded.count();
    DLASIM_EXPECTS(kernels <= pitch_ && lanes <= max_lanes_);
    lanes_ = lanes;
    std::int16_t* low = reinterpret_cast<std::int16_t*>(form_->data());
    std::int16_t* high = reinterpret_cast<std::int16_t*>(form_->data() + form_->plane);
#if defined(__x86_64__)
    fused_ = vectors_ == Vectors::Avx512 && pitch_ == kWidth && kernels <= kFused;
    if (fused_) {
        fill_fused_avx512(low, weights, weight_pitch, kernels, lanes);
        return;
    }
    if (vectors_ == Vectors::Avx512) fill_pairs16_avx512(low, high, weights, weight_pitch, kernels, lanes);
    else
#endif
    {
        fill_pairs(low, weights, weight_pitch, kernels, lanes, low_of);
        fill_pairs(high, weights, weight_pitch, kernels, lanes, high_of);
    }
    const std::size_t row = std::size_t{round_up(lanes, 2u)}, used = round_up(kernels, kWidth) * row;
    std::fill_n(low + used, pitch_ * row - used, std::int16_t{0});
    std::fill_n(high + used, pitch_ * row - used, std::int16_t{0});
}

void MacBlock::multiply_int16(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* sums) const
{
    const std::int16_t* low = reinterpret_cast<const std::int16_t*>(form_->aligned);
    const std::int16_t* high = reinterpret_cast<const std::int16_t*>(form_->aligned + form_->plane);
    const std::uint32_t groups = ceil_div(lanes_, 2u);
#if defined(__x86_64__)
    if (fused_) {
        multiply_fused_avx512(low, lanes_, atoms, count, sums, pitch_);
        return;
    }
    if (vectors_ == Vectors::Avx512) {
        for (std::uint32_t block = 0; block < pitch_; block += kWidth) {
            const std::size_t at = std::size_t{block} * groups * 2;
            multiply_planes_avx512(low + at, high + at, lanes_, atoms, count, sums + block, pitch_);
        }
        return;
    }
#endif
    const std::size_t between = std::size_t{groups} * 2;
    std::int16_t* wide = form_->wide.data();
    const Pairs pairs = pairs_of(vectors_);
    for (std::uint32_t done = 0; done < count; done += kTogether, atoms += kTogether) {
        const std::uint32_t now = std::min(kTogether, count - done);
        for (std::uint32_t i = 0; i < now; ++i) {
            std::memcpy(wide + i * between, atoms[i], std::size_t{2} * lanes_);
            if (lanes_ % 2) wide[i * between + lanes_] = 0;
        }
        for (std::uint32_t block = 0; block < pitch_; block += kWidth) {
            std::int32_t lower[kTogether * kWidth], upper[kTogether * kWidth];
            pairs.multiply(low + block * between, groups, wide, between, now, lower, kWidth);
            pairs.multiply(high + block * between, groups, wide, between, now, upper, kWidth);
            for (std::uint32_t i = 0; i < now; ++i)
                in_form<join>(vectors_, lower + i * kWidth, upper + i * kWidth, sums + std::size_t{done + i} * pitch_ + block);
        }
    }
}

}  // namespace dlasim::numerics
