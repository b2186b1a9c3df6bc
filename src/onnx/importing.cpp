#include "onnx/importing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "config/network_reader.h"
#include "files/config_errors.h"
#include "onnx/importer.h"

namespace dlasim {
namespace {

constexpr std::int64_t kMaxSide = 8192;

const std::map<std::string, Operator>& operators()
{
    static const std::map<std::string, Operator> table{
        {"Conv", import_conv},
        {"ConvTranspose", import_conv_transpose},
        {"Gemm", import_gemm},
        {"MatMul", import_matmul},
        {"QLinearConv", import_qlinear_conv},
        {"QLinearMatMul", import_qlinear_matmul},
        {"QuantizeLinear", import_quantize},
        {"DequantizeLinear", import_dequantize},
        {"BatchNormalization", import_batch_norm},
        {"Add", import_arithmetic},
        {"Sub", import_arithmetic},
        {"Mul", import_arithmetic},
        {"Div", import_arithmetic},
        {"Sum", import_arithmetic},
        {"Neg", import_arithmetic},
        {"Expand", import_expand},
        {"Relu", import_bend},
        {"Clip", import_bend},
        {"LeakyRelu", import_bend},
        {"PRelu", import_bend},
        {"Sigmoid", import_function},
        {"Tanh", import_function},
        {"Elu", import_function},
        {"Selu", import_function},
        {"Softplus", import_function},
        {"Softsign", import_function},
        {"HardSigmoid", import_function},
        {"HardSwish", import_function},
        {"Exp", import_function},
        {"Log", import_function},
        {"Sqrt", import_function},
        {"Abs", import_function},
        {"Reciprocal", import_function},
        {"Erf", import_function},
        {"MaxPool", import_pool},
        {"AveragePool", import_pool},
        {"GlobalMaxPool", import_pool},
        {"GlobalAveragePool", import_pool},
        {"ReduceMean", import_pool},
        {"LRN", import_lrn},
        {"Transpose", import_transpose},
        {"Concat", import_concat},
        {"Resize", import_resize},
        {"Upsample", import_resize},
        {"Softmax", import_softmax},
        {"LogSoftmax", import_softmax},
        {"Identity", import_shape},
        {"Dropout", import_shape},
        {"Flatten", import_shape},
        {"Reshape", import_shape},
        {"Squeeze", import_shape},
        {"Unsqueeze", import_shape},
        {"Cast", import_shape},
    };
    return table;
}

std::string shape_text(const std::vector<std::int64_t>& shape)
{
    std::string text = "[";
    for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + (size < 0 ? std::string("?") : std::to_string(size));
    return text + "]";
}

}  // namespace

Operator find_operator(const std::string& domain, const std::string& op)
{
    if (!domain.empty()) return nullptr;
    const auto known = operators().find(op);
    return known == operators().end() ? nullptr : known->second;
}

void Problems::report(const std::string& file) const
{
    if (list_.size() == 1) throw ConfigError(file, list_.front());
    if (!list_.empty()) throw ConfigErrors(file, list_);
}

std::vector<std::size_t> RealGraph::readers() const
{
    std::vector<std::size_t> count(values.size());
    for (const RealNode& node : nodes)
        for (const std::size_t value : node.inputs) ++count[value];
    for (const RealOutput& output : outputs) ++count[output.value];
    return count;
}

std::optional<std::size_t> RealGraph::maker(std::size_t value) const
{
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].output == value) return i;
    return std::nullopt;
}

// ------------------------------------------------------------------------------------------ a node

const Symbol& NodeView::symbol(std::size_t input) const
{
    if (!has(input)) throw Refused("has no input " + std::to_string(input) + ", expected one");
    return in_.symbol(node_.inputs[input]);
}

const Symbol& NodeView::any_value(std::size_t input, const char* what) const
{
    const Symbol& found = symbol(input);
    if (found.constant) throw Refused(std::string("found a constant as ") + what + ", expected a tensor that is computed");
    return found;
}

const Symbol& NodeView::value(std::size_t input, const char* what) const
{
    const Symbol& found = any_value(input, what);
    if (found.whole) throw Refused(std::string("found integers as ") + what + ", expected real numbers: DequantizeLinear in front");
    return found;
}

const RealConstant& NodeView::constant(std::size_t input, const char* what) const
{
    const Symbol& found = symbol(input);
    if (!found.constant) throw Refused(std::string("found a tensor that is computed as ") + what + ", expected a constant");
    return *found.constant;
}

