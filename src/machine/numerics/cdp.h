// CDP's arithmetic: a channel times a function of the squares around it.
//
//   in ── IN ── x ──┬── x^2 summed over n channels ── LUT ── r ──┐
//                   └────────────────────────────────────── MUL: x * r ── OUT ── out
//
// fp16 squares and sums in fp32, multiplies in fp17; its converters only widen and narrow.
//
// Shapes  x is 9 bits (int8), 17 bits (int16) or an fp17 pattern; channels outside the cube are 0.
// Source  cdp.md 3.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "facts/cdp.h"
#include "facts/hardware.h"
#include "numerics/cdp_lut.h"

namespace dlasim::numerics {

/// Channels on either side that a result can depend on.
inline constexpr std::size_t kCdpReach = 4;

struct CdpConverter {
    std::uint32_t offset = 0;
    std::int16_t scale = 1;
    unsigned shift = 0;
};

struct CdpConfig {
    facts::cdp::Arithmetic silicon;
    Precision precision = Precision::Int8;
    unsigned window = 3;  // n: 3, 5, 7 or 9
    bool sum_bypass = false, multiply_bypass = false;
    bool nan_to_zero = false;
    CdpConverter in, out;
    CdpLut lut;

    std::size_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
};

/// Elements by CdpOutcome.
using CdpCounts = std::array<std::uint64_t, kCdpOutcomes>;

/// Computes the atoms of a layer. Results of int8 look-ups are cached: call start() when a table changes.
class CdpLanes {
public:
    void start(const CdpConfig& config, const LutTables& tables);

    /// `count` elements as memory has them to `count` values x.
    void convert(const std::uint8_t* in, std::size_t count, std::int32_t* x) const;
    /// x[-kCdpReach] .. x[count + kCdpReach - 1] to `count` <= 64 elements as memory has them; x[0] is an even channel.
    void compute(const std::int32_t* x, std::size_t count, std::uint8_t* out);

    const CdpCounts& counts() const { return counts_; }

private:
    static constexpr std::size_t kMaxLanes = 64;
    static constexpr std::size_t kRemembered = 1u << 17;  // sums of int8, from -kMinSum on
    static constexpr std::int64_t kMinSum = 256;

    CdpLooked look_up(std::int64_t sum, bool odd) const;
    void look_up_lanes(std::int64_t* values, std::size_t count);
    void sums_of(const std::int32_t* x, std::size_t count, std::int64_t* sums) const;
    void sums_of_floats(const std::int32_t* x, std::size_t count, std::int64_t* sums) const;
    void convert_out(const std::int64_t* v, std::size_t count, std::uint8_t* out) const;

    CdpConfig config_;
    LutTables tables_;
    CdpCounts counts_{};
    /// What was looked up, by channel parity and sum: layer << 20 | outcome << 16 | value.
    std::array<std::vector<std::uint32_t>, 2> remembered_;
    std::uint32_t layer_ = 0;
};

}  // namespace dlasim::numerics
