// Values take no time: random layers and random networks take the same cycles whatever the seed of their data, with values and without, as
// a layer by itself (`run`), as a network of one layer (`net`) and as the point of a sweep. Compressed weights are shorter where they are
// 0, so that a seed is compared with itself only. A network may take fewer cycles: it writes only registers that differ.
//
// usage: random_laws values layers|networks FIRST COUNT
//
// Prints one line a failure; exits 1 if there is one.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "apart.h"
#include "config/layer/layer_reader.h"
#include "config/layer/partition_reader.h"
#include "config/layer/pool_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/machine/hardware.h"
#include "config/sweep/sweep.h"
#include "network/network_host.h"
#include "random_laws.h"
#include "random_layer.h"
#include "random_network.h"
#include "simulated.h"

namespace dlasim {
namespace random_values_law {

constexpr std::uint64_t kSeeds[] = {1, 2, 77, 123456, 4000000007};

/// 0 of a machine that hangs.
Cycle cycles_of(const Job& job, bool values)
{
    const RunResult run = simulated(job, {.timing_only = !values}).run;
    return run.hung ? 0 : run.cycles;
}
Cycle cycles_of(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetworkOptions& options)
{
    NetworkPlan plan = plan_network(network, hardware, memory, options);
    NetworkHost host(plan, options.values);
    const RunResult run = simulate(plan, host, {.timing_only = !options.values});
    bool good = !run.hung;
    for (const TensorFinding& finding : host.findings()) good &= finding.comparison.equal();
    return good ? run.cycles : 0;
}

/// The same work in several ways.
class Ways {
public:
    explicit Ways(std::string what) : what_(std::move(what)) {}

    /// In a process of its own.
    void take(const std::string& way, const std::function<Cycle()>& cycles)
    {
        const std::string text = run_apart(what_ + " " + way, [&](int report) {
            try {
                return put(report, std::to_string(cycles())) ? 0 : 1;
            } catch (const std::exception& error) {
                fmt::print("REFUSED {} {}: {}\n", way, what_, error.what());
                std::fflush(stdout);
                return 1;
            }
        });
        if (first_.empty()) first_ = text, way_ = way;
        judge(text == first_, text, way);
    }
    /// The same, but it may take fewer cycles than the others.
    void take_at_most(const std::string& way, const std::function<Cycle()>& cycles)
    {
        const std::string text = run_apart(what_ + " " + way, [&](int report) { return put(report, std::to_string(cycles())) ? 0 : 1; });
        judge(std::strtoull(text.c_str(), nullptr, 10) <= std::strtoull(first_.c_str(), nullptr, 10), text, way);
    }
    /// What follows is compared among itself.
    void again() { first_.clear(); }
    bool good() const { return good_; }

private:
    void judge(bool holds, const std::string& text, const std::string& way)
    {
        const bool good = holds && text != "0" && !text.empty();
        if (!good) fmt::print("CYCLES {} of {}, {} of {}: {}\n", text, way, first_, way_, what_);
        std::fflush(stdout);
        good_ &= good;
    }

