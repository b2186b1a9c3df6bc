// The keys of a network, as descriptor_keys.h has those of a layer; the objects that both have are there.
//
//   kNetwork ──► NetworkReader        network_keys() ──► dlasim reference
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/descriptor_keys.h"
#include "config/model/network.h"

namespace dlasim::keys {

inline constexpr std::int64_t kMaxNetworkWindow = 64, kMaxNetworkPad = 63, kMaxUpsample = 8;

inline constexpr std::array kNetwork{
    InputKey{{"name", "text", "", "for the reader of the report"}, 0, 0, "the file's"},
    InputKey{{"source", "text", "", "where the network is from"}, 0, 0, "nothing"},
    InputKey{{"note", "text", "", "documentation"}, 0, 0, "nothing"},
    InputKey{{"macs", "integer", "MACs", "multiplications of all layers: checked"}, 0, INT64_MAX, "not checked"},
    InputKey{{"precision", "text", "", "of all tensors", "", "int8 fp16"}, 0, 0, "int8"},
    InputKey{{"input", "object", "", "the tensor \"data\"", "layers have no inputs of their own"}},
    InputKey{{"plan", "object", "", "figure that automatic tiling minimises"}, 0, 0, "parts"},
    InputKey{
        {"overlap", "text", "", "what software may start before the previous operation has finished", "", "all registers none unprotected"},
        0,
        0,
        "all"},
    InputKey{{"expected", "file", "", "NumPy file of the expected tensor of the last layer"}, 0, 0, "not compared"},
    kUlp,
    kAtol,
    kRtol,
    InputKey{{"decide", "object", "", "what the planner would decide"}, 0, 0, "the planner"},
    InputKey{{"optimised", "list", "", "what --optimise changed: documentation"}, 0, 0, "nothing"},
    InputKey{{"layers", "list", "", "1 to 2048, each reads tensors of earlier ones"}},
};
inline constexpr std::array kNetworkShape{
    InputKey{{"width", "integer", "elements", "columns"}, 1, kMaxSide},
    InputKey{{"height", "integer", "elements", "rows"}, 1, kMaxSide},
    InputKey{{"channels", "integer", "channels", "channels"}, 1, kMaxSide},
};

/// A key of a layer, and the operations that have it: a bit each.
struct OperationKey : InputKey {
    std::uint32_t operations = UINT32_MAX;
};
constexpr std::uint32_t bit_of(NetworkOp op) { return 1u << static_cast<unsigned>(op); }
inline constexpr std::uint32_t kConvolutions =
    bit_of(NetworkOp::Convolution) | bit_of(NetworkOp::FullyConnected) | bit_of(NetworkOp::Deconvolution);

inline constexpr std::array kOperation{
    OperationKey{{{"name", "text", "", "of the layer and of its output tensor"}}},
    OperationKey{{{"op", "text", "", "operation", "", "conv2d fully_connected deconv2d pool add lrn concat upsample softmax"}}},
    OperationKey{{{"decide", "object", "", "what the planner would decide"}, 0, 0, "the planner"}},
    OperationKey{{{"from", "text", "", "where the layer is described, for messages"}, 0, 0, "its position in the file"}},
    OperationKey{{{"inputs", "list", "", "names of tensors; two or more of add and concat"}, 0, 0, "the previous layer"}},
    OperationKey{{{"input", "object", "", "a tensor for this layer alone", "in place of inputs"}}},
    OperationKey{{{"output", "object", "", "the shape of its output: checked"}, 0, 0, "not checked"}},
    OperationKey{{{"kernel", "object", "", "the kernels", "convolutions"}}, kConvolutions},
    OperationKey{{{"kernel_shape", "list", "elements", "ONNX: kernel [height, width]", "in place of the kernel's"}}, kConvolutions},
    OperationKey{{{"stride", "object", "", "of the kernel, 1..8", "convolutions"}, 0, 0, "1"}, kConvolutions},
    OperationKey{{{"strides", "list", "elements", "ONNX: stride [y, x]", "in place of stride"}}, kConvolutions},
    OperationKey{{{"dilation", "object", "", "of the kernel, 1..32", "convolutions"}, 0, 0, "1"}, kConvolutions},
    OperationKey{{{"dilations", "list", "elements", "ONNX: dilation [y, x]", "in place of dilation"}}, kConvolutions},
    OperationKey{{{"pad", "object", "", "padding: before 0..31, after 0..63", "convolutions"}, 0, 0, "0"}, kConvolutions},
    OperationKey{{{"pads", "list", "elements", "ONNX: padding [top, left, bottom, right]", "in place of pad"}}, kConvolutions},
    OperationKey{{{"groups", "integer", "groups", "groups", "convolutions"}, 1, kMaxSide, "1"}, kConvolutions},
    OperationKey{{{"group", "integer", "groups", "ONNX: groups", "in place of groups"}, 1, kMaxSide}, kConvolutions},
    OperationKey{{{"bias", "flag", "", "one number per kernel is added", "convolutions"}, 0, 0, "false"}, kConvolutions},
    OperationKey{{{"normalised", "flag", "", "batch normalisation is folded into weights and bias", "convolutions"}, 0, 0, "false"},
                 kConvolutions},
    OperationKey{{{"partition", "text or object", "", "auto, or the tiling of the layer", "convolutions"}, 0, 0, "auto"}, kConvolutions},
    OperationKey{{{"activation", "text", "", "after the operation", "convolutions, add", "none relu relu6 leaky tanh"}, 0, 0, "none"},
                 kConvolutions | bit_of(NetworkOp::Add)},
    OperationKey{{{"post", "object", "", "bias and activation, as in earlier versions", "in place of these"}}, kConvolutions},
    OperationKey{{{"pool", "object", "", "the windows", "pool"}}, bit_of(NetworkOp::Pool)},
    OperationKey{{{"lrn", "object", "", "the normalisation", "lrn"}}, bit_of(NetworkOp::Lrn)},
    OperationKey{{{"factor", "object", "", "number of repetitions of an element, 1..8", "upsample"}}, bit_of(NetworkOp::Upsample)},
};

// In the order of kDecisions.
inline constexpr std::array kLayerDecide{
    InputKey{{"pixels", "flag", "", "the input is stored as pixels"}, 0, 0, "the planner"},
    InputKey{{"rows_at_once", "integer", "rows", "kernel rows of an operation on pixels: 1, 2 or 4"}, 1, 4, "the planner"},
    InputKey{{"pooled", "flag", "", "of a pooling: fused with the step before"}, 0, 0, "the planner"},
    InputKey{{"two_kernel_rows", "flag", "", "of a depthwise convolution: two kernel rows per operation"}, 0, 0, "the planner"},
    InputKey{{"joined", "flag", "", "one step with an earlier convolution of the same input"}, 0, 0, "the planner"},
    InputKey{{"by_rows", "flag", "", "of a pooling or normalisation alone: several operations"}, 0, 0, "the planner"},
    InputKey{{"shared_banks", "flag", "", "the CBUF banks of the step before"}, 0, 0, "the planner"},
    InputKey{{"cvsram", "flag", "", "the output is in CVSRAM"}, 0, 0, "the planner"},
    InputKey{{"winograd", "flag", "", "Winograd convolution: other numbers"}, 0, 0, "the network's"},
    InputKey{{"compressed", "flag", "", "zeros of the weights are not stored"}, 0, 0, "the network's"},
};
inline constexpr std::array kNetworkDecide{
    InputKey{{"winograd", "flag", "", "Winograd wherever it is possible and faster"}, 0, 0, "false"},
    InputKey{{"compressed", "flag", "", "weights without zeros wherever that is possible"}, 0, 0, "false"},
    InputKey{{"interleaved", "flag", "", "operations start as units become free, not step by step"}, 0, 0, "the planner"},
};

inline constexpr std::array kNetworkPost{
    InputKey{{"bias", "flag", "", "the layer's", "in place of that one"}, 0, 0, "false"},
    InputKey{{"activation", "text", "", "the layer's", "in place of that one", "none relu relu6 leaky tanh"}, 0, 0, "none"},
};

// Windows that PDP cannot do run on the host.
inline constexpr std::array kNetworkPool{
    kPool[0], kPool[1],
    kPool[2], InputKey{{"stride", "object", "", "of the window, 1..64"}, 0, 0, "1"},
    kPool[4], InputKey{{"pad", "object", "", "padding, 0..63"}, 0, 0, "0"},
    kPool[6], kPool[7],
    kPool[8],
};
inline constexpr std::array kNetworkPoolKernel{
    InputKey{{"width", "integer", "elements", "kernel width"}, 1, kMaxNetworkWindow},
    InputKey{{"height", "integer", "elements", "kernel height"}, 1, kMaxNetworkWindow},
};

}  // namespace dlasim::keys

namespace dlasim {

/// Those that a layer of this operation may have.
std::vector<std::string> keys_of(NetworkOp op);
/// With the places in the file.
std::vector<PlacedKey> network_keys();

}  // namespace dlasim
