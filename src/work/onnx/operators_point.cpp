// Element by element: activations, functions, and the way to integers and back.
#include <algorithm>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {
namespace {

/// A constant as one number, or as one for each channel of a tensor of these dimensions.
std::vector<double> spread(const OnnxArray& array, const std::vector<std::int64_t>& dims, const char* what)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < array.size(); ++i) {
        values.push_back(array.at(i));
        if (!std::isfinite(values.back())) throw Refused(std::string("found ") + what + " that is no finite number");
    }
    if (values.size() != 1 && (dims.empty() || static_cast<std::int64_t>(values.size()) != dims[0]))
        throw Refused("found " + std::to_string(values.size()) + " numbers as " + what +
                      ", expected one, or one for each channel [channels, 1, 1]");
    return values;
}

double limit(NodeView& view, const char* attribute, std::size_t input, double fallback)
{
    if (view.given(attribute)) return view.real(attribute, fallback);
    return view.has(input) ? view.scalar(input, attribute) : fallback;
}

Function function_of(NodeView& view)
{
    static const std::map<std::string, Function> known{
        {"Sigmoid", {Function::Kind::Sigmoid}},
        {"Tanh", {Function::Kind::Tanh}},
        {"Elu", {Function::Kind::Elu, 1}},
        {"Selu", {Function::Kind::Selu, 1.67326319217681884765625, 1.05070102214813232421875}},
        {"Softplus", {Function::Kind::Softplus}},
        {"Softsign", {Function::Kind::Softsign}},
        {"HardSigmoid", {Function::Kind::HardSigmoid, 0.2, 0.5}},
        {"HardSwish", {Function::Kind::HardSwish}},
        {"Exp", {Function::Kind::Exp}},
        {"Log", {Function::Kind::Log}},
        {"Sqrt", {Function::Kind::Sqrt}},
        {"Abs", {Function::Kind::Abs}},
        {"Reciprocal", {Function::Kind::Reciprocal, 1}},
        {"Erf", {Function::Kind::Erf}},
        {"Gelu", {Function::Kind::Gelu}},
        {"Mish", {Function::Kind::Mish}},
    };
    Function function = known.at(view.node().op);
    if (view.node().op == "Gelu") {
        const std::string how = view.text("approximate", "none");
        if (how != "none" && how != "tanh") throw Refused("attribute \"approximate\": found \"" + how + "\", expected none or tanh");
        if (how == "tanh") function.kind = Function::Kind::GeluTanh;
    }
    function.alpha = view.real("alpha", function.alpha);
    function.beta = view.real(view.node().op == "Selu" ? "gamma" : "beta", function.beta);
    return function;
}

/// The grid of QuantizeLinear and DequantizeLinear; `type`: of the zero point.
Quantisation read_quantisation(NodeView& view, std::optional<OnnxType>& type)
{
    if (view.constant(1, "the scale").array.size() != 1)
        throw Refused("has a scale for each channel of a tensor that is computed, expected one scale");
    Quantisation quantisation{view.scalar(1, "the scale"), 0};
    if (!(quantisation.scale > 0) || !std::isfinite(quantisation.scale))
        throw Refused("found a scale of " + std::to_string(quantisation.scale) + ", expected one above 0");
    if (view.has(2)) {
        const OnnxType found = view.constant(2, "the zero point").array.type;
        if (found != OnnxType::Int8 && found != OnnxType::Uint8)
            throw Refused(std::string("found integers of type ") + facts_of(found).name + ", expected int8 or uint8");
        type = found;
        quantisation.zero = static_cast<std::int32_t>(view.scalar(2, "the zero point"));
    }
    if (type.value_or(OnnxType::Uint8) == OnnxType::Uint8) quantisation.zero -= 128;
    return quantisation;
}

