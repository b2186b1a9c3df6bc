// A network as the user describes it: a graph of layers, read and checked; every tensor has its shape. docs/NETWORK.md.
//
//   tensors  the inputs of the network, then what each layer makes, in the order of the layers: a layer reads tensors before its own
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/model/decisions.h"
#include "config/model/layer.h"
#include "config/model/lrn.h"
#include "config/model/numbers.h"
#include "config/model/tolerance.h"

namespace dlasim {

// The last five are of networks with numbers of their own, docs/ONNX.md.
enum class NetworkOp {
    Convolution,
    FullyConnected,
    Deconvolution,
    Pool,
    Add,
    Lrn,
    Concat,
    Upsample,
    Softmax,
    Affine,
    Multiply,
    Function,
    Reshape,
    Compute
};

/// How layers are tiled where nobody says it: tiles that wait for each other's registers cost more than they save.
constexpr Minimise usual_minimise(Overlap overlap) { return overlap == Overlap::None ? Minimise::Parts : Minimise::Balanced; }

/// Of one image.
struct NetworkTensor {
    std::string name;
    std::uint32_t width = 1, height = 1, channels = 1;
    std::optional<std::size_t> layer;            // that makes it; none: an input of the network
    std::optional<Quantisation> quantisation{};  // scale of its integers, if layers have numbers
    bool wanted = false;                         // rounded to this grid by the model: no step may pass over it
    std::uint64_t elements() const { return std::uint64_t{width} * height * channels; }
};

struct NetworkLayer {
    std::string name;
    std::string where;  // place in the file, for messages
    NetworkOp op = NetworkOp::Convolution;
    std::vector<std::size_t> inputs;  // tensors
    std::size_t output = 0;           // tensor
    bool own_input = false;           // it reads a tensor that the file gives to it alone
    Activation activation = Activation::None;
    bool normalised = false;  // batch normalisation is folded into weights and bias
    Layer layer;              // convolution, deconvolution, fully connected: without what memory and converters make of it
    Pool pool;
    Lrn lrn;
    Extent factor;  // upsample
    std::optional<LayerNumbers> numbers{};
    Decisions decided{};

    bool convolves() const { return op <= NetworkOp::Deconvolution; }
    std::uint64_t macs() const { return convolves() ? layer.macs() : 0; }
    std::uint64_t weights() const
    {
        return convolves() ? std::uint64_t{layer.kernels} * layer.kernel_channels() * layer.kernel_width * layer.kernel_height : 0;
    }
};

struct Network {
    std::string name, file, source, note;
    Precision precision = Precision::Int8;   // of all tensors and weights; int8 or fp16
    Minimise minimise = Minimise::Balanced;  // of layers without a partition
    Overlap overlap = Overlap::All;          // of all operations
    std::vector<NetworkTensor> tensors;
    std::vector<NetworkLayer> layers;
    std::string expected{}, expected_where{};  // NumPy file of the last layer's tensor to compare with; empty: none
    Tolerance tolerance{};                     // of that comparison
    std::vector<std::size_t> outputs{};        // tensors that exist and keep their memory, beside the last layer's
    Decisions decided{};

    bool is_fp16() const { return precision == Precision::Fp16; }
    std::uint32_t element_bytes() const { return is_fp16() ? 2 : 1; }
    /// Its layers have numbers of their own, its tensors grids, if they are no fp16; else weights come by seed and converters follow from
    /// results.
    bool numbered() const { return !layers.empty() && layers.front().numbers.has_value(); }
    std::uint64_t macs() const
    {
        std::uint64_t sum = 0;
        for (const NetworkLayer& layer : layers) sum += layer.macs();
        return sum;
    }
};

const char* network_op_name(NetworkOp op);
const char* activation_name(Activation activation);

}  // namespace dlasim
