// What the operators of ONNX are turned into nodes with: names and their values, attributes, refusals. importer.h is the way in.
#pragma once
#include <map>
#include <set>
#include <stdexcept>

#include "onnx/graph.h"
#include "onnx/importer.h"

namespace dlasim {

/// A constant, and where it was dequantised the scales of its integers: one, or one for each place of `axis`.
struct RealConstant {
    OnnxArray array{};
    std::vector<double> scales{};
    std::int64_t axis = 0;
    bool of_batch = false;     // made of a shape whose dimension 0 counts images
    bool front_batch = false;  // and so is its first element
    bool front_alone = false;  // no other is
};

/// The meaning of a name of the model: a constant, or a value of the graph seen with dimensions of its own.
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
/// The same, where images that are independent of each other are the reason.
struct BatchRefused : Refused {
    using Refused::Refused;
};
/// Where dimension 0 is a dimension like others, of an operator that has a batch.
struct NeedsBatch : Refused {
    using Refused::Refused;
};
/// An input whose numbers are needed while the model is read, and which are given: the model is read again with this constant.
struct NeedsConstant {
    std::string input;
};

/// What dimension 0 of the inputs is.
enum class Batching {
    Images,  // it counts images, which are independent of each other
    Whole,   // a dimension like others
    Single   // the same, of size 1 where the model leaves it open
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

    /// `axis` of ONNX as a place of `dims`, which has `rank` of them; refuses the batch.
    std::size_t axis(std::int64_t axis, std::size_t rank) const;
    /// Integers of an attribute or, in later operator sets, of an input; none of both: empty.
    std::vector<std::int64_t> integers(std::size_t input, const char* attribute);

    std::vector<std::int64_t> around{};  // zeros of a node before, as `pads` has them: they join these

private:
    const OnnxAttribute* find(const char* attribute, OnnxAttribute::Kind kind);

    Importing& in_;
    const OnnxNode& node_;
    std::set<std::string> read_;
};

class Importing {
public:
    Importing(const OnnxModel& model, const GivenInputs& given, Batching batching, const std::set<std::string>& constants)
        : model_(model), given_(given), batching_(batching), given_constants_(constants)
    {
    }
    /// Throws NeedsConstant.
    void read();
    const Problems& problems() const { return problems_; }
    bool mixes_batch() const { return mixes_batch_; }
    bool needs_batch() const { return needs_batch_; }
    /// pre: no problems
    RealGraph take();

    const OnnxModel& model() const { return model_; }
    const Symbol& symbol(const std::string& name) const { return symbols_.at(name); }
    bool is_input(const std::string& name) const;
    bool gives(const std::string& name) const;  // an input whose elements are given
    bool batched() const { return batching_ == Batching::Images; }
    /// Dimension 0 of the first input as the model declares it or as it is given, else -1.
    std::int64_t declared_batch() const;
    /// As ONNX has it: the batch of an image, which is 1, in front.
    std::vector<std::int64_t> full(std::vector<std::int64_t> dims) const;
    /// The other way; refuses what is no image.
    std::vector<std::int64_t> of_image(std::vector<std::int64_t> shape) const;
    /// For operators that know a batch and channels: seen without the batch.
    Symbol image(const Symbol& symbol) const;
    /// Dimensions that `image` has seen, as others see them.
    std::vector<std::int64_t> of_front(std::vector<std::int64_t> dims) const;
    RealValue& value(std::size_t v) { return g_.values[v]; }

    /// A node with an output value of these dimensions.
    RealNode& add(NodeView& view, RealOp op, std::vector<std::size_t> inputs, const std::vector<std::int64_t>& dims, const CubeShape& cube);
    /// Of every element of a value; `by_channel`: another one for each channel. The node's first output.
    RealNode& affine(NodeView& view, const Symbol& symbol, bool by_channel);
    /// An output of a node.
    void set(const NodeView& view, Symbol symbol, std::size_t output = 0);
    /// The same, seen as `image` sees it.
    void set_image(const NodeView& view, Symbol symbol);
    void set_constant(const NodeView& view, OnnxArray array, std::size_t output = 0);
    /// The value as the cube of its dimensions; the CPU moves its elements if its layout differs.
    std::size_t natural(NodeView& view, const Symbol& symbol);
    std::size_t as_cube(NodeView& view, const Symbol& symbol, const CubeShape& cube);
    /// Elements of the value where `from` says, as a value of these dimensions: the host moves them.
    Symbol moved(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims, std::vector<std::int32_t> from,
                 double fill = 0);
    /// A value of the host, of one or two values in the order of their elements.
    Symbol computed(NodeView& view, const Compute& compute, const std::vector<Symbol>& inputs, const std::vector<std::int64_t>& dims);
    /// Zeros around a value, which a convolution or a pooling may take into its own padding: [before, after] of the last two dimensions.
    struct Padded {
        Symbol inner{};
        std::int64_t top = 0, bottom = 0, left = 0, right = 0;
        double fill = 0;
    };
    void note_padding(std::size_t value, const Padded& padded) { padded_[value] = padded; }
    const Padded* padding_of(std::size_t value) const;
    /// The model does not give it, and no other nodes read it.
    bool only_read_by(const std::string& name, const std::set<std::string>& operators) const;
    /// The value seen with these dimensions, and they in another order, as the cube of the new ones: the host moves the elements.
    Symbol exchanged(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims, const std::vector<std::size_t>& order);
    /// Of dimensions of an image: channels, rows, columns.
    CubeShape cube_of(const std::vector<std::int64_t>& dims) const;
    CubeShape natural_cube(const std::vector<std::int64_t>& dims) const;
    /// A constant with an element for each one of an image, as a value in memory.
    Symbol fixed_value(const std::string& name, const std::vector<double>& elements, const std::vector<std::int64_t>& dims);
    /// A constant as such a value, repeated to these dimensions.
    Symbol fixed_value(const std::string& name, const RealConstant& constant, const std::vector<std::int64_t>& dims);
    /// Constants that are made, weights of nodes: all together are bounded.
    void charge(std::size_t elements);

private:
    void read_inputs();
    void read_input(const OnnxPort& port);
    std::vector<std::int64_t> shape_of(const OnnxPort& port) const;
    bool take_constant(const OnnxPort& port);
    void note_batch(const NodeView& view, RealConstant& made) const;
    void check_batch();
    void drop_unread_inputs();
    void read_node(const OnnxNode& node);
    void mark_unknown(const OnnxNode& node);
    bool reads_unknown(const OnnxNode& node) const;
    void read_outputs();
    void read_output(const OnnxPort& port);

