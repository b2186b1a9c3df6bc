// Lowering: a layer becomes passes and memory images; afterwards the output is read back from where the passes put it. What software
// does is written from the passes, alone (program/layer_program.h) or with those of other layers (program/sequence.h).
//
//   Layer ──► shape ──► parts ──► kernels ──► places ──► passes ──► program
//             which     how each  as memory   of every   with their  what software
//             passes    goes      holds them  tensor     registers   does
//                       through                  │
//                       the buffer               └─────► images
//
// Each step is a function of the values of the steps before it, in a file of its own, and changes none of them. What does not fit the
// CBUF is tiled into parts (cut/split.h), each of them a pass, or rejected with the numbers.
//
// Source  programming.md 1 to 9; of contractions golden/memory/reshaped.h.
// Error   register values of the measured cases: tests/unit/lowering_test.
#pragma once
#include <functional>

#include "lowering/memory/images.h"
#include "lowering/passes.h"

namespace dlasim {

/// By what a layer that is cut is cut.
struct Cut {
    bool rows = false, columns = false, phases = false, kernels = false;  // phases of the dilation
};

struct LayerPlan {
    std::string mode;  // direct, image, winograd, sdp, pool
    Method method;     // what of it the reference must know
    bool partitioned = false;
    Cut cut;
    std::vector<PlannedPass> passes;
    std::vector<PlannedImage> images;
    std::vector<OutputCube> outputs;
    std::vector<TouchedRange> ranges;
    std::uint64_t input_bytes = 0;                  // of memory
    std::uint64_t copied_bytes = 0;                 // that the contraction reads and writes again
    std::optional<ReshapePass> contraction;         // or by SDP
    std::vector<std::vector<PlannedPass>> packing;  // stage by stage: packing.h
    std::uint64_t macs = 0;                         // that the array is asked for, padding of groups included
};

/// What becomes of parts of less than an atom of kernels: one tensor where that is possible, or nothing.
enum class Packing { Possible, None };

/// Throws ConfigError if the machine cannot do it.
LayerPlan plan_layer(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, Packing packing = Packing::Possible);
/// As plan_layer, without images: what the planner and tests need of shapes alone.
LayerPlan plan_shape(const Layer& layer, const Hardware& hardware, Packing packing = Packing::Possible);
/// As plan_shape; refuses also what a register cannot hold, as layer_program() will.
LayerPlan plan_that_fits(const Layer& layer, const Hardware& hardware);

/// Layout of the output in memory: one tensor of feature data, surface by surface; or padded, because passes of less than an atom
/// of kernels have surfaces of their own.
struct OutputLayout {
    bool one_tensor = true;
    std::size_t regions = 0;
    std::uint64_t bytes = 0, tensor_bytes = 0;  // that the passes write into, and that one tensor takes
};
OutputLayout output_layout(const LayerPlan& plan, const Layer& layer);

/// The output tensor, read region by region.
using ReadMemory = std::function<Bytes(Place place, std::uint64_t bytes)>;
Tensor collect_output(const LayerPlan& plan, const Layer& layer, const ReadMemory& read);

}  // namespace dlasim
