// The worked examples of the specification (cdma.md 15), cycle by cycle, and the rules of the layer's
// life cycle (2), the registers (1, 10) and the places in the buffer (4.7).
//
// Memory of the examples: a request accepted at the port in cycle t has its first beat there in t + 20,
// one beat a cycle, in order.
#include <gmock/gmock.h>

#include "base/bits.h"
#include "cdma_bench.h"

namespace dlasim::test {
namespace cdma_examples_test {

using testing::ElementsAre;
namespace r = reg::cdma;

constexpr Cycle kT0 = 50, kLatency = 20;

/// The memory of the examples; a byte is its address modulo 251.
class ExamplePort {
public:
    ExamplePort(ReadLink& link, const Hardware& hw) : link_(link), atom_(hw.memory.atom_bytes), lanes_(hw.atoms_per_beat()) {}
    std::vector<Cycle> requests;
    std::vector<std::uint64_t> addresses;

    void step(Cycle at)
    {
        if (link_.request.fires(at)) {
            requests.push_back(at - kT0);
            addresses.push_back(link_.request.item(at).address.byte());
            const ReadRequest request = link_.request.item(at);
            for (std::uint32_t i = 0; i < request.atoms; i += lanes_) {
                ReadBeat beat;
                beat.atoms = std::min(lanes_, request.atoms - i);
                for (std::uint32_t b = 0; b < beat.atoms * atom_; ++b)
                    beat.data[b] = static_cast<std::uint8_t>((request.address.byte() + i * atom_ + b) % 251);
                beats_.push_back({at + kLatency, beat});
            }
        }
        if (offered_ && link_.response.fires(at)) {
            beats_.pop_front();
            offered_ = false;
        }
        if (offered_) return;
        if (!beats_.empty() && beats_.front().first <= at + 1) {
            link_.response.offer(at + 1, beats_.front().second);
            offered_ = true;
        } else {
            link_.response.withdraw(at + 1);
        }
    }

private:
    ReadLink& link_;
    const std::uint32_t atom_, lanes_;
    Ring<std::pair<Cycle, ReadBeat>> beats_{64};
    bool offered_ = false;
};

struct Example {
    explicit Example(const std::string& preset) : hw(*find_preset(preset)), bench(hw), data(bench.data, hw), weight(bench.weight, hw) {}

    /// Writes registers and the enable of the group so that T0 is cycle kT0 + `later`.
    void layer(std::vector<std::pair<std::uint32_t, std::uint32_t>> registers, std::uint32_t group = 0, Cycle later = 0)
    {
        const Cycle enable = kT0 + later - 4;
        bench.csb.request.put(enable - 1, {r::S_POINTER, group, true});
        for (const auto& [offset, value] : registers) bench.csb.request.put(enable - 1, {offset, value, true});
        bench.csb.request.put(enable, {r::D_OP_ENABLE, 1, true});
    }
    void run(Cycle cycles)
    {
        for (; now < kT0 + cycles; ++now) {
            bench.core->advance(now);
            data.step(now);
            weight.step(now);
            while (bench.interrupt.available(now)) {
                const std::uint32_t mask = bench.interrupt.take();
                if (mask >> 16 & 3) data_interrupts.push_back(now - kT0);
                if (mask >> 18 & 3) weight_interrupts.push_back(now - kT0);
            }
            while (bench.csc.data_filled.available(now)) {
                const DataUpdate u = bench.csc.data_filled.take();
                data_messages.push_back({now - kT0, u.entries.count()});
            }
            while (bench.csc.weight_filled.available(now)) {
                const WeightUpdate u = bench.csc.weight_filled.take();
                weight_messages.push_back({now - kT0, u.entries.count()});
                kernels += u.kernels.count();
            }
        }
    }
    std::uint32_t read(std::uint32_t offset)
    {
        bench.csb.request.put(now, {offset, 0, false});
        bench.core->advance(now++);
        const bool answered = bench.csb.response.available(now);
        EXPECT_TRUE(answered);
        return answered ? bench.csb.response.take() : 0;
    }
    std::vector<Cycle> writes(const std::string& probe)
    {
        std::vector<Cycle> cycles;
        for (const Probe::Run& run : bench.probes.all().at(probe)->runs(0, 10000))
            for (Cycle i = 0; i < run.length; ++i) cycles.push_back(run.start + i - kT0);
        return cycles;
    }

