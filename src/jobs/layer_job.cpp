#include <fmt/format.h>

#include "config/layer_reader.h"
#include "files/printable.h"
#include "jobs/advice.h"
#include "jobs/job.h"
#include "lowering/layer_contents.h"

namespace dlasim {
namespace {

/// Parts of a partitioned layer in the order they ran: [first, count] of rows and kernels of the output, lines of the input.
OrderedJson parts_json(const Plan& plan)
{
    OrderedJson parts = OrderedJson::array();
    for (const PlannedPass& part : plan.passes) {
        const Reuse& reuse = part.pass.reuse;
        parts.push_back({{"rows", {part.first_row, part.rows}},
                         {"kernels", {part.first_kernel, part.kernels}},
                         {"fetched_lines", part.fetched_lines},
                         {"kept_lines", part.kept_lines},
                         {"reuse_data", reuse.data},
                         {"reuse_weights", reuse.weights},
                         {"keep_data", reuse.keep_data},
                         {"keep_weights", reuse.keep_weights}});
    }
    return parts;
}

OrderedJson plan_json(const Plan& plan, const Layer& layer)
{
    OrderedJson json;
    json["mode"] = plan.mode;
    json["passes"] = plan.passes.size();
    const Geometry& g = plan.passes.front().geometry;
    json["data_banks"] = g.data_banks;
    json["weight_banks"] = g.weight_banks;
    json["entries_per_line"] = g.entries_per_slice;
    json["entries"] = g.entries;
    json["weight_bytes"] = g.weight_bytes;
    json["array_macs"] = plan.macs;
    if (plan.partitioned) json["parts"] = parts_json(plan);
    if (const OutputLayout layout = output_layout(plan, layer); layout.regions != 0)
        json["output"] = {
            {"one_tensor", layout.one_tensor}, {"regions", layout.regions}, {"bytes", layout.bytes}, {"tensor_bytes", layout.tensor_bytes}};
    if (plan.passes.front().pool) json["pool_columns"] = plan.passes.front().pool->geometry.columns;
    const Addresses& a = plan.passes.front().address;
    json["addresses"] = {{"input", a.input},    {"weights", a.weights}, {"output", a.output},
                         {"bs", a.operands[0]}, {"bn", a.operands[1]},  {"ew", a.operands[2]}};
    return json;
}

std::string pool_text(const Layer& l)
{
    if (!l.pool) return "";
    const Pool& p = *l.pool;
    return fmt::format(" -> {} pooled {} x {}, window {} x {}, stride {} x {}", function_name(p.function), l.result_width(),
                       l.result_height(), p.x.kernel, p.y.kernel, p.x.stride, p.y.stride);
}

std::string subject(const Layer& l)
{
    if (l.op == Op::Pool)
        return fmt::format("{} x {} x {}{}, {}", l.width, l.height, l.channels, pool_text(l), precision_name(l.precision));
    if (l.op == Op::Sdp)
        return fmt::format("{} x {} x {}, {}{}", l.width, l.height, l.channels, precision_name(l.precision),
                           l.stored_precision() == l.precision ? "" : fmt::format(" from {}", precision_name(l.stored_precision())));
    return fmt::format("{} x {} x {}{} -> {} x {} x {}, kernel {} x {}, stride {} x {}{}, {}", l.width, l.height, l.channels,
                       l.batch > 1 ? fmt::format(", batch {}", l.batch) : "", l.out_width(), l.out_height(), l.kernels, l.kernel_width,
                       l.kernel_height, l.stride.x, l.stride.y, pool_text(l), precision_name(l.precision));
}

/// What the outputs are checked against.
std::string golden(const Layer& l, const Plan& plan)
{
    const char* what = l.op == Op::Pool ? "pooling" : l.op == Op::Sdp ? "SDP" : "convolution";
    const char* arithmetic = l.precision == Precision::Fp16 ? "own fp16 arithmetic, rounded as documented"
                             : plan.method.winograd         ? "own integer arithmetic, Winograd transforms as matrices"
                                                            : "own integer arithmetic";
    return fmt::format("equal the golden {} ({})", what, arithmetic);
}

std::string regions(const Plan& plan, const Layer& layer)
{
    const OutputLayout layout = output_layout(plan, layer);
    if (layout.one_tensor) return "";
    return fmt::format("padded, not one tensor: {} regions, {} bytes for {}", grouped(layout.regions), grouped(layout.bytes),
                       grouped(layout.tensor_bytes));
}

}  // namespace

Job layer_job(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, LayerTensors tensors)
{
    Plan plan = plan_layer(layer, hardware, tensors);
    Job job;
    job.name = layer.name;
    job.hardware = hardware;
    job.memory = memory;
    job.program = plan.program;
    job.ranges = plan.ranges;
    job.timed_by_values = layer.compressed;
    job.compares = layer.post.compares();
    const std::uint64_t macs_per_cycle = hardware.macs_per_cycle(layer.precision), operations = array_operations(plan, hardware);
    job.array = ArrayWork{layer.macs(), operations, macs_per_cycle};
    job.work = {"MACs", operations};
    const std::uint64_t places = std::uint64_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width();
    if (!job.compares) job.tensor = TensorFile{layer.output.precision, layer.output.precision == Precision::Int8 ? places : 2 * places};
    job.bounds = lower_bounds(plan, layer, hardware, memory);
    job.says = {.descriptor = layer_json(layer),
                .plan = plan_json(plan, layer),
                .advice = advice_on(plan, layer, hardware, memory),
                .subject = subject(layer),
                .mode = fmt::format("{} mode, {} MACs a cycle", plan.mode, macs_per_cycle),
                .memory = regions(plan, layer),
                .compared = "outputs",
                .equal = golden(layer, plan)};
    job.contents = layer_contents(layer, hardware, std::move(tensors), std::move(plan));
    return job;
}

}  // namespace dlasim
