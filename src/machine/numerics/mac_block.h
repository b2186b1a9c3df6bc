// Integer products of a block: all atoms of a stripe with the kernels of one half of the MAC array.
// Exact, so the order of the additions is free; the fastest form the processor has is chosen when
// the program starts (AVX-512 VNNI, AVX2, SSE2, or plain C++).
//
//   load      weights [kernels][lanes] into the form the products want, once a stripe
//   multiply  sums[atom][kernel] = sum over lanes of atom[lane] * weight[kernel][lane]
//
// Shapes  atoms: pointers to `lanes` elements each, readable up to the next multiple of 4 bytes; sums
//         [count][pitch()], kernels beyond those loaded are 0; lanes <= max_lanes.
// Source  cmac.md 4.1, 4.2.
// Error   0 against plain sums (tests/unit/mac_block_test.cpp).
#pragma once
#include <cstdint>
#include <memory>

#include "base/bits.h"
#include "base/quantity.h"
#include "base/vectors.h"

namespace dlasim::numerics {

class MacBlock {
public:
    MacBlock(std::uint32_t max_kernels, std::uint32_t max_lanes, Vectors vectors = Vectors::Best);
    ~MacBlock();

    static constexpr std::uint32_t kWidth = 16;  // kernels computed together
    /// Sums of an atom: the kernels rounded up to kWidth.
    std::uint32_t pitch() const { return pitch_; }

    void load_int8(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels kernels, std::uint32_t lanes);
    void multiply_int8(const std::uint8_t* const* atoms, std::uint32_t count, std::int32_t* sums) const;

    /// Elements of two bytes, little endian.
    void load_int16(const std::uint8_t* weights, std::uint32_t weight_pitch, Kernels kernels, std::uint32_t lanes);
    void multiply_int16(const std::uint8_t* const* atoms, std::uint32_t count, std::int64_t* sums) const;

private:
    struct Form;
    const Vectors vectors_;
    const std::uint32_t pitch_, max_lanes_;
    std::uint32_t lanes_ = 0;
    bool fused_ = false;  // both planes of words in one
    std::unique_ptr<Form> form_;
};

}  // namespace dlasim::numerics