    Hardware hw;
    CdmaBench bench;
    ExamplePort data, weight;
    Cycle now = 0;
    std::vector<Cycle> data_interrupts, weight_interrupts;
    std::vector<std::pair<Cycle, std::uint32_t>> data_messages, weight_messages;
    std::uint32_t kernels = 0;
};

/// All banks for both: the reset value of the partition, so that nothing is pending (cdma.md 2.2).
constexpr std::uint32_t kFullBanks = 15 | 15 << 16, kConfigurableBanks = 31 | 31 << 16;

std::vector<std::pair<std::uint32_t, std::uint32_t>> feature(std::uint32_t w, std::uint32_t h, std::uint32_t c, std::uint32_t entries,
                                                             std::uint32_t atom, std::uint32_t banks)
{
    return {{r::D_MISC_CFG, 0},
            {r::D_DATAIN_SIZE_0, (w - 1) | (h - 1) << 16},
            {r::D_DATAIN_SIZE_1, c - 1},
            {r::D_DAIN_RAM_TYPE, 1},
            {r::D_DAIN_ADDR_LOW_0, 0x1000},
            {r::D_LINE_STRIDE, w * atom},
            {r::D_SURF_STRIDE, w * h * atom},
            {r::D_DAIN_MAP, 1},
            {r::D_ENTRY_PER_SLICE, entries - 1},
            {r::D_FETCH_GRAIN, 0},
            {r::D_WEIGHT_RAM_TYPE, 1},
            {r::D_BANK, banks}};
}

TEST(CdmaExamples, FullFeatureDataOfSection15_1)
{
    Example e("nv_full");
    e.layer(feature(4, 2, 64, 2, 32, kFullBanks));
    e.run(80);
    EXPECT_THAT(e.data.requests, ElementsAre(8, 9, 12, 13));
    EXPECT_THAT(e.writes("cdma2buf_dat_wr"), ElementsAre(39, 40, 41, 42, 45, 46, 47, 48));
    EXPECT_THAT(e.data_messages, ElementsAre(std::pair{Cycle{49}, 2u}, std::pair{Cycle{55}, 2u}));
    EXPECT_THAT(e.data_interrupts, ElementsAre(54));
}

TEST(CdmaExamples, ConfigurableFeatureDataOfSection15_2)
{
    Example e("nv_small");
    e.layer(feature(4, 2, 16, 8, 8, kConfigurableBanks));
    e.run(80);
    EXPECT_THAT(e.data.requests, ElementsAre(8, 10, 13, 15));
    EXPECT_THAT(e.data_messages, ElementsAre(std::pair{Cycle{53}, 8u}, std::pair{Cycle{63}, 8u}));
    EXPECT_THAT(e.data_interrupts, ElementsAre(62));
}

TEST(CdmaExamples, FullWeightsOfSection15_3)
{
    Example e("nv_full");
    auto registers = feature(4, 2, 64, 2, 32, kFullBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 31}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 2048}});
    e.layer(registers);
    e.run(100);
    EXPECT_THAT(e.weight.requests, ElementsAre(6, 7, 8, 9, 10, 11, 12, 13));
    const auto writes = e.writes("cdma2buf_wt_wr");
    EXPECT_EQ(writes.size(), 32u);
    EXPECT_EQ(writes.front(), 28u);
    EXPECT_EQ(writes.back(), 59u);
    EXPECT_THAT(e.weight_messages, ElementsAre(std::pair{Cycle{63}, 16u}));
    EXPECT_EQ(e.kernels, 32u);
    EXPECT_THAT(e.weight_interrupts, ElementsAre(70));
}

