#include <gtest/gtest.h>

#include "facts/presets.h"
#include "registers/fields/glb.h"
#include "units/csb/glb.h"
#include "units/csb/request_queue.h"

namespace dlasim {
namespace csb_test {

// csb.md 2.3: back-to-back writes are pushed in p, p+1, p+2, p+3, then p+9, p+10, p+11, p+12 ...
TEST(CsbRequestQueue, TakesFourRequestsInNineCycles)
{
    RequestQueue queue;
    std::vector<Cycle> pushes;
    Cycle next = 100;
    for (int i = 0; i < 12; ++i) {
        const auto passage = queue.offer(next);
        next = passage.accepted + 1;
        pushes.push_back(passage.pushed);
    }
    EXPECT_EQ(pushes, (std::vector<Cycle>{101, 102, 103, 104, 110, 111, 112, 113, 119, 120, 121, 122}));
}

TEST(CsbRequestQueue, ALoneRequestIsPushedInTheNextCycle)
{
    RequestQueue queue;
    for (const Cycle at : {5u, 5000u, 1000000u}) {
        const auto passage = queue.offer(at);
        EXPECT_EQ(passage.accepted, at);
        EXPECT_EQ(passage.pushed, at + 1);
    }
}

struct GlbBench {
    CsbLink csb;
    Pulse<std::uint32_t> source;
    GlbCore glb{*find_preset("nv_small"), csb, {&source}};
    std::vector<std::pair<Cycle, bool>> run(Cycle end)
    {
        std::vector<std::pair<Cycle, bool>> pin;
        for (Cycle t = 0; t < end; ++t) {
            glb.advance(t);
            while (glb.pin.available(t)) pin.emplace_back(t, glb.pin.take());
        }
        return pin;
    }
};

// csb.md 2.6: pulse in I, dla_intr in I + 6; clearing write with unit port U: pin low in U + 6.
TEST(Glb, RaisesThePinSixCyclesAfterAPulseAndLowersItSixAfterTheClearingWrite)
{
    GlbBench bench;
    bench.source.put(20, 1);
    bench.csb.request.put(51, {reg::glb::S_INTR_STATUS, 0xffffffff, true});  // U = 50
    const std::vector<std::pair<Cycle, bool>> expected{{26, true}, {56, false}};
    EXPECT_EQ(bench.run(80), expected);
}

TEST(Glb, ASetInTheCycleOfTheClearWins)
{
    GlbBench bench;
    bench.source.put(20, 1);
    bench.source.put(50, 1);                                                 // registered in 51
    bench.csb.request.put(51, {reg::glb::S_INTR_STATUS, 0xffffffff, true});  // acts in 51
    const std::vector<std::pair<Cycle, bool>> expected{{26, true}};
    EXPECT_EQ(bench.run(80), expected);
}

TEST(Glb, EveryDonePulseIsKeptWithTheCycleInWhichThePinCanShowIt)
{
    GlbBench bench;
    bench.csb.request.put(5, {reg::glb::S_INTR_MASK, 2, true});
    bench.source.put(20, 1);
    bench.source.put(30, 1);  // the pin is high already
    bench.source.put(40, 2);  // masked
    bench.run(80);
    std::vector<std::pair<Cycle, std::uint32_t>> done;
    for (const GlbCore::Done& d : bench.glb.done()) done.emplace_back(d.cycle, d.bits);
    EXPECT_EQ(done, (std::vector<std::pair<Cycle, std::uint32_t>>{{26, 1}, {36, 1}, {46, 2}}));
}

TEST(Glb, AMaskedBitIsReadableButDoesNotRaiseThePin)
{
    GlbBench bench;
    bench.csb.request.put(5, {reg::glb::S_INTR_MASK, 1, true});
    bench.source.put(20, 1);
    bench.csb.request.put(40, {reg::glb::S_INTR_STATUS, 0, false});
    EXPECT_TRUE(bench.run(80).empty());
    ASSERT_TRUE(bench.csb.response.available(41));
    EXPECT_EQ(bench.csb.response.take(), 1u);
}

}  // namespace csb_test
}  // namespace dlasim
