// The adders and the assembly buffer of CACC: sums of a stripe are added position by position; what a
// channel end completes becomes 32-bit results.
//
// Shapes  sums in: two halves, [atoms][outputs][pitch]; assembly [position][output][kernel];
//         results out: [output][kernel], kernels ascending over both halves.
// Source  cacc.md 2.3, 4.
#pragma once
#include <cstdint>
#include <vector>

#include "facts/hardware.h"
#include "traffic/convolution.h"

namespace dlasim {

/// What CACC latches at layer start that concerns values.
struct AccumulatorMode {
    Precision precision = Precision::Int8;
    bool winograd = false;
    std::uint32_t truncate = 0;
    std::uint32_t outputs() const { return winograd ? 4 : 1; }
};

class Accumulator {
public:
    explicit Accumulator(const Hardware& hardware);

    void start_layer(const AccumulatorMode& mode);
    std::uint32_t kernels() const { return kernels_; }

    /// Adds a stripe that does not complete its sums.
    void add(const Sums& a, const Sums& b);
    /// Completes the sums of atom `i` of a stripe with channel end: results[output][kernel].
    /// Returns how many of them saturated.
    std::uint32_t finish(const Sums& a, const Sums& b, std::uint32_t atom, std::int32_t* results);
    /// After the last atom of a stripe: the next stripe begins new sums if this one had channel end.
    void end_stripe(bool channel_end) { first_ = channel_end; }

private:
    /// One row of one half: `count` kernels from kernel `first` on.
    void add_row(const Sums& half, std::uint32_t atom, std::uint32_t output, std::uint32_t first, std::int64_t* row);
    std::uint32_t finish_row(const Sums& half, std::uint32_t atom, std::uint32_t output, std::uint32_t first,
                             const std::int64_t* row, std::int32_t* results) const;
    unsigned width(std::uint32_t kernel) const;
    std::int64_t* assembly(std::uint32_t atom, std::uint32_t output)
    {
        return assembly_.data() + (std::size_t{atom % positions_} * 4 + output) * max_kernels_;
    }

    const Hardware& hardware_;
    const std::uint32_t max_kernels_, positions_;
    AccumulatorMode mode_;
    std::uint32_t kernels_ = 0;  // of a group
    bool first_ = true;          // the next stripe begins new sums
    std::uint64_t stripes_ = 0;  // of the sums under way: bounds their size
    std::vector<std::int64_t> assembly_;
};

}  // namespace dlasim