double NodeView::scalar(std::size_t input, const char* what) const
{
    const OnnxArray& array = constant(input, what).array;
    if (array.size() != 1) throw Refused("found " + std::to_string(array.size()) + " numbers as " + what + ", expected one");
    return array.at(0);
}

const OnnxAttribute* NodeView::find(const char* attribute, OnnxAttribute::Kind kind)
{
    read_.insert(attribute);
    const auto known = node_.attributes.find(attribute);
    if (known == node_.attributes.end()) return nullptr;
    if (known->second.kind != kind) throw Refused(std::string("attribute \"") + attribute + "\" is of another type than ONNX gives it");
    return &known->second;
}

std::int64_t NodeView::whole(const char* attribute, std::int64_t fallback)
{
    const OnnxAttribute* found = find(attribute, OnnxAttribute::Kind::Whole);
    return found ? found->whole : fallback;
}

double NodeView::real(const char* attribute, double fallback)
{
    const OnnxAttribute* found = find(attribute, OnnxAttribute::Kind::Real);
    return found ? found->real : fallback;
}

std::string NodeView::text(const char* attribute, const std::string& fallback)
{
    const OnnxAttribute* found = find(attribute, OnnxAttribute::Kind::Text);
    return found ? found->text : fallback;
}

std::vector<std::int64_t> NodeView::wholes(const char* attribute, const std::vector<std::int64_t>& fallback)
{
    const OnnxAttribute* found = find(attribute, OnnxAttribute::Kind::Wholes);
    return found ? found->wholes : fallback;
}

const OnnxAttribute* NodeView::any(const char* attribute)
{
    read_.insert(attribute);
    const auto known = node_.attributes.find(attribute);
    return known == node_.attributes.end() ? nullptr : &known->second;
}

void NodeView::expect(const char* attribute, std::int64_t only)
{
    const std::int64_t found = whole(attribute, only);
    if (found != only)
        throw Refused(std::string("attribute \"") + attribute + "\": found " + std::to_string(found) + ", expected " +
                      std::to_string(only));
}

std::vector<std::string> NodeView::unread() const
{
    std::vector<std::string> names;
    for (const auto& [name, attribute] : node_.attributes)
        if (!read_.contains(name)) names.push_back(name);
    return names;
}

std::size_t NodeView::axis(std::int64_t axis, std::size_t rank) const
{
    const auto full = static_cast<std::int64_t>(rank) + 1, place = axis < 0 ? axis + full : axis;
    if (place < 0 || place >= full)
        throw Refused("found axis " + std::to_string(axis) + " of a tensor with " + std::to_string(full) +
                      " dimensions, expected one of them");
    if (place == 0) throw Refused("works along the batch, expected another axis: images are independent of each other");
    return static_cast<std::size_t>(place - 1);
}

// ----------------------------------------------------------------------------------------- the model

RealGraph Importing::graph()
{
    g_.file = model_.file;
    g_.name = model_.name;
    for (const auto& [name, array] : model_.constants) symbols_[name].constant = RealConstant{array, {}, 0};
    read_inputs();
    for (const OnnxNode& node : model_.nodes) read_node(node);
    read_outputs();
    problems_.report(model_.file);
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {  // integers that nobody gave a scale stand for themselves
        std::optional<Quantisation>& quantisation = g_.values[g_.inputs[i]].quantisation;
        if (!is_real(g_.input_types[i]) && !quantisation) quantisation = Quantisation{1, g_.input_types[i] == OnnxType::Uint8 ? -128 : 0};
    }
    return std::move(g_);
}

void Importing::read_inputs()
{
    if (model_.inputs.empty()) problems_.add("inputs", "found none, expected at least one tensor that is no constant");
    for (const OnnxPort& port : model_.inputs) {
        const std::string where = "input \"" + port.name + "\"";
        Symbol symbol;
        symbol.value = g_.values.size();
        if (port.type == OnnxType::Int8 || port.type == OnnxType::Uint8) symbol.whole = port.type;
        if (!symbol.whole && !is_real(port.type))
            problems_.add(where,
                          std::string("found elements of type ") + onnx_type_name(port.type) + ", expected floating point, int8 or uint8");
        if (!port.shaped || port.shape.empty()) problems_.add(where, "has no dimensions, expected the batch and those of an image");
        for (std::size_t i = 1; i < port.shape.size(); ++i) {
            if (port.shape[i] < 1)
                problems_.add(where, "found shape " + shape_text(port.shape) + ", expected numbers above 0 behind the batch");
            symbol.dims.push_back(std::max<std::int64_t>(port.shape[i], 1));
        }
        CubeShape cube;
        try {
            cube = natural_cube(symbol.dims);
        } catch (const Refused& refused) {
            problems_.add(where, refused.what());
        }
        g_.values.push_back({port.name, symbol.dims, cube, std::nullopt});
        g_.inputs.push_back(symbol.value);
        g_.input_types.push_back(port.type);
        g_.fixed.emplace_back();
        names_.insert(port.name);
        symbols_[port.name] = symbol;
    }
}

