// Step 2 of the lowering: how every pass goes through the buffer - whole, or in parts - and with which banks and sizes.
//
//   ShapedPass ──► split (split.h) ──► banks ──► for the kernels of some parts: their geometry, all rows of it
//
// Parts of the same kernels share their weights and write into one cube; the cubes of a pass are consecutive.
#pragma once
#include "lowering/cut/split.h"
#include "lowering/program/pool_pass.h"
#include "lowering/shape.h"

namespace dlasim {

/// Kernels of a pass that are fetched and written together, in one part or in several.
struct KernelSet {
    KernelPart kernels;
    Geometry geometry;  // of all rows; weights as they are before compression
    Strides written;    // of the output: of SDP, or of PDP
    /// The output of one batch.
    std::uint64_t cube_bytes() const { return written.surface * geometry.out_surfaces; }
};

struct PassParts {
    Pass pass;                         // with the banks that it has in common with others
    Split split;                       // the parts in the order they run, or the pass as it is
    std::vector<KernelSet> sets;       // by kernels, as they run first
    std::optional<PoolGeometry> pool;  // of a pass without parts

    const Geometry& geometry() const { return sets.front().geometry; }
    /// The set of a part; without parts there is one.
    std::size_t set_of(const Part& part) const;
    /// The output of one batch, all kernels.
    std::uint64_t cube_bytes() const;
};

/// Ways to cut a layer of one pass whose cut is searched for the fewest cycles, from the one that takes them by estimate; none of another
/// layer, or if there is no choice.
std::vector<CutWay> likely_ways(const Layer& layer, const Hardware& hardware);

/// One for each pass of the shape. Throws ConfigError if one does not fit, or if a comparison would take several passes.
std::vector<PassParts> parts_of(const Shape& shape, const Layer& layer, const Hardware& hardware);

}  // namespace dlasim
