// Whatever the traffic, a memory interface that sleeps, and does ahead of time what is known, does what one does that is evaluated in
// every cycle, stage by stage.
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <random>

#include "../unit/mcif_bench.h"
#include "registers/fields/mcif.h"
#include "units/mcif/context_queue.h"

namespace dlasim {
namespace mcif_skip_test {

struct Traffic {
    std::string hardware;
    MemorySide side;
    BenchMemory memory;
    std::uint32_t seed;
};

/// Random requests of all clients at random times into a bench.
std::unique_ptr<McifBench> bench_with(const Traffic& traffic, Cycle cycles, bool stepping = false)
{
    auto bench = std::make_unique<McifBench>(preset(traffic.hardware.c_str()), traffic.side, traffic.memory, stepping);
    std::mt19937 random{traffic.seed};
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t atom = bench->hw.memory.atom_bytes;
    bench->fill(0x100000, 1 << 16);
    const auto weights = [&] { return below(4) | below(4) << 8 | below(4) << 16 | below(4) << 24; };
    if (below(3) == 0) {
        bench->set(reg::mcif::CFG_RD_WEIGHT_0, weights() | 0x01010101);
        bench->set(reg::mcif::CFG_RD_WEIGHT_1, weights() | 0x01010101, 40);
        bench->set(reg::mcif::CFG_WR_WEIGHT_0, weights() | 0x01010101, 90);
    }
    if (below(3) == 0) bench->set(reg::mcif::CFG_OUTSTANDING_CNT, (3 + below(20)) | (3 + below(20)) << 8, 100);
    const std::uint32_t density = 1 + below(200);
    for (unsigned client = 0; client < kClients; ++client) {
        if (below(3) == 0) continue;
        for (Cycle at = 2 + below(300); at < cycles / 2; at += 1 + below(density))
            bench->ask(client, at, 0x100000 + below(2000) * atom, 1 + below(below(4) == 0 ? 40 : 12));
    }
    std::uint64_t target = 0x800000;
    for (unsigned client = 0; client < kWriteClients; ++client) {
        if (below(2) == 0) continue;
        for (Cycle at = 2 + below(300); at < cycles / 2;) {
            const std::uint32_t atoms = 1 + below(24);
            bench->put(client, at, target + below(9) * atom, atoms, below(2) == 0, below(4) == 0 ? 1 + below(60) : 1);
            target += 0x1000;
            at += atoms + below(density);
        }
    }
    const std::uint32_t slow = below(4), salt = below(UINT32_MAX);
    if (slow != 0)
        bench->response_ready = [slow, salt](unsigned client, Cycle at) {
            return (((at >> 3) * 2654435761u + client * 40503u + salt) >> 13) % (slow + 1) != 0;
        };
    return bench;
}

class McifLeap : public testing::TestWithParam<std::string> {};

TEST_P(McifLeap, SleepingAndSteppingAgreeInEveryEvent)
{
    constexpr Cycle kCycles = 4000;
    std::mt19937 random{7};
    const bool secondary = preset(GetParam().c_str()).memory.has_secondary;
    std::uint64_t stepped_evaluations = 0, skipped_evaluations = 0;
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        const Traffic traffic{GetParam(),
                              secondary && seed % 3 == 0 ? MemorySide::Secondary : MemorySide::Primary,
                              {.latency = 1 + random() % 200,
                               .interval = 1 + random() % 8,
                               .write_latency = 1 + random() % 40,
                               .command_interval = 1 + random() % 4,
                               .write_interval = 1 + random() % 4},
                              seed};
        auto stepped = bench_with(traffic, kCycles, true), skipped = bench_with(traffic, kCycles);
        stepped->run(kCycles);
        skipped->run(kCycles, true);
        EXPECT_EQ(stepped->ar, skipped->ar) << seed;
        EXPECT_EQ(stepped->aw, skipped->aw) << seed;
        EXPECT_EQ(stepped->beats, skipped->beats) << seed;
        EXPECT_EQ(stepped->responses, skipped->responses) << seed;
        EXPECT_EQ(stepped->completes, skipped->completes) << seed;
        EXPECT_EQ(stepped->requests_taken, skipped->requests_taken) << seed;
        const UnitReport a = stepped->core->report(kCycles), b = skipped->core->report(kCycles);
        Cycle total = 0;
        for (std::size_t p = 0; p < kPhases; ++p) {
            EXPECT_EQ(a.phases.cycles(static_cast<Phase>(p)), b.phases.cycles(static_cast<Phase>(p))) << seed << kPhaseNames[p];
            total += b.phases.cycles(static_cast<Phase>(p));
        }
        EXPECT_EQ(total, kCycles) << seed;
        stepped_evaluations += stepped->evaluations;
        skipped_evaluations += skipped->evaluations;
        if (HasFailure()) return;
    }
    EXPECT_LT(skipped_evaluations, stepped_evaluations);
}

TEST_P(McifLeap, EveryReadIsAnsweredWithTheBytesItAskedFor)
{
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        const Traffic traffic{GetParam(), MemorySide::Primary, {.latency = seed * 13, .interval = 1 + seed % 3}, seed};
        auto bench = bench_with(traffic, 2000);
        std::map<unsigned, std::vector<std::uint8_t>> expected, received;
        for (const auto& [client, address, atoms] : bench->asked)
            for (std::uint64_t i = 0; i < std::uint64_t{atoms} * bench->hw.memory.atom_bytes; ++i)
                if (bench->present(client)) expected[client].push_back(McifBench::value(address + i));
        std::size_t requests = 0, before = SIZE_MAX;  // until a thousand cycles pass without an event
        for (Cycle end = 3000; requests != before; end += 1000) {
            before = requests;
            bench->run(end, true);
            requests = bench->responses.size() + bench->beats.size() + bench->completes.size();
        }
        for (const auto& r : bench->responses) {
            auto& bytes = received[r.client];
            bytes.insert(bytes.end(), r.data.begin(), r.data.end());
        }
        EXPECT_EQ(received, expected) << seed;
        for (const auto& [client, address, atoms] : bench->written) {
            if (!bench->present(client)) continue;
            std::vector<std::uint8_t> memory(std::size_t{atoms} * bench->hw.memory.atom_bytes), wanted;
            bench->store.read(address, memory.data(), memory.size());
            for (std::size_t i = 0; i < memory.size(); ++i) wanted.push_back(McifBench::value(address + i));
            EXPECT_EQ(memory, wanted) << seed << " client " << client << " address " << address;
        }
        EXPECT_EQ(bench->core->horizon(), kNever) << bench->core->waiting_for();
        EXPECT_TRUE(bench->core->idle()) << bench->core->waiting_for();
        if (HasFailure()) return;
    }
}