TEST(CdmaExamples, ConfigurableWeightsOfSection15_4)
{
    Example e("nv_small");
    auto registers = feature(4, 2, 16, 8, 8, kConfigurableBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 7}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 512}});
    e.layer(registers);
    e.run(140);
    EXPECT_THAT(e.weight.requests, ElementsAre(4, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_THAT(e.weight_messages, ElementsAre(std::pair{Cycle{97}, 64u}));
    EXPECT_EQ(e.kernels, 8u);
    EXPECT_THAT(e.weight_interrupts, ElementsAre(104));
}

TEST(CdmaExamples, TheSecondaryPortOfAMachineWithoutOneTakesNothing)
{
    // fabric.md 1.1: the client hangs
    Example e("nv_small");
    auto registers = feature(4, 2, 16, 8, 8, kConfigurableBanks);
    registers.insert(registers.end(), {{r::D_WEIGHT_SIZE_0, 63},
                                       {r::D_WEIGHT_SIZE_1, 7},
                                       {r::D_WEIGHT_ADDR_LOW, 0x4000},
                                       {r::D_WEIGHT_BYTES, 512},
                                       {r::D_DAIN_RAM_TYPE, 0}});
    e.layer(registers);
    e.run(300);
    EXPECT_TRUE(e.data.requests.empty());
    EXPECT_THAT(e.data_messages, testing::IsEmpty());
    EXPECT_THAT(e.weight_interrupts, ElementsAre(104));
    EXPECT_THAT(e.bench.core->waiting_for(), testing::HasSubstr("a secondary port that the machine lacks"));
    registers.push_back({r::D_WEIGHT_RAM_TYPE, 0});
    Example both("nv_small");
    both.layer(registers);
    both.run(300);
    EXPECT_TRUE(both.data.requests.empty() && both.weight.requests.empty());
}

TEST(CdmaExamples, TheSharesOfTheArbiterActAsSoonAsTheyAreWritten)
{
    // cdma.md 7.3: bursts of weights and masks in turn, 16 and 4 after reset, masks first
    Example e("nv_full");
    auto registers = feature(4, 2, 64, 2, 32, kFullBanks);
    registers.insert(registers.end(), {{r::D_WEIGHT_FORMAT, 1},
                                       {r::D_WEIGHT_SIZE_0, 8191},
                                       {r::D_WEIGHT_SIZE_1, 31},
                                       {r::D_WEIGHT_ADDR_LOW, 0x40000},
                                       {r::D_WEIGHT_BYTES, 0x4000},
                                       {r::D_WMB_ADDR_LOW, 0x80000},
                                       {r::D_WMB_BYTES, 0x4000},
                                       {r::D_WGS_ADDR_LOW, 0xc0000}});
    e.layer(registers);
    e.bench.csb.request.put(kT0 + 9, {r::S_ARBITER, 1 | 2 << 16, true});
    e.run(60);
    std::string order;
    for (const std::uint64_t address : e.weight.addresses) order += address >= 0xc0000 ? 'g' : address >= 0x80000 ? 'm' : 'w';
    // the round under way when the register changes ends with the credits it began with
    EXPECT_EQ(order.substr(0, 31), "gmmmmwwwwwwwwwwwwwwwwmmmwwmmmww");
}

TEST(CdmaExamples, ALayerEnabledInTimeStartsFourCyclesAfterTheSwitch)
{
    Example e("nv_full");
    auto registers = feature(4, 2, 64, 2, 32, kFullBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 31}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 2048}});
    e.layer(registers);
    e.layer(registers, 1, 10);
    e.run(200);
    // 15.3: switch in 70, next T0 in 74, and everything again
    EXPECT_THAT(e.weight_interrupts, ElementsAre(70, 144));
    EXPECT_EQ(e.weight.requests[8], 74u + 6);
    EXPECT_EQ(e.data.requests[4], 74u + 8);
}

TEST(CdmaExamples, AKeptLayerThatIsUsedAgainFetchesNothing)
{
    Example e("nv_full");
    auto registers = feature(4, 2, 64, 2, 32, kFullBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 31}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 2048}});
    registers.push_back({r::D_MISC_CFG, 1 << 24 | 1 << 28});
    e.layer(registers);
    registers.push_back({r::D_MISC_CFG, 1 << 16 | 1 << 20});
    e.layer(registers, 1, 10);
    e.run(200);
    EXPECT_EQ(e.data.requests.size(), 4u);
    EXPECT_EQ(e.weight.requests.size(), 8u);
    // cdma.md 2.2: IDLE@T0 -> DONE@T1, interrupt one cycle later
    EXPECT_THAT(e.data_interrupts, ElementsAre(54, 74 + 2));
    EXPECT_THAT(e.weight_interrupts, ElementsAre(70, 74 + 2));
}

