#include <fmt/format.h>

#include <array>

#include "base/files/printable.h"
#include "config/layer/layer_reader.h"
#include "config/layer/partition_reader.h"
#include "jobs/advice.h"
#include "jobs/job.h"
#include "jobs/traffic.h"
#include "lowering/cut/explicit_partition.h"
#include "lowering/memory/layer_contents.h"
#include "lowering/program/layer_program.h"

namespace dlasim {
namespace {

constexpr std::array kPartKeys{
    Key<PlannedPass>{{"rows", "list", "rows", "[first, count] of the output"},
                     [](const PlannedPass& p) -> OrderedJson {
                         return {p.first_row, p.rows};
                     }},
    Key<PlannedPass>{{"row_step", "integer", "rows", "from one of these rows to the next", "tiles by phases of the dilation"},
                     [](const PlannedPass& p) -> OrderedJson { return p.row_step == 1 ? kAbsent : OrderedJson(p.row_step); }},
    Key<PlannedPass>{{"columns", "list", "columns", "[first, count] of the output"},
                     [](const PlannedPass& p) -> OrderedJson {
                         return {p.first_column, p.geometry.out_width};
                     }},
    Key<PlannedPass>{{"kernels", "list", "kernels", "[first, count] of the output"},
                     [](const PlannedPass& p) -> OrderedJson {
                         return {p.first_kernel, p.kernels};
                     }},
    Key<PlannedPass>{{"fetched_lines", "integer", "lines", "lines of the input that the tile fetches"},
                     value_of<&PlannedPass::fetched_lines>},
    Key<PlannedPass>{{"kept_lines", "integer", "lines", "lines of the input that stay in CBUF for the next tile"},
                     value_of<&PlannedPass::kept_lines>},
    Key<PlannedPass>{{"reuse_data", "flag", "", "the tile uses lines that the previous one kept"},
                     value_of<&PlannedPass::pass, &Pass::reuse, &Reuse::data>},
    Key<PlannedPass>{{"reuse_weights", "flag", "", "the tile uses the weights that the previous one kept"},
                     value_of<&PlannedPass::pass, &Pass::reuse, &Reuse::weights>},
    Key<PlannedPass>{{"keep_data", "flag", "", "the tile keeps lines in CBUF"},
                     value_of<&PlannedPass::pass, &Pass::reuse, &Reuse::keep_data>},
    Key<PlannedPass>{{"keep_weights", "flag", "", "the tile keeps its weights in CBUF"},
                     value_of<&PlannedPass::pass, &Pass::reuse, &Reuse::keep_weights>},
};

/// In the order they ran.
OrderedJson parts_json(const LayerPlan& plan) { return written_list(kPartKeys, plan.passes); }

constexpr std::array kOutputKeys{
    Key<OutputLayout>{{"one_tensor", "flag", "", "it is one tensor of feature data"}, value_of<&OutputLayout::one_tensor>},
    Key<OutputLayout>{{"regions", "integer", "regions", "of memory, one for each pass that writes its own surfaces"},
                      value_of<&OutputLayout::regions>},
    Key<OutputLayout>{{"bytes", "integer", "bytes", "that the passes write into"}, value_of<&OutputLayout::bytes>},
    Key<OutputLayout>{{"tensor_bytes", "integer", "bytes", "that one packed tensor takes"}, value_of<&OutputLayout::tensor_bytes>},
};

struct Planned {
    const LayerPlan& plan;
    const Layer& layer;
    const Traffic& traffic;
    const Hardware& hardware;
    const PlannedPass& first = plan.passes.front();
    const Traffic& bytes() const { return traffic; }
    const LayerPlan& layer_plan() const { return plan; }
    const PlannedPass& pass() const { return first; }
};

/// Why the layer runs in this mode.
std::string reason(const Layer& l)
{
    if (l.op == Op::Sdp || l.op == Op::Pool) return "the operation";
    if (l.image()) return "the input is pixels";
    if (l.mode == Mode::Auto) return "the input is feature data; Winograd rounds differently and must be requested by the layer";
    return "the layer requests it";
}

std::size_t packing_passes(const LayerPlan& plan)
{
    std::size_t passes = 0;
    for (const std::vector<PlannedPass>& stage : plan.packing) passes += stage.size();
    return passes;
}

/// "2 tiles by rows of the output"; empty if it is not tiled.
std::string cut_text(const LayerPlan& plan)
{
    if (!plan.partitioned) return "";
    std::string by;
    const auto add = [&](bool cut, const char* what) {
        if (cut) by += (by.empty() ? " by " : " and ") + std::string(what);
    };
    add(plan.cut.rows, "rows of the output");
    add(plan.cut.columns, "columns");
    add(plan.cut.phases, "phases of the dilation");
    add(plan.cut.kernels, "kernels");
    const std::size_t packing = packing_passes(plan);
    return fmt::format("{} tile{}{}{}", grouped(plan.passes.size()), plan.passes.size() == 1 ? "" : "s", by,
                       packing == 0 ? "" : fmt::format("; {} pass{} to fill atoms", packing, packing == 1 ? "" : "es"));
}

OrderedJson output_json(const Planned& p)
{
    const OutputLayout layout = output_layout(p.plan, p.layer);
    return layout.regions == 0 ? kAbsent : written(kOutputKeys, layout);
}

constexpr std::array kPlanKeys{
    Key<Planned>{{"mode", "text", "", "direct, image, winograd, sdp or pool; of reshapes contract, split or merge", "layers, reshapes"},
                 value_of<&Planned::layer_plan, &LayerPlan::mode>},
    Key<Planned>{{"reason", "text", "", "reason for that mode", "layers"}, [](const Planned& p) -> OrderedJson { return reason(p.layer); }},
    Key<Planned>{{"cut", "text", "", "number of tiles, and the dimension that is tiled", "a tiled layer"},
                 [](const Planned& p) -> OrderedJson { return p.plan.partitioned ? OrderedJson(cut_text(p.plan)) : kAbsent; }},
    Key<Planned>{{"partition", "object", "", "the tiling as a key of the descriptor, to be edited and run",
                  "a tiled layer, if one key describes the tiling"},
                 [](const Planned& p) -> OrderedJson {
                     const std::optional<Partition> partition = explicit_partition(p.plan, p.layer, p.hardware);
                     return partition ? partition_json(*partition) : kAbsent;
                 }},
    Key<Planned>{{"passes", "integer", "passes", "hardware layers", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.plan.passes.size(); }},
    Key<Planned>{{"packing", "integer", "passes", "that pack tiles of less than an atom of kernels", "a layer in such tiles"},
                 [](const Planned& p) -> OrderedJson { return p.plan.packing.empty() ? kAbsent : OrderedJson(packing_passes(p.plan)); }},
    Key<Planned>{{"data_banks", "integer", "banks", "CBUF banks for data, of the first pass", "layers"},
                 value_of<&Planned::pass, &PlannedPass::geometry, &Geometry::data_banks>},
    Key<Planned>{{"weight_banks", "integer", "banks", "CBUF banks for weights", "layers"},
                 value_of<&Planned::pass, &PlannedPass::geometry, &Geometry::weight_banks>},
    Key<Planned>{{"entries_per_line", "integer", "entries", "CBUF entries of a line of the input", "layers"},
                 value_of<&Planned::pass, &PlannedPass::geometry, &Geometry::entries_per_slice>},
    Key<Planned>{{"entries", "integer", "entries", "CBUF entries of all lines of the input", "layers"},
                 value_of<&Planned::pass, &PlannedPass::geometry, &Geometry::entries>},
    Key<Planned>{{"weight_bytes", "integer", "bytes", "weights in memory, compressed if the layer's are", "layers"},
                 value_of<&Planned::pass, &PlannedPass::geometry, &Geometry::weight_bytes>},
    Key<Planned>{{"array_macs", "integer", "MACs", "requested from the array, padding of groups included", "layers"},
                 value_of<&Planned::layer_plan, &LayerPlan::macs>},
    Key<Planned>{{"tensors", "object", "",
                  "by tensor: input, weights, bs, bn, ew, output; phases of a deconvolution, tiles of less than an atom", "layers"},
                 [](const Planned& p) { return tensors_json(p.traffic); }},
    Key<Planned>{{"traffic/moved", "integer", "bytes", "sum of all tensors", "layers"}, value_of<&Planned::bytes, &Traffic::moved>},
    Key<Planned>{{"traffic/compulsory", "integer", "bytes", "if each tensor moved once", "layers"},
                 value_of<&Planned::bytes, &Traffic::compulsory>},
    Key<Planned>{{"traffic/communication", "integer", "bytes",
                  "lower bound of any loop order: 2 * P / sqrt(R * S) - 2 * S elements; 0 if everything fits on chip", "layers"},
                 value_of<&Planned::bytes, &Traffic::communication>},
    Key<Planned>{{"traffic/binding", "text", "", "the larger of the two", "layers"}, value_of<&Planned::bytes, &Traffic::binding>},
    Key<Planned>{{"parts", "list", "", "tiles in execution order", "a tiled layer"},
                 [](const Planned& p) -> OrderedJson { return p.plan.partitioned ? parts_json(p.plan) : kAbsent; }},
    Key<Planned>{{"output", "object", "", "layout of the output in memory; of reshapes and lrn its strides", "it is a tensor"},
                 output_json},
    Key<Planned>{{"pool_columns", "list", "columns", "output columns of each pass of PDP", "layers that pool"},
                 [](const Planned& p) -> OrderedJson { return p.first.pool ? OrderedJson(p.first.pool->geometry.columns) : kAbsent; }},
    Key<Planned>{{"addresses/input", "integer", "address", "of the first pass", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.input.byte(); }},
    Key<Planned>{{"addresses/weights", "integer", "address", "of the first pass", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.weights.byte(); }},
    Key<Planned>{{"addresses/output", "integer", "address", "of the first pass", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.output.byte(); }},
    Key<Planned>{{"addresses/bs", "integer", "address", "operands of BS; 0 without", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.operands[0].byte(); }},
    Key<Planned>{{"addresses/bn", "integer", "address", "operands of BN; 0 without", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.operands[1].byte(); }},
    Key<Planned>{{"addresses/ew", "integer", "address", "operands of EW; 0 without", "layers"},
                 [](const Planned& p) -> OrderedJson { return p.first.address.operands[2].byte(); }},
};

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
std::string golden(const Layer& l, const LayerPlan& plan)
{
    const char* what = l.op == Op::Pool       ? "pooling"
                       : l.op == Op::Sdp      ? "SDP"
                       : plan.method.winograd ? "Winograd convolution"
                                              : "convolution";
    const char* arithmetic = l.precision == Precision::Fp16 ? "own fp16 arithmetic, rounded as documented"
                             : plan.method.winograd         ? "own integer arithmetic, transforms as matrices"
                                                            : "own integer arithmetic";
    return fmt::format("equal the golden {} ({})", what, arithmetic);
}

std::string regions(const LayerPlan& plan, const Layer& layer)
{
    const OutputLayout layout = output_layout(plan, layer);
    if (layout.one_tensor) return "";
    return fmt::format("padded, not one tensor: {} regions, {} bytes for {}", grouped(layout.regions), grouped(layout.bytes),
                       grouped(layout.tensor_bytes));
}

}  // namespace

std::vector<PlacedKey> layer_plan_keys()
{
    return placed(kPlanKeys, "", tensor_keys(), "tensors/*/", kPartKeys, "parts/[]/", kOutputKeys, "output/");
}

namespace {

/// All but its data.
Job outline(const LayerPlan& plan, const Layer& layer, const Hardware& hardware, const MemorySpec& memory)
{
    const Traffic traffic = traffic_of(plan, layer, hardware);
    Job job;
    job.name = layer.name;
    job.hardware = hardware;
    job.memory = memory;
    job.program = layer_program(layer, plan, hardware);
    job.ranges = plan.ranges;
    job.timed_by_values = layer.compressed;
    job.compares = layer.post.compares();
    const std::uint64_t macs_per_cycle = hardware.macs_per_cycle(layer.precision), operations = array_operations(plan, hardware);
    job.array = ArrayWork{layer.macs(), operations, macs_per_cycle};
    job.work = {"MACs", operations};
    const std::uint64_t places = std::uint64_t{layer.batch} * layer.kernels * layer.out_height() * layer.out_width();
    if (!job.compares) job.tensor = TensorFile{layer.output.precision, layer.output.precision == Precision::Int8 ? places : 2 * places};
    job.bounds = lower_bounds(plan, layer, hardware, memory);
    job.text = {.descriptor = layer_json(layer),
                .plan = written(kPlanKeys, Planned{plan, layer, traffic, hardware}),
                .advice = advice_on(plan, layer, hardware, memory),
                .subject = subject(layer),
                .mode = fmt::format("{} mode, {} MACs a cycle", plan.mode, macs_per_cycle),
                .cut = cut_text(plan),
                .memory = regions(plan, layer),
                .compared = "outputs",
                .equal = golden(layer, plan)};
    return job;
}

}  // namespace

Job layer_outline(const Layer& layer, const Hardware& hardware, const MemorySpec& memory)
{
    // Only the values of compressed weights say how many bytes they are.
    return outline(layer.compressed ? plan_layer(layer, hardware, load_tensors(layer)) : plan_shape(layer, hardware), layer, hardware,
                   memory);
}

Job layer_job(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, LayerTensors tensors)
{
    return layer_job(layer, hardware, memory, std::make_shared<const SharedLayer>(SharedLayer{std::move(tensors), {}}));
}

Job layer_job(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, std::shared_ptr<const SharedLayer> shared)
{
    if (!shared) {
        plan_that_fits(layer, hardware);  // what cannot be placed is refused before its tensors take memory
        shared = std::make_shared<const SharedLayer>(SharedLayer{load_tensors(layer), {}});
    }
    LayerPlan plan = plan_layer(layer, hardware, shared->tensors);
    Job job = outline(plan, layer, hardware, memory);
    job.contents = layer_contents(layer, hardware, std::move(shared), std::move(plan));
    return job;
}

}  // namespace dlasim
