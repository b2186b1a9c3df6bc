// CACC against the worked examples of its specification, and its adders against the plain rule.
#include "numerics/cacc.h"

#include <gmock/gmock.h>

#include <memory>
#include <random>

#include "facts/presets.h"
#include "registers/fields/cacc.h"
#include "units/cacc/accumulator.h"
#include "units/cacc/core.h"
#include "units/cacc/delivery.h"

namespace dlasim {
namespace cacc_test {

using cacc::Accumulator;
using cacc::Delivery;
using cacc::DeliveryOrder;
using cacc::EndTags;

using testing::ElementsAre;
using testing::IsEmpty;

/// CACC with everything around it played by hand; SDP is always ready.
struct Bench {
    explicit Bench(const char* preset) : hw(*find_preset(preset)), core(make_cacc(hw, {csb, a, b, sdp, credit, interrupt}))
    {
        sdp.valid_probe = &valid;
    }
    void enable(std::uint32_t precision)
    {
        csb.request.put(10, {reg::cacc::D_MISC_CFG, precision << 12, true});
        csb.request.put(11, {reg::cacc::D_OP_ENABLE, 1, true});
    }
    void stripe(Cycle first, std::uint32_t atoms, bool channel_end, bool layer_end)
    {
        Sums sums{first, atoms, Kernels{1}, 1, 16, channel_end, layer_end, ones.data(), nullptr};
        a.put(first - 20, sums);
        b.put(first - 20, sums);
    }
    void run(Cycle end)
    {
        for (Cycle at = 0; at < end; ++at) {
            core->advance(at);
            if (sdp.fires(at) && sdp.item(at).layer_end) last_beat = at;
        }
    }
    std::vector<Cycle> credits()
    {
        std::vector<Cycle> cycles;
        while (credit.next() != kNever) {
            cycles.push_back(credit.next());
            credit.take();
        }
        return cycles;
    }
    std::vector<std::pair<Cycle, Cycle>> beats() const
    {
        std::vector<std::pair<Cycle, Cycle>> runs;
        for (const Probe::Run& run : valid.runs(0, 100000)) runs.push_back({run.start, run.length});
        return runs;
    }