    std::string what_, first_, way_;
    bool good_ = true;
};

SweepPoint point_of(const char* kind, const OrderedJson& work, const Hardware& hardware, const MemorySpec& memory)
{
    const OrderedJson sweep{{"base", {{kind, work}, {"hw", hardware_json(hardware)}}}, {"axes", {{"memory", {memory_text(memory)}}}}};
    return sweep_point(parse_sweep(sweep.dump(), "sweep.json"), 0);
}
Cycle cycles_of_point(const OrderedJson& layer, const Hardware& hardware, const MemorySpec& memory)
{
    const SweepPoint point = point_of("layer", layer, hardware, memory);
    return cycles_of(job_of(std::get<Descriptor>(point.work), point.hardware, point.memory), true);
}

/// What a network can say of a layer: its shape, a bias, a ReLU, how it is cut. None where it could not say the rest.
std::optional<Layer> told(const Layer& l)
{
    const bool direct = l.mode == Mode::Auto || l.mode == Mode::Direct;
    if (l.format || l.compressed || l.batch != 1 || !direct || l.op == Op::Sdp || l.precision == Precision::Int16 || l.flush_nan)
        return std::nullopt;
    if (l.pool && (l.op != Op::Pool || l.pool->pad_value != 0)) return std::nullopt;
    Layer t = l;
    t.placement = {};
    t.input_precision.reset();
    t.conversion = {};
    t.pad.value = 0;
    t.post = {};
    if (l.post.bias()) t.post.add_bias();
    t.post.bs().relu = l.post.bs().relu;
    t.output = {.precision = l.precision};
    return t;
}

Json network_of(const Layer& l)
{
    constexpr const char* kOps[] = {"conv2d", "fully_connected", "deconv2d", "", "pool"};
    const auto extent = [](const Extent& e) { return Json{{"x", e.x}, {"y", e.y}}; };
    Json layer{{"name", "layer"}, {"op", kOps[static_cast<int>(l.op)]}};
    if (l.pool) {
        layer["pool"] = pool_json(*l.pool);
        if (layer["pool"].contains("pad")) layer["pool"]["pad"].erase("value");
    } else {
        layer["kernel"] = {{"width", l.kernel_width}, {"height", l.kernel_height}, {"count", l.kernels}};
        layer["bias"] = l.post.bias();
        layer["activation"] = l.post.engines[0].relu ? "relu" : "none";
        layer["stride"] = extent(l.stride);
        layer["dilation"] = extent(l.dilation);
        layer["groups"] = l.groups;
        layer["pad"] = {{"left", l.pad.left}, {"right", l.pad.right}, {"top", l.pad.top}, {"bottom", l.pad.bottom}};
        if (l.partition.on()) layer["partition"] = partition_json(l.partition);
    }
    return {{"input", {{"width", l.width}, {"height", l.height}, {"channels", l.channels}}},
            {"precision", precision_name(l.precision)},
            {"plan", {{"minimise", "parts"}}},  // as layers are planned
            {"layers", {layer}}};
}

bool layer_holds(std::uint64_t seed)
{
    constexpr const char* kKinds[] = {"direct",   "groups", "batch", "compressed", "image",     "winograd", "deconvolution",
                                      "machines", "post",   "sdp",   "convert",    "cvsram",    "partial",  "reuse",
                                      "strips",   "auto",   "pool",  "pool_int16", "pool_fp16", "pooled"};
    const char* kind = kKinds[seed % std::size(kKinds)];
    RandomLayer r = LayerMaker(seed, kind).make();
    Ways ways(
        fmt::format("layer {} {}: {} --memory {} {}", seed, kind, r.hardware.name, memory_text(r.memory), layer_json(r.layer).dump()));
    const auto as_layer = [&](const Layer& layer, bool values) {
        return [&r, layer, values] { return cycles_of(layer_job(layer, r.hardware, r.memory, load_tensors(layer)), values); };
    };
    for (const std::uint64_t data : kSeeds) {
        r.layer.data.seed = data;
        if (r.layer.compressed) ways.again();
        ways.take(fmt::format("seed {}", data), as_layer(r.layer, true));
        if (r.layer.compressed || data == kSeeds[0]) ways.take("timing only", as_layer(r.layer, false));
    }
    ways.take("sweep", [&] { return cycles_of_point(layer_json(r.layer), r.hardware, r.memory); });
    if (const std::optional<Layer> plain = told(r.layer)) {
        ways.again();
        const Network network = network_from_json(network_of(*plain), "network.json");
        // Groups that do not begin with an atom are one group in a network, whose tensors have no gaps.
        if (plan_network(network, r.hardware, r.memory, {.values = false, .pixels = false}).plans[0].machine.groups != plain->groups)
            return ways.good();
        ways.take("run", as_layer(*plain, true));
        ways.take_at_most("net", [&] { return cycles_of(network, r.hardware, r.memory, {.pixels = false}); });
    }
    return ways.good();
}

/// The layer of the only step, as a file would say it. Behind a DRAM its tensors would stand in other banks.
std::optional<OrderedJson> only_layer(const NetworkPlan& plan)
{
    if (plan.steps.list.size() != 1 || plan.memory.kind != "ideal") return std::nullopt;
    if (!plan.plans[0].lrn.empty()) {
        Transfer transfer;
        transfer.what = plan.plans[0].lrn.front().lrn;
        return transfer_json(transfer);
    }
    Layer layer = plan.plans[0].machine;
    layer.overlap = plan.network.overlap;
    return layer_json(layer);
}

bool network_holds(std::uint64_t seed)
{
    const RandomNetwork r = NetworkMaker(seed).make();
    Ways ways(fmt::format("network {}: {} --memory {} {}", seed, r.hardware.name, memory_text(r.memory), r.json.dump()));
    for (const std::uint64_t data : kSeeds)
        ways.take(fmt::format("seed {}", data), [&] { return cycles_of(r.network, r.hardware, r.memory, {.seed = data}); });
    ways.take("timing only", [&] { return cycles_of(r.network, r.hardware, r.memory, {.values = false}); });
    ways.take("sweep", [&] {
        const SweepPoint point = point_of("network", OrderedJson::parse(r.json.dump()), r.hardware, r.memory);
        return cycles_of(std::get<Network>(point.work), point.hardware, point.memory, {});
    });
    const std::optional<OrderedJson> layer = only_layer(plan_network(r.network, r.hardware, r.memory, {}));
    if (!layer) return ways.good();
    ways.again();
    ways.take("run", [&] {
        const Descriptor descriptor = descriptor_from_json(parse_json(layer->dump(), "layer.json"), "layer.json", "", "");
        return cycles_of(job_of(descriptor, r.hardware, r.memory), true);
    });
    ways.take("sweep of the layer", [&] { return cycles_of_point(*layer, r.hardware, r.memory); });
    ways.take_at_most("net", [&] { return cycles_of(r.network, r.hardware, r.memory, {}); });
    return ways.good();
}

}  // namespace random_values_law

int random_values(int, char** argv)
{
    using namespace random_values_law;
    const bool networks = std::string(argv[1]) == "networks";
    const std::uint64_t first = std::strtoull(argv[2], nullptr, 10), count = std::strtoull(argv[3], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) failed += !(networks ? network_holds(seed) : layer_holds(seed));
    fmt::print("{} {}, {} take the same cycles, {} do not\n", count, argv[1], count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
