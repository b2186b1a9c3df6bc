#include "numerics/tile_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "base/expects.h"

namespace dlasim::numerics {
namespace {

constexpr std::uint32_t kChannels = 4, kPositions = 16, kWidth = TileBlock::kWidth;
constexpr std::size_t kPlane = std::size_t{kTileLanes} * kWidth;

DLASIM_FORM void transform(int width, unsigned truncate, const std::int16_t* tile, std::int16_t* out)
{
    std::int32_t m[kPositions][kChannels], t[kPositions][kChannels];
    for (std::uint32_t i = 0; i < kPositions; ++i)
        for (std::uint32_t c = 0; c < kChannels; ++c) m[i][c] = tile[i * kChannels + c];
    for (std::uint32_t q = 0; q < 4; ++q)
        for (std::uint32_t c = 0; c < kChannels; ++c) {
            t[q][c] = m[q][c] - m[8 + q][c];
            t[4 + q][c] = m[4 + q][c] + m[8 + q][c];
            t[8 + q][c] = m[8 + q][c] - m[4 + q][c];
            t[12 + q][c] = m[4 + q][c] - m[12 + q][c];
        }
    for (std::uint32_t r = 0; r < kPositions; r += 4)
        for (std::uint32_t c = 0; c < kChannels; ++c) {
            m[r][c] = t[r][c] - t[r + 2][c];
            m[r + 1][c] = t[r + 1][c] + t[r + 2][c];
            m[r + 2][c] = t[r + 2][c] - t[r + 1][c];
            m[r + 3][c] = t[r + 1][c] - t[r + 3][c];
        }
    const std::int32_t half = truncate == 0 ? 0 : 1 << (truncate - 1), high = (1 << (width - 1)) - 1, low = -high - 1;
    const std::int32_t* from = &m[0][0];
    for (std::uint32_t i = 0; i < kTileLanes; ++i) {
        // Round half away from zero: on the magnitude.
        const std::int32_t sign = from[i] >> 31;
        const std::int32_t q = ((((from[i] ^ sign) - sign + half) >> truncate) ^ sign) - sign;
        out[i] = static_cast<std::int16_t>(std::min(std::max(q, low), high));
    }
}

// ------------------------------------------------------------------------------------------- fp17
// Sign, 6 bits of exponent, 10 of mantissa; no infinity, exponent 63 is NaN. Every function without a
// branch, for the vectoriser; csc.md 4.2 says why each step is as it is.
constexpr std::uint32_t kSign = 1u << 16, kLargestExponent = 62, kLargest = kLargestExponent << 10 | 1023;

/// Of 32 bits, for x < 2^24: by the exponent of the float, which vectorises everywhere.
inline std::uint32_t leading_zeros(std::uint32_t x)
{
    return 158 - (std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(x | 1))) >> 23);
}

/// All ones where it holds: conditions are masks, so that no loop branches.
inline std::uint32_t when(bool condition) { return 0u - static_cast<std::uint32_t>(condition); }
inline std::uint32_t pick(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) { return no ^ ((yes ^ no) & mask); }
inline std::uint32_t at_most(std::uint32_t x, std::uint32_t limit) { return pick(when(x > limit), limit, x); }

inline std::uint32_t add17(std::uint32_t a, std::uint32_t b)
{
    const std::uint32_t swapped = when((b & 0xffff) > (a & 0xffff));
    const std::uint32_t large = pick(swapped, b, a), small = pick(swapped, a, b);
    const std::uint32_t e = (large >> 10) & 63, distance = at_most(e - ((small >> 10) & 63), 31);
    const std::uint32_t sign = large & kSign;
    const std::uint32_t x = (((large & 1023) | 1024) << 12) & when((large & 0xffff) != 0);
    const std::uint32_t y = ((((small & 1023) | 1024) << 12) & when((small & 0xffff) != 0)) >> distance;
    const std::uint32_t opposite = when(((a ^ b) & kSign) != 0);
    const std::uint32_t sum = x + ((y ^ opposite) - opposite), carry = sum >> 23;
    const std::uint32_t kept = sum >> carry;
    const std::uint32_t shift = leading_zeros(kept) - 9;
    const std::uint32_t normal = kept << shift, exponent = e + carry - shift;
    const std::uint32_t rest = normal & 0xfff, cut = normal >> 12;
    const std::uint32_t up = (when(rest > 0x800) | (when(rest == 0x800) & cut)) & 1;
    const std::uint32_t rounded = cut + up, over = rounded >> 11;
    const std::uint32_t overflow =
        (when(carry != 0) & when(e >= kLargestExponent)) | (when(over != 0) & when(exponent >= kLargestExponent));
    const std::uint32_t vanishes = when(kept == 0) | when(e + carry <= shift);
    std::uint32_t result = (exponent + over) << 10 | ((rounded >> over) & 1023);
    result = pick(overflow, kLargest, result) & ~vanishes;
    // An overflow cannot vanish.
    result = pick(when(((b >> 10) & 63) == 63), b, sign | result);
    return pick(when(((a >> 10) & 63) == 63), a, result);
}

