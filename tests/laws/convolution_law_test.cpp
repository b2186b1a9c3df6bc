// Laws of the convolution core: evaluating every cycle and sleeping give the same result, every cycle
// has one owner, and what is reserved is given back.
#include <gtest/gtest.h>

#include <random>

#include "../unit/csc_bench.h"
#include "../unit/rounds.h"
#include "registers/fields/cacc.h"
#include "registers/fields/cmac.h"
#include "registers/fields/csc.h"

namespace dlasim::test {
namespace convolution_law_test {

/// A random program of a few layers with random arrivals, played into a bench.
class RandomProgram {
public:
    RandomProgram(std::uint32_t seed, const Hardware& hw) : seed_(seed), hw_(hw) {}

    void play(ConvolutionBench& bench)
    {
        random_.seed(seed_);
        Cycle at = 10, data = 60, weights = 50;
        std::uint32_t data_banks = 2, weight_banks = 2;
        for (unsigned layer = 0; layer < 4; ++layer) {
            const unsigned group = layer % 2;
            // The second group is armed at once, a used one when its layer has surely ended.
            if (layer >= 2) at = std::max(at, data) + 30000;
            if (upto(3) == 0) data_banks = 1 + upto(4), weight_banks = 1 + upto(4);
            data = std::max(data, at + 100), weights = std::max(weights, at + 100);
            write_layer(bench, group, at, data, weights, data_banks, weight_banks, layer == 1);
        }
        length_ = std::max(data, at) + 60000;
        for (Cycle t = 0; t < length_;) {
            t += 1 + upto(400);
            bench.ready_changes.push_back({t, false});
            t += 1 + upto(seed_ % 2 ? 20 : 300);
            bench.ready_changes.push_back({t, true});
        }
        std::mt19937 bytes{seed_};
        for (std::uint32_t entry = 0; entry < bench.cbuf.entries(); ++entry) {
            std::array<std::uint8_t, 128> row;
            for (auto& b : row) b = static_cast<std::uint8_t>(bytes());
            bench.cbuf.write(Entries(entry), 0, row.data(), bench.cbuf.entry_bytes());
        }
    }
    Cycle length() const { return length_; }

private:
    std::uint32_t upto(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

    void write_layer(ConvolutionBench& bench, unsigned group, Cycle& at, Cycle& data, Cycle& weights, std::uint32_t data_banks,
                     std::uint32_t weight_banks, bool early)
    {
        const bool full = hw_.full();
        const std::uint32_t precision = full ? upto(3) : 0;
        const std::uint32_t kind = upto(full ? 4 : 2);  // direct, image, Winograd, several batches
        const bool image = kind == 1, winograd = kind == 2;
        const std::uint32_t batches = kind == 3 ? upto(6) : 0;
        const std::uint32_t out_columns = winograd ? 4 * (1 + upto(3)) : 1 + upto(20);
        const std::uint32_t out_rows = winograd ? 4 * (1 + upto(2)) : 1 + upto(4);
        const std::uint32_t input_rows = 1 + upto(12), kernels = 1 + upto(40);
        const std::uint32_t extension = image ? upto(3) : 0;
        const std::uint32_t misc = (winograd ? 1 : 0) | precision << 12;
        const auto put = [&](std::size_t unit, std::uint32_t offset, std::uint32_t value) {
            bench.links[unit].request.put(at, {offset, value, true});
        };
        for (std::size_t unit = 0; unit < 4; ++unit) put(unit, 4, group);
        at += 1;
        put(0, reg::csc::D_MISC_CFG, misc | upto(2) << 16 | upto(2) << 20 | (early ? 0 : upto(2) << 24 | upto(2) << 28));
        put(0, reg::csc::D_DATAIN_FORMAT, image);
        put(0, reg::csc::D_DATAIN_SIZE_EXT_0, upto(20) | (input_rows - 1) << 16);
        put(0, reg::csc::D_DATAIN_SIZE_EXT_1, upto(4));
        put(0, reg::csc::D_BATCH_NUMBER, batches);
        put(0, reg::csc::D_POST_Y_EXTENSION, extension);
        put(0, reg::csc::D_ENTRY_PER_SLICE, upto(30));
        put(0, reg::csc::D_WEIGHT_FORMAT, full && upto(4) == 0);
        put(0, reg::csc::D_WEIGHT_SIZE_EXT_0, (winograd ? 3 : upto(3)) | (winograd ? 3 : upto(3)) << 16);
        put(0, reg::csc::D_WEIGHT_SIZE_EXT_1, upto(hw_.mac.atomic_c * 2) | (kernels - 1) << 16);
        put(0, reg::csc::D_WEIGHT_BYTES, upto(64) * 128);
        put(0, reg::csc::D_WMB_BYTES, upto(4) * 128);
        put(0, reg::csc::D_DATAOUT_SIZE_0, (out_columns - 1) | (out_rows - 1) << 16);
        put(0, reg::csc::D_ATOMICS, out_columns * out_rows - 1);
        put(0, reg::csc::D_RELEASE, upto(input_rows));
        put(0, reg::csc::D_CONV_STRIDE_EXT, upto(3) | upto(3) << 16);
        put(0, reg::csc::D_DILATION_EXT, upto(3) | upto(3) << 16);
        put(0, reg::csc::D_ZERO_PADDING, upto(4) | upto(4) << 16);
        put(0, reg::csc::D_ZERO_PADDING_VALUE, upto(256));
        put(0, reg::csc::D_BANK, (data_banks - 1) | (weight_banks - 1) << 16);
        put(0, reg::csc::D_PRA_CFG, upto(4));
        put(1, reg::cmac::D_MISC_CFG, misc);
        put(2, reg::cmac::D_MISC_CFG, misc);
        put(3, reg::cacc::D_MISC_CFG, misc);
        put(3, reg::cacc::D_DATAOUT_SIZE_0, (out_columns - 1) | (out_rows - 1) << 16);
        put(3, reg::cacc::D_DATAOUT_SIZE_1, kernels - 1);
        put(3, reg::cacc::D_DATAOUT_ADDR, upto(2) * 32);
        put(3, reg::cacc::D_BATCH_NUMBER, batches);
        put(3, reg::cacc::D_LINE_STRIDE, upto(4) * 32);
        put(3, reg::cacc::D_SURF_STRIDE, upto(4) * 32);
        put(3, reg::cacc::D_CLIP_CFG, upto(8));
        for (std::size_t unit : {3u, 1u, 2u, 0u}) put(unit, 8, 1);
        // More than enough arrives, in pieces.
        for (std::uint32_t left = 2 * input_rows; left != 0;) {
            const std::uint32_t slices = 1 + upto(left);
            bench.cdma.data_filled.put(data += 1 + upto(200), {Entries{0}, Slices{slices}});
            left -= slices;
        }
        for (std::uint32_t left = 2 * kernels; left != 0;) {
            const std::uint32_t some = 1 + upto(left);
            bench.cdma.weight_filled.put(weights += 1 + upto(200), {Kernels{some}, {}, {}});
            left -= some;
        }
        at += 5;
    }

    const std::uint32_t seed_;
    const Hardware& hw_;
    std::mt19937 random_;
    Cycle length_ = 0;
};

struct Trace {
    std::map<std::string, Runs> runs;
    std::vector<std::tuple<Cycle, std::array<std::int32_t, 16>, bool>> beats;
    std::vector<std::pair<Cycle, std::uint32_t>> interrupts;
    std::vector<UnitReport> reports;
    std::uint64_t evaluations = 0;
};

Trace trace(std::uint32_t seed, const Hardware& hw, bool stepping)
{
    ConvolutionBench bench(hw, true);
    RandomProgram program(seed, hw);
    program.play(bench);
    Trace result;
    bench.on_beat = [&](Cycle at, const SumBeat& beat) { result.beats.push_back({at, beat.lanes, beat.layer_end}); };
    bench.run(program.length(), stepping);
    for (const auto& [name, probe] : bench.probes.all()) result.runs[name] = bench.runs(name);
    while (bench.interrupt.available(kNever - 1)) {
        const Cycle at = bench.interrupt.next();
        result.interrupts.push_back({at, bench.interrupt.take()});
    }
    for (Core* core : bench.cores) result.reports.push_back(core->report(program.length()));
    result.evaluations = bench.evaluations;
    return result;
}

class ConvolutionLaw : public testing::TestWithParam<const char*> {};

TEST_P(ConvolutionLaw, SleepingAndSteppingAgreeInEveryEventValueAndCounter)
{
    const Hardware& hw = *find_preset(GetParam());
    std::uint64_t beats = 0, slept = 0, stepped_evaluations = 0;
    for (std::uint32_t seed = 1; seed <= rounds(24); ++seed) {
        const Trace stepped = trace(seed, hw, true), skipped = trace(seed, hw, false);
        ASSERT_EQ(skipped.runs, stepped.runs) << "seed " << seed;
        ASSERT_EQ(skipped.beats, stepped.beats) << "seed " << seed;
        ASSERT_EQ(skipped.interrupts, stepped.interrupts) << "seed " << seed;
        for (std::size_t i = 0; i < stepped.reports.size(); ++i) {
            ASSERT_EQ(skipped.reports[i].counters, stepped.reports[i].counters) << "seed " << seed;
            ASSERT_EQ(skipped.reports[i].clock_on, stepped.reports[i].clock_on) << "seed " << seed;
            ASSERT_EQ(skipped.reports[i].idle_runs, stepped.reports[i].idle_runs) << "seed " << seed;
            Cycle total = 0;
            for (std::size_t p = 0; p < kPhases; ++p) {
                ASSERT_EQ(skipped.reports[i].phases.cycles(Phase(p)), stepped.reports[i].phases.cycles(Phase(p)))
                    << "seed " << seed << ' ' << stepped.reports[i].name << ' ' << kPhaseNames[p];
                total += stepped.reports[i].phases.cycles(Phase(p));
            }
            ASSERT_GT(total, 0u);
        }
        beats += stepped.beats.size();
        slept += skipped.evaluations;
        stepped_evaluations += stepped.evaluations;
    }
    EXPECT_GT(beats, rounds(1000));
    EXPECT_LT(slept * 3, stepped_evaluations);
    std::printf("%s: %llu beats, %llu evaluations of %llu\n", GetParam(), static_cast<unsigned long long>(beats),
                static_cast<unsigned long long>(slept), static_cast<unsigned long long>(stepped_evaluations));
}

/// Registers full of noise, lines and kernels in plenty.
TEST_P(ConvolutionLaw, IllegalProgramsDoNoHarm)
{
    const Hardware& hw = *find_preset(GetParam());
    std::uint64_t stripes = 0;
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        std::mt19937 random{seed};
        ConvolutionBench bench(hw, true);
        Cycle at = 10;
        for (unsigned layer = 0; layer < 2; ++layer) {
            for (std::size_t unit = 0; unit < 4; ++unit) {
                bench.links[unit].request.put(at, {4, layer, true});
                for (std::uint32_t offset = 0xc; offset < 0x68; offset += 4) {
                    // Few bits for some, so that products of sizes stay small enough to get anywhere.
                    std::uint32_t value = static_cast<std::uint32_t>(random());
                    if (seed % 2) value &= static_cast<std::uint32_t>(random()) & static_cast<std::uint32_t>(random());
                    bench.links[unit].request.put(at, {offset, value, true});
                }
            }
            for (std::size_t unit : {3u, 1u, 2u, 0u}) bench.links[unit].request.put(at + 1, {8, 1, true});
            at += 10;
        }
        for (unsigned i = 0; i < 50; ++i) {
            bench.cdma.data_filled.put(at += 3, {Entries{0}, Slices{4000}});
            bench.cdma.weight_filled.put(at, {Kernels{8000}, {}, {}});
        }
        bench.run(30000, false);
        for (const auto& [name, value] : bench.cmac_a->report(30000).counters)
            if (name == "stripes") stripes += value;
    }
    EXPECT_GT(stripes, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Configurations, ConvolutionLaw,
                         testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small", "nv_medium_1024_full"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace convolution_law_test
}  // namespace dlasim::test
