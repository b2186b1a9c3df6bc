// fp16 products of a block: all atoms of a stripe with the kernels of one half of the MAC array. Bit for
// bit the words of numerics/cmac.h, which also computes cases that the wide form skips: operands with
// NaN, and products shifted by more than four steps.
//
// Shapes  atoms: pointers to `lanes` elements of two bytes; words [count][pitch], 44 bits each
//         (cmac.md 4.4), kernels beyond those loaded are 0; lanes <= 64.
// Source  cmac.md 4.4, 4.5.
// Error   0 against dot_fp16 (tests/unit/fp16_block_test.cpp).
#pragma once
#include <cstdint>
#include <memory>

#include "numerics/mac_block.h"

namespace dlasim::numerics {

class Fp16Block {
public:
    explicit Fp16Block(std::uint32_t max_kernels, Vectors vectors = Vectors::Best);
    ~Fp16Block();

    void load(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels kernels, std::uint32_t lanes);
    void multiply(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* words, std::uint32_t pitch);
    /// Winograd, 64 lanes: words [count][4 outputs][pitch].
    void multiply_tiles(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* words, std::uint32_t pitch);

private:
    struct Kernel;
    struct Atom;
    void unpack(const std::uint8_t* from);
    std::int64_t product(const Kernel& kernel, const Atom& atom) const;
    void tile(const Kernel& kernel, const Atom& atom, std::int64_t* words, std::uint32_t pitch) const;
    const Vectors vectors_;
    const bool wide_;
    std::uint32_t kernels_ = 0, lanes_ = 0;
    std::unique_ptr<Kernel[]> kernel_;
    std::unique_ptr<Atom> atom_;
    const std::uint32_t max_kernels_;
};

}  // namespace dlasim::numerics
