// A graph of real numbers: what an ONNX model computes for one image, with few operations. Constants are folded into their nodes, what only
// renames elements is gone, shapes are known.
//
//   OnnxModel ── importer.h ──► RealGraph ── simplify.h ──► the same, fewer nodes ── quantise.h ──► Network
//
// A value has the dimensions of ONNX without the batch, and is stored as a cube whose channels, rows and columns in this order are its
// elements in ONNX's order: a flattened value keeps the cube it was.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/model/layer.h"
#include "config/model/lrn.h"
#include "config/model/numbers.h"
#include "onnx/model.h"

namespace dlasim {

/// Of a list with one number for all, or one each.
inline double at(const std::vector<double>& list, std::size_t i) { return list[list.size() == 1 ? 0 : i]; }

struct CubeShape {
    std::uint32_t c = 1, h = 1, w = 1;
    std::uint64_t elements() const { return std::uint64_t{c} * h * w; }
    bool operator==(const CubeShape&) const = default;
};

struct RealValue {
    std::string name{};
    std::vector<std::int64_t> dims{};  // of one image
    CubeShape cube{};
    std::optional<Quantisation> quantisation{};  // given by the model: QuantizeLinear
};

enum class RealOp {
    Convolution,
    Deconvolution,
    Connected,
    Pool,
    Add,
    Multiply,
    Affine,
    Lrn,
    Concat,
    Upsample,
    Softmax,
    Function,
    Reshape,
    Compute
};

struct RealNode {
    RealOp op = RealOp::Affine;
    std::string label{};  // for messages: node "conv1" (Conv)
    std::vector<std::size_t> inputs{};
    std::size_t output = 0;

    Layer geometry{};                    // convolutions
    std::vector<float> weights{};        // [kernels][channels / groups][height][width]
    std::vector<double> weight_scale{};  // given by the model: one, or one a kernel
    std::vector<double> bias{};          // one a kernel, or none; of Affine one or one a channel
    std::vector<double> factor{};        // Affine: one or one a channel
    double sign = 1;                     // Add: of the second value
    Clamp clamp{};                       // convolutions, Add, Multiply, Affine

    Pool pool{};
    bool exclusive = false;
    Lrn lrn{};
    Extent times{};            // Upsample: of rows and columns
    std::uint32_t copies = 1;  // and of channels
    Function function{};
    Move move{};  // Reshape
    Compute compute{};
    bool logarithm = false;  // Softmax

    bool convolves() const { return op <= RealOp::Connected; }
    /// An average that PDP does not do: of elements that are no padding, or of more than 8 x 8.
    bool host_average() const
    {
        const auto far = [](const PoolAxis& axis) { return axis.kernel > 8 || axis.stride > 8; };
        return op == RealOp::Pool && pool.function == PoolFunction::Average && (exclusive || far(pool.x) || far(pool.y));
    }
    /// Its output has the numbers of its inputs, or what lies between them; the unit that does it has no converter.
    bool keeps_grid() const
    {
        return (op == RealOp::Pool && !host_average()) || op == RealOp::Concat || op == RealOp::Upsample || op == RealOp::Reshape;
    }
    bool identity() const { return op == RealOp::Affine && factor == std::vector<double>{1} && bias == std::vector<double>{0}; }
};

/// What the model gives, in the order in which it declares it.
struct RealOutput {
    std::string name{};
    std::size_t value = 0;
    OnnxType type = OnnxType::Float;
    std::vector<std::int64_t> dims{};     // of one image
    std::optional<OnnxArray> constant{};  // in place of a value: what the model has as a constant
};

struct RealGraph {
    std::string file{}, name{};
    bool batched = true;  // dimension 0 counts images; else it belongs to an image, and dims have it
    std::vector<RealValue> values{};
    std::vector<RealNode> nodes{};      // each after those whose outputs it reads
    std::vector<std::size_t> inputs{};  // values
    std::vector<OnnxType> input_types{};
    std::vector<std::vector<float>> fixed{};  // by input: its elements, where it is a constant of the model; else empty
    std::vector<RealOutput> outputs{};

    /// How often a value is read, each output once more.
    std::vector<std::size_t> readers() const;
    /// The node that makes a value; none of inputs.
    std::optional<std::size_t> maker(std::size_t value) const;
};

/// All problems of a model, reported together.
class Problems {
public:
    void add(const std::string& where, const std::string& what) { list_.push_back(where + ": " + what); }
    bool none() const { return list_.empty(); }
    std::size_t count() const { return list_.size(); }
    /// ConfigError with all of them, if there are any.
    void report(const std::string& file) const;

private:
    std::vector<std::string> list_;
};

}  // namespace dlasim