/// Integers of weights and biases become reals that know their scales.
void dequantize_constant(Importing& in, NodeView& view, std::int64_t axis)
{
    const RealConstant& q = view.constant(0, "the integers");
    const OnnxArray& scale = view.constant(1, "the scale").array;
    if (is_real(q.array.type)) throw Refused("found floating point as the integers, expected integers");
    RealConstant out;
    out.array.shape = q.array.shape;
    const auto rank = static_cast<std::int64_t>(q.array.shape.size());
    out.axis = axis < 0 ? axis + rank : axis;
    std::size_t inner = 1, count = 1;
    if (scale.size() != 1) {
        if (out.axis < 0 || out.axis >= rank ||
            q.array.shape[static_cast<std::size_t>(out.axis)] != static_cast<std::int64_t>(scale.size()))
            throw Refused("found " + std::to_string(scale.size()) + " scales, expected one, or one for each index of the axis");
        count = scale.size();
        for (std::int64_t i = out.axis + 1; i < rank; ++i) inner *= static_cast<std::size_t>(q.array.shape[static_cast<std::size_t>(i)]);
    }
    const OnnxArray* zero = view.has(2) ? &view.constant(2, "the zero point").array : nullptr;
    if (zero && zero->size() != 1 && zero->size() != count) throw Refused("found another number of zero points than of scales");
    for (std::size_t k = 0; k < scale.size(); ++k) {
        out.scales.push_back(scale.at(k));
        if (!(out.scales.back() > 0) || !std::isfinite(out.scales.back())) throw Refused("found a scale that is not above 0");
    }
    for (std::size_t i = 0; i < q.array.size(); ++i) {
        const std::size_t k = i / inner % count;
        out.array.reals.push_back(static_cast<float>((q.array.at(i) - (zero ? zero->at(zero->size() == 1 ? 0 : k) : 0)) * out.scales[k]));
    }
    in.charge(out.array.size());
    Symbol symbol;
    symbol.constant = std::move(out);
    in.set(view, std::move(symbol));
}

/// Constants that are quantised in the model: the integers, as DequantizeLinear will read them.
void quantize_constant(Importing& in, NodeView& view, std::int64_t axis)
{
    const OnnxArray& real = view.constant(0, "the numbers").array;
    const OnnxArray& scale = view.constant(1, "the scale").array;
    const OnnxType type = view.has(2) ? view.constant(2, "the zero point").array.type : OnnxType::Uint8;
    if (type != OnnxType::Int8 && type != OnnxType::Uint8) throw Refused("makes integers that are neither int8 nor uint8");
    const auto rank = static_cast<std::int64_t>(real.shape.size());
    axis += axis < 0 ? rank : 0;
    std::size_t inner = 1, count = scale.size();
    if (count != 1) {
        if (axis < 0 || axis >= rank || real.shape[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(count))
            throw Refused("found " + std::to_string(count) + " scales, expected one, or one for each index of the axis");
        for (std::int64_t i = axis + 1; i < rank; ++i) inner *= static_cast<std::size_t>(real.shape[static_cast<std::size_t>(i)]);
    }
    OnnxArray out;
    out.type = type;
    out.shape = real.shape;
    if (view.has(2) && view.constant(2, "the zero point").array.size() != 1 && view.constant(2, "the zero point").array.size() != count)
        throw Refused("found another number of zero points than of scales");
    const double low = type == OnnxType::Int8 ? -128 : 0;
    for (std::size_t i = 0; i < real.size(); ++i) {
        const std::size_t k = i / inner % count;
        double zero = 0;
        if (view.has(2)) {
            const OnnxArray& zeros = view.constant(2, "the zero point").array;
            zero = zeros.at(zeros.size() == count ? k : 0);
        }
        if (!(scale.at(k) > 0)) throw Refused("found a scale that is not above 0");
        out.wholes.push_back(static_cast<std::int32_t>(std::clamp(std::nearbyint(real.at(i) / scale.at(k)) + zero, low, low + 255)));
    }
    in.set_constant(view, std::move(out));
}

/// A batch of 1 in front is no dimension of the image.
std::vector<std::int64_t> without_front(const Importing& in, const std::vector<std::int64_t>& dims)
{
    const bool front = !in.batched() && !dims.empty() && dims.front() == 1;
    return {dims.begin() + (front ? 1 : 0), dims.end()};
}

/// Slopes of PRelu are one, or one for each channel; before operator set 7 a list is always of channels.
bool by_channels(const Importing& in, NodeView& view, const Symbol& symbol)
{
    const OnnxArray& slope = view.constant(1, "the slope").array;
    const std::vector<std::int64_t> dims = without_front(in, symbol.dims);
    if (slope.size() == 1 && slope.shape.size() <= dims.size() + 1) return true;
    const std::size_t full = dims.size() + 1, rank = slope.shape.size();
    if (in.model().opset < 7 && rank == 1 && !dims.empty() && slope.shape[0] == dims[0]) return true;
    bool channels = !dims.empty() && rank <= full && static_cast<std::int64_t>(slope.size()) == dims[0];
    for (std::size_t i = 0; channels && i < rank; ++i) channels = i + full == rank + 1 ? slope.shape[i] == dims[0] : slope.shape[i] == 1;
    return channels;
}

/// A slope for every element: what is above 0, and what is below times the slope.
void bend_each(Importing& in, NodeView& view, const Symbol& symbol)
{
    const RealConstant& slope = view.constant(1, "the slope");
    Clamp above, below;
    above.low = 0;
    below.high = 0;
    in.affine(view, symbol, false).clamp = above;
    const Symbol positive = in.symbol(view.node().outputs.front());
    in.affine(view, symbol, false).clamp = below;
    const Symbol negative = in.symbol(view.node().outputs.front());
    const Symbol bent = with_constant(in, view, "Mul", negative, slope, view.node().inputs[1]);
    in.set(view, between(in, view, "Add", positive, bent));
}

}  // namespace

