#include "lowering/cut/parts.h"

#include <algorithm>

#include "base/error.h"
#include "lowering/cut/part_pass.h"
#include "lowering/cut/size_sdp.h"
#include "lowering/cut/split_frame.h"
#include "lowering/cut/strips.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxPasses = 16384;

/// Uncompressed, since compression needs the stream and the stream the geometry.
Fit<Geometry> fits_whole(Pass pass, const Hardware& hw)
{
    pass.compressed = {};
    return fits(pass, hw);
}

Geometry size_whole(const Pass& pass, const Hardware& hw, const std::string& where) { return fits_whole(pass, hw).or_refused(where); }

/// Of all rows and columns, with the lines of this part.
Geometry size_set(const Pass& whole, const Split& split, const Part& part, const Hardware& hw, const std::string& where)
{
    Pass pass = part_pass({}, split, part);
    pass.out_strides = whole.out_strides;
    Geometry g = size_whole(pass, hw, where);
    const std::uint64_t batch = g.in_strides.batch;
    g.in_strides = input_strides(whole, hw);
    g.in_strides.batch = batch;
    g.out_width = output_columns(whole);
    g.out_height = output_rows(whole);
    return with_sdp(g, pass, hw).or_refused(where);
}

/// The pass as it is where that fits, else the best cut.
Split automatic(const Pass& pass, const Layer& layer, const Hardware& hw, bool by_kernels)
{
    const std::string where = where_of(layer);
    if (fits_whole(pass, hw) && (!pass.pool || pooled_as_it_is(pass, hw))) return {};
    Partition partition;
    partition.automatic = true;
    return split_pass(pass, hw, partition, by_kernels, where);
}

/// The layer's partition of a pass; without one what fits.
Split split_of(const Pass& pass, const Layer& layer, const Hardware& hw)
{
    const bool by_kernels = layer.op != Op::Deconvolution;
    if (layer.partition.pooled && !pass.pool)
        throw ConfigError(where_of(layer) + "/partition/pooled", "found true, expected a fused pooling");
    if (!pass.convolves()) return {};
    if (const std::string problem = forbidden(pass, hw); !problem.empty()) throw ConfigError(where_of(layer), problem);
    if (layer.partition.on()) return split_pass(pass, hw, layer.partition, by_kernels, where_of(layer));
    if (const std::uint32_t kernels = most_kernels(pass, hw); kernels < pass.kernels) {
        Partition surfaces;
        surfaces.kernels = kernels;
        surfaces.reuse_data = true;
        return split_pass(pass, hw, surfaces, by_kernels, where_of(layer));
    }
    return automatic(pass, layer, hw, by_kernels);
}

/// Phases that are whole have the same banks: a change between passes would drain the pipeline.
void share_banks(std::vector<PassParts>& passes, const Hardware& hw, const std::string& where)
{
    std::uint32_t data = 0, weights = 0;
    for (const PassParts& p : passes) {
        if (!p.split.whole()) continue;
        const Geometry g = size_pass(p.pass, hw, where);
        data = std::max(data, g.data_banks);
        weights = std::max(weights, g.weight_banks);
    }
    for (PassParts& p : passes) {
        p.pass.data_banks = data;
        p.pass.weight_banks = std::min(weights, hw.cbuf.banks - data);
    }
}

std::vector<KernelSet> sets_of(const PassParts& p, const Hardware& hw, const std::string& where)
{
    const std::uint64_t line = std::uint64_t{made_columns(p.pass)} * hw.memory.atom_bytes;
    const auto written = [&](const Geometry& g) {
        if (!p.pass.pool) return g.out_strides;
        return Strides{.line = line, .surface = p.pass.out_strides.surface != 0 ? p.pass.out_strides.surface : line * made_rows(p.pass)};
    };
    const auto set = [&](const KernelPart& kernels, const Geometry& g) { return KernelSet{kernels, g, written(g)}; };
    if (p.split.whole()) return {set({0, p.pass.kernels}, size_whole(p.pass, hw, where))};
    std::vector<KernelSet> sets;
    for (const Part& part : p.split.parts) {
        const bool known = std::any_of(sets.begin(), sets.end(), [&](const KernelSet& of) { return of.kernels == part.kernels; });
        if (!known) sets.push_back(set(part.kernels, size_set(p.pass, p.split, part, hw, where)));
    }
    return sets;
}

void check_count(const std::vector<PassParts>& passes, const Layer& layer)
{
    std::size_t count = 0;
    for (const PassParts& p : passes) {
        count += p.split.whole() ? 1 : p.split.parts.size();
        if (!p.split.whole() && count > kMaxPasses)
            throw ConfigError(where_of(layer) + "/partition",
                              "makes more than " + std::to_string(kMaxPasses) + " tiles of the layer, expected fewer");
    }
    if (layer.post.compares() && count != 1)
        throw ConfigError(where_of(layer), "found a comparison in a layer of " + std::to_string(count) +
                                               " passes, expected one: its status covers one pass");
}

}  // namespace

std::size_t PassParts::set_of(const Part& part) const
{
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const KernelSet& set) { return set.kernels == part.kernels; });
    return static_cast<std::size_t>(found - sets.begin());
}

std::uint64_t PassParts::cube_bytes() const
{
    std::uint64_t bytes = 0;
    for (const KernelSet& set : sets) bytes += set.cube_bytes();
    return bytes;
}

std::vector<CutWay> likely_ways(const Layer& layer, const Hardware& hardware)
{
    const Partition& wish = layer.partition;
    if (!wish.automatic || wish.minimise != Minimise::Cycles || wish.way || layer.op == Op::Deconvolution || !layer.convolves()) return {};
    const Shape shape = shape_of(layer, hardware);
    if (shape.passes.size() != 1) return {};
    const Pass& pass = shape.passes.front().pass;
    // What the planner refuses it refuses when the layer is planned.
    if (!forbidden(pass, hardware).empty()) return {};
    const std::vector<CutWay> ways = likely_ways(pass, hardware, wish, true, where_of(layer));
    return ways.size() > 1 ? ways : std::vector<CutWay>{};
}

std::vector<PassParts> parts_of(const Shape& shape, const Layer& layer, const Hardware& hardware)
{
    const std::string where = where_of(layer);
    std::vector<PassParts> passes;
    for (const ShapedPass& shaped : shape.passes) passes.push_back({shaped.pass, split_of(shaped.pass, layer, hardware), {}, {}});
    check_count(passes, layer);
    if (layer.op == Op::Deconvolution) share_banks(passes, hardware, where);
    for (PassParts& p : passes) {
        p.sets = sets_of(p, hardware, where);
        if (!layer.pool || !p.split.whole()) continue;
        const Geometry& g = p.geometry();
        const CubeSize made{.width = g.out_width, .height = g.out_height, .channels = p.pass.kernels};
        p.pool = size_pool(*layer.pool, made, p.pass.output.precision, layer.op != Op::Pool, hardware).or_refused(where);
        if (layer.output_surface != 0) p.pool->strides.surface = layer.output_surface;
        p.sets.front().written = p.pool->strides;
    }
    return passes;
}

}  // namespace dlasim
