// Step 5 of the lowering: the passes that run, in their order.
#pragma once
#include "config/model/plane_area.h"
#include "lowering/memory/places.h"

namespace dlasim {

struct PlannedPass {
    Pass pass;
    Geometry geometry;
    Addresses address;
    std::uint32_t first_kernel = 0, kernels = 0;  // of the layer
    // A part of it: rows of this output, lines of the input that it fetches, and that the part before kept (Winograd: after extension).
    std::uint32_t first_row = 0, rows = 0, fetched_lines = 0, kept_lines = 0;
    std::uint32_t row_step = 1, first_column = 0;  // from a row of this output to the next; of its columns the first
    bool fetches_weights = true;
    PlaneArea reads{}, adds{},
        writes{};                  // of the input and of what SDP adds by element; of the output, pooled where PDP does so on the way
    std::optional<PoolPass> pool;  // what PDP makes of it
};

/// What this thread has lowered so far: tests count it.
struct LoweringCounters {
    std::uint64_t layers = 0, passes = 0;  // passes: whose registers were written
};
LoweringCounters& lowering_counters();

/// Of all units of a pass, the enables in the order they are written. Throws ConfigError if a register cannot hold its value.
PassRegisters registers_of(const PlannedPass& pass, const UnitGroups& groups, const Hardware& hardware);

/// Throws ConfigError if compressed weights turn out not to fit.
std::vector<PlannedPass> passes_of(const Layer& layer, const Shape& shape, const std::vector<PassParts>& passes,
                                   const std::vector<std::vector<StoredKernels>>& kernels, const Places& places, const Hardware& hardware);

}  // namespace dlasim
