// The keys of a descriptor, each declared once: the strict readers take names, ranges and meanings from here, and so does the reference
// page.
//
//   kInputKeys ──► JsonObject ──► input.integer("width")        layer_keys() ──► dlasim reference
//
// A range is that of the registers; the readers name the sources.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/files/keys.h"

namespace dlasim::keys {

inline constexpr std::int64_t kMaxKernelStride = 8, kMaxDilation = 32;  // of a kernel
inline constexpr const char* kStrideMeaning =
    "stride; where the kernel is no larger than the stride, a 1 x 1 convolution with the pixels of a window as channels does the same, as "
    "in ONNX models";
inline constexpr std::int64_t kMaxSide = 8192, kMaxStride = 0xffffffe0;

// ---- what several objects have
inline constexpr std::array kExtent{
    InputKey{{"x", "integer", "elements", "to the right"}},
    InputKey{{"y", "integer", "elements", "downwards"}},
};
inline constexpr std::array kPad{
    InputKey{{"left", "integer", "elements", "columns before"}, 0, 0, "0"},
    InputKey{{"right", "integer", "elements", "columns after"}, 0, 0, "0"},
    InputKey{{"top", "integer", "elements", "rows before"}, 0, 0, "0"},
    InputKey{{"bottom", "integer", "elements", "rows after"}, 0, 0, "0"},
    InputKey{{"value", "number", "", "of the padding, a number of the precision", "convolutions, averages"}, 0, 0, "0"},
};
inline constexpr std::array kPlace{
    InputKey{{"memory", "text", "", "port", "", "dbb cvsram"}, 0, 0, "dbb"},
    InputKey{{"address", "integer", "address", "byte address at that port"}},
};
inline constexpr std::array kPlane{
    InputKey{{"width", "integer", "elements", "input width"}, 1, kMaxSide},
    InputKey{{"height", "integer", "elements", "input height"}, 1, kMaxSide},
};

// ---- a layer
inline constexpr std::array kLayer{
    InputKey{{"name", "text", "", "for the reader of the report"}, 0, 0, "the file's"},
    InputKey{{"op", "text", "", "operation", "", "conv2d fully_connected deconv2d sdp pool"}, 0, 0, "conv2d"},
    InputKey{{"input", "object", "", "the input tensor"}},
    InputKey{{"kernel", "object", "", "the kernels", "convolutions"}},
    InputKey{{"stride", "object", "", "of the kernel, 1..8", "convolutions"}, 0, 0, "1"},
    InputKey{{"dilation", "object", "", "of the kernel, 1..32", "convolutions"}, 0, 0, "1"},
    InputKey{{"groups", "integer", "groups", "groups", "convolutions"}, 1, kMaxSide, "1"},
    InputKey{{"pad", "object", "", "padding: before 0..31, after 0..63", "convolutions"}},
    InputKey{{"precision", "text", "", "type of the elements", "", "int8 int16 fp16"}, 0, 0, "int8"},
    InputKey{{"mode", "text", "", "mode of the convolution", "convolutions", "auto direct image winograd"}, 0, 0, "auto"},
    InputKey{{"bias", "flag or object", "", "one number per kernel is added, in BS", "no pool"}, 0, 0, "false"},
    InputKey{{"activation", "text", "", "after all engines in use", "no pool", "none relu relu6 leaky"}, 0, 0, "none"},
    InputKey{{"post", "object", "", "the operations of SDP, engine by engine"}},
    InputKey{{"data", "object", "", "seed or files of the tensors"}},
    InputKey{{"weights", "object", "", "storage of the weights", "convolutions"}},
    InputKey{{"winograd", "object", "", "options of that mode", "winograd"}},
    InputKey{{"image", "object", "", "options of that mode", "pixels"}},
    InputKey{{"placement", "object", "", "addresses and strides of tensors"}},
    InputKey{{"partition", "text or object", "", "auto, or the tiling of the layer", "convolutions"}, 0, 0, "auto"},
    InputKey{{"plan", "object", "", "figure that automatic tiling minimises", "convolutions"}},
    InputKey{{"overlap", "text", "", "what software may start before the previous tile has finished", "convolutions", "all registers none"},
             0,
             0,
             "all"},
    InputKey{{"pool", "object", "", "the windows", "op pool"}},
    InputKey{{"strides", "list", "elements", "ONNX: stride [y, x]", "in place of stride"}},
    InputKey{{"dilations", "list", "elements", "ONNX: dilation [y, x]", "in place of dilation"}},
    InputKey{{"pads", "list", "elements", "ONNX: padding [top, left, bottom, right]", "in place of pad"}},
    InputKey{{"group", "integer", "groups", "ONNX: groups", "in place of groups"}, 1, kMaxSide},
    InputKey{{"kernel_shape", "list", "elements", "ONNX: kernel [height, width]", "in place of the kernel's"}},
};
inline constexpr std::array kInput{
    kPlane[0],
    kPlane[1],
    InputKey{{"channels", "integer", "channels", "input channels"}, 1, kMaxSide, "for pixels, the components"},
    InputKey{{"batch", "integer", "", "batch size"}, 1, 32, "1"},
    InputKey{{"format", "text", "", "feature, or a pixel format of the register map"}, 0, 0, "feature"},
    InputKey{{"precision", "text", "", "of features, if different from the layer's", "features", "int8 int16 fp16"}},
    InputKey{{"signed", "flag", "", "components are signed", "pixels"}, 0, 0, "true"},
    InputKey{{"x_offset", "integer", "pixels", "first pixel in the first atom", "pixels"}, 0, 31, "0"},
    InputKey{{"mean", "list", "", "of each component, in place of the offset", "pixels"}},
    InputKey{{"conversion", "object", "", "conversion of an element by CDMA", "there is one"}},
    InputKey{{"nan_to_zero", "flag", "", "NaN of input and weights become 0", "fp16"}, 0, 0, "false"},
};
inline constexpr std::array kConversion{
    InputKey{{"offset", "integer", "", "subtracted first"}, -32768, 32767, "0"},
    InputKey{{"scale", "integer", "", "factor"}, -32768, 32767, "1"},
    InputKey{{"shift", "integer", "bits", "right shift"}, 0, 63, "0"},
};
inline constexpr std::array kKernel{
    InputKey{{"width", "integer", "elements", "kernel width"}, 1, 32, "fully_connected: the input's"},
    InputKey{{"height", "integer", "elements", "kernel height"}, 1, 32, "fully_connected: the input's"},
    InputKey{{"count", "integer", "kernels", "number of kernels"}, 1, kMaxSide},
    InputKey{{"kernel_shape", "list", "elements", "ONNX: [height, width]", "in place of both"}},
};
inline constexpr std::array kWeights{
    InputKey{{"compressed", "flag", "", "zeros are not stored"}, 0, 0, "false"},
    InputKey{{"density", "integer", "%", "percent of the weights that are not zero"}, 0, 100, "100"},
};
inline constexpr std::array kWinograd{InputKey{{"truncate", "integer", "bits", "bits truncated from the transformed input"}, 0, 2, "2"}};
inline constexpr std::array kImage{
    InputKey{{"rows_at_once", "integer", "rows", "kernel rows of an operation: 1, 2 or 4"}, 1, 4, "as many as fit"}};
inline constexpr InputKey kUlp{{"ulp", "integer", "", "steps of the output's type that a value may differ from `expected`"}, 0, 65535, "0"};
inline constexpr InputKey kAtol{{"atol", "number", "", "with rtol: |found - expected| may be atol + rtol * |expected|"}, 0, 0, "0"};
inline constexpr InputKey kRtol{{"rtol", "number", "", "see atol"}, 0, 0, "0"};
inline constexpr std::array kData{
    InputKey{{"seed", "integer", "", "seed of the tensors"}, 0, INT64_MAX, "1"},
    InputKey{{"input", "file", "", "NumPy file of the input", "from a file"}},
    InputKey{{"weights", "file", "", "NumPy file of the weights", "from a file"}},
    InputKey{{"bias", "file", "", "NumPy file of the bias", "from a file"}},
    InputKey{{"expected", "file", "", "NumPy file of the expected output", "from a file"}},
    kUlp,
    kAtol,
    kRtol,
    InputKey{{"bs_alu", "file", "", "NumPy file of the operand of BS's ALU", "from a file"}},
    InputKey{{"bs_mul", "file", "", "NumPy file of the operand of BS's multiplier", "from a file"}},
    InputKey{{"bn_alu", "file", "", "NumPy file of the operand of BN's ALU", "from a file"}},
    InputKey{{"bn_mul", "file", "", "NumPy file of the operand of BN's multiplier", "from a file"}},
    InputKey{{"ew_alu", "file", "", "NumPy file of the operand of EW's ALU", "from a file"}},
    InputKey{{"ew_mul", "file", "", "NumPy file of the operand of EW's multiplier", "from a file"}},
};
inline constexpr std::array kPlacement{
    InputKey{{"input", "integer or object", "address", "of the input"}},
    InputKey{{"weights", "integer or object", "address", "of the weights"}},
    InputKey{{"output", "integer or object", "address", "of the output"}},
    InputKey{{"bias", "integer or object", "address", "of the bias", "in place of bs"}},
    InputKey{{"bs", "integer or object", "address", "of the operands of BS"}},
    InputKey{{"bn", "integer or object", "address", "of the operands of BN"}},
    InputKey{{"ew", "integer or object", "address", "of the operands of EW"}},
};
inline constexpr std::array kPartition{
    InputKey{{"rows", "integer or list", "rows", "maximum output rows per tile; a list has a number for each tile"}, 1, kMaxSide, "all"},
    InputKey{{"columns", "integer", "columns", "maximum output columns per tile", "tiled by columns"}, 1, kMaxSide, "all"},
    InputKey{{"dilation_phases", "flag", "", "a tile for each phase of the dilation", "it is true"}, 0, 0, "false"},
    InputKey{{"kernels", "integer", "kernels", "maximum kernels per tile"}, 1, kMaxSide, "all"},
    InputKey{{"data_banks", "integer", "banks", "CBUF banks for the input of every tile"}, 1, 32, "what it needs"},
    InputKey{{"weight_banks", "integer", "banks", "CBUF banks for the weights of every tile"}, 1, 32, "what it needs"},
    InputKey{{"pooled", "flag", "", "rows and columns are those of the fused pooling", "a network's layer"}, 0, 0, "false"},
    InputKey{{"padded", "flag", "", "kernels may be less than a group", "it is true"}, 0, 0, "false"},
    InputKey{{"reuse_data", "flag", "", "keep input that the next tile needs"}, 0, 0, "false"},
    InputKey{{"reuse_weights", "flag", "", "keep the weights for the next rows"}, 0, 0, "false"},
};
inline constexpr std::array kPlan{
    InputKey{{"minimise", "text", "", "what the tiling minimises; balanced: cycles times the fourth root of the bytes moved", "",
              "parts cycles traffic balanced"},
             0,
             0,
             "parts"},
};
/// Of a network: as of a layer, but for what is usual.
inline constexpr std::array kNetworkPlan = [] {
    std::array plan = kPlan;
    plan.front().otherwise = "balanced; parts with \"overlap\": \"none\"";
    return plan;
}();

// ---- SDP
inline constexpr std::array kPost{
    InputKey{{"bias", "flag or object", "", "the layer's, as in earlier versions", "in place of that one"}, 0, 0, "false"},
    InputKey{
        {"activation", "text", "", "the layer's, as in earlier versions", "in place of that one", "none relu relu6 leaky"}, 0, 0, "none"},
    InputKey{{"bs", "object", "", "the first engine", "it is used"}},
    InputKey{{"bn", "object", "", "the second engine", "it is used"}},
    InputKey{{"ew", "object", "", "the third engine", "it is used"}},
    InputKey{{"nan_to_zero", "flag", "", "NaN at the input of SDP become 0", "fp16"}, 0, 0, "false"},
    InputKey{{"output", "object", "", "the output converter"}},
    InputKey{{"pool", "object", "", "pooling after SDP", "there is one"}},
};
inline constexpr std::array kBias{InputKey{{"shift", "integer", "bits", "left shift of the bias"}, 0, 31, "0"}};
inline constexpr std::array kOutput{
    InputKey{{"precision", "text", "", "of the output", "", "int8 int16 fp16"}, 0, 0, "the layer's"},
    InputKey{{"offset", "integer", "", "subtracted before scaling"}, INT32_MIN, INT32_MAX, "0"},
    InputKey{{"scale", "integer", "", "factor"}, -32768, 32767, "1"},
    InputKey{{"shift", "integer", "bits", "right shift after scaling"}, 0, 63, "0"},
};
inline constexpr InputKey kOperandBytes{{"operand_bytes", "integer", "bytes", "bytes of an operand in memory"}, 1, 2, "2"};
inline constexpr std::array kEngine{
    InputKey{{"alu", "object", "", "first", "it is used"}},
    InputKey{{"mul", "object", "", "then", "it is used"}},
    InputKey{{"shift", "integer", "bits", "right shift after the multiplier"}, 0, 63, "0"},
    InputKey{{"relu", "flag", "", "negative numbers become 0"}, 0, 0, "false"},
    kOperandBytes,
};
inline constexpr std::array kEwEngine{
    InputKey{{"mul", "object", "", "first", "it is used"}},
    InputKey{{"shift", "integer", "bits", "right shift after the multiplier"}, 0, 1023, "0"},
    InputKey{{"alu", "object", "", "then", "it is used"}},
    InputKey{{"lut", "object", "", "at last", "it is used"}},
    kOperandBytes,
};
inline constexpr InputKey kPer{{"per", "text", "", "one operand per", "", "layer kernel element"}, 0, 0, "kernel"};
inline constexpr InputKey kValue{{"value", "number", "", "the operand", "per layer"}};
inline constexpr InputKey kOperandConversion{{"conversion", "object", "", "of integers from memory", "there is one"}};
inline constexpr std::array kAlu{
    InputKey{{"op", "text", "", "function", "", "sum max min"}, 0, 0, "sum"},
    kPer,
    kValue,
    InputKey{{"shift", "integer", "bits", "left shift of the operand"}, 0, 63, "0"},
};
inline constexpr std::array kEwAlu{InputKey{{"op", "text", "", "function", "", "sum max min equal"}, 0, 0, "sum"}, kPer, kValue,
                                   kOperandConversion};
inline constexpr InputKey kPrelu{{"prelu", "flag", "", "negative numbers only"}, 0, 0, "false"};
inline constexpr std::array kMul{kPrelu, kPer, kValue};
inline constexpr std::array kEwMul{kPrelu, kPer, kValue, kOperandConversion};
inline constexpr std::array kEwConversion{
    InputKey{{"offset", "integer", "", "subtracted first"}, INT32_MIN, INT32_MAX, "0"},
    InputKey{{"scale", "integer", "", "factor"}, -32768, 32767, "1"},
    InputKey{{"truncate", "integer", "bits", "right shift"}, 0, 63, "0"},
};
inline constexpr std::array kLut{
    InputKey{{"le", "object", "", "table of 65 entries", "tables in full"}},
    InputKey{{"lo", "object", "", "table of 257 entries", "tables in full"}},
    InputKey{{"priority", "object", "", "which table is selected", "tables in full"}},
    InputKey{{"function", "text", "", "function that fills the tables", "in place of tables", "sigmoid tanh"}},
    InputKey{{"input_scale", "number", "", "input value of one step", "with a function"}},
    InputKey{{"output_scale", "number", "", "output value of one step", "with a function"}},
};
inline constexpr std::array kLo{
    InputKey{{"start", "number", "", "where the table begins"}, 0, 0, "0"},
    InputKey{{"end", "number", "", "where the table ends"}, 0, 0, "0"},
    InputKey{{"index_select", "integer", "", "log2 of a step"}, -128, 127, "0"},
    InputKey{{"underflow", "object", "", "the slope below it"}},
    InputKey{{"overflow", "object", "", "the slope above it"}},
    InputKey{{"entries", "list", "", "the numbers of the table"}},
};
inline constexpr std::array kLe{
    kLo[0],
    kLo[1],
    kLo[2],
    kLo[3],
    kLo[4],
    kLo[5],
    InputKey{{"function", "text", "", "spacing of the entries", "", "exponential linear"}, 0, 0, "exponential"},
    InputKey{{"index_offset", "integer", "", "log2 of the first step"}, -128, 127, "0"},
};
inline constexpr std::array kSlope{
    InputKey{{"scale", "number", "", "slope beyond the table"}, 0, 0, "0"},
    InputKey{{"shift", "integer", "bits", "right shift of the slope"}, -16, 15, "0"},
};
inline constexpr std::array kPriority{
    InputKey{{"underflow", "text", "", "below both tables", "", "le lo"}, 0, 0, "le"},
    InputKey{{"overflow", "text", "", "above both tables", "", "le lo"}, 0, 0, "le"},
    InputKey{{"hybrid", "text", "", "where both hit", "", "le lo"}, 0, 0, "le"},
};

// ---- PDP
inline constexpr std::array kPool{
    InputKey{{"function", "text", "", "function", "", "max min average"}},
    InputKey{{"kernel", "object", "", "of the window"}},
    InputKey{{"kernel_shape", "list", "elements", "ONNX: [height, width]", "in place of kernel"}},
    InputKey{{"stride", "object", "", "of the window, 1..8"}, 0, 0, "1"},
    InputKey{{"strides", "list", "elements", "ONNX: [y, x]", "in place of stride"}},
    InputKey{{"pad", "object", "", "padding, 0..7"}},
    InputKey{{"pads", "list", "elements", "ONNX: [top, left, bottom, right]", "in place of pad"}},
    InputKey{{"ceil_mode", "integer", "", "round the number of windows up"}, 0, 1, "0"},
    InputKey{{"count_include_pad", "integer", "", "the padding counts in the average", "averages"}, 0, 1, "0"},
};
inline constexpr std::array kPoolKernel{
    InputKey{{"width", "integer", "elements", "kernel width"}, 1, 8},
    InputKey{{"height", "integer", "elements", "kernel height"}, 1, 8},
};

// ---- from memory to memory
inline constexpr InputKey kTransferName = kLayer[0];
inline constexpr InputKey kSeed{{"seed", "integer", "", "seed of the data"}, 0, INT64_MAX, "1"};
inline constexpr std::array kCopyData{kSeed};
inline constexpr std::array kCubeData{kSeed,
                                      InputKey{{"input", "file", "", "NumPy file of the input", "from a file"}},
                                      InputKey{{"expected", "file", "", "NumPy file of the expected output", "from a file"}},
                                      kUlp,
                                      kAtol,
                                      kRtol};
inline constexpr std::array kCubePlacement{kPlacement[0], kPlacement[2]};
inline constexpr std::array kCube{
    kPlane[0],
    kPlane[1],
    InputKey{{"channels", "integer", "channels", "input channels"}, 1, kMaxSide},
};
inline constexpr std::array kCopy{
    kTransferName,
    InputKey{{"op", "text", "", "operation", "", "bdma"}},
    InputKey{{"blocks", "list", "", "the blocks to copy, in this order"}},
    InputKey{{"data", "object", "", "seed of the data"}},
};
inline constexpr std::array kBlock{
    InputKey{{"group", "integer", "", "launch group"}, 0, 1, "that of the previous block"},
    InputKey{{"wait", "flag", "", "for everything launched before"}, 0, 0, "false"},
    InputKey{{"source", "integer or object", "address", "where it is"}},
    InputKey{{"destination", "integer or object", "address", "where it goes"}},
    InputKey{{"line_bytes", "integer", "bytes", "bytes of a line"}, 32, 8192 * 32},
    InputKey{{"lines", "integer", "lines", "lines of a surface"}, 1, kMaxSide, "1"},
    InputKey{{"surfaces", "integer", "surfaces", "surfaces"}, 1, kMaxSide, "1"},
};
inline constexpr std::array kBlockEnd{
    kPlace[0],
    kPlace[1],
    InputKey{{"line_stride", "integer", "bytes", "bytes from a line to the next"}, 0, kMaxStride, "packed"},
    InputKey{{"surface_stride", "integer", "bytes", "bytes from a surface to the next"}, 0, kMaxStride, "packed"},
};
inline constexpr InputKey kCubeInput{{"input", "object", "", "the cube"}},
    kCubePrecision{{"precision", "text", "", "type of the elements", "", "int8 int16 fp16"}, 0, 0, "int8"},
    kCubePlaces{{"placement", "object", "", "its address and strides"}}, kCubeFiles{{"data", "object", "", "seed or files"}};
inline constexpr std::array kNormalisation{kTransferName,
                                           InputKey{{"op", "text", "", "operation", "", "lrn"}},
                                           InputKey{{"lrn", "object", "", "the formula"}},
                                           kCubeInput,
                                           kCubePrecision,
                                           kCubePlaces,
                                           kCubeFiles};
inline constexpr std::array kLrn{
    InputKey{{"size", "integer", "channels", "channels that are summed"}, 3, 9},
    InputKey{{"alpha", "number", "", "weight of the squares, 0..10^6"}, 0, 0, "0.0001"},
    InputKey{{"beta", "number", "", "exponent, 0..8"}, 0, 0, "0.75"},
    InputKey{{"bias", "number", "", "added to the squares, 10^-6..10^6"}, 0, 0, "1"},
    InputKey{{"input_scale", "number", "", "real value of a step of the input represents", "integers"}, 0, 0, "1"},
    InputKey{{"output_scale", "number", "", "real value of a step of the output represents", "integers"}, 0, 0, "the range stays"},
};

}  // namespace dlasim::keys

namespace dlasim {

/// With the places in the file.
std::vector<PlacedKey> layer_keys();

}  // namespace dlasim
