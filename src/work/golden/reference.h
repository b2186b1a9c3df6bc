// The golden convolution: written from the definition of the layer, not from the machine, and in arithmetic of
// its own. Integers are exact; only where the machine's result depends on how it rounds (fp16 sums, Winograd
// transforms) does the reference follow the documented arithmetic in the documented order.
//
//   input, weights ──► sums (int64, or fp32) ──► SDP (golden/post.h) ──► output [batch, kernels, height, width]
//
// Source  cacc.md 4, sdp.md 4.1 to 4.3, csc.md 1.5 (order of sums), csc.md 4.2 (Winograd).
// Error   compared with oneDNN: tests/golden/reference_test; its parts with the machine's: cell_test, real_test,
//         post_reference_test, and with plain loops: sums_test.
#pragma once
#include "config/model/tensors.h"
#include "facts/hardware.h"

namespace dlasim {

/// Options of the machine's computation that decide where sums are rounded.
struct Method {
    bool winograd = false;
    std::uint32_t image_rows = 1;  // kernel rows of pixels in one operation
    std::uint32_t lanes = 64;      // channels of an operation: sums of fp16 are rounded after each
};

/// What the output memory must hold; of a comparison (EQL) what SDP would have written.
Tensor reference_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Method& method);
/// Of a Winograd layer: what the direct convolution would make of its input, with integer sums times 2^(2 - truncate), the scale that the
/// transforms give them.
Tensor direct_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, Method method);

}  // namespace dlasim
