// Step 1 of the lowering: which passes a layer is, as if buffer and memory had no end.
//
//   convolution     a pass for as many groups as fill one kernel group: their kernels are zero for each other's channels
//                   a depthwise one of three rows in two steps where the input has a line to spare (takes_two_rows)
//   deconvolution   a pass for each phase of its stride (deconvolution.h), put together (reshape_pass.h)
//   sdp, pool       one pass
//
// What the layer's operation or the machine forbids is refused here, whatever the sizes.
//
// Source  programming.md 2, 4 and 6; csc.md 1.8.3 and 6; pdp.md 1.4.
#pragma once
#include "golden/reference.h"
#include "lowering/pass.h"

namespace dlasim {

/// Taps of the layer's kernel in one direction that are those of a pass.
struct Taps {
    std::uint32_t count = 1;
    std::int64_t first = 0, step = 1;
    bool none = false;  // the layer's kernel has no tap there: zeros
    std::uint32_t at(std::uint32_t tap) const { return static_cast<std::uint32_t>(first + step * tap); }
    bool all_of(std::uint32_t kernel) const { return count == kernel && first == 0 && step == 1 && !none; }
};

/// Kernels of the layer as those of a pass: a number of groups side by side, and some of their taps.
struct KernelBlock {
    std::uint32_t groups = 1;
    Taps x, y;
    std::uint32_t second_row = 0;  // channel from which on a tap of the pass has the layer's next row; 0: it has one row
    /// Lines of the layer from one line of the pass to the next.
    std::uint32_t lines_apart() const { return second_row != 0 ? static_cast<std::uint32_t>(y.step) : 1; }
};

struct ShapedPass {
    Pass pass;
    std::uint32_t first_channel = 0, first_kernel = 0;  // of the layer
    Extent first{0, 0}, step{1, 1};                     // its output (x, y) is the layer's (first.x + step.x * x, first.y + step.y * y)
    KernelBlock kernels{};
    std::size_t input = 0;           // the cube that it reads: passes of one number share it
    std::uint64_t input_offset = 0;  // bytes from its start
    std::uint64_t input_bytes = 0;   // of it; 0: what the pass reads
};

struct Shape {
    std::string mode;  // direct, image, winograd, sdp, pool
    Method method;     // what of it the reference must know
    std::vector<ShapedPass> passes;
    std::optional<Extent> sub_cube;  // of a strided deconvolution: what each phase makes
};

/// A depthwise kernel of three rows can have two of them in an operation: an atom of the array is two of memory, and the second one is
/// the same channels of the line below.
bool takes_two_rows(const Layer& layer, const Hardware& hardware);
/// The second row of the last window is a line of the input: nothing is needed below.
bool second_rows_inside(const Layer& layer);

/// Throws ConfigError.
Shape shape_of(const Layer& layer, const Hardware& hardware);

/// The place of a layer in messages.
inline std::string where_of(const Layer& layer) { return layer.file.empty() ? layer.name : layer.file; }

}  // namespace dlasim
