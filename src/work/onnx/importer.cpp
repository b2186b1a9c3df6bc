// The operators by name, a node as they see it, and what a model becomes.
#include "onnx/importer.h"

#include <algorithm>
#include <memory>

#include "base/files/config_errors.h"
#include "onnx/importing.h"

namespace dlasim {
namespace {

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
        {"Max", import_extreme},
        {"Min", import_extreme},
        {"Pow", import_power},
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
        {"Gelu", import_function},
        {"Mish", import_function},
        {"InstanceNormalization", import_instance_norm},
        {"LayerNormalization", import_layer_norm},
        {"ArgMax", import_argmax},
        {"Slice", import_slice},
        {"Split", import_split},
        {"Gather", import_gather},
        {"Pad", import_pad},
        {"Tile", import_tile},
        {"DepthToSpace", import_depth},
        {"SpaceToDepth", import_depth},
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
    for (const RealOutput& output : outputs)
        if (!output.constant) ++count[output.value];
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
    if (found.constant) return *found.constant;
    const std::string& name = node_.inputs[input];
    if (in_.gives(name)) throw NeedsConstant{name};
    throw Refused(std::string("found a tensor that is computed as ") + what + ", expected a constant" +
                  (in_.is_input(name) ? ": --input " + name + "=FILE makes it one" : ""));
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
    const auto full = static_cast<std::int64_t>(rank) + (in_.batched() ? 1 : 0), place = axis < 0 ? axis + full : axis;
    if (place < 0 || place >= full)
        throw Refused("found axis " + std::to_string(axis) + " of a tensor with " + std::to_string(full) +
                      " dimensions, expected one of them");
    if (in_.batched() && place == 0)
        throw BatchRefused("works along the batch, expected another axis: images are independent of each other");
    return static_cast<std::size_t>(in_.batched() ? place - 1 : place);
}

std::vector<std::int64_t> NodeView::integers(std::size_t input, const char* attribute)
{
    if (given(attribute)) return wholes(attribute, {});
    if (!has(input)) return {};
    const OnnxArray& array = constant(input, attribute).array;
    if (is_real(array.type)) throw Refused(std::string("found floating point as ") + attribute + ", expected integers");
    return {array.wholes.begin(), array.wholes.end()};
}

namespace {

/// With as few inputs as constants as the operators ask for.
std::unique_ptr<Importing> read_as(const OnnxModel& model, const GivenInputs& given, Batching batching, std::set<std::string>& constants)
{
    while (true) {
        auto reading = std::make_unique<Importing>(model, given, batching, constants);
        try {
            reading->read();
            return reading;
        } catch (const NeedsConstant& needs) {
            constants.insert(needs.input);
        }
    }
}

}  // namespace

RealGraph real_graph(const OnnxModel& model, const GivenInputs& given)
{
    std::set<std::string> constants;
    std::unique_ptr<Importing> best = read_as(model, given, Batching::Images, constants);
    const bool mixes = best->mixes_batch();
    for (const Batching batching : {Batching::Whole, Batching::Single}) {
        if (best->problems().none() || !mixes) break;
        std::set<std::string> own;
        std::unique_ptr<Importing> next = read_as(model, given, batching, own);
        const std::size_t now = next->problems().count(), before = best->problems().count();
        // The same number of problems: those of a batch are the first cause, unless it is known that there is none.
        const bool known = batching == Batching::Whole && next->declared_batch() > 0 && !next->needs_batch();
        if (now > before || (now == before && !known)) continue;
        best = std::move(next);
    }
    best->problems().report(model.file);
    return best->take();
}

}  // namespace dlasim
