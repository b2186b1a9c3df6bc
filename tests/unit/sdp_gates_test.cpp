// When the gated clocks of SDP run: sdp.md 3.1. The measured cases have no table that is written while a layer runs, and no register
// that is written in the last cycles of a gate.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "sdp_layer.h"

namespace dlasim {
namespace sdp_gates_test {

namespace sdp = reg::sdp;

Cycle clock_on(const SdpTrace& trace, std::string_view domain)
{
    return std::ranges::find(trace.report.clock_on, domain, &CounterValues::value_type::first)->second;
}

TEST(SdpLut, WritingATableRunsTheClockOfEwUntilALayerStarts)
{
    for (const char* name : {"nv_large", "nv_medium_512"}) {
        SdpLayer layer(preset(name));
        layer.set(sdp::S_LUT_ACCESS_CFG, 1 << 17);
        const Cycle on = layer.decode;  // the write was decoded a cycle before
        layer.shape(1, 1, layer.hardware.memory.atom_bytes, 0);
        const Cycle e = layer.enable();
        layer.beats(e + 5, layer.hardware.memory.atom_bytes / layer.hardware.sdp.max_throughput());
        const SdpTrace trace = layer.bench.run(e + 200, false);
        EXPECT_EQ(clock_on(trace, "ew"), layer.hardware.sdp.has_lut ? e - on : 0) << name;
    }
}

// sdp.md 3.1: once the gate is open, writing a table does not end before it opens the next time.
TEST(SdpLut, ATableWrittenWhileALayerRunsKeepsTheClockOfEwOn)
{
    SdpLayer layer(preset("nv_large"));
    layer.shape(1, 1, 32, 0);
    const Cycle e = layer.enable(), end = e + 200;
    layer.bench.writes.push_back({e + 2, false, sdp::S_LUT_ACCESS_CFG, 1 << 17});
    layer.beats(e + 5, 2);
    EXPECT_EQ(clock_on(layer.bench.run(end, false), "ew"), end - (e + 3));
}

// sdp.md 3.1: the flags of the gates are those of the other group, two cycles behind what is written to it.
TEST(SdpGates, EnginesFollowTheOtherGroupForTheLastTwoCycles)
{
    for (const bool used : {false, true}) {
        Cycle done = 0;
        for (const int after : {-1, 0, 1, 2}) {  // cycles from done to a write that lets the other group use BS
            SdpLayer layer(preset("nv_large"));
            layer.shape(1, 1, 32, 0);
            if (used) layer.set(sdp::D_DP_BS_CFG, 1 << 1 | 1 << 4);
            const Cycle e = layer.enable();
            layer.bench.writes.push_back({e, false, sdp::S_POINTER, 1});
            if (after >= 0) layer.bench.writes.push_back({done + static_cast<Cycle>(after), false, sdp::D_DP_BS_CFG, 1 << 1 | 1 << 4});
            layer.beats(e + 5, 2);
            const SdpTrace trace = layer.bench.run(e + 200, false);
            const Cycle gate = clock_on(trace, "wdma"), others = after < 0 ? 0 : 2 - after;
            done = e + gate - 4;
            EXPECT_EQ(clock_on(trace, "bs"), (used ? gate - 2 : 0) + others) << after;
        }
    }
}

}  // namespace sdp_gates_test
}  // namespace dlasim