    const OnnxModel& model_;
    const GivenInputs& given_;
    const Batching batching_;
    const std::set<std::string> given_constants_;
    RealGraph g_;
    std::map<std::size_t, Padded> padded_;
    bool mixes_batch_ = false, needs_batch_ = false;
    std::map<std::string, Symbol> symbols_;
    std::set<std::string> unknown_, names_;
    Problems problems_;
    std::uint64_t charged_ = 0;
};

/// The operators, by name.
using Operator = void (*)(Importing&, NodeView&);
Operator find_operator(const std::string& domain, const std::string& op);

// operators_shape.cpp
/// The type that Cast makes, 0 for one without a number here.
std::int64_t cast_type(NodeView& view);
void import_shape(Importing& in, NodeView& view);  // Identity, Dropout, Flatten, Reshape, Squeeze, Unsqueeze, Cast
void import_transpose(Importing& in, NodeView& view);
void import_concat(Importing& in, NodeView& view);
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
/// The tensor and the constant, the constant on the right unless `left`: Add, Sub, Mul, Div.
Symbol with_constant(Importing& in, NodeView& view, const std::string& op, const Symbol& symbol, const RealConstant& constant,
                     const std::string& name, bool left = false);
/// Add, Sub, Mul, Div, Max, Min of tensors.
Symbol between(Importing& in, NodeView& view, const std::string& op, const Symbol& first, const Symbol& second);
/// What is there once is repeated until there are as many as in `dims`: by the host.
Symbol repeated(Importing& in, NodeView& view, const Symbol& from, const std::vector<std::int64_t>& dims);
/// The shape of both, where what is there once is repeated.
std::vector<std::int64_t> common_shape(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);
// operators_point.cpp
void import_quantize(Importing& in, NodeView& view);
void import_dequantize(Importing& in, NodeView& view);
void import_bend(Importing& in, NodeView& view);  // Relu, Clip, LeakyRelu, PRelu
void import_function(Importing& in, NodeView& view);
// operators_move.cpp
void import_slice(Importing& in, NodeView& view);
void import_split(Importing& in, NodeView& view);
void import_gather(Importing& in, NodeView& view);
void import_pad(Importing& in, NodeView& view);
void import_tile(Importing& in, NodeView& view);
void import_depth(Importing& in, NodeView& view);  // DepthToSpace, SpaceToDepth
void import_resize(Importing& in, NodeView& view);
void import_expand(Importing& in, NodeView& view);
// operators_host.cpp
void import_instance_norm(Importing& in, NodeView& view);
void import_layer_norm(Importing& in, NodeView& view);
void import_extreme(Importing& in, NodeView& view);  // Max, Min
void import_power(Importing& in, NodeView& view);
void import_argmax(Importing& in, NodeView& view);
/// Over any dimensions of `dims`: on the host.
Symbol mean_over(Importing& in, NodeView& view, const Symbol& symbol, const std::vector<std::size_t>& places, bool keep);
/// Of tensors, one of which may be a constant.
void multiply_matrices(Importing& in, NodeView& view, const Symbol& a, const Symbol& b);
// operators_window.cpp
void import_pool(Importing& in, NodeView& view);
void import_lrn(Importing& in, NodeView& view);

/// What a node of constants makes; none if unknown here.
std::optional<OnnxArray> folded(Importing& in, NodeView& view);

// Elements in another order: operators_move.cpp.
/// Dimension i of the result is `order[i]` of those that are read.
std::vector<std::int32_t> permutation(const std::vector<std::int64_t>& dims, const std::vector<std::size_t>& order);
/// Of every dimension the places that are read, -1 for none.
std::vector<std::int32_t> selection(const std::vector<std::int64_t>& dims, const std::vector<std::vector<std::int64_t>>& places);
/// The places of every dimension in their order.
std::vector<std::vector<std::int64_t>> all_places(const std::vector<std::int64_t>& dims);
/// Those that Slice takes; axes are those of `dims`.
std::vector<std::vector<std::int64_t>> sliced_places(NodeView& view, const std::vector<std::int64_t>& dims);
std::int64_t elements_of(const std::vector<std::int64_t>& dims);

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
