// The layout of tensors in memory: programming.md 3 to 5 and 8.
//
//   feature  (c / atom elements) * surface stride + y * line stride + x * atom + (c mod atom elements)
//   weights  group, channel slice, row, column, kernel, channel: no padding inside
#pragma once
#include <functional>

#include "config/model/tensors.h"
#include "lowering/pass.h"

namespace dlasim {

using Bytes = std::vector<std::uint8_t>;

/// A cube of feature data.
struct Cube {
    Strides strides;
    std::uint32_t atom_bytes = 0, element_bytes = 1;
    std::uint64_t offset(std::uint32_t n, std::uint32_t c, std::uint32_t y, std::uint32_t x) const
    {
        const std::uint32_t per_atom = atom_bytes / element_bytes;
        return n * strides.batch + c / per_atom * strides.surface + y * strides.line + std::uint64_t{x} * atom_bytes +
               c % per_atom * element_bytes;
    }
};

/// [first, first + count).
struct Channels {
    std::uint32_t first = 0, count = 0;
};

/// Channels of the input as feature data.
Bytes feature_bytes(const Tensor& input, const Channels& channels, const Cube& cube, std::uint64_t bytes);
/// The planes of an image, plane 1 at `uv_offset`.
Bytes pixel_bytes(const Layer& layer, const Tensor& input, const Geometry& geometry, std::uint64_t uv_offset);
/// Reads one cube back, as these channels of the output.
void read_feature(const Bytes& bytes, const Cube& cube, Tensor& output, const Channels& channels);

/// Weights in the order the array takes them, one value an element.
std::vector<std::int16_t> weight_stream(const Pass& pass, const Geometry& geometry, const Hardware& hardware, const Tensor& weights);
/// In a fixed number of bytes, of which the last ones may be 0.
Bytes to_bytes(const std::vector<std::int16_t>& values, std::uint32_t element_bytes, std::uint64_t bytes);

/// Operands of an SDP engine for the `kernels` of a pass: ALU and multiplier interleaved where it streams both.
/// `at` gives the operand of (mul, kernel, y, x).
using OperandAt = std::function<std::int16_t(bool mul, std::uint32_t kernel, std::uint32_t y, std::uint32_t x)>;
Bytes operand_bytes(const Pass& pass, const Geometry& geometry, std::size_t engine, std::uint32_t atom_bytes, const OperandAt& at);

struct CompressedWeights {
    Bytes weights, mask, group_sizes;
    std::vector<std::uint64_t> group_ends;  // bytes of weights up to the end of each kernel group
};
CompressedWeights compress(const Pass& pass, const Geometry& geometry, const Hardware& hardware, const std::vector<std::int16_t>& stream);

}  // namespace dlasim