inline std::uint32_t widen16(std::uint32_t h)
{
    const std::uint32_t sign = (h & 0x8000) << 1, e = (h >> 10) & 31, m = h & 1023;
    const std::uint32_t zeros = leading_zeros(m) - 22;  // of the 10 bits of a denormal
    const std::uint32_t denormal = ((16 - zeros) << 10 | ((m << (zeros + 1)) & 1023)) & when(m != 0);
    const std::uint32_t special = pick(when(m == 0), kLargest, 63u << 10 | m);
    return sign | pick(when(e == 0), denormal, pick(when(e == 31), special, (e + 16) << 10 | m));
}

inline std::uint32_t narrow17(std::uint32_t x)
{
    const std::uint32_t sign = (x & kSign) >> 1, e = (x >> 10) & 63, m = x & 1023;
    const std::uint32_t f = m | 1024, shift = pick(when(e >= 17) | when(e < 6), 1, 17 - e);
    const std::uint32_t q = f >> shift, rest = f & ((1u << shift) - 1), half = 1u << (shift - 1);
    const std::uint32_t denormal = (q + ((when(rest > half) | (when(rest == half) & q)) & 1)) & when(e >= 6);
    const std::uint32_t finite = pick(when(e >= 47), 0x7bff, pick(when(e >= 17), (e - 16) << 10 | m, denormal));
    return sign | pick(when(e == 63), 31u << 10 | m, finite);
}

DLASIM_FORM void transform_fp16(const std::uint16_t* tile, std::uint16_t* out)
{
    constexpr std::uint32_t kRow = 4 * kChannels;  // a row of positions, all channels
    std::uint32_t m[kTileLanes], t[kTileLanes];
    for (std::uint32_t i = 0; i < kTileLanes; ++i) m[i] = widen16(tile[i]);
    for (std::uint32_t i = 0; i < kRow; ++i) t[i] = add17(m[i], m[2 * kRow + i] ^ kSign);
    for (std::uint32_t i = 0; i < kRow; ++i) t[kRow + i] = add17(m[kRow + i], m[2 * kRow + i]);
    for (std::uint32_t i = 0; i < kRow; ++i) t[2 * kRow + i] = add17(m[2 * kRow + i], m[kRow + i] ^ kSign);
    for (std::uint32_t i = 0; i < kRow; ++i) t[3 * kRow + i] = add17(m[kRow + i], m[3 * kRow + i] ^ kSign);
    // The second pass runs along rows: columns are gathered so that its loops are as long.
    std::uint32_t column[4][kRow];
    for (std::uint32_t r = 0; r < 4; ++r)
        for (std::uint32_t q = 0; q < 4; ++q)
            for (std::uint32_t c = 0; c < kChannels; ++c) column[q][r * kChannels + c] = t[r * kRow + q * kChannels + c];
    std::uint32_t o[4][kRow];
    for (std::uint32_t i = 0; i < kRow; ++i) o[0][i] = narrow17(add17(column[0][i], column[2][i] ^ kSign));
    for (std::uint32_t i = 0; i < kRow; ++i) o[1][i] = narrow17(add17(column[1][i], column[2][i]));
    for (std::uint32_t i = 0; i < kRow; ++i) o[2][i] = narrow17(add17(column[2][i], column[1][i] ^ kSign));
    for (std::uint32_t i = 0; i < kRow; ++i) o[3][i] = narrow17(add17(column[1][i], column[3][i] ^ kSign));
    for (std::uint32_t r = 0; r < 4; ++r)
        for (std::uint32_t q = 0; q < 4; ++q)
            for (std::uint32_t c = 0; c < kChannels; ++c)
                out[r * kRow + q * kChannels + c] = static_cast<std::uint16_t>(o[q][r * kChannels + c]);
}