TEST(CdmaExamples, ANewPartitionWaitsForTheHandshake)
{
    Example e("nv_full");
    e.layer(feature(4, 2, 64, 2, 32, 1 | 1 << 16));
    // cdma.md 2.4: requests rise at T0 and fall at T0 + 5
    e.run(0);
    e.bench.csc.data_pending_request.set(kT0, true);
    e.bench.csc.weight_pending_request.set(kT0, true);
    e.run(2);
    EXPECT_FALSE(e.bench.csc.data_pending_ack.read(kT0 + 1));
    EXPECT_TRUE(e.bench.csc.data_pending_ack.read(kT0 + 2));
    EXPECT_TRUE(e.bench.csc.weight_pending_ack.read(kT0 + 2));
    e.run(5);
    e.bench.csc.data_pending_request.set(kT0 + 5, false);
    e.bench.csc.weight_pending_request.set(kT0 + 5, false);
    e.run(8);
    EXPECT_FALSE(e.bench.csc.data_pending_ack.read(kT0 + 8));  // the request fell at p = 5, the ack at p + 3
    e.run(100);
    EXPECT_EQ(e.data.requests.front(), 14u);  // every start-up number moves by 6
}

TEST(CdmaExamples, LinesLieInTheBufferAsSection4_7Says)
{
    struct Case {
        const char* preset;
        std::uint32_t channels, entries, banks;
        /// Entry and slot of surface s, pixel x.
        std::pair<std::uint32_t, std::uint32_t> (*place)(std::uint32_t s, std::uint32_t x, std::uint32_t w);
    };
    const Case cases[] = {
        {"nv_full", 32, 2, kFullBanks,
         [](auto, auto x, auto) {
             return std::pair{x / 4, x % 4};
         }},
        {"nv_full", 64, 3, kFullBanks,
         [](auto s, auto x, auto) {
             return std::pair{x / 2, x % 2 * 2 + s};
         }},
        {"nv_full", 96, 5, kFullBanks,
         [](auto s, auto x, auto) {
             return std::pair{x, s};
         }},
        {"nv_full", 160, 7, kFullBanks,
         [](auto s, auto x, auto w) {
             return s < 4 ? std::pair{x, s} : std::pair{w + x / 4, x % 4};
         }},
        {"nv_small", 16, 10, kConfigurableBanks,
         [](auto s, auto x, auto w) {
             return std::pair{s * w + x, 0u};
         }},
        {"nv_large", 96, 8, kConfigurableBanks,
         [](auto s, auto x, auto w) {
             return s < 2 ? std::pair{x, s} : std::pair{w + x / 2, x % 2};
         }},
        {"nv_small_256", 16, 3, kConfigurableBanks,
         [](auto s, auto x, auto) {
             return std::pair{x / 2, x % 2 * 2 + s};
         }},
        {"nv_small_256", 24, 5, kConfigurableBanks,
         [](auto s, auto x, auto) {
             return std::pair{x, s};
         }},
    };
    constexpr std::uint32_t kWidth = 5, kHeight = 3;
    for (const Case& c : cases) {
        Example e(c.preset);
        const std::uint32_t atom = e.hw.memory.atom_bytes;
        e.layer(feature(kWidth, kHeight, c.channels, c.entries, atom, c.banks & (e.hw.cbuf.banks == 16 ? kFullBanks : c.banks)));
        e.bench.csc.data_pending_request.set(kT0, true);
        e.bench.csc.data_pending_request.set(kT0 + 5, false);
        e.run(400);
        const std::uint32_t surfaces = ceil_div(c.channels, atom);
        for (std::uint32_t s = 0; s < surfaces; ++s)
            for (std::uint32_t y = 0; y < kHeight; ++y)
                for (std::uint32_t x = 0; x < kWidth; ++x) {
                    const auto [entry, slot] = c.place(s, x, kWidth);
                    const std::uint32_t address = 0x1000 + s * kWidth * kHeight * atom + (y * kWidth + x) * atom;
                    const std::uint8_t* found = e.bench.cbuf.entry(y * c.entries + entry) + slot * atom;
                    for (std::uint32_t b = 0; b < atom; ++b)
                        ASSERT_EQ(found[b], (address + b) % 251)
                            << c.preset << " C " << c.channels << " surface " << s << " line " << y << " pixel " << x;
                }
    }
}

