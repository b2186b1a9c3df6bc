// The parts of a pass, each a pass of its own. Parts of the same kernels share their weights; all of them write into one
// output cube.
//
//   output cube   surfaces of kernel part 0, 1, ..   each with the lines of row part 0, 1, ..
#include <algorithm>
#include <map>

#include "base/error.h"
#include "lowering/planner.h"

namespace dlasim {
namespace {

constexpr std::size_t kMostPasses = 4096;

/// Kernels [first, first + count) of all; without tensors nothing.
Tensor kernels_of(const Tensor& weights, const KernelPart& part)
{
    if (weights.values.empty()) return {};
    Tensor some(part.count, weights.c, weights.h, weights.w);
    std::copy_n(weights.values.begin() + static_cast<std::ptrdiff_t>(weights.index(part.first, 0, 0, 0)), some.values.size(),
                some.values.begin());
    return some;
}

}  // namespace

Split Planner::split(const Pass& pass, bool by_kernels) const
{
    if (l_.partition.on()) return split_pass(pass, hw_, l_.partition, by_kernels, where_);
    if (const std::uint32_t kernels = most_kernels(pass, hw_); kernels < pass.kernels) {
        Partition surfaces;
        surfaces.kernels = kernels;
        surfaces.reuse_data = true;
        return split_pass(pass, hw_, surfaces, by_kernels, where_);
    }
    try {
        size_parts(pass, {});
        return {};
    } catch (const ConfigError& refusal) {
        std::size_t parts = 0;
        try {
            Partition automatic;
            automatic.automatic = true;
            parts = split_pass(pass, hw_, automatic, by_kernels, where_).parts.size();
        } catch (const ConfigError&) {
        }
        if (parts == 0) throw;
        throw ConfigError(where_, std::string(refusal.what()).substr(where_.size() + 2) + "; with \"partition\": \"auto\" it runs in " +
                                      std::to_string(parts) + (parts == 1 ? " part" : " parts"));
    }
}

/// Sized with the lines of the first part and all rows of the output; uncompressed, since compression needs the stream and
/// the stream the geometry.
Geometry Planner::size_parts(const Pass& pass, const Split& split) const
{
    Pass all = pass;
    if (!split.whole()) {
        all = part_pass(pass, {}, split, split.parts.front());
        all.reuse.output_rows = split.out_height;
    }
    all.compressed = {};
    return size_pass(all, hw_, where_);
}

void Planner::finish_parts(PlannedPass planned, const Split& split, const Tensor& weights)
{
    if (split.whole()) return finish_pass(std::move(planned), weights);
    if (plan_.passes.size() + split.parts.size() > kMostPasses)
        throw ConfigError(where_ + "/partition", "makes more than " + std::to_string(kMostPasses) + " parts of the layer, expected fewer");
    plan_.partitioned = true;
    std::map<std::uint32_t, PlannedPass> by_kernel;
    std::uint64_t cube_bytes = 0;
    for (const Part& part : split.parts) {
        if (by_kernel.count(part.kernels.first) != 0) continue;
        PlannedPass& some = by_kernel[part.kernels.first] = planned;
        some.first_kernel += part.kernels.first;
        some.kernels = some.pass.kernels = part.kernels.count;
        some.geometry = size_parts(planned.pass, {{part}, split.data_banks, split.weight_banks, split.out_height});
        place_weights(some, kernels_of(weights, part.kernels));
        place_operands(some);
        cube_bytes += some.geometry.out_surface_stride * some.geometry.out_surfaces;
    }
    const std::uint32_t batch = planned.pass.batch;
    std::uint64_t address = planned.pass.post.compares() ? 0 : reserve_output(cube_bytes * batch);
    for (auto& [first, some] : by_kernel) {
        Geometry& g = some.geometry;
        g.out_batch_stride = cube_bytes;
        some.pass.address.output = address;
        const std::uint64_t bytes = g.out_surface_stride * g.out_surfaces;
        const Cube cube{g.out_line_stride, g.out_surface_stride, cube_bytes, hw_.memory.atom_bytes, g.out_element_bytes};
        if (!interleaved() && !some.pass.post.compares())
            plan_.outputs.push_back(
                {{some.pass.output_primary, address}, cube_bytes * (batch - 1) + bytes, cube, some.first_kernel, some.kernels});
        address += bytes;
    }
    for (const Part& part : split.parts) add_part(by_kernel.at(part.kernels.first), split, part);
}

/// `some`: all rows of the part's kernels.
void Planner::add_part(PlannedPass some, const Split& split, const Part& part)
{
    const Pass all = some.pass;
    some.pass = part_pass(all, some.geometry, split, part);
    some.first_row = part.rows.first;
    some.rows = part.rows.count;
    some.fetched_lines = fetched_lines(all, part);
    some.kept_lines = part.kept_lines;
    some.fetches_weights = !part.reuse_weights;
    some.geometry = size_pass(some.pass, hw_, where_);
    const std::uint64_t room = std::uint64_t{hw_.cbuf.bank_depth} * hw_.cbuf.entry_bytes * split.weight_banks;
    if (part.keep_weights && some.geometry.weight_bytes > room)
        throw ConfigError(where_ + "/partition/reuse_weights", "found " + std::to_string(some.geometry.weight_bytes) +
                                                                   " bytes of weights to keep, expected at most " + std::to_string(room) +
                                                                   " in " + std::to_string(split.weight_banks) + " banks");
    add_pass(std::move(some));
}

}  // namespace dlasim
