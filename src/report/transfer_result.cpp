#include "report/transfer_result.h"

#include <fmt/format.h>

#include "config/hardware.h"
#include "config/memory.h"
#include "config/transfer_reader.h"
#include "files/printable.h"

namespace dlasim {
namespace {

OrderedJson cube_json(const Cube& cube, bool planar)
{
    if (planar) return {{"line_stride", cube.line_stride}, {"planar_stride", cube.surface_stride}};
    return {{"line_stride", cube.line_stride}, {"surface_stride", cube.surface_stride}};
}

OrderedJson plan_json(const TransferResult& r)
{
    OrderedJson json;
    json["bytes"] = r.plan.bytes;
    json["settled"] = r.plan.settled;
    for (std::size_t i = 0; i < r.plan.launches.size(); ++i) {
        const Launch& launch = r.plan.launches[i];
        json["launches"].push_back({{"group", launch.group},
                                    {"first_block", launch.first},
                                    {"blocks", launch.count},
                                    {"done", i < r.run.done.size() ? OrderedJson(r.run.done[i].cycle) : OrderedJson()}});
    }
    if (const Reshape* reshape = r.transfer.reshape()) {
        json["mode"] = mode_name(reshape->mode);
        json["input"] = cube_json(r.plan.layout.input, reshape->mode == RubikMode::Merge);
        json["output"] = cube_json(r.plan.layout.output, reshape->mode == RubikMode::Split);
        if (reshape->mode == RubikMode::Contract) json["input"]["cube_stride"] = r.plan.layout.input.batch_stride;
    }
    if (const Lrn* lrn = r.transfer.lrn()) {
        json["input"] = cube_json(r.plan.layout.input, false);
        json["output"] = cube_json(r.plan.layout.output, false);
        json["lo_index_select"] = r.plan.lrn.lo_select;
        json["le_index_offset"] = r.plan.lrn.le_offset;
        if (lrn->precision != Precision::Fp16) {
            json["output_scale"] = r.plan.lrn.scale;
            json["output_shift"] = r.plan.lrn.shift;
        }
    }
    return json;
}

std::string first_line(const Transfer& transfer, const TransferPlan& plan)
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

std::string verdict(const TransferResult& r)
{
    if (!r.comparison) return "not compared (--timing-only)";
    if (!r.comparison->equal()) return mismatch_text(*r.comparison, "bytes");
    return fmt::format("yes, all {} bytes in and around the output are as they must be", grouped(r.comparison->compared));
}

}  // namespace

std::vector<Bound> transfer_bounds(const TransferPlan& plan, const MemorySpec& memory)
{
    std::vector<Bound> bounds;
    for (const UnitBound& bound : plan.bounds) bounds.push_back({bound.name, bound.cycles, bound.meaning});
    const bool ideal = memory.kind == "ideal";
    const MemorySpec on_chip = ideal ? memory : MemorySpec{};
    const std::uint64_t reads = ideal ? memory.beat_interval : 1, writes = ideal ? memory.write_interval : 1;
    bounds.push_back({"dbb_read", plan.dbb.reads * reads, "the input behind DBB read once"});
    bounds.push_back({"dbb_write", plan.dbb.writes * writes, "the output behind DBB written once"});
    bounds.push_back({"cvsram_read", plan.cvsram.reads * on_chip.beat_interval, "the input behind CVSRAM read once"});
    bounds.push_back({"cvsram_write", plan.cvsram.writes * on_chip.write_interval, "the output behind CVSRAM written once"});
    return bounds;
}

OrderedJson result_json(const TransferResult& r)
{
    OrderedJson json;
    json["schema"] = "dlasim.result/1";
    json["name"] = r.transfer.name;
    json["layer"] = transfer_json(r.transfer);
    json["hardware"] = hardware_json(r.hardware);
    json["memory"] = memory_json(r.memory);
    json["plan"] = plan_json(r);
    json["cycles"] = r.cycles();
    json["t0"] = r.run.t0;
    json["macs"] = 0;
    json["mac_utilization"] = 0.0;
    put_verdict(json, r.comparison);
    put_output(json, r.output_file, r.expected);
    put_run(json, r.run, r.hardware, r.cycles());
    put_bounds(json, transfer_bounds(r.plan, r.memory), r.run, r.cycles());
    json["wall_seconds"] = r.wall_seconds;
    json["simulated_cycles_per_second"] = r.cycles_per_second();
    return json;
}

std::string summary_table(const TransferResult& r)
{
    std::string text = fmt::format("{}  {}\n", printable(r.transfer.name), first_line(r.transfer, r.plan));
    text += fmt::format("  on           {}, {}\n", r.hardware.name, memory_text(r.memory));
    text += fmt::format("  cycles       {}, {:.2f} bytes a cycle\n", grouped(r.cycles()),
                        r.cycles() == 0 ? 0.0 : static_cast<double>(r.plan.bytes) / static_cast<double>(r.cycles()));
    text += fmt::format("  verified     {}\n", verdict(r));
    text += expected_line(r.expected);
    text +=
        fmt::format("  simulation   {:.2f} s, {} cycles/s\n\n", r.wall_seconds, grouped(static_cast<std::uint64_t>(r.cycles_per_second())));
    return text + run_table(r.run, r.hardware, r.cycles()) + bounds_table(transfer_bounds(r.plan, r.memory), r.run, r.cycles());
}

}  // namespace dlasim
