// The integer arithmetic of BS, BN and the converter on a beat at a time, for speed: the numbers of
// numerics/sdp_x.h and sdp_cvt.h in double precision, where every intermediate result is exact (49
// bits at most), one simple loop an operation, so that compilers vectorise them.
//
//   shift right and round, ties away from zero:  v * 2^-n, saturate, truncate(v + copysign(1/2, v))
//
// Source  sdp.md 4.1, 4.2.
// Error   0: equal to the lane functions of numerics/ for random registers (tests/unit/sdp_lanes_test.cpp).
#pragma once
#include <array>
#include <cstdint>

#include "numerics/sdp_cvt.h"
#include "numerics/sdp_x.h"

namespace dlasim::sdp {

/// Up to 64 lanes, a multiple of 4 of them in use.
class IntegerLanes {
public:
    static constexpr unsigned kMax = 64;

    void load(const std::int32_t* lanes, unsigned count);
    /// One of BS and BN; a null stream takes the operand of the register. pre: integer processing.
    void engine(const numerics::SdpXConfig& config, const std::int16_t* alu, const std::int16_t* mul);
    /// To int8 or int16; the number of lanes flagged as saturated if `counting`. pre: not compare mode.
    unsigned convert(const numerics::SdpCvtConfig& config, std::uint16_t* out, unsigned count, bool counting);

    std::int32_t lane(unsigned i) const { return static_cast<std::int32_t>(value_[i]); }

private:
    template <class Operation>
    void each(Operation operation);
    void clamp(double low, double high);
    void round(double low, double high);
    void operate(const numerics::SdpXConfig& config, const std::int16_t* stream);
    void multiply_negative(const numerics::SdpXConfig& config, const std::int16_t* stream, double factor);

    std::array<double, kMax> value_;
    unsigned count_ = 0;
};

}  // namespace dlasim::sdp
