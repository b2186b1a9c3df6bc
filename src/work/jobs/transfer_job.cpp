#include <fmt/format.h>

#include <array>

#include "base/files/printable.h"
#include "config/layer/transfer_reader.h"
#include "jobs/job.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {
namespace {

constexpr std::array kLaunchKeys{
    Key<Launch>{{"group", "integer", "", "the group of descriptors", "bdma"}, value_of<&Launch::group>},
    Key<Launch>{{"first_block", "integer", "", "the first block of the launch", "bdma"}, value_of<&Launch::first>},
    Key<Launch>{{"blocks", "integer", "blocks", "blocks of the launch", "bdma"}, value_of<&Launch::count>},
};

OrderedJson launches_json(const TransferPlan& plan)
{
    if (plan.launches.empty()) return kAbsent;
    OrderedJson launches;
    for (const Launch& launch : plan.launches) launches.push_back(written(kLaunchKeys, launch));
    return launches;
}

/// What is planned of a transfer; `reshape` and `lrn` are null where it is another kind.
struct PlannedTransfer {
    const Transfer& transfer;
    const TransferPlan& plan;
    const Reshape* reshape = transfer.reshape();
    const Lrn* lrn = transfer.lrn();
    bool cubes() const { return reshape || lrn; }
    bool planar(Reshape::Mode mode) const { return reshape && reshape->mode == mode; }
};

OrderedJson surface_stride(const PlannedTransfer& p, const Cube& cube, Reshape::Mode planes)
{
    return p.cubes() && !p.planar(planes) ? OrderedJson(cube.strides.surface) : kAbsent;
}
OrderedJson planar_stride(const PlannedTransfer& p, const Cube& cube, Reshape::Mode planes)
{
    return p.planar(planes) ? OrderedJson(cube.strides.surface) : kAbsent;
}

constexpr std::string_view kCubes = "rubik, lrn", kScaled = "lrn of integers";
constexpr std::array kTransferPlanKeys{
    Key<PlannedTransfer>{{"bytes", "integer", "bytes", "that are written", "bdma, rubik, lrn"},
                         [](const PlannedTransfer& p) -> OrderedJson { return p.plan.bytes; }},
    Key<PlannedTransfer>{{"settled", "flag", "", "the interrupts cover everything that was written", "bdma, rubik, lrn"},
                         [](const PlannedTransfer& p) -> OrderedJson { return p.plan.settled; }},
    Key<PlannedTransfer>{{"launches", "list", "", "launches in their order", "bdma"},
                         [](const PlannedTransfer& p) -> OrderedJson { return launches_json(p.plan); }},
    Key<PlannedTransfer>{
        {"mode", "text", "", "contract, split or merge", "rubik"},
        [](const PlannedTransfer& p) -> OrderedJson { return p.reshape ? OrderedJson(mode_name(p.reshape->mode)) : kAbsent; }},
    Key<PlannedTransfer>{
        {"input/line_stride", "integer", "bytes", "from a line to the next one", kCubes},
        [](const PlannedTransfer& p) -> OrderedJson { return p.cubes() ? OrderedJson(p.plan.layout.input.strides.line) : kAbsent; }},
    Key<PlannedTransfer>{
        {"input/planar_stride", "integer", "bytes", "from a plane to the next one", "rubik merge"},
        [](const PlannedTransfer& p) -> OrderedJson { return planar_stride(p, p.plan.layout.input, Reshape::Mode::Merge); }},
    Key<PlannedTransfer>{
        {"input/surface_stride", "integer", "bytes", "from a surface to the next one", kCubes},
        [](const PlannedTransfer& p) -> OrderedJson { return surface_stride(p, p.plan.layout.input, Reshape::Mode::Merge); }},
    Key<PlannedTransfer>{{"input/cube_stride", "integer", "bytes", "from the cube of a phase to the next one", "rubik contract"},
                         [](const PlannedTransfer& p) -> OrderedJson {
                             return p.planar(Reshape::Mode::Contract) ? OrderedJson(p.plan.layout.input.strides.batch) : kAbsent;
                         }},
    Key<PlannedTransfer>{
        {"output/line_stride", "integer", "bytes", "from a line to the next one", kCubes},
        [](const PlannedTransfer& p) -> OrderedJson { return p.cubes() ? OrderedJson(p.plan.layout.output.strides.line) : kAbsent; }},
    Key<PlannedTransfer>{
        {"output/planar_stride", "integer", "bytes", "from a plane to the next one", "rubik split"},
        [](const PlannedTransfer& p) -> OrderedJson { return planar_stride(p, p.plan.layout.output, Reshape::Mode::Split); }},
    Key<PlannedTransfer>{
        {"output/surface_stride", "integer", "bytes", "from a surface to the next one", kCubes},
        [](const PlannedTransfer& p) -> OrderedJson { return surface_stride(p, p.plan.layout.output, Reshape::Mode::Split); }},
    Key<PlannedTransfer>{{"lo_index_select", "integer", "", "the register that scales the index of the LO table", "lrn"},
                         [](const PlannedTransfer& p) -> OrderedJson { return p.lrn ? OrderedJson(p.plan.lrn.lo_select) : kAbsent; }},
    Key<PlannedTransfer>{{"le_index_offset", "integer", "", "the register that shifts the index of the LE table", "lrn"},
                         [](const PlannedTransfer& p) -> OrderedJson { return p.lrn ? OrderedJson(p.plan.lrn.le_offset) : kAbsent; }},
    Key<PlannedTransfer>{{"output_scale", "integer", "", "of the output converter", kScaled},
                         [](const PlannedTransfer& p) -> OrderedJson {
                             return p.lrn && p.lrn->precision != Precision::Fp16 ? OrderedJson(p.plan.lrn.scale) : kAbsent;
                         }},
    Key<PlannedTransfer>{{"output_shift", "integer", "", "of the output converter", kScaled},
                         [](const PlannedTransfer& p) -> OrderedJson {
                             return p.lrn && p.lrn->precision != Precision::Fp16 ? OrderedJson(p.plan.lrn.shift) : kAbsent;
                         }},
};

std::string subject(const Transfer& transfer, const TransferPlan& plan)
{
    if (const Lrn* lrn = transfer.lrn())
        return fmt::format("lrn over {} channels, {} x {} x {}, {}", lrn->size, lrn->width, lrn->height, lrn->channels,
                           precision_name(lrn->precision));
    const Reshape* r = transfer.reshape();
    if (!r)
        return fmt::format("bdma, {} blocks in {} launches, {} bytes", transfer.copy()->blocks.size(), plan.launches.size(),
                           grouped(plan.bytes));
    return fmt::format("rubik {}, {} x {} x {} -> {} x {} x {}, {}", mode_name(r->mode), r->width, r->height, r->channels, r->out_width(),
                       r->out_height(), r->out_channels(), precision_name(r->precision));
}

}  // namespace

std::vector<PlacedKey> transfer_plan_keys() { return placed(kTransferPlanKeys, "", kLaunchKeys, "launches/[]/"); }

Job transfer_job(const Transfer& transfer, const Hardware& hardware, const MemorySpec& memory)
{
    TransferPlan plan = plan_transfer(transfer, hardware);
    Job job;
    job.name = transfer.name;
    job.hardware = hardware;
    job.memory = memory;
    job.contents = transfer_contents(transfer, plan);
    job.drains = true;  // an interrupt of BDMA vouches for the memory of its last block only
    if (const TransferCube* cube = transfer.cube()) job.tensor = TensorFile{cube->precision, plan.bytes};
    job.work = {"bytes", plan.bytes};
    job.bounds = transfer_bounds(plan, memory);
    job.text = {.descriptor = transfer_json(transfer),
                .plan = written(kTransferPlanKeys, PlannedTransfer{transfer, plan}),
                .advice = {},
                .subject = subject(transfer, plan),
                .mode = "",
                .cut = "",
                .memory = "",
                .compared = "bytes",
                .equal = "in and around the output have their expected values"};
    job.program = std::move(plan.program);
    job.ranges = std::move(plan.ranges);
    return job;
}

}  // namespace dlasim
