// What the operators of ONNX are turned into nodes with: names and what stands behind them, attributes, refusals. importer.h is the way in.
#pragma once
#include <map>
#include <set>
#include <stdexcept>

#include "onnx/graph.h"

namespace dlasim {

/// A constant, and where it was dequantised the scales of its integers: one, or one for each place of `axis`.
struct RealConstant {
    OnnxArray array{};
    std::vector<double> scales{};
    std::int64_t axis = 0;
};

/// What a name of the model stands for: a constant, or a value of the graph seen with dimensions of its own.
struct Symbol {
    std::optional<RealConstant> constant{};
    std::size_t value = 0;
    std::vector<std::int64_t> dims{};  // of one image
    std::optional<OnnxType> whole{};   // integers of the value's grid, Int8 or Uint8
};

/// Thrown by an operator; becomes a line of the list of problems.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Importing;

/// A node that is being read. Every attribute must be asked for: one that is not is refused.
class NodeView {
public:
    NodeView(Importing& in, const OnnxNode& node) : in_(in), node_(node) {}

    const OnnxNode& node() const { return node_; }
    std::size_t inputs() const { return node_.inputs.size(); }
    bool has(std::size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
    /// Refuses a node without it.
    const Symbol& symbol(std::size_t input) const;
    bool is_constant(std::size_t input) const { return symbol(input).constant.has_value(); }
    /// A value, of integers too; `what` names it in a refusal of constants.
    const Symbol& any_value(std::size_t input, const char* what) const;
    /// A value of real numbers.
    const Symbol& value(std::size_t input, const char* what) const;
    const RealConstant& constant(std::size_t input, const char* what) const;
    /// Of a constant with one element.
    double scalar(std::size_t input, const char* what) const;

    bool given(const char* attribute) const { return node_.attributes.contains(attribute); }
    std::int64_t whole(const char* attribute, std::int64_t fallback);
    double real(const char* attribute, double fallback);
    std::string text(const char* attribute, const std::string& fallback);
    std::vector<std::int64_t> wholes(const char* attribute, const std::vector<std::int64_t>& fallback);
    const OnnxAttribute* any(const char* attribute);
    /// Refuses any other value.
    void expect(const char* attribute, std::int64_t only);
    std::vector<std::string> unread() const;

    /// `axis` of ONNX, the batch included, as a place of `dims`; refuses the batch.
    std::size_t axis(std::int64_t axis, std::size_t rank) const;

private:
    const OnnxAttribute* find(const char* attribute, OnnxAttribute::Kind kind);

    Importing& in_;
    const OnnxNode& node_;
    std::set<std::string> read_;
};

class Importing {
public:
    explicit Importing(const OnnxModel& model) : model_(model) {}
    RealGraph graph();

    const OnnxModel& model() const { return model_; }
    const Symbol& symbol(const std::string& name) const { return symbols_.at(name); }
    RealValue& value(std::size_t v) { return g_.values[v]; }

    /// A node with a value of these dimensions behind it.
    RealNode& add(NodeView& view, RealOp op, std::vector<std::size_t> inputs, const std::vector<std::int64_t>& dims, const CubeShape& cube);
    /// Of every element of a value; `by_channel`: another one for each channel. The node's first output.
    RealNode& affine(NodeView& view, const Symbol& symbol, bool by_channel);
    /// The first output of a node.
    void set(const NodeView& view, Symbol symbol);
    void set_constant(const NodeView& view, OnnxArray array);
    /// The value as the cube of its dimensions; the host moves its elements where it stands otherwise.
    std::size_t natural(NodeView& view, const Symbol& symbol);
    /// The value seen with these dimensions, and they in another order, as the cube of the new ones: the host moves the elements.
    Symbol exchanged(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims, const std::vector<std::size_t>& order);
    CubeShape natural_cube(const std::vector<std::int64_t>& dims) const;
    /// A constant with an element for each one of an image, as a value that stands in memory.
    Symbol fixed_value(NodeView& view, std::size_t input, const std::vector<double>& elements, const std::vector<std::int64_t>& dims);
    /// Constants that are made, weights of nodes: all together are bounded.
    void charge(std::size_t elements);

private:
    void read_inputs();
    void read_node(const OnnxNode& node);
    void mark_unknown(const OnnxNode& node);
    bool reads_unknown(const OnnxNode& node) const;
    void read_outputs();
    void read_output(const OnnxPort& port);

    const OnnxModel& model_;
    RealGraph g_;
    std::map<std::string, Symbol> symbols_;
    std::set<std::string> unknown_, names_;
    Problems problems_;
    std::uint64_t charged_ = 0;
};

/// The operators, by name.
using Operator = void (*)(Importing&, NodeView&);
Operator find_operator(const std::string& domain, const std::string& op);

// operators_shape.cpp
void import_shape(Importing& in, NodeView& view);  // Identity, Dropout, Flatten, Reshape, Squeeze, Unsqueeze, Cast
void import_transpose(Importing& in, NodeView& view);
void import_concat(Importing& in, NodeView& view);
void import_resize(Importing& in, NodeView& view);
void import_softmax(Importing& in, NodeView& view);
// operators_conv.cpp
void import_conv(Importing& in, NodeView& view);
void import_conv_transpose(Importing& in, NodeView& view);
void import_gemm(Importing& in, NodeView& view);
void import_matmul(Importing& in, NodeView& view);
void import_qlinear_conv(Importing& in, NodeView& view);
void import_qlinear_matmul(Importing& in, NodeView& view);
// operators_arithmetic.cpp
void import_arithmetic(Importing& in, NodeView& view);  // Add, Sub, Mul, Div, Sum, Neg
void import_batch_norm(Importing& in, NodeView& view);
void import_expand(Importing& in, NodeView& view);
// operators_point.cpp
void import_quantize(Importing& in, NodeView& view);
void import_dequantize(Importing& in, NodeView& view);
void import_bend(Importing& in, NodeView& view);  // Relu, Clip, LeakyRelu, PRelu
void import_function(Importing& in, NodeView& view);
// operators_window.cpp
void import_pool(Importing& in, NodeView& view);
void import_lrn(Importing& in, NodeView& view);

/// What a node of constants makes; none if it cannot be told here.
std::optional<OnnxArray> folded(NodeView& view);

/// Padding of both sides of a direction, from `pads` or `auto_pad`.
struct WindowSides {
    std::int64_t before = 0, after = 0;
};
/// `sizes`, `spans`, `strides`: rows, then columns; of one dimension one each. `ceil`: of pooling.
std::vector<WindowSides> read_window_pads(NodeView& view, const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& spans,
                                          const std::vector<std::int64_t>& strides);
/// [1 or 2] numbers of an attribute, 1 each without it.
std::vector<std::int64_t> read_spatial(NodeView& view, const char* attribute, std::size_t rank);

}  // namespace dlasim
