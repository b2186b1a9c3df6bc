#include <fmt/format.h>

#include "config/transfer_reader.h"
#include "files/printable.h"
#include "jobs/job.h"
#include "lowering/transfer_plan.h"

namespace dlasim {
namespace {

OrderedJson cube_json(const Cube& cube, bool planar)
{
    if (planar) return {{"line_stride", cube.line_stride}, {"planar_stride", cube.surface_stride}};
    return {{"line_stride", cube.line_stride}, {"surface_stride", cube.surface_stride}};
}

OrderedJson plan_json(const Transfer& transfer, const TransferPlan& plan)
{
    OrderedJson json;
    json["bytes"] = plan.bytes;
    json["settled"] = plan.settled;
    for (const Launch& launch : plan.launches)
        json["launches"].push_back({{"group", launch.group}, {"first_block", launch.first}, {"blocks", launch.count}});
    if (const Reshape* reshape = transfer.reshape()) {
        json["mode"] = mode_name(reshape->mode);
        json["input"] = cube_json(plan.layout.input, reshape->mode == RubikMode::Merge);
        json["output"] = cube_json(plan.layout.output, reshape->mode == RubikMode::Split);
        if (reshape->mode == RubikMode::Contract) json["input"]["cube_stride"] = plan.layout.input.batch_stride;
    }
    if (const Lrn* lrn = transfer.lrn()) {
        json["input"] = cube_json(plan.layout.input, false);
        json["output"] = cube_json(plan.layout.output, false);
        json["lo_index_select"] = plan.lrn.lo_select;
        json["le_index_offset"] = plan.lrn.le_offset;
        if (lrn->precision != Precision::Fp16) {
            json["output_scale"] = plan.lrn.scale;
            json["output_shift"] = plan.lrn.shift;
        }
    }
    return json;
}

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

Job transfer_job(const Transfer& transfer, const Hardware& hardware, const MemorySpec& memory)
{
    TransferPlan plan = plan_transfer(transfer, hardware);
    Job job;
    job.name = transfer.name;
    job.hardware = hardware;
    job.memory = memory;
    job.contents = transfer_contents(transfer, plan);
    job.drains = true;  // an interrupt of BDMA vouches for the memory of its last block only
    if (const std::optional<Precision> precision = transfer.cube_precision()) job.tensor = TensorFile{*precision, plan.bytes};
    job.work = {"bytes", plan.bytes};
    job.bounds = transfer_bounds(plan, memory);
    job.says = {.descriptor = transfer_json(transfer),
                .plan = plan_json(transfer, plan),
                .advice = {},
                .subject = subject(transfer, plan),
                .mode = "",
                .memory = "",
                .compared = "bytes",
                .equal = "in and around the output are as they must be"};
    job.program = std::move(plan.program);
    job.ranges = std::move(plan.ranges);
    return job;
}

}  // namespace dlasim