TEST(CdmaExamples, TheFlushIsReportedDoneAfterTheSweepOfTheConfiguration)
{
    // cdma.md 10: 4096 cycles in nv_full, half of all atoms in the configurable generation
    for (const auto& [preset, cycles] : {std::pair{"nv_full", 4096u}, std::pair{"nv_small", 8192u}, std::pair{"nv_medium_512", 16384u}}) {
        Example e(preset);
        e.now = cycles - 2;
        EXPECT_EQ(e.read(r::S_CBUF_FLUSH_STATUS), 0u) << preset;
        e.now = cycles + 4;
        EXPECT_EQ(e.read(r::S_CBUF_FLUSH_STATUS), 1u) << preset;
    }
}

TEST(CdmaExamples, NotANumberIsCountedAndWrittenAsZero)
{
    Example e("nv_full");
    auto registers = feature(4, 3, 32, 2, 32, kFullBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 15}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 1024}});
    registers.push_back({r::D_MISC_CFG, 2 << 8 | 2 << 12});
    registers.push_back({r::D_NAN_FLUSH_TO_ZERO, 1});
    e.layer(registers);
    e.run(200);
    const auto count = [](std::uint32_t from, std::uint32_t bytes) {
        std::uint32_t nans = 0;
        for (std::uint32_t a = from; a < from + bytes; a += 2) nans += ((a + 1) % 251 & 0x7c) == 0x7c && (((a + 1) % 251 & 3) || a % 251);
        return nans;
    };
    ASSERT_GT(count(0x1000, 4 * 3 * 64), 0u);
    EXPECT_EQ(e.read(r::D_NAN_INPUT_DATA_NUM), count(0x1000, 4 * 3 * 64));
    EXPECT_EQ(e.read(r::D_NAN_INPUT_WEIGHT_NUM), count(0x4000, 1024));
    EXPECT_EQ(e.read(r::D_INF_INPUT_DATA_NUM), 0u);
    std::uint32_t found = 0;
    for (std::uint32_t entry = 0; entry < 6; ++entry)
        for (std::uint32_t b = 0; b < 128; b += 2)
            found += (e.bench.cbuf.entry(entry)[b + 1] & 0x7c) == 0x7c &&
                     ((e.bench.cbuf.entry(entry)[b + 1] & 3) || e.bench.cbuf.entry(entry)[b]);
    EXPECT_EQ(found, 0u);
}

TEST(CdmaExamples, StatusAndPointersFollowTheLayers)
{
    Example e("nv_full");
    auto registers = feature(4, 2, 64, 2, 32, kFullBanks);
    registers.insert(registers.end(),
                     {{r::D_WEIGHT_SIZE_0, 63}, {r::D_WEIGHT_SIZE_1, 31}, {r::D_WEIGHT_ADDR_LOW, 0x4000}, {r::D_WEIGHT_BYTES, 2048}});
    e.layer(registers);
    e.layer(registers, 1, 10);
    e.run(30);
    EXPECT_EQ(e.read(r::S_STATUS), 1u | 2u << 16);
    EXPECT_EQ(e.read(r::S_POINTER), 1u);
    e.run(100);
    EXPECT_EQ(e.read(r::S_STATUS), 0u | 1u << 16);
    EXPECT_EQ(e.read(r::S_POINTER), 1u | 1u << 16);
    e.run(200);
    EXPECT_EQ(e.read(r::S_STATUS), 0u);
}

}  // namespace cdma_examples_test
}  // namespace dlasim::test
