// A convolution as other programs describe it: sizes without limits. It becomes one layer, or several tiles, of the sizes that ours may
// have.
//
//   fully connected   a kernel as large as the input, beyond 32: its elements are channels of one output position
//   places            a kernel of 1 x 1 sees no neighbours: a row of many places is a plane, or two
//   channels          beyond 8192: spread over a window of such a kernel, filled up to a whole window
//   kernels, plane    beyond 8192: tiles, each a layer; tiles of kernels read one input
//
// Error  problems are collected, each with the place that the reader gives it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/json_object.h"

namespace dlasim {

enum class Size { Width, Height, Channels, KernelWidth, KernelHeight, OutputChannels, StrideX, StrideY, DilationX, DilationY, Batch };

struct OpenConvolution {
    struct Axis {
        std::uint64_t input = 1, kernel = 1, stride = 1, dilation = 1;
        std::uint64_t extent() const { return (kernel - 1) * dilation + 1; }
        std::uint64_t outputs() const { return (input - extent()) / stride + 1; }
        bool operator==(const Axis&) const = default;
    };
    Axis x, y;
    std::uint64_t channels = 1, kernels = 1, groups = 1, batch = 1;
};

struct ForeignProblem {
    std::string place, text;
    bool operator==(const ForeignProblem&) const = default;
};

struct ForeignPlace {
    std::function<std::string(Size)> of;  // file, line and name of a size
    std::string line;                     // file and line
};

/// Layers in their order, the first one called `name`, or `name.1` where there are several. Empty if there are problems.
std::vector<Json> layers_of(OpenConvolution convolution, const std::string& name, const ForeignPlace& place,
                            std::vector<ForeignProblem>& problems);

/// One problem as such, several together.
void throw_problems(const std::string& file, const std::vector<ForeignProblem>& problems);

}  // namespace dlasim