/// Sums of one atom with kWidth kernels of one plane: [outputs][kWidth].
DLASIM_FORM void tile_sums(const std::int16_t* plane, const std::int16_t* atom, std::int32_t* out)
{
    std::int32_t g[kPositions][kWidth];
    for (std::uint32_t p = 0; p < kPositions; ++p) {
        const std::int16_t *w = plane + std::size_t{p} * kChannels * kWidth, *d = atom + p * kChannels;
        for (std::uint32_t k = 0; k < kWidth; ++k)
            g[p][k] = w[k] * d[0] + w[kWidth + k] * d[1] + w[2 * kWidth + k] * d[2] + w[3 * kWidth + k] * d[3];
    }
    for (std::uint32_t k = 0; k < kWidth; ++k) {
        std::int32_t left[4], right[4];
        for (std::uint32_t r = 0; r < 4; ++r) {
            left[r] = g[4 * r][k] + g[4 * r + 1][k] + g[4 * r + 2][k];
            right[r] = g[4 * r + 1][k] - g[4 * r + 2][k] - g[4 * r + 3][k];
        }
        out[k] = left[0] + left[1] + left[2];
        out[kWidth + k] = right[0] + right[1] + right[2];
        out[2 * kWidth + k] = left[1] - left[2] - left[3];
        out[3 * kWidth + k] = right[1] - right[2] - right[3];
    }
}

}  // namespace

void transform_tiles(bool bytes, unsigned truncate, const std::int16_t* tile, std::int16_t* out, Vectors vectors)
{
    in_form<transform>(vectors, bytes ? 8 : 16, truncate, tile, out);
}

void transform_tiles_fp16(const std::uint16_t* tile, std::uint16_t* out, Vectors vectors) { in_form<transform_fp16>(vectors, tile, out); }

TileBlock::TileBlock(std::uint32_t max_kernels, Vectors vectors)
    : vectors_(chosen(vectors)), pitch_(round_up(max_kernels, kWidth)), low_(std::size_t{pitch_} * kTileLanes, 0), high_(low_.size(), 0)
{
}

void TileBlock::load(bool bytes, const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels loaded)
{
    const std::uint32_t kernels = loaded.count();
    DLASIM_EXPECTS(kernels <= pitch_ && available(vectors_));
    std::fill(low_.begin(), low_.end(), std::int16_t{0});
    std::fill(high_.begin(), high_.end(), std::int16_t{0});
    for (std::uint32_t k = 0; k < kernels; ++k) {
        const std::uint8_t* from = weights + std::size_t{k} * weight_pitch;
        const std::size_t at = k / kWidth * kPlane + k % kWidth;
        for (std::uint32_t lane = 0; lane < kTileLanes; ++lane) {
            if (bytes) {
                low_[at + std::size_t{lane} * kWidth] = static_cast<std::int8_t>(from[lane]);
            } else {
                std::int16_t w;
                std::memcpy(&w, from + 2 * lane, 2);
                low_[at + std::size_t{lane} * kWidth] = static_cast<std::int16_t>(w & 0xff);
                high_[at + std::size_t{lane} * kWidth] = static_cast<std::int16_t>(w >> 8);
            }
        }
    }
}

void TileBlock::multiply_bytes(const std::uint8_t* const* atoms, std::uint32_t count, std::int32_t* sums) const
{
    std::int16_t atom[kTileLanes];
    std::int32_t out[kTileOutputs * kWidth];
    for (std::uint32_t i = 0; i < count; ++i, sums += std::size_t{kTileOutputs} * pitch_) {
        std::memcpy(atom, atoms[i], sizeof atom);
        for (std::uint32_t block = 0; block < pitch_; block += kWidth) {
            in_form<tile_sums>(vectors_, low_.data() + block / kWidth * kPlane, atom, out);
            for (std::uint32_t j = 0; j < kTileOutputs; ++j) std::copy_n(out + j * kWidth, kWidth, sums + std::size_t{j} * pitch_ + block);
        }
    }
}

void TileBlock::multiply_words(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* sums) const
{
    std::int16_t atom[kTileLanes];
    std::int32_t low[kTileOutputs * kWidth], high[kTileOutputs * kWidth];
    for (std::uint32_t i = 0; i < count; ++i, sums += std::size_t{kTileOutputs} * pitch_) {
        std::memcpy(atom, atoms[i], sizeof atom);
        for (std::uint32_t block = 0; block < pitch_; block += kWidth) {
            in_form<tile_sums>(vectors_, low_.data() + block / kWidth * kPlane, atom, low);
            in_form<tile_sums>(vectors_, high_.data() + block / kWidth * kPlane, atom, high);
            for (std::uint32_t j = 0; j < kTileOutputs; ++j)
                for (std::uint32_t k = 0; k < kWidth; ++k)
                    sums[std::size_t{j} * pitch_ + block + k] = std::int64_t{high[j * kWidth + k]} * 256 + low[j * kWidth + k];
        }
    }
}

}  // namespace dlasim::numerics
