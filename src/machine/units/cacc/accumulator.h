// The adders and the assembly buffer of CACC: sums of a stripe are added position by position; what a
// channel end completes becomes 32-bit results.
//
//   bytes   32-bit sums while no sum can leave 32 bits, then 64-bit sums with the saturation of the silicon
//   words   64-bit sums, saturating once they could
//   fp16    the 48-bit words of numerics/cacc.h
//
// Shapes  sums in, and the assembly buffer of a half: [atoms][outputs][pitch];
//         results out: [output][kernel], kernels ascending over both halves.
// Source  cacc.md 2.3, 4.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/vectors.h"
#include "facts/cacc.h"
#include "facts/hardware.h"
#include "traffic/convolution.h"

namespace dlasim::cacc {

/// What CACC latches at layer start that concerns values.
struct AccumulatorMode {
    Precision precision = Precision::Int8;
    bool winograd = false;
    std::uint32_t truncate = 0;
    std::uint32_t outputs() const { return winograd ? 4 : 1; }
};

class Accumulator {
public:
    explicit Accumulator(const Hardware& hardware, Vectors vectors = Vectors::Best);

    void start_layer(const AccumulatorMode& mode);
    std::uint32_t kernels() const { return kernels_; }

    /// A stripe of sums from both halves begins.
    void begin_stripe(const Sums& a, const Sums& b);
    /// Adds it: it does not complete its sums.
    void add();
    /// Completes the sums of one of its atoms: results[output][kernel]. Returns how many of them saturated.
    std::uint32_t finish(std::uint32_t atom, std::int32_t* results);
    /// The next stripe begins new sums if this one had channel end.
    void end_stripe(bool channel_end) { first_ = channel_end; }

private:
    struct Half {
        const Sums* sums = nullptr;
        std::uint32_t first_kernel = 0;
        std::vector<std::int32_t> narrow;
        std::vector<std::int64_t> wide;
    };
    void add(Half& half);
    std::uint32_t finish(const Half& half, std::uint32_t atom, std::uint32_t output, std::int32_t* results) const;
    void widen();
    unsigned width(std::uint32_t kernel) const;

    const Vectors vectors_;
    const Hardware& hardware_;
    const facts::cacc::Facts silicon_;
    const std::uint32_t max_kernels_;
    const std::uint64_t narrow_stripes_;  // as many cannot leave 32 bits
    AccumulatorMode mode_;
    std::uint32_t kernels_ = 0;  // of a group
    bool first_ = true;          // this stripe begins new sums
    bool narrow_ = true;         // the sums are in `narrow`
    std::uint64_t stripes_ = 0;  // added to the sums so far: bounds their size
    std::array<Half, 2> halves_;
};

}  // namespace dlasim::cacc
