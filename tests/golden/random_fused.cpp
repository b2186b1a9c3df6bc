// Pooling on the fly is pooling apart: a random convolution with a pooling behind SDP, and the same convolution and the same
// pooling as two runs of the machine, the output of the first as the input of the second. All bytes must be equal.
//
// usage: random_laws fused FIRST COUNT
//
// Prints one line a failure; exits 1 if there is one.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "apart.h"
#include "config/layer/layer_reader.h"
#include "config/machine/memory.h"
#include "golden/compare.h"
#include "lowering/program/layer_program.h"
#include "random_laws.h"
#include "random_layer.h"

namespace dlasim {
namespace random_fused_law {

/// The pooling of a layer by itself.
Layer pooling_of(const Layer& fused)
{
    Layer l;
    l.name = "pool";
    l.op = Op::Pool;
    l.width = fused.out_width();
    l.height = fused.out_height();
    l.channels = l.kernels = fused.kernels;
    l.precision = l.output.precision = fused.output.precision;
    l.pool = fused.pool;
    return l;
}

struct Fused {
    RandomLayer random;
    Layer convolution, pooling;
};

/// One that each way can do.
Fused make(std::uint64_t seed)
{
    std::mt19937 random(static_cast<std::uint32_t>(seed * 2654435761u + 3));
    for (std::uint64_t tries = 0;; ++tries) {
        Fused f{LayerMaker(seed * 100003 + tries, "pooled").make(), {}, {}};
        Layer& l = f.random.layer;
        if (random() % 2) random_post(l, f.random.hardware, random);
        f.convolution = l;
        f.convolution.pool.reset();
        f.pooling = pooling_of(l);
        try {
            for (const Layer* layer : {&l, &f.convolution, &f.pooling}) plan_that_fits(*layer, f.random.hardware);
            return f;
        } catch (const ConfigError&) {
        }
    }
}

/// The bytes of all output cubes one after the other, from a run of its own; empty if it does not end.
std::string run(const Fused& f, const Layer& layer, const LayerPlan& plan, const std::string& what)
{
    return run_apart(what, [&](int pipe) {
        Machine machine(f.random.hardware, f.random.memory, {});
        for (const PlannedImage& image : plan.images) machine.write_memory(image.place, image.bytes);
        const RunResult result = machine.run(layer_program(layer, plan, f.random.hardware));
        if (result.hung) fmt::print("HANG {} {}\n{}\n", layer.name, what, result.diagnosis);
        std::fflush(stdout);
        std::string bytes;
        for (const OutputCube& cube : plan.outputs) {
            const Bytes part = machine.read_memory(cube.place, cube.bytes);
            bytes.append(part.begin(), part.end());
        }
        return !result.hung && put(pipe, bytes) ? 0 : 1;
    });
}

Tensor tensor_of(const std::string& bytes, const LayerPlan& plan, const Layer& layer)
{
    return collect_output(plan, layer, [&](const Place& place, std::uint64_t count) {
        std::size_t from = 0;
        for (const OutputCube& cube : plan.outputs) {
            if (cube.place == place) break;
            from += cube.bytes;
        }
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
        return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
    });
}

/// Empty if the ways agree.
std::string disagreement(const Fused& f, const std::string& what)
{
    const Layer& fused = f.random.layer;
    LayerTensors tensors = load_tensors(fused);
    const LayerPlan at_once = plan_layer(fused, f.random.hardware, tensors), first = plan_layer(f.convolution, f.random.hardware, tensors);
    const std::string together = run(f, fused, at_once, what), convolved = run(f, f.convolution, first, what);
    if (together.empty() || convolved.empty()) return "a run does not end";
    LayerTensors between;
    between.input = tensor_of(convolved, first, f.convolution);
    LayerPlan second = plan_layer(f.pooling, f.random.hardware, between);
    // The lanes behind the last channel too are what the convolution left there.
    for (PlannedImage& image : second.images)
        if (image.what == ImageOf::Input && first.outputs.size() == 1 && image.bytes.size() == convolved.size())
            image.bytes.assign(convolved.begin(), convolved.end());
    const std::string apart = run(f, f.pooling, second, what);
    if (apart.empty()) return "the pooling does not end";
    const Comparison values = compare(tensor_of(together, at_once, fused), tensor_of(apart, second, f.pooling));
    if (!values.equal()) return fmt::format("{} of {} differ; {}", values.mismatches, values.compared, values.examples[0]);
    if (at_once.outputs.size() == 1 && together != apart) return "bytes differ";
    return "";
}

}  // namespace random_fused_law

int random_fused(int, char** argv)
{
    using namespace random_fused_law;
    const std::uint64_t first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const Fused f = make(seed);
        const std::string what = fmt::format("seed {} --hw {} --memory {} {}", seed, f.random.hardware.name, memory_text(f.random.memory),
                                             layer_json(f.random.layer).dump());
        const std::string wrong = disagreement(f, what);
        if (!wrong.empty()) fmt::print("FAILED {}\n  {}\n", what, wrong);
        failed += !wrong.empty();
    }
    fmt::print("{} poolings, {} the same apart, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
