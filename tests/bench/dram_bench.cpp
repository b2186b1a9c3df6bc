// DRAM cycles a second: saturated streams, one read at a time, idle. The goals: 5 million saturated
// on one channel of DDR4-2400, a billion idle.
#include <benchmark/benchmark.h>

#include "dram/check/checker.h"
#include "dram/check/stream.h"
#include "dram/read/reader.h"

namespace dlasim::dram {
namespace {

void stream(benchmark::State& state, const std::string& preset, const std::string& pattern, bool check = false)
{
    const Config config = read_config(preset);
    StreamRun run;
    run.cycles = 200'000;
    run.one_at_a_time = pattern == "latency";
    std::uint64_t requests = 0;
    for (auto _ : state) {
        Checker checker{config};
        if (check) run.observer = [&](const Issued& issued) { checker.see(issued); };
        for (const Statistics& s : run_stream(config, make_pattern(pattern, config), run)) requests += s.reads + s.writes;
    }
    state.counters["cycles/s"] = benchmark::Counter(static_cast<double>(run.cycles), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["requests/s"] = benchmark::Counter(static_cast<double>(requests), benchmark::Counter::kIsRate);
}

void idle(benchmark::State& state, const std::string& preset)
{
    const Config config = read_config(preset);
    constexpr Cycle kCycles = 1'000'000'000;
    for (auto _ : state) {
        auto channel = make_channel(config);
        channel->advance(kCycles - 1);
        benchmark::DoNotOptimize(channel->statistics(kCycles).cycles);
    }
    state.counters["cycles/s"] = benchmark::Counter(static_cast<double>(kCycles), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(stream, ddr4_2400_sequential, "ddr4-2400", "sequential");
BENCHMARK_CAPTURE(stream, ddr4_2400_sequential_write, "ddr4-2400", "sequential_write");
BENCHMARK_CAPTURE(stream, ddr4_2400_mixed, "ddr4-2400", "mixed");
BENCHMARK_CAPTURE(stream, ddr4_2400_random, "ddr4-2400", "random");
BENCHMARK_CAPTURE(stream, ddr4_2400_random_checked, "ddr4-2400", "random", true);
BENCHMARK_CAPTURE(stream, ddr4_2400_latency, "ddr4-2400", "latency");
BENCHMARK_CAPTURE(stream, ddr4_3200_sequential, "ddr4-3200", "sequential");
BENCHMARK_CAPTURE(stream, lpddr4_3200_sequential, "lpddr4-3200", "sequential");
BENCHMARK_CAPTURE(stream, lpddr5_6400_sequential, "lpddr5-6400", "sequential");
BENCHMARK_CAPTURE(stream, hbm2_sequential, "hbm2", "sequential");
BENCHMARK_CAPTURE(stream, hbm2_random, "hbm2", "random");
BENCHMARK_CAPTURE(stream, reference_ddr4_2400_sequential, "reference-ddr4-2400", "sequential");
BENCHMARK_CAPTURE(stream, reference_ddr4_2400_random, "reference-ddr4-2400", "random");
BENCHMARK_CAPTURE(idle, ddr4_2400_idle, "ddr4-2400");
BENCHMARK_CAPTURE(idle, hbm2_idle, "hbm2");

}  // namespace
}  // namespace dlasim::dram
