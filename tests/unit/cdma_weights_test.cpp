// The parts of CDMA's weight side, each alone. Source: cdma.md 7.
#include <gtest/gtest.h>

#include "facts/presets.h"
#include "units/cdma/data/burst_stream.h"
#include "units/cdma/weight/weight_status.h"

namespace dlasim::cdma {
namespace cdma_weights_test {

/// Cycles until the stream shows its next candidate, which is taken.
ReadRequest next(BurstStream& stream)
{
    for (int cycle = 0; cycle < 4 && !stream.eligible(); ++cycle) stream.advance(false);
    const ReadRequest request = stream.candidate();
    EXPECT_TRUE(stream.eligible());
    stream.advance(true);
    return request;
}

/// The weight side's status with a layer of two kernel groups, the second of 5 kernels.
struct Status {
    explicit Status(const char* preset) : hw(*find_preset(preset)), status(hw, layer, fifos, filled)
    {
        layer.kernel_group = hw.kernel_group(Precision::Int8);
        layer.kernels = layer.kernel_group + 5;
        layer.kernel_groups = 2;
        layer.bytes_per_kernel = 64;
        layer.weight_bytes = layer.kernels * 64;
        status.start();
    }
    const Hardware& hw;
    LayerConfig layer;
    WeightFifos fifos;
    Pulse<WeightUpdate> filled;
    WeightStatus status;
};

// "First burst 8 - (addr mod 8) atoms, later 8, last = rest" (7.1).
TEST(CdmaBurstStream, FirstBurstEndsWhereAnEighthAtomDoes)
{
    BurstStream stream(32);
    stream.start({.address = Address{0x1000 + 5 * 32}, .bytes = 13 * 32, .limit = 100});
    const ReadRequest first = next(stream), second = next(stream), last = next(stream);
    EXPECT_EQ(first.address, Address{0x10a0});
    EXPECT_EQ(first.atoms, 3u);
    EXPECT_EQ(second.address, Address{0x1100});
    EXPECT_EQ(second.atoms, 8u);
    EXPECT_EQ(last.address, Address{0x1200});
    EXPECT_EQ(last.atoms, 2u);
    for (int cycle = 0; cycle < 4; ++cycle) stream.advance(false);
    EXPECT_FALSE(stream.eligible());
    EXPECT_FALSE(stream.waits_for_space());
}

// "overflow = onfly + stored + avail > limit"; the candidate that waits counts already (7.1).
TEST(CdmaBurstStream, SpaceIsFreeOnlyWhenItIsReleased)
{
    BurstStream stream(32);
    stream.start({.address = Address{0}, .bytes = 24 * 32, .limit = 16});
    next(stream);
    next(stream);
    for (int cycle = 0; cycle < 4; ++cycle) stream.advance(false);
    EXPECT_TRUE(stream.waits_for_space());
    stream.written(Atoms{8});
    stream.announced(Atoms{8});
    EXPECT_FALSE(stream.eligible());
    stream.released(Atoms{7});
    EXPECT_FALSE(stream.eligible());
    stream.released(Atoms{1});
    EXPECT_TRUE(stream.eligible());
}

TEST(CdmaBurstStream, ThePendingHandshakeForgetsWhatIsAvailable)
{
    BurstStream stream(32);
    stream.start({.address = Address{0}, .bytes = 24 * 32, .limit = 16});
    next(stream);
    next(stream);
    for (int cycle = 0; cycle < 4; ++cycle) stream.advance(false);
    stream.written(Atoms{8});
    stream.forget_available();
    EXPECT_FALSE(stream.eligible());
    stream.announced(Atoms{8});
    stream.forget_available();
    EXPECT_TRUE(stream.eligible());
}

// Worked example 15.3: K = 32, bytes_per_kernel 64: 64 atoms = 32 half entries = 16 entries.
TEST(CdmaWeightStatus, FullTellsOfAGroupWhenItsLastHalfEntryIsThere)
{
    Status bench("nv_full");
    for (Cycle at = 1; at < 40; ++at) {
        bench.status.step(at);
        EXPECT_FALSE(bench.status.completed()) << at;
        if (at <= 31) bench.status.written({.weights = Atoms{2}, .mask = {}});
    }
    bench.status.written({.weights = Atoms{2}, .mask = {}});
    bench.status.step(40);
    ASSERT_TRUE(bench.status.completed());
    EXPECT_EQ(bench.status.announced().weights, Entries{16});
    ASSERT_EQ(bench.filled.next(), 44u);
    const WeightUpdate update = bench.filled.take();
    EXPECT_EQ(update.kernels, Kernels{32});
    EXPECT_EQ(update.entries, Entries{16});
    EXPECT_EQ(bench.status.done_at(), kNever);
}

// "A message may include entries of the following group"; at most one message in two cycles; DONE 10 cycles behind the last (7.5).
TEST(CdmaWeightStatus, LastGroupIsDoneTenCyclesLater)
{
    Status bench("nv_small");
    bench.status.step(1);
    bench.status.written({.weights = Atoms{(8 + 5) * 64 / 8}, .mask = {}});
    bench.status.step(2);
    EXPECT_TRUE(bench.status.completed());
    EXPECT_EQ(bench.status.announced().weights, Entries{13 * 8});
    bench.status.step(3);
    EXPECT_FALSE(bench.status.completed());
    bench.status.step(4);
    EXPECT_TRUE(bench.status.completed());
    EXPECT_EQ(bench.status.announced().weights, Entries{0});
    EXPECT_EQ(bench.status.done_at(), 14u);
    EXPECT_EQ(bench.filled.take().kernels, Kernels{8});
    EXPECT_EQ(bench.filled.take().kernels, Kernels{5});
}

}  // namespace cdma_weights_test
}  // namespace dlasim::cdma