bool Importing::reads_unknown(const OnnxNode& node) const
{
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) { return unknown_.contains(name); });
}

void Importing::mark_unknown(const OnnxNode& node)
{
    for (const std::string& output : node.outputs) unknown_.insert(output);
}

void Importing::read_node(const OnnxNode& node)
{
    const Operator known = find_operator(node.domain, node.op);
    NodeView view(*this, node);
    try {
        for (const std::string& input : node.inputs)
            if (!input.empty() && !unknown_.contains(input) && !symbols_.contains(input))
                throw Refused("reads \"" + input + "\", which is no input and no first output of a node before");
        if (node.outputs.empty()) throw Refused("has no output, expected one");
        for (const std::string& output : node.outputs)
            if (symbols_.contains(output)) throw Refused("makes \"" + output + "\", which is there already");
        if (reads_unknown(node)) {
            if (!known && node.op != "Constant" && node.op != "Shape")
                throw Refused("is no operator that runs here: docs/ONNX.md lists them");
            return mark_unknown(node);
        }
        if (node.domain.empty())
            if (std::optional<OnnxArray> array = folded(view)) return set_constant(view, std::move(*array));
        if (!known) throw Refused("is no operator that runs here: docs/ONNX.md lists them");
        known(*this, view);
        for (const std::string& name : view.unread()) throw Refused("attribute \"" + name + "\" is not known, expected none of that name");
    } catch (const Refused& refused) {
        problems_.add(node.label(), refused.what());
        mark_unknown(node);
    } catch (const ConfigError& error) {
        problems_.add(node.label(), error.what());
        mark_unknown(node);
    }
}

void Importing::read_outputs()
{
    const std::size_t count = model_.outputs.size();
    if (count == 0 || count > kMaxOnnxOutputs)
        return problems_.add("outputs", "found " + std::to_string(count) + ", expected 1 to " + std::to_string(kMaxOnnxOutputs));
    std::set<std::string> names;
    for (const OnnxPort& port : model_.outputs) {
        if (names.insert(port.name).second) read_output(port);
        else problems_.add("output \"" + port.name + "\"", "stands there twice, expected once");
    }
}

void Importing::read_output(const OnnxPort& port)
{
    if (unknown_.contains(port.name)) return;
    const std::string where = "output \"" + port.name + "\"";
    const auto known = symbols_.find(port.name);
    if (known == symbols_.end()) return problems_.add(where, "is made by no node");
    const Symbol& symbol = known->second;
    if (symbol.constant) return problems_.add(where, "is a constant, expected a tensor that is computed");
    const OnnxType type = symbol.whole ? *symbol.whole : is_real(port.type) ? port.type : OnnxType::Float;
    g_.outputs.push_back({port.name, symbol.value, type, symbol.dims});
}

RealNode& Importing::add(NodeView& view, RealOp op, std::vector<std::size_t> inputs, const std::vector<std::int64_t>& dims,
                         const CubeShape& cube)
{
    if (g_.nodes.size() >= kMaxNetworkLayers)
        throw Refused("is one node too many, expected at most " + std::to_string(kMaxNetworkLayers) + " that compute");
    std::string name = view.node().outputs.front();
    for (int n = 2; !names_.insert(name).second; ++n) name = view.node().outputs.front() + "." + std::to_string(n);
    g_.values.push_back({name, dims, cube, std::nullopt});
    RealNode node;
    node.op = op;
    node.label = view.node().label();
    node.inputs = std::move(inputs);
    node.output = g_.values.size() - 1;
    node.factor = {1};
    if (op == RealOp::Affine) node.bias = {0};
    g_.nodes.push_back(std::move(node));
    return g_.nodes.back();
}

