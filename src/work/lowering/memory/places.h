// Step 4 of the lowering: memory allocation. The descriptor says where input, weights, operands and output begin; what
// belongs to several passes or kernel sets is consecutive.
//
//   input     a cube for each group of passes that read the same one
//   weights   of one kernel set after the other; masks and group sizes likewise
//   output    of each pass the cubes of its kernel sets, batch by batch; then what the contraction makes of all of them
//
// Source  programming.md 3 to 5 and 8, cdma.md 5.1; of contractions golden/memory/reshaped.h.
#pragma once
#include "lowering/memory/kernels.h"
#include "lowering/program/reshape_pass.h"

namespace dlasim {

/// Of compressed weights, from where the weights begin.
inline constexpr std::uint64_t kMaskBehindWeights = 0x8000000, kGroupSizesBehindWeights = 0xc000000;

/// A cube of the output in memory after the run.
struct OutputCube {
    Place place;
    std::uint64_t bytes = 0;
    Cube cube;
    std::uint32_t first_kernel = 0, kernels = 0;  // of the layer
};

/// Bytes of memory.
struct Stretch {
    Place place;
    std::uint64_t bytes = 0;
};

struct Places {
    std::vector<std::vector<Addresses>> sets;  // of every pass those of its kernel sets, all rows
    std::vector<Stretch> inputs;               // by ShapedPass::input
    std::vector<Stretch> written;              // by all units
    std::vector<OutputCube> outputs;
    std::optional<ReshapePass> contraction;
    std::uint64_t copied_bytes = 0;    // that the contraction reads, and writes again
    std::vector<TouchedRange> ranges;  // of the descriptor's tensors
};

/// Throws ConfigError if a tensor is too large, or two of them meet.
Places places_of(const Layer& layer, const Shape& shape, const std::vector<PassParts>& passes,
                 const std::vector<std::vector<StoredKernels>>& kernels, const Hardware& hardware);

/// Plane 1 of pixels, from the start of plane 0; 0 without one.
std::uint64_t uv_offset(const Pass& pass, const Geometry& geometry);

}  // namespace dlasim
