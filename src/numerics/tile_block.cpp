#include "numerics/tile_block.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "base/expects.h"

// Compiled for wide vectors too; the loader picks by processor.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DLASIM_CLONES __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define DLASIM_CLONES
#endif

namespace dlasim::numerics {
namespace {

constexpr std::uint32_t kChannels = 4, kPositions = 16, kWidth = TileBlock::kWidth;
constexpr std::size_t kPlane = std::size_t{kTileLanes} * kWidth;

DLASIM_CLONES void transform(int width, unsigned truncate, const std::int16_t* tile, std::int16_t* out)
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

/// Sums of one atom with kWidth kernels of one plane: [outputs][kWidth].
DLASIM_CLONES void tile_sums(const std::int16_t* plane, const std::int16_t* atom, std::int32_t* out)
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

void transform_tiles(bool bytes, unsigned truncate, const std::int16_t* tile, std::int16_t* out)
{
    transform(bytes ? 8 : 16, truncate, tile, out);
}

TileBlock::TileBlock(std::uint32_t max_kernels)
    : pitch_(round_up(max_kernels, kWidth)), low_(std::size_t{pitch_} * kTileLanes, 0), high_(low_.size(), 0)
{
}

void TileBlock::load(bool bytes, const std::uint8_t* weights, std::uint32_t weight_pitch, std::uint32_t kernels)
{
    DLASIM_EXPECTS(kernels <= pitch_);
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
            tile_sums(low_.data() + block / kWidth * kPlane, atom, out);
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
            tile_sums(low_.data() + block / kWidth * kPlane, atom, low);
            tile_sums(high_.data() + block / kWidth * kPlane, atom, high);
            for (std::uint32_t j = 0; j < kTileOutputs; ++j)
                for (std::uint32_t k = 0; k < kWidth; ++k)
                    sums[std::size_t{j} * pitch_ + block + k] = std::int64_t{high[j * kWidth + k]} * 256 + low[j * kWidth + k];
        }
    }
}

}  // namespace dlasim::numerics
