// The sequencer of CSC against the worked examples of its specification.
#include <gmock/gmock.h>

#include <vector>

#include "facts/csc.h"
#include "facts/presets.h"
#include "units/csc/sequencer.h"

namespace dlasim::csc {
namespace csc_sequencer_test {

using testing::ElementsAre;
using testing::Pair;

struct Pops final : PackageSink {
    void pop_weights(const Package&, unsigned, Cycle at) override { weights.push_back(at); }
    void pop_data(const Package& p, unsigned, Cycle at) override
    {
        data.push_back(at);
        lengths.push_back(p.length);
    }
    std::vector<std::pair<Cycle, Cycle>> pairs() const
    {
        std::vector<std::pair<Cycle, Cycle>> result;
        for (std::size_t i = 0; i < data.size(); ++i) result.push_back({weights[i], data[i]});
        return result;
    }
    std::vector<Cycle> weights, data;
    std::vector<std::uint32_t> lengths;
};

LayerConfig layer(const Hardware& hw, std::uint32_t atoms, std::uint32_t kernels, std::uint32_t slices, std::uint32_t columns,
                  Precision precision)
{
    LayerConfig l;
    l.precision = precision;
    l.kernel_group = hw.kernel_group(precision);
    l.last_kernel = kernels - 1;
    l.groups = (kernels - 1) / l.kernel_group + 1;
    l.atoms = atoms;
    l.slices = slices;
    l.slice_channels = hw.mac.atomic_c;
    l.last_weight_channel = slices * hw.mac.atomic_c - 1;
    l.kernel_columns = columns;
    l.lower = facts::csc::of(hw).lower;
    l.upper = facts::csc::of(hw).upper;
    l.kernels_per_load = l.kernel_group / hw.mac.atomic_k;
    l.long_stripes = facts::csc::of(hw).long_stripes;
    l.credit_unit = l.kernel_group / hw.mac.atomic_k;
    return l;
}

Pops run(const Hardware& hw, const LayerConfig& l, std::uint32_t credit, Cycle end = 100000)
{
    Pops pops;
    Sequencer sequencer(facts::csc::of(hw).minimum_issue, credit);
    sequencer.slices = 1000;
    sequencer.kernels = 10000;
    sequencer.start(l, 1);  // layer start in cycle 0
    while (!sequencer.finished() && sequencer.clock() < end) sequencer.step(sequencer.clock(), pops);
    return pops;
}

const Hardware& full() { return *find_preset("nv_full"); }
const Hardware& small() { return *find_preset("nv_small"); }

// csc.md 5.1: 40 atoms, two kernel columns, 20 kernels of 16 bits.
TEST(Sequencer, PopsOfTheWorkedExampleAreInTheirCycles)
{
    const Pops pops = run(full(), layer(full(), 40, 20, 1, 2, Precision::Int16), 256);
    EXPECT_THAT(pops.pairs(), ElementsAre(Pair(3, 19), Pair(19, 35), Pair(35, 51), Pair(51, 75), Pair(75, 99), Pair(99, 115),
                                          Pair(115, 131), Pair(131, 155)));
    EXPECT_THAT(pops.lengths, ElementsAre(16, 16, 24, 24, 16, 16, 24, 24));
}

// csc.md 5.3: stripes of 16, 8, 16; a stripe of 8 takes the minimum of 8 cycles.
TEST(Sequencer, SmallMachineCutsFortyAtomsIntoThreeStripesAGroup)
{
    const Pops pops = run(small(), layer(small(), 40, 12, 2, 1, Precision::Int8), 1000);
    EXPECT_THAT(pops.pairs(), ElementsAre(Pair(3, 11), Pair(11, 27), Pair(27, 43), Pair(43, 51), Pair(51, 59), Pair(59, 75), Pair(75, 91),
                                          Pair(91, 107), Pair(107, 123), Pair(123, 131), Pair(131, 139), Pair(139, 155)));
}

// csc.md 5.4: one atom a package; the weight load of 16 cells sets the pace, or the minimum of 10.
TEST(Sequencer, FullyConnectedStripesWaitForTheirWeightLoad)
{
    const Pops wide = run(full(), layer(full(), 1, 16, 4, 1, Precision::Int16), 256);
    EXPECT_THAT(wide.pairs(), ElementsAre(Pair(3, 19), Pair(19, 35), Pair(35, 51), Pair(51, 67)));
    const Pops few = run(full(), layer(full(), 1, 4, 4, 1, Precision::Int16), 256);
    EXPECT_THAT(few.pairs(), ElementsAre(Pair(3, 7), Pair(7, 17), Pair(17, 27), Pair(27, 37)));
    const Pops bytes = run(full(), layer(full(), 1, 16, 4, 1, Precision::Int8), 256);
    EXPECT_EQ(bytes.data[3] - bytes.data[2], 10u);
}

// csc.md 1.5.1: the examples of both generations.
TEST(Sequencer, StripesFollowTheRuleOfTheGeneration)
{
    const auto lengths = [](const Hardware& hw, std::uint32_t atoms) {
        return run(hw, layer(hw, atoms, 1, 1, 1, hw.full() ? Precision::Int16 : Precision::Int8), 100000).lengths;
    };
    EXPECT_THAT(lengths(full(), 32), ElementsAre(32));
    EXPECT_THAT(lengths(full(), 33), ElementsAre(16, 17));
    EXPECT_THAT(lengths(full(), 48), ElementsAre(16, 32));
    EXPECT_THAT(lengths(full(), 65), ElementsAre(16, 16, 16, 17));
    EXPECT_THAT(lengths(small(), 31), ElementsAre(8, 8, 15));
    EXPECT_THAT(lengths(small(), 33), ElementsAre(16, 8, 9));
    EXPECT_THAT(lengths(small(), 64), ElementsAre(16, 16, 16, 16));
}

// csc.md 1.6.1: a package that completes sums needs a credit for each of its entries, others need none.
TEST(Sequencer, OnlyPackagesThatCompleteSumsNeedCredits)
{
    const LayerConfig l = layer(full(), 32, 16, 2, 1, Precision::Int8);  // two slices: the second completes, 64 entries
    EXPECT_EQ(run(full(), l, 63, 1000).data.size(), 1u);
    EXPECT_EQ(run(full(), l, 64, 1000).data.size(), 2u);
}

TEST(Sequencer, TheFirstPackageNeedsAllLinesOfTheInputAndItsKernels)
{
    LayerConfig l = layer(full(), 16, 16, 1, 1, Precision::Int16);
    l.last_row = 9;
    Pops pops;
    Sequencer sequencer(10, 256);
    sequencer.slices = 9;
    sequencer.kernels = 15;
    sequencer.start(l, 1);
    while (sequencer.clock() < 100) sequencer.step(sequencer.clock(), pops);
    EXPECT_TRUE(pops.weights.empty());
    ++sequencer.slices;  // shown in cycle 100
    while (sequencer.clock() < 200) sequencer.step(sequencer.clock(), pops);
    EXPECT_TRUE(pops.weights.empty());
    ++sequencer.kernels;
    while (sequencer.clock() < 300) sequencer.step(sequencer.clock(), pops);
    EXPECT_THAT(pops.pairs(), ElementsAre(Pair(202, 218)));  // generated, pushed, popped; 16 cells loaded
}

}  // namespace csc_sequencer_test
}  // namespace dlasim::csc