RealNode& Importing::affine(NodeView& view, const Symbol& symbol, bool by_channel)
{
    const std::size_t input = by_channel ? natural(view, symbol) : symbol.value;
    RealNode& node = add(view, RealOp::Affine, {input}, symbol.dims, value(input).cube);
    set(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
    return node;
}

void Importing::set(const NodeView& view, Symbol symbol) { symbols_[view.node().outputs.front()] = std::move(symbol); }

Symbol Importing::fixed_value(NodeView& view, std::size_t input, const std::vector<double>& elements, const std::vector<std::int64_t>& dims)
{
    charge(elements.size());
    std::string name = view.node().inputs[input];
    for (int n = 2; !names_.insert(name).second; ++n) name = view.node().inputs[input] + "." + std::to_string(n);
    std::vector<float> numbers;
    numbers.reserve(elements.size());
    for (const double element : elements) {
        numbers.push_back(static_cast<float>(element));
        if (!std::isfinite(numbers.back())) throw Refused("found a constant that is no finite number");
    }
    const std::size_t value = g_.values.size();
    g_.values.push_back({name, dims, natural_cube(dims), std::nullopt});
    g_.inputs.push_back(value);
    g_.input_types.push_back(OnnxType::Float);
    g_.fixed.push_back(std::move(numbers));
    return {std::nullopt, value, dims, std::nullopt};
}

void Importing::charge(std::size_t elements)
{
    if ((charged_ += elements) > static_cast<std::uint64_t>(kMaxOnnxElements))
        throw Refused("brings what constants and weights take to " + std::to_string(charged_) + " elements, expected at most " +
                      std::to_string(kMaxOnnxElements));
}

void Importing::set_constant(const NodeView& view, OnnxArray array)
{
    charge(array.size());
    Symbol symbol;
    symbol.constant = RealConstant{std::move(array), {}, 0};
    set(view, std::move(symbol));
}

CubeShape Importing::natural_cube(const std::vector<std::int64_t>& dims) const
{
    std::array<std::int64_t, 3> sides{1, 1, 1};
    const auto side = [&](std::size_t i) { return dims.size() == 2 && i == 1 ? 2 : std::min<std::size_t>(i, 2); };
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] < 1 || (elements *= dims[i]) > static_cast<std::int64_t>(kMaxTensorElements))
            throw Refused("found a tensor " + shape_text(dims) + " for an image, expected 1 to " + std::to_string(kMaxTensorElements) +
                          " elements");
        sides[side(i)] *= dims[i];
    }
    for (const std::int64_t size : sides)
        if (size > kMaxSide)
            throw Refused("found a tensor " + shape_text(dims) + " for an image, expected at most " + std::to_string(kMaxSide) +
                          " channels, rows and columns");
    return {static_cast<std::uint32_t>(sides[0]), static_cast<std::uint32_t>(sides[1]), static_cast<std::uint32_t>(sides[2])};
}

std::size_t Importing::natural(NodeView& view, const Symbol& symbol)
{
    const CubeShape cube = natural_cube(symbol.dims);
    if (g_.values[symbol.value].cube == cube) return symbol.value;
    const std::optional<Quantisation> quantisation = g_.values[symbol.value].quantisation;
    const std::size_t made = add(view, RealOp::Reshape, {symbol.value}, symbol.dims, cube).output;
    g_.values[made].quantisation = quantisation;
    g_.values[made].name += ".reshaped";
    return made;
}

Symbol Importing::exchanged(NodeView& view, const Symbol& symbol, const std::vector<std::int64_t>& dims,
                            const std::vector<std::size_t>& order)
{
    Symbol made = symbol;
    made.dims.clear();
    for (const std::size_t from : order) made.dims.push_back(dims[from]);
    std::vector<std::size_t> moved;  // a dimension of size 1 is nowhere
    for (const std::size_t from : order)
        if (dims[from] != 1) moved.push_back(from);
    if (std::is_sorted(moved.begin(), moved.end())) return made;
    const std::optional<Quantisation> quantisation = g_.values[symbol.value].quantisation;
    RealNode& node = add(view, RealOp::Reshape, {symbol.value}, made.dims, natural_cube(made.dims));
    node.exchange = {{dims.begin(), dims.end()}, order};
    made.value = node.output;
    g_.values[made.value].quantisation = quantisation;
    return made;
}

RealGraph real_graph(const OnnxModel& model) { return Importing(model).graph(); }

}  // namespace dlasim