    const Hardware& hw;
    CsbLink csb;
    PatientPulse<Sums> a, b;
    Channel<SumBeat> sdp;
    Pulse<std::uint32_t> credit, interrupt;
    std::unique_ptr<Core> core;
    Probe valid;
    Cycle last_beat = 0;
    std::vector<std::int32_t> ones = std::vector<std::int32_t>(64 * 16, 1);
};

// cacc.md 6.1, shifted by 100: CSC's first atom is cycle 100, CACC sees it in 108.
TEST(Cacc, WordsOfTheWorkedExampleLeaveOneEntryAnAtom)
{
    Bench bench("nv_full");
    bench.enable(1);
    bench.stripe(108, 12, false, false);
    bench.stripe(120, 12, true, true);
    bench.run(300);
    EXPECT_THAT(bench.beats(), ElementsAre(std::pair<Cycle, Cycle>(134, 12)));
    EXPECT_EQ(bench.last_beat, 145u);
    const std::vector<Cycle> credits = bench.credits();
    EXPECT_EQ(credits.size(), 12u);
    EXPECT_EQ(credits.front(), 135u);
    EXPECT_EQ(bench.interrupt.next(), 148u);  // at the input of GLB
    EXPECT_EQ(bench.interrupt.take(), 1u << 20);
}
TEST(Cacc, BytesOfTheWorkedExampleLeaveTwoEntriesAnAtom)
{
    Bench bench("nv_full");
    bench.enable(0);
    bench.stripe(108, 12, false, false);
    bench.stripe(120, 12, true, true);
    bench.run(300);
    EXPECT_THAT(bench.beats(), ElementsAre(std::pair<Cycle, Cycle>(134, 24)));
    EXPECT_EQ(bench.interrupt.next(), 160u);
}
TEST(Cacc, Fp16OfTheWorkedExampleLeavesTwoCyclesLater)
{
    Bench bench("nv_full");
    bench.enable(2);
    bench.stripe(108, 12, false, false);
    bench.stripe(120, 12, true, true);
    bench.run(300);
    EXPECT_THAT(bench.beats(), ElementsAre(std::pair<Cycle, Cycle>(136, 12)));
    EXPECT_EQ(bench.interrupt.next(), 150u);
}

// cacc.md 6.2, shifted by 100: eight beats an entry, one bubble between entries.
TEST(Cacc, SmallMachinePopsAnEntryEveryNineCycles)
{
    Bench bench("nv_small");
    bench.enable(0);
    bench.stripe(106, 12, false, false);
    bench.stripe(118, 12, true, true);
    bench.run(400);
    const auto beats = bench.beats();
    ASSERT_EQ(beats.size(), 12u);
    for (Cycle j = 0; j < 12; ++j) EXPECT_EQ(beats[j], (std::pair<Cycle, Cycle>(127 + 9 * j, 8)));
    const std::vector<Cycle> credits = bench.credits();
    EXPECT_EQ(credits.front(), 135u);
    EXPECT_EQ(credits.back(), 234u);
    EXPECT_EQ(bench.interrupt.next(), 234u);
}

TEST(Cacc, AtomsBeforeTheUnitIsEnabledAreLost)
{
    Bench bench("nv_full");
    bench.stripe(108, 12, true, true);
    bench.run(300);
    EXPECT_THAT(bench.beats(), IsEmpty());
}

std::vector<std::int32_t> drain(Delivery& delivery)
{
    std::vector<std::int32_t> order;
    while (delivery.any()) {
        order.push_back(delivery.entry()[0]);
        delivery.pop();
    }
    return order;
}

// cacc.md 6.3: results named 10 * column + batch.
TEST(Delivery, PairsOfPositionsAreInterleavedBatchByBatch)
{
    Delivery delivery(256, 16, 3, true);
    DeliveryOrder order;
    order.last_batch = 1;
    order.last_column = 2;
    delivery.start_layer(order);
    std::array<std::int32_t, 16> result{};
    Cycle at = 0;
    for (std::int32_t name : {0, 1, 10, 11, 20, 21}) {
        result[0] = name;
        delivery.append(result.data(), 1, ++at, name == 21);
        if (name == 1) EXPECT_FALSE(delivery.any());  // nothing before the partner
    }
    EXPECT_THAT(drain(delivery), ElementsAre(0, 10, 1, 11, 20, 21));
}

TEST(Delivery, AnOddStartLeavesTheFirstPositionAlone)
{
    Delivery delivery(256, 16, 3, true);
    DeliveryOrder order;
    order.last_batch = 1;
    order.last_column = 2;
    order.address_odd = true;
    delivery.start_layer(order);
    std::array<std::int32_t, 16> result{};
    Cycle at = 0;
    for (std::int32_t name : {0, 1, 10, 11, 20, 21}) {
        result[0] = name;
        delivery.append(result.data(), 1, ++at, name == 21);
    }
    EXPECT_THAT(drain(delivery), ElementsAre(0, 1, 10, 20, 11, 21));
}

// cacc.md 3.7: layers end at positions 4, 5, and the third one has entries at 6 and 7; tag 1 has never been written.
TEST(EndTags, AnEndInTheCycleInWhichTheOneBeforeLeavesIsAGhostInTheConfigurableGeneration)
{
    EndTags tags(false);
    tags.set(10, 4);
    EXPECT_FALSE(tags.pop(12, 3));
    tags.set(20, 5);
    EXPECT_TRUE(tags.pop(20, 4));
    EXPECT_TRUE(tags.pop(30, 5));
    EXPECT_EQ(tags.met_at(), kNever);
    tags.set(60, 7);
    EXPECT_FALSE(tags.pop(61, 6));
    EXPECT_TRUE(tags.pop(62, 0));  // an entry in the middle of the layer after next
    EXPECT_EQ(tags.met_at(), 20u);
}
TEST(EndTags, OneCycleEarlierOrLaterThereIsNone)
{
    for (const Cycle end : {Cycle{19}, Cycle{21}}) {
        EndTags tags(false);
        tags.set(10, 4);
        tags.set(end, 5);
        EXPECT_TRUE(tags.pop(20, 4)) << end;
        EXPECT_TRUE(tags.pop(30, 5)) << end;
        tags.set(60, 7);
        EXPECT_FALSE(tags.pop(61, 0)) << end;
        EXPECT_TRUE(tags.pop(62, 7)) << end;
        EXPECT_EQ(tags.met_at(), kNever) << end;
    }
}
TEST(EndTags, TheFullGenerationClearsFirst)
{
    EndTags tags(true);
    tags.set(10, 4);
    tags.set(20, 5);
    EXPECT_TRUE(tags.pop(20, 4));
    EXPECT_TRUE(tags.pop(30, 5));
    EXPECT_FALSE(tags.pop(61, 0));
    tags.set(62, 7);
    EXPECT_TRUE(tags.pop(63, 7));
}

/// Sums of one kernel a half, through the accumulator and by the rule.
TEST(Accumulator, ManyStripesOfExtremeSumsSaturateAsTheAddersOfTheSilicon)
{
    std::mt19937_64 random{7};
    for (const char* preset : {"nv_full", "nv_small"}) {
        const Hardware& hw = *find_preset(preset);
        const std::int32_t largest = static_cast<std::int32_t>(hw.mac.atomic_c) * 128 * 128;
        for (int trial = 0; trial < 64; ++trial) {
            const unsigned truncate = static_cast<unsigned>(random() % 32);
            const bool extreme = trial % 2 == 0;
            const std::uint32_t stripes = trial % 4 == 0 ? 1 : extreme ? 20000 : 1 + static_cast<std::uint32_t>(random() % 700);
            Accumulator accumulator(hw);
            accumulator.start_layer({Precision::Int8, false, truncate});
            const std::uint32_t kernels = hw.kernel_group(Precision::Int8);
            std::array<std::vector<std::int32_t>, 2> values;
            for (auto& half : values) half.resize(16);
            std::vector<std::int64_t> expected(kernels, 0);
            std::vector<std::int32_t> results(kernels);
            std::uint32_t saturated = 0;
            for (std::uint32_t s = 0; s < stripes; ++s) {
                for (std::uint32_t k = 0; k < kernels; ++k) {
                    const std::int32_t value =
                        extreme ? (k % 3 ? largest : -largest) : static_cast<std::int32_t>(random() % (2u * largest)) - largest;
                    values[k / (kernels / 2)][k % (kernels / 2)] = value;
                    const bool wide = hw.full() && k % 2 == 0;
                    expected[k] = numerics::accumulate_int(value, expected[k], wide ? 48 : 34);
                }
                const bool end = s + 1 == stripes;
                const Sums a{0, 1, Kernels{kernels / 2}, 1, 16, end, end, values[0].data(), nullptr};
                const Sums b{0, 1, Kernels{kernels / 2}, 1, 16, end, end, values[1].data(), nullptr};
                accumulator.begin_stripe(a, b);
                if (end) saturated = accumulator.finish(0, results.data());
                else accumulator.add();
                accumulator.end_stripe(end);
            }
            std::uint32_t expected_saturated = 0;
            for (std::uint32_t k = 0; k < kernels; ++k) {
                const numerics::IntResult result = numerics::finish_int(expected[k], truncate);
                EXPECT_EQ(results[k], result.value) << preset << " kernel " << k << " truncate " << truncate << " stripes " << stripes;
                expected_saturated += result.saturated;
            }
            // cacc.md 4.3: eight kernels of nv_small that saturate together count as none.
            EXPECT_EQ(saturated, expected_saturated % (hw.full() ? 256 : hw.mac.atomic_k));
        }
    }
}

}  // namespace cacc_test
}  // namespace dlasim
