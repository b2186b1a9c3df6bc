// Simulated cycles a second of the whole machine, from the first register write to the end of the
// program. The goals: a million on nv_full with values, ten million later.
//
//   parent: layer ──► tensors, plan ──► fork ──► child: Machine::run ──► cycles, CPU seconds through a pipe
//
// SystemC's kernel is a singleton: a process simulates once, so every run has a process of its own. The
// time is the child's CPU time inside the run; building the machine and filling its memory are not in it.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <systemc>

#include "config/layer/layer_reader.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/model/tensors.h"
#include "lowering/program/layer_program.h"
#include "platform/machine.h"

/// The library asks for one; Machine starts elaboration and simulation itself.
int sc_main(int, char**) { return 0; }

namespace dlasim {
namespace {

constexpr const char* kDense = R"({"name": "dense", "input": {"width": 28, "height": 28, "channels": 128},
    "kernel": {"width": 3, "height": 3, "count": 128}, "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1},
    "post": {"output": {"shift": 8}}})";

constexpr const char* kPooling = R"({"name": "pooling", "op": "pool", "input": {"width": 112, "height": 112, "channels": 64},
    "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}})";

struct Outcome {
    std::uint64_t cycles = 0;
    double seconds = 0;
};

double cpu_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Outcome run_once(const LayerPlan& plan, const Program& program, const Hardware& hardware, const MemorySpec& memory,
                 const SimulateOptions& options)
{
    Machine machine(hardware, memory, options);
    for (const PlannedImage& image : plan.images) machine.write_memory(image.place, image.bytes);
    const double start = cpu_seconds();
    const RunResult result = machine.run(program);
    return {result.end, cpu_seconds() - start};
}

void run(benchmark::State& state, const char* text, const char* preset, const char* memory_text, bool values, bool events)
{
    const Hardware hardware = load_hardware(preset);
    const MemorySpec memory = parse_memory(memory_text);
    const Layer layer = layer_from_json(Json::parse(text), "layer", "", "");
    const LayerTensors tensors = load_tensors(layer);
    const LayerPlan plan = plan_layer(layer, hardware, tensors);
    const Program program = layer_program(layer, plan, hardware);
    SimulateOptions options;
    options.timing_only = !values;
    options.events = events;
    double cycles = 0, seconds = 0;
    for (auto _ : state) {
        int ends[2];
        if (pipe(ends) != 0) return state.SkipWithError("no pipe");
        const pid_t child = fork();
        if (child == 0) {
            const Outcome outcome = run_once(plan, program, hardware, memory, options);
            _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
        }
        close(ends[1]);
        Outcome outcome;
        const bool read_all = read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
        close(ends[0]);
        waitpid(child, nullptr, 0);
        if (!read_all) return state.SkipWithError("the run failed");
        state.SetIterationTime(outcome.seconds);
        cycles += static_cast<double>(outcome.cycles);
        seconds += outcome.seconds;
    }
    state.counters["cycles"] = cycles / static_cast<double>(state.iterations());
    state.counters["cycles/s"] = cycles / seconds;
}

void layer(benchmark::State& state, const char* preset, const char* memory, bool values, bool events)
{
    run(state, kDense, preset, memory, values, events);
}
void pooling(benchmark::State& state, const char* preset) { run(state, kPooling, preset, "ideal", true, false); }

#define DLASIM_LAYER(name, ...) BENCHMARK_CAPTURE(layer, name, __VA_ARGS__)->UseManualTime()->Unit(benchmark::kMillisecond)
DLASIM_LAYER(nv_full_values, "nv_full", "ideal", true, false);
DLASIM_LAYER(nv_full_timing_only, "nv_full", "ideal", false, false);
DLASIM_LAYER(nv_full_values_and_events, "nv_full", "ideal", true, true);
DLASIM_LAYER(nv_full_slow_memory, "nv_full", "ideal:latency=500,interval=16", true, false);
DLASIM_LAYER(nv_full_ddr4_2400, "nv_full", "ddr4-2400", true, false);
DLASIM_LAYER(nv_large_values, "nv_large", "ideal", true, false);
DLASIM_LAYER(nv_small_values, "nv_small", "ideal", true, false);
DLASIM_LAYER(nv_small_timing_only, "nv_small", "ideal", false, false);
DLASIM_LAYER(nv_small_slow_memory, "nv_small", "ideal:latency=500,interval=16", true, false);
BENCHMARK_CAPTURE(pooling, nv_large_pooling, "nv_large")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pooling, nv_full_pooling, "nv_full")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dlasim
