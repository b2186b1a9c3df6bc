// The golden SDP: BS, BN, EW and the output converter, from their definition; floating point in arithmetic of its own
// (golden/real.h). Nothing of it is shared with the machine.
//
// Source  sdp.md 4.1 to 4.5.
// Error   0 against the lanes of the machine (tests/golden/post_reference_test.cpp).
#pragma once
#include "base/vectors.h"
#include "config/model/tensors.h"
#include "facts/abilities.h"

namespace dlasim {

class PostReference {
public:
    PostReference(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, Vectors vectors = Vectors::Best)
        : l_(layer), can_(facts::abilities(hardware)), t_(tensors), vectors_(chosen(vectors))
    {
    }

    /// What SDP writes for the result `sum` of kernel k at (y, x): an integer, or the bits of an fp32 in an fp16 layer.
    std::int16_t integer(std::int64_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const;
    /// In front of the output converter.
    std::int64_t unconverted(std::int64_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const;
    std::int16_t floating(std::uint32_t sum, std::uint32_t k, std::uint32_t y, std::uint32_t x) const;

    /// A row of integer results, [out width]; `sums` are used up. The same as one by one, in loops that vectorise.
    void integer_row(std::int64_t* sums, std::uint32_t k, std::uint32_t y, std::int16_t* out) const;

private:
    struct At {
        std::uint32_t k, y, x;
    };
    std::int16_t operand(std::size_t slot, At at) const;
    std::int64_t x_engine(std::size_t engine, std::int64_t value, At at) const;
    std::int64_t y_engine(std::int64_t value, At at) const;
    std::int16_t convert(std::int64_t value) const;
    std::uint32_t floating_x(std::size_t engine, std::uint32_t value, At at) const;
    std::uint32_t floating_y(std::uint32_t value, At at) const;
    void x_row(std::size_t engine, std::int64_t* values, std::uint32_t k, std::uint32_t y, std::int64_t* scratch) const;
    void operand_row(std::size_t slot, std::uint32_t k, std::uint32_t y, std::int64_t* values) const;

    const Layer& l_;
    const facts::Abilities can_;
    const LayerTensors& t_;
    const Vectors vectors_;
};

}  // namespace dlasim