TEST(ContextQueue, ThatStandsStillNeedsNoCycle)
{
    using fabric::ContextQueue;
    for (const bool registered : {false, true}) {
        std::mt19937 random{4};
        ContextQueue every(registered), some(registered);  // evaluated in every cycle, only where it has to be
        std::array<unsigned, 3> inside{};
        unsigned still = 0;
        for (unsigned cycle = 0; cycle < 20000; ++cycle) {
            const bool busy = cycle / 64 % 2;
            int pushed = ContextQueue::kNobody;
            if (random() % (busy ? 2 : 16) == 0 && !every.full()) pushed = static_cast<int>(random() % 3);
            if (pushed != ContextQueue::kNobody) ++inside[static_cast<unsigned>(pushed)];
            std::uint32_t popped = 0;
            const unsigned client = random() % 3;
            const bool there = registered ? every.loaded() >> client & 1 : every.available(client, pushed);
            if (random() % (busy ? 2 : 8) == 0 && there && inside[client] != 0) popped = 1u << client;
            if (popped != 0) --inside[client];
            ASSERT_EQ(some.full(), every.full()) << cycle;
            ASSERT_EQ(some.loaded(), every.loaded()) << cycle;
            for (unsigned i = 0; i < 3; ++i) ASSERT_EQ(some.available(i, pushed), every.available(i, pushed)) << cycle;
            const bool changed = every.step(pushed, popped);
            if (pushed != ContextQueue::kNobody || popped != 0 || !some.still()) {
                ASSERT_EQ(some.step(pushed, popped), changed) << cycle;
            } else {
                ASSERT_FALSE(changed) << cycle;
                ++still;
            }
        }
        EXPECT_GT(still, 1000u);
    }
}

INSTANTIATE_TEST_SUITE_P(Presets, McifLeap, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_medium_1024_full", "nv_small"),
                         [](const auto& info) { return info.param; });

}  // namespace mcif_skip_test
}  // namespace dlasim
