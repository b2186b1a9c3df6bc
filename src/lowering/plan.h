// Lowering: a layer becomes passes, a register program and memory images; afterwards the output is
// read back from where the passes put it.
//
//   Layer + Hardware + tensors ──► Plan { passes, images, program, output regions } ──► Machine
//
// Groups become passes of as many groups as fill one kernel group. A deconvolution becomes one pass for
// each phase of its stride and a contraction by Rubik. What does not fit the CBUF is refused with the
// numbers, or cut into parts where the layer asks for it (split.h): each part is a pass.
//
// Source  programming.md 1 to 9, rubik.md 1.
// Error   register values of the measured cases: tests/unit/lowering_test.
#pragma once
#include <functional>

#include "golden/reference.h"
#include "lowering/layout.h"
#include "lowering/pool_pass.h"
#include "platform/program.h"

namespace dlasim {

struct PlannedPass {
    Pass pass;
    Geometry geometry;
    PassRegisters registers;
    std::uint32_t first_kernel = 0, kernels = 0;  // of the layer
    Extent first{0, 0}, step{1, 1};               // its output (x, y) is the layer's (first.x + step.x * x, first.y + step.y * y)
    // A part of it: rows of this output, lines of the input that it fetches, and that the part before kept (Winograd: after extension).
    std::uint32_t first_row = 0, rows = 0, fetched_lines = 0, kept_lines = 0;
    bool fetches_weights = true;
    std::optional<PoolPass> pool;  // what PDP makes of it
};

/// A cube of the output that stands in memory after the run.
struct OutputCube {
    Place place;
    std::uint64_t bytes = 0;
    Cube cube;
    std::uint32_t first_kernel = 0, kernels = 0;  // of the layer
};

/// Bytes that must be in memory before the program starts.
struct PlannedImage {
    std::string what;
    Place place;
    Bytes bytes;
};

struct Plan {
    std::string mode;  // direct, image, winograd, sdp, pool
    Method method;     // what of it the reference must know
    bool partitioned = false;
    std::vector<PlannedPass> passes;
    std::vector<PlannedImage> images;
    std::vector<OutputCube> outputs;
    std::vector<TouchedRange> ranges;
    Program program;
    std::uint64_t macs = 0;          // that the array is asked for, padding of groups included
    std::uint64_t copied_bytes = 0;  // that Rubik reads and writes again
};

/// Throws ConfigError if the machine cannot do it.
Plan plan_layer(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors);
/// As plan_layer, without images: what the planner and tests need of shapes alone.
Plan plan_shape(const Layer& layer, const Hardware& hardware);

/// How the output stands in memory: one tensor of feature data, surface by surface; or padded, because passes of less than an atom
/// of kernels have surfaces of their own.
struct OutputLayout {
    bool one_tensor = true;
    std::size_t regions = 0;
    std::uint64_t bytes = 0, tensor_bytes = 0;  // that the passes write into, and that one tensor takes
};
OutputLayout output_layout(const Plan& plan, const Layer& layer);

/// The output tensor, read region by region.
using ReadMemory = std::function<Bytes(Place place, std::uint64_t bytes)>;
Tensor collect_output(const Plan& plan, const Layer& layer, const ReadMemory& read);

}  // namespace dlasim
