// Winograd a block at a time: the input transform of the four channels of an atom, and the integer sums
// of all tiles of a stripe with the kernels of one half of the MAC array (fp16: fp16_block.h). The same
// results as numerics/pra.h and numerics/cmac.h one by one, in loops that vectorise.
//
// Shapes  tile, atom: [16 positions][4 channels] of 16 bits; weights [kernels][16][4] bytes or words;
//         sums [count][4 outputs][pitch()], kernels beyond those loaded are 0.
// Source  csc.md 1.9, 4.2; cmac.md 4.3.
// Error   0 against the one-by-one functions (tests/unit/tile_block_test.cpp).
#pragma once
#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/vectors.h"
#include "facts/hardware.h"

namespace dlasim::numerics {

inline constexpr std::uint32_t kTileLanes = 64;
inline constexpr std::uint32_t kTileOutputs = 4;

/// C^T D C of four channels, shifted by `truncate` (0..3) with rounding and saturated to bytes or words.
void transform_tiles(bool bytes, unsigned truncate, const std::int16_t* tile, std::int16_t* out, Vectors vectors = Vectors::Best);

/// The same for fp16, computed in fp17; nothing is shifted.
void transform_tiles_fp16(const std::uint16_t* tile, std::uint16_t* out, Vectors vectors = Vectors::Best);

class TileBlock {
public:
    explicit TileBlock(std::uint32_t max_kernels, Vectors vectors = Vectors::Best);

    static constexpr std::uint32_t kWidth = 16;  // kernels computed together
    std::uint32_t pitch() const { return pitch_; }

    void load(bool bytes, const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels kernels);
    /// Atoms of bytes: their sums fit 32 bits. pre: load(true, ...)
    void multiply_bytes(const std::uint8_t* const* atoms, std::uint32_t count, std::int32_t* sums) const;
    /// pre: load(false, ...)
    void multiply_words(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* sums) const;

private:
    const Vectors vectors_;
    const std::uint32_t pitch_;
    // [kernels / kWidth][lane][kWidth]; words are high * 256 + low, so that the sums of either fit 32 bits.
    std::vector<std::int16_t> low_, high_;
};

}  // namespace dlasim::numerics
