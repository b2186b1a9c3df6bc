// An ONNX file as it is written: nodes, constants, inputs and outputs, without protobuf. Nothing is computed here; what a node means
// is in importer.h.
//
//   FILE.onnx ── protobuf (libonnx) ──► OnnxModel
//
// Source  onnx.proto of libonnx 1.12: IR versions up to 8; operator sets 1 to 22.
// Error   ConfigError naming the file: no ONNX model, truncated, data outside of the model's folder, counts beyond the limits.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlasim {

inline constexpr std::uint64_t kMaxOnnxBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMaxOnnxNodes = 20000, kMaxOnnxRank = 8, kMaxOnnxOutputs = 64;
inline constexpr std::int64_t kMaxOnnxElements = std::int64_t{1} << 28;  // of all constants together

/// Of elements, as far as they matter: what is written in output.npy, and in which range integers lie.
enum class OnnxType { Float, Half, Double, Int8, Uint8, Int16, Uint16, Int32, Int64, Bool };
struct OnnxTypeFacts {
    int code;  // of TensorProto.DataType
    const char *name, *npy;
    std::size_t bytes;
};
/// In their order.
inline constexpr std::array<OnnxTypeFacts, 10> kOnnxTypes{{{1, "float", "<f4", 4},
                                                           {10, "float16", "<f2", 2},
                                                           {11, "double", "<f8", 8},
                                                           {3, "int8", "|i1", 1},
                                                           {2, "uint8", "|u1", 1},
                                                           {5, "int16", "<i2", 2},
                                                           {4, "uint16", "<u2", 2},
                                                           {6, "int32", "<i4", 4},
                                                           {7, "int64", "<i8", 8},
                                                           {9, "bool", "|b1", 1}}};
constexpr const OnnxTypeFacts& facts_of(OnnxType type) { return kOnnxTypes[static_cast<std::size_t>(type)]; }
/// None of another code: texts, complex numbers.
constexpr std::optional<OnnxType> onnx_type(std::int64_t code)
{
    for (std::size_t i = 0; i < kOnnxTypes.size(); ++i)
        if (kOnnxTypes[i].code == code) return static_cast<OnnxType>(i);
    return std::nullopt;
}
inline bool is_real(OnnxType type) { return type <= OnnxType::Double; }

/// A constant. Floating point is held as float, integers as int32: what is beyond that (INT64_MAX for "to the end") is the nearest one.
struct OnnxArray {
    OnnxType type = OnnxType::Float;
    std::vector<std::int64_t> shape{};
    std::vector<float> reals{};
    std::vector<std::int32_t> wholes{};
    bool clamped = false;  // an integer was beyond int32

    std::size_t size() const { return is_real(type) ? reals.size() : wholes.size(); }
    double at(std::size_t i) const { return is_real(type) ? static_cast<double>(reals[i]) : static_cast<double>(wholes[i]); }
};

struct OnnxAttribute {
    enum class Kind { Whole, Real, Text, Wholes, Reals, Array, Other } kind = Kind::Other;
    std::int64_t whole = 0;
    double real = 0;
    std::string text{};
    std::vector<std::int64_t> wholes{};
    std::vector<double> reals{};
    OnnxArray array{};
};

struct OnnxNode {
    std::string name{}, op{}, domain{};
    std::vector<std::string> inputs{}, outputs{};  // an empty name: omitted
    std::map<std::string, OnnxAttribute> attributes{};

    /// For messages: node "conv1" (Conv).
    std::string label() const;
};

/// An input or output of the model. A dimension without a number is -1.
struct OnnxPort {
    std::string name{};
    OnnxType type = OnnxType::Float;
    bool shaped = false;
    std::vector<std::int64_t> shape{};
};

struct OnnxModel {
    std::string file{}, name{};
    std::int64_t opset = 0;
    std::vector<OnnxPort> inputs{};  // those that are no constants
    std::vector<OnnxPort> outputs{};
    std::map<std::string, OnnxArray> constants{};
    std::vector<OnnxNode> nodes{};  // in the order of the file: each after those whose outputs it reads
};

OnnxModel read_onnx(const std::string& path);
OnnxModel onnx_from_bytes(const std::string& bytes, const std::string& file);

}  // namespace dlasim