void import_bend(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    const Symbol symbol = view.value(0, "what it reads");
    if (op == "PRelu" && !by_channels(in, view, symbol)) return bend_each(in, view, symbol);
    Clamp clamp;
    if (op == "Relu") clamp.low = 0;
    else if (op == "Clip") {
        const double low = limit(view, "min", 1, -3.4028234663852886e38), high = limit(view, "max", 2, 3.4028234663852886e38);
        if (low > high) throw Refused("clips to " + std::to_string(low) + ".." + std::to_string(high) + ", expected the lower limit first");
        if (low > -1e30) clamp.low = low;
        if (high < 1e30) clamp.high = high;
    } else if (op == "LeakyRelu") clamp.slopes = {view.real("alpha", 0.01)};
    else clamp.slopes = spread(view.constant(1, "the slope").array, without_front(in, symbol.dims), "the slope");
    in.affine(view, symbol, clamp.slopes.size() > 1).clamp = clamp;
}

void import_function(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it reads");
    RealNode& node = in.add(view, RealOp::Function, {symbol.value}, symbol.dims, in.value(symbol.value).cube);
    node.function = function_of(view);
    in.set(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
}

void import_quantize(Importing& in, NodeView& view)
{
    const std::int64_t axis = view.whole("axis", 1);
    view.whole("saturate", 1);
    if (view.is_constant(0)) return quantize_constant(in, view, axis);
    const Symbol symbol = view.value(0, "what it quantises");
    std::optional<OnnxType> type;
    const Quantisation quantisation = read_quantisation(view, type);
    const OnnxType whole = type.value_or(OnnxType::Uint8);
    if (in.value(symbol.value).quantisation == quantisation) return in.set(view, {std::nullopt, symbol.value, symbol.dims, whole});
    RealNode& node = in.add(view, RealOp::Affine, {symbol.value}, symbol.dims, in.value(symbol.value).cube);
    in.value(node.output).quantisation = quantisation;
    in.set(view, {std::nullopt, node.output, symbol.dims, whole});
}

void import_dequantize(Importing& in, NodeView& view)
{
    const std::int64_t axis = view.whole("axis", 1);
    if (view.is_constant(0)) return dequantize_constant(in, view, axis);
    Symbol symbol = view.any_value(0, "the integers");
    if (!symbol.whole) throw Refused("reads real numbers, expected integers");
    std::optional<OnnxType> type = symbol.whole;
    const Quantisation quantisation = read_quantisation(view, type);
    std::optional<Quantisation>& own = in.value(symbol.value).quantisation;
    if (type != symbol.whole || (own && !(*own == quantisation)))
        throw Refused("reads integers with another scale or zero point than they were made with, expected the same");
    own = quantisation;
    symbol.whole.reset();
    in.set(view, std::move(symbol));
}

}  // namespace dlasim
