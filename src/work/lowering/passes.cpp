#include "lowering/passes.h"

#include "base/error.h"
#include "lowering/cut/part_pass.h"
#include "lowering/cut/strips.h"

namespace dlasim {
namespace {

PoolPass pool_of(const Layer& layer, const PlannedPass& planned, const PoolGeometry& geometry)
{
    const Pass& p = planned.pass;
    PoolPass pool;
    pool.pool = p.pool ? *p.pool : *layer.pool;
    pool.precision = p.output.precision;
    pool.channels = p.kernels;
    pool.flying = p.pool.has_value();
    pool.flush_nan = layer.op == Op::Pool && p.flush_nan;
    pool.source = {p.input_primary, planned.address.input};
    pool.target = {p.output_primary, planned.address.output};
    pool.source_strides = planned.geometry.in_strides;
    pool.geometry = geometry;
    return pool;
}

/// What PDP makes of a part, into the lines of the whole output.
PoolGeometry part_pool(const PlannedPass& planned, const Strides& written, const Hardware& hw, const std::string& where)
{
    const Pass& p = planned.pass;
    const CubeSize made{.width = planned.geometry.out_width, .height = planned.geometry.out_height, .channels = p.kernels};
    PoolGeometry geometry = size_pool(*p.pool, made, p.output.precision, true, hw).or_refused(where);
    geometry.strides = written;
    return geometry;
}

/// A pass that is not cut.
PlannedPass whole(const PassParts& parts, const CompressedSizes& compressed, const Addresses& address, const Hardware& hw,
                  const std::string& where)
{
    PlannedPass planned;
    planned.pass = parts.pass;
    planned.pass.compressed = compressed;
    planned.geometry = size_pass(planned.pass, hw, where);
    planned.address = address;
    planned.rows = parts.pool && !planned.pass.pool ? parts.pool->out_height : planned.geometry.out_height;
    planned.fetched_lines = parts.pool && !planned.pass.pool ? parts.pool->height : planned.pass.height;
    return planned;
}

PlannedPass part_of(const PassParts& parts, const Part& part, const CompressedSizes& compressed, const Addresses& address,
                    const Hardware& hw, const std::string& where)
{
    Geometry all = parts.sets[parts.set_of(part)].geometry;
    all.out_strides.batch = parts.cube_bytes();
    PlannedPass planned;
    const Strip& strip = parts.split.strip_of(part);
    planned.pass = part_pass(all, parts.split, part);
    planned.pass.compressed = compressed;
    planned.geometry = size_pass(planned.pass, hw, where);
    planned.address = part_addresses(address, all, parts.sets[parts.set_of(part)].written, parts.split, part, hw.memory.atom_bytes);
    planned.first_row = strip.row + part.rows.first * strip.row_step;
    planned.rows = part.rows.count;
    planned.row_step = strip.row_step;
    planned.first_column = strip.column;
    planned.fetched_lines = fetched_lines(strip.pass, part);
    planned.kept_lines = part.kept_lines;
    planned.fetches_weights = !part.reuse_weights;
    const std::uint64_t room = std::uint64_t{hw.cbuf.bank_depth} * hw.cbuf.entry_bytes * parts.split.weight_banks;
    if (part.keep_weights && planned.geometry.weight_bytes > room)
        throw ConfigError(where + "/partition/reuse_weights", "found " + std::to_string(planned.geometry.weight_bytes) +
                                                                  " bytes of weights to keep, expected at most " + std::to_string(room) +
                                                                  " in " + std::to_string(parts.split.weight_banks) + " banks");
    return planned;
}

/// Which area a part reads and writes; of a phase of the dilation all that the whole has.
void note_areas(PlannedPass& planned, const ShapedPass& shaped, const Split& split, const Part& part)
{
    if (planned.row_step != 1) return;
    const Strip& strip = split.strip_of(part);
    const std::uint32_t first = fetch_of(strip.pass, part.rows, part.fetch_begin()).line, count = planned.fetched_lines;
    const std::uint32_t apart = shaped.kernels.lines_apart(), last_rows = shaped.kernels.second_row == 0 ? 1 : 2;
    planned.reads = {{apart * first, count == 0 ? 0 : apart * (count - 1) + last_rows}, {strip.input_column, strip.pass.width}};
    planned.adds = {{planned.first_row, planned.rows}, {strip.column, strip.columns}};
    planned.writes = {{part.rows.made_first, part.rows.made_count}, {strip.made_column, strip.made_columns}};
}

}  // namespace

LoweringCounters& lowering_counters()
{
    thread_local LoweringCounters counted;
    return counted;
}

PassRegisters registers_of(const PlannedPass& planned, const UnitGroups& groups, const Hardware& hw)
{
    ++lowering_counters().passes;
    RegisterWriter out(hw);
    if (planned.pool && !planned.pool->flying) out.enable("PDP_RDMA");
    if (planned.pool) out.enable("PDP");  // SDP waits for PDP, the others for SDP
    if (planned.pass.mode != PassMode::Pool) write_pass(out, planned.pass, planned.geometry, planned.address, groups);
    if (planned.pool) write_pool(out, *planned.pool, groups);
    return out.take();
}

std::vector<PlannedPass> passes_of(const Layer& layer, const Shape& shape, const std::vector<PassParts>& passes,
                                   const std::vector<std::vector<StoredKernels>>& kernels, const Places& places, const Hardware& hardware)
{
    const std::string where = where_of(layer);
    std::vector<PlannedPass> planned;
    const auto add = [&](PlannedPass pass, std::size_t i, const KernelPart& of_pass) {
        pass.first_kernel = shape.passes[i].first_kernel + of_pass.first;
        pass.kernels = of_pass.count;
        if (passes[i].pool) pass.pool = pool_of(layer, pass, *passes[i].pool);
        planned.push_back(std::move(pass));
    };
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const PassParts& parts = passes[i];
        if (parts.split.whole())
            add(whole(parts, kernels[i].front().compressed, places.sets[i].front(), hardware, where), i, parts.sets.front().kernels);
        for (const Part& part : parts.split.parts) {
            const std::size_t set = parts.set_of(part);
            PlannedPass pass = part_of(parts, part, kernels[i][set].compressed, places.sets[i][set], hardware, where);
            if (pass.pass.pool) pass.pool = pool_of(layer, pass, part_pool(pass, parts.sets[set].written, hardware, where));
            if (!shape.sub_cube) note_areas(pass, shape.passes[i], parts.split, part);
            add(std::move(pass), i, part.kernels);
        }
    }
    return planned;
}

}  // namespace dlasim
