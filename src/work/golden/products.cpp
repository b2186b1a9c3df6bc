#include "golden/products.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/expects.h"
#include "base/intrinsics.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kPlaces = Products::kPlaces;
constexpr std::uint32_t kTogether = 8;  // kernels whose sums stay in registers

/// Adds the products of `count` pairs of one kernel.
void add_portable(const std::int16_t* weights, const std::int16_t* pairs, std::size_t count, std::int32_t* sums)
{
    for (std::size_t g = 0; g < count; ++g, weights += 2, pairs += 2 * kPlaces)
        for (std::uint32_t i = 0; i < kPlaces; ++i) sums[i] += weights[0] * pairs[2 * i] + weights[1] * pairs[2 * i + 1];
}

#if defined(__x86_64__)
std::int32_t pair_at(const std::int16_t* weights)
{
    std::int32_t pair;
    std::memcpy(&pair, weights, sizeof pair);
    return pair;
}

template <int N>
DLASIM_AVX2 void add_avx2(const std::int16_t* weights, std::size_t pitch, const std::int16_t* pairs, std::size_t count, std::int32_t* sums)
{
    __m256i a[N], b[N];
    for (int k = 0; k < N; ++k) a[k] = b[k] = _mm256_setzero_si256();
    for (std::size_t g = 0; g < count; ++g, weights += 2, pairs += 2 * kPlaces) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs + kPlaces));
        for (int k = 0; k < N; ++k) {
            const __m256i w = _mm256_set1_epi32(pair_at(weights + static_cast<std::size_t>(k) * pitch));
            a[k] = _mm256_add_epi32(a[k], _mm256_madd_epi16(low, w));
            b[k] = _mm256_add_epi32(b[k], _mm256_madd_epi16(high, w));
        }
    }
    for (int k = 0; k < N; ++k) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + static_cast<std::size_t>(k) * kPlaces), a[k]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + static_cast<std::size_t>(k) * kPlaces + 8), b[k]);
    }
}

template <int N>
DLASIM_AVX512 void add_avx512(const std::int16_t* weights, std::size_t pitch, const std::int16_t* pairs, std::size_t count,
                              std::int32_t* sums)
{
    __m512i a[N];
    for (int k = 0; k < N; ++k) a[k] = _mm512_setzero_si512();
    for (std::size_t g = 0; g < count; ++g, weights += 2, pairs += 2 * kPlaces) {
        const __m512i data = _mm512_loadu_si512(pairs);
        for (int k = 0; k < N; ++k)
            a[k] = _mm512_dpwssd_epi32(a[k], data, _mm512_set1_epi32(pair_at(weights + static_cast<std::size_t>(k) * pitch)));
    }
    for (int k = 0; k < N; ++k) _mm512_storeu_si512(sums + static_cast<std::size_t>(k) * kPlaces, a[k]);
}
#endif

/// The sums of `kernels` <= kTogether kernels over `count` pairs, from 0.
void sum_pairs(Vectors vectors, const std::int16_t* weights, std::size_t pitch, std::uint32_t kernels, const std::int16_t* pairs,
               std::size_t count, std::int32_t* sums)
{
#if defined(__x86_64__)
    if (vectors == Vectors::Avx512) {
        if (kernels == kTogether) return add_avx512<kTogether>(weights, pitch, pairs, count, sums);
        for (std::uint32_t k = 0; k < kernels; ++k)
            add_avx512<1>(weights + k * pitch, pitch, pairs, count, sums + std::size_t{k} * kPlaces);
        return;
    }
    if (vectors == Vectors::Avx2) {
        constexpr std::uint32_t half = kTogether / 2;  // sixteen registers
        std::uint32_t k = 0;
        for (; k + half <= kernels; k += half) add_avx2<half>(weights + k * pitch, pitch, pairs, count, sums + std::size_t{k} * kPlaces);
        for (; k < kernels; ++k) add_avx2<1>(weights + k * pitch, pitch, pairs, count, sums + std::size_t{k} * kPlaces);
        return;
    }
#endif
    std::fill_n(sums, std::size_t{kernels} * kPlaces, 0);
    for (std::uint32_t k = 0; k < kernels; ++k) add_portable(weights + k * pitch, pairs, count, sums + std::size_t{k} * kPlaces);
}

/// An even number of products of these magnitudes whose sum fits 31 bits.
std::size_t safe_products(std::int64_t weight, std::int64_t data)
{
    const std::int64_t product = std::max<std::int64_t>(1, weight * data);
    return static_cast<std::size_t>(INT32_MAX / product) & ~std::size_t{1};
}

}  // namespace

Products::Products(std::span<const std::int16_t> weights, std::uint32_t kernels, std::size_t length, std::int32_t most, Vectors vectors)
    : vectors_(chosen(vectors)), length_(length), pitch_((length + 1) & ~std::size_t{1}), safe_(0), whole_(weights.data())
{
    DLASIM_EXPECTS(weights.size() == kernels * length && available(vectors_));
    std::int32_t largest = 0;
    for (const std::int16_t w : weights) largest = std::max(largest, std::abs(std::int32_t{w}));
    safe_ = safe_products(largest, most);
    constexpr std::size_t kWorthwhile = 128;
    const bool apart = safe_ < std::min(length, kWorthwhile);
    if (apart || pitch_ != length) {
        low_.resize(kernels * pitch_);
        for (std::uint32_t k = 0; k < kernels; ++k) std::copy_n(weights.data() + k * length, length, low_.data() + k * pitch_);
        whole_ = low_.data();
    }
    if (apart) {
        high_.resize(low_.size());
        for (std::size_t i = 0; i < low_.size(); ++i) {
            high_[i] = static_cast<std::int16_t>((low_[i] + 128) >> 8);  // -128..128
            low_[i] = static_cast<std::int16_t>(low_[i] - 256 * high_[i]);
        }
        safe_ = safe_products(128, most);
    }
    pairs_.resize(pitch_ * kPlaces);
}

void Products::run(const std::int16_t* plane, std::uint32_t first, std::uint32_t count, std::int64_t scale, std::int64_t* sums)
{
    std::int32_t part[kTogether * kPlaces];
    for (std::size_t from = 0; from < pitch_; from += safe_) {
        const std::size_t pairs = std::min(safe_, pitch_ - from) / 2;
        for (std::uint32_t k = 0; k < count; k += kTogether) {
            const std::uint32_t together = std::min(kTogether, count - k);
            sum_pairs(vectors_, plane + (first + k) * pitch_ + from, pitch_, together, pairs_.data() + from * kPlaces, pairs, part);
            for (std::uint32_t i = 0; i < together * kPlaces; ++i) sums[std::size_t{k} * kPlaces + i] += part[i] * scale;
        }
    }
}

void Products::multiply(const std::int16_t* data, std::uint32_t first, std::uint32_t count, std::int64_t* sums)
{
    for (std::size_t g = 0; g < pitch_ / 2; ++g) {
        const std::int16_t *even = data + 2 * g * kPlaces, *odd = even + kPlaces;
        std::int16_t* to = pairs_.data() + 2 * g * kPlaces;
        const bool last = 2 * g + 1 == length_;
        for (std::uint32_t i = 0; i < kPlaces; ++i) {
            to[2 * i] = even[i];
            to[2 * i + 1] = last ? std::int16_t{0} : odd[i];
        }
    }
    std::fill_n(sums, std::size_t{count} * kPlaces, 0);
    run(whole_, first, count, 1, sums);
    if (!high_.empty()) run(high_.data(), first, count, 256, sums);
}

}  // namespace dlasim
