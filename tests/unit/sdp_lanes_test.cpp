// The vectorised integer arithmetic against the lane functions of numerics/, which the golden vectors judge.
#include <gtest/gtest.h>

#include <random>

#include "units/sdp/value/integer_lanes.h"

namespace dlasim {
namespace sdp_lanes_test {

class SdpLanes : public testing::TestWithParam<Generation> {
protected:
    std::mt19937 random{3};
    std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }
    /// Small, large and extreme numbers alike.
    std::int32_t number()
    {
        static constexpr std::int32_t kEdges[] = {0, 1, -1, INT32_MAX, INT32_MIN, 65535, -65536, 127, -128, 255, 32767, -32768};
        const std::uint32_t kind = pick(4);
        if (kind == 0) return kEdges[pick(12)];
        return static_cast<std::int32_t>(random()) >> (kind == 1 ? 0 : pick(31));
    }
};

TEST_P(SdpLanes, EnginesComputeWhatTheLaneFunctionComputes)
{
    for (unsigned trial = 0; trial < 40000; ++trial) {
        numerics::SdpXConfig c;
        c.silicon = facts::sdp::arithmetic(GetParam());
        c.alu_bypass = pick(3) == 0;
        c.mul_bypass = pick(3) == 0;
        c.relu_bypass = pick(2);
        c.prelu = pick(4) == 0;
        c.alu = static_cast<numerics::SdpAlu>(pick(4));
        c.alu_shift = pick(4) ? pick(17) : pick(64);
        c.mul_shift = pick(3) ? pick(20) : pick(64);
        c.alu_operand = static_cast<std::int16_t>(number());
        c.mul_operand = static_cast<std::int16_t>(number());
        std::int32_t x[16];
        std::int16_t alu[16], mul[16];
        for (unsigned i = 0; i < 16; ++i)
            x[i] = number(), alu[i] = static_cast<std::int16_t>(number()), mul[i] = static_cast<std::int16_t>(number());
        const bool alu_stream = pick(2), mul_stream = pick(2);
        sdp::IntegerLanes lanes;
        lanes.load(x, 16);
        lanes.engine(c, alu_stream ? alu : nullptr, mul_stream ? mul : nullptr);
        for (unsigned i = 0; i < 16; ++i)
            ASSERT_EQ(lanes.lane(i),
                      numerics::sdp_x_lane(c, x[i], alu_stream ? alu[i] : c.alu_operand, mul_stream ? mul[i] : c.mul_operand))
                << "trial " << trial << ": x " << x[i] << " alu " << c.alu_operand << " mul " << c.mul_operand << " shifts " << c.alu_shift
                << " " << c.mul_shift << " prelu " << c.prelu;
    }
}

TEST_P(SdpLanes, TheConverterConvertsAndCountsAsTheLaneFunctionDoes)
{
    for (unsigned trial = 0; trial < 40000; ++trial) {
        numerics::SdpCvtConfig c;
        c.silicon = facts::sdp::arithmetic(GetParam());
        c.out = pick(2) ? Precision::Int8 : Precision::Int16;
        c.offset = pick(2) ? 0 : number();
        c.scale = pick(2) ? std::int16_t{1} : static_cast<std::int16_t>(number());
        c.shift = pick(3) ? pick(20) : pick(64);
        std::int32_t x[16];
        for (std::int32_t& lane : x) lane = number();
        sdp::IntegerLanes lanes;
        lanes.load(x, 16);
        std::uint16_t out[16];
        const unsigned flagged = lanes.convert(c, out, 16, true);
        unsigned expected = 0;
        for (unsigned i = 0; i < 16; ++i) {
            const numerics::CvtLane lane = numerics::sdp_cvt_lane(c, x[i]);
            ASSERT_EQ(out[i], lane.value) << "trial " << trial << ": x " << x[i] << " offset " << c.offset << " scale " << c.scale
                                          << " shift " << c.shift;
            expected += lane.saturated;
        }
        ASSERT_EQ(flagged, expected) << trial;
    }
}

INSTANTIATE_TEST_SUITE_P(Generations, SdpLanes, testing::Values(Generation::Full, Generation::Configurable));

}  // namespace sdp_lanes_test
}  // namespace dlasim
