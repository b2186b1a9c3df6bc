// Arithmetic with constants and between tensors; what is there once is repeated.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {

std::vector<std::int64_t> common_shape(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
{
    std::vector<std::int64_t> shape(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x < 1 || y < 1 || (x != y && x != 1 && y != 1))
            throw Refused("combines tensors of " + std::to_string(x) + " and " + std::to_string(y) +
                          " channels, rows or columns, expected equal numbers, or one");
        shape[shape.size() - 1 - i] = std::max(x, y);
    }
    return shape;
}

Symbol repeated(Importing& in, NodeView& view, const Symbol& from, const std::vector<std::int64_t>& dims)
{
    if (from.dims == dims) return from;
    const bool planes = from.dims.size() == dims.size() && dims.size() <= 3 && in.batched();
    if (!planes) {
        std::vector<std::int64_t> own = from.dims;
        own.insert(own.begin(), dims.size() - own.size(), 1);
        std::vector<std::vector<std::int64_t>> places = all_places(dims);
        for (std::size_t i = 0; i < own.size(); ++i)
            if (own[i] == 1) std::fill(places[i].begin(), places[i].end(), 0);
        in.natural_cube(dims);
        return in.moved(view, from, dims, selection(own, places));
    }
    const auto times = [&](std::size_t i) { return static_cast<std::uint32_t>(from.dims[i] == dims[i] ? 1 : dims[i]); };
    RealNode& node = in.add(view, RealOp::Upsample, {in.natural(view, from)}, dims, in.natural_cube(dims));
    node.copies = times(0);
    if (dims.size() > 1) node.times.x = times(dims.size() - 1);
    if (dims.size() > 2) node.times.y = times(1);
    return {std::nullopt, node.output, dims, std::nullopt};
}

Symbol between(Importing& in, NodeView& view, const std::string& op, const Symbol& first, const Symbol& second)
{
    if (in.batched() && first.dims.size() != second.dims.size())
        throw BatchRefused("combines tensors of " + std::to_string(first.dims.size()) + " and " + std::to_string(second.dims.size()) +
                           " dimensions after the batch, expected equal numbers");
    const std::vector<std::int64_t> dims = common_shape(first.dims, second.dims);
    const Symbol a = repeated(in, view, first, dims), b = repeated(in, view, second, dims);
    if (op == "Div" || op == "Max" || op == "Min") {
        Compute compute;
        compute.kind = op == "Div" ? Compute::Kind::Divide : op == "Max" ? Compute::Kind::Maximum : Compute::Kind::Minimum;
        return in.computed(view, compute, {a, b}, dims);
    }
    std::size_t left = a.value, right = b.value;
    if (!(in.value(left).cube == in.value(right).cube)) {
        left = in.natural(view, a);
        right = in.natural(view, b);
    }
    RealNode& node = in.add(view, op == "Mul" ? RealOp::Multiply : RealOp::Add, {left, right}, dims, in.value(left).cube);
    if (op == "Sub") node.sign = -1;
    return {std::nullopt, node.output, dims, std::nullopt};
}

namespace {

/// Dimensions of a constant where a tensor has `rank` of them after a batch: ONNX aligns the last ones.
std::vector<std::int64_t> aligned(const OnnxArray& array, std::size_t rank)
{
    std::vector<std::int64_t> shape = array.shape;
    while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
    if (shape.size() > rank || array.shape.size() > rank + 1)
        throw BatchRefused("combines a tensor and a constant of " + std::to_string(array.shape.size()) + " dimensions, expected at most " +
                           std::to_string(rank + 1) + " of which the first is 1");
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
}

/// One number for every element of `dims`, or for every one of `shape`, which repeats to them.
std::vector<double> expanded(const OnnxArray& array, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& dims)
{
    std::vector<std::vector<std::int64_t>> places = all_places(dims);
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (shape[d] == 1) std::fill(places[d].begin(), places[d].end(), 0);
    std::vector<double> values;
    for (const std::int32_t from : selection(shape, places)) values.push_back(array.at(static_cast<std::size_t>(from)));
    return values;
}

/// A factor or a number of every channel, or of all.
Symbol by_channels(Importing& in, NodeView& view, const std::string& op, const Symbol& symbol, std::vector<double> values, bool left)
{
    RealNode& node = in.affine(view, symbol, values.size() > 1);
    if (op == "Mul" || op == "Div") node.factor = std::move(values);
    else {
        if (op == "Sub" && !left)
            for (double& value : values) value = -value;
        node.bias = std::move(values);
        if (op == "Sub" && left) node.factor = {-1};
    }
    return in.symbol(view.node().outputs.front());
}

/// The constant divided by every element.
Symbol reciprocal(Importing& in, NodeView& view, const Symbol& symbol, double numerator)
{
    RealNode& node = in.add(view, RealOp::Function, {symbol.value}, symbol.dims, in.value(symbol.value).cube);
    node.function = {Function::Kind::Reciprocal, numerator};
    return {std::nullopt, node.output, symbol.dims, std::nullopt};
}

}  // namespace

Symbol with_constant(Importing& in, NodeView& view, const std::string& op, const Symbol& given, const RealConstant& constant,
                     const std::string& name, bool left)
{
    const OnnxArray& array = constant.array;
    if (constant.of_batch) throw BatchRefused("computes with the size of the batch, expected images to be independent of it");
    if (array.size() == 0) throw Refused("combines a tensor and a constant without elements, expected some");
    if (op == "Div" && left) {
        if (array.size() != 1) return with_constant(in, view, "Mul", reciprocal(in, view, given, 1), constant, name);
        if (!std::isfinite(array.at(0))) throw Refused("found a constant that is no finite number");
        const Symbol quotient = reciprocal(in, view, given, array.at(0));
        RealConstant one;
        one.array.shape = array.shape;
        one.array.reals = {1};
        return array.shape.size() > in.full(given.dims).size() ? with_constant(in, view, "Mul", quotient, one, name) : quotient;
    }
    Symbol symbol = given;
    if (!in.batched() && array.shape.size() > given.dims.size())
        symbol.dims.insert(symbol.dims.begin(), array.shape.size() - given.dims.size(), 1);
    // Seen without a batch of 1 in front, channels are the first dimension.
    const bool front = !in.batched() && !symbol.dims.empty() && symbol.dims.front() == 1 &&
                       (array.shape.size() < symbol.dims.size() || array.shape.front() == 1);
    const std::vector<std::int64_t> seen(symbol.dims.begin() + (front ? 1 : 0), symbol.dims.end());
    const std::vector<std::int64_t> shape = aligned(array, seen.size());
    std::vector<std::int64_t> dims = common_shape(seen, shape);
    const bool by_channel = std::all_of(shape.begin() + (shape.empty() ? 0 : 1), shape.end(), [](std::int64_t size) { return size == 1; });
    std::vector<std::int64_t> made = dims;
    if (front) made.insert(made.begin(), 1);
    in.natural_cube(made);
    std::vector<double> values = expanded(array, shape, by_channel ? shape : dims);
    for (double& value : values) {
        if (op == "Div") value = 1 / value;
        if (!std::isfinite(value)) throw Refused(op == "Div" ? "divides by 0 or NaN" : "found a constant that is no finite number");
    }
    symbol = repeated(in, view, symbol, made);
    if (by_channel) return by_channels(in, view, op, symbol, std::move(values), left);
    const Symbol fixed = in.fixed_value(name, values, made);
    const std::string same = op == "Div" ? "Mul" : op;
    return left ? between(in, view, same, fixed, symbol) : between(in, view, same, symbol, fixed);
}

namespace {

/// The constant beside input `variable`. Before operator set 7 it begins at dimension `axis` of the tensor where `broadcast` says so.
RealConstant old_alignment(Importing& in, NodeView& view, std::size_t variable)
{
    const bool constant = view.is_constant(1 - variable);
    RealConstant aligned = constant ? view.constant(1 - variable, "a constant") : RealConstant{};
    if (in.model().opset >= 7) return aligned;
    const bool repeats = view.whole("broadcast", 0) != 0;
    const bool given = view.given("axis");
    std::int64_t axis = view.whole("axis", 0);
    if (!given || !repeats) return aligned;
    if (!constant) throw Refused("repeats a tensor along a new axis, expected a constant");
    const auto rank = static_cast<std::int64_t>(in.full(view.value(variable, "a tensor").dims).size()),
               own = static_cast<std::int64_t>(aligned.array.shape.size());
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis + own > rank)
        throw Refused("attribute \"axis\": found " + std::to_string(axis) + ", expected one with space for the constant");
    aligned.array.shape.insert(aligned.array.shape.end(), static_cast<std::size_t>(rank - axis - own), 1);
    return aligned;
}

}  // namespace

void import_arithmetic(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    if (op == "Neg") {
        in.affine(view, view.value(0, "a tensor"), false).factor = {-1};
        return;
    }
    if (op == "Sum") {
        if (view.inputs() == 1) return import_shape(in, view);
        Symbol sum = view.value(0, "a term");
        for (std::size_t i = 1; i < view.inputs(); ++i)
            sum = view.is_constant(i) ? with_constant(in, view, "Add", sum, view.constant(i, "a term"), view.node().inputs[i])
                                      : between(in, view, "Add", sum, view.value(i, "a term"));
        return in.set(view, sum);
    }
    if (view.inputs() != 2) throw Refused("has " + std::to_string(view.inputs()) + " inputs, expected 2");
    for (const std::size_t variable : {0U, 1U})
        if (view.is_constant(1 - variable))
            return in.set(view, with_constant(in, view, op, view.value(variable, "a tensor"), old_alignment(in, view, variable),
                                              view.node().inputs[1 - variable], variable == 1));
    if (in.model().opset < 7) old_alignment(in, view, 0);
    in.set(view, between(in, view, op, view.value(0, "a tensor"), view.value(1, "a tensor")));
}

void import_batch_norm(Importing& in, NodeView& view)
{
    const Symbol given = view.value(0, "what it normalises"), symbol = in.image(given);
    view.expect("training_mode", 0);
    view.expect("spatial", 1);
    if (in.model().opset < 7 && view.whole("is_test", 0) == 0 && view.node().outputs.size() > 1)
        throw Refused("trains: is_test is 0, expected 1");
    view.real("momentum", 0.9);
    const double epsilon = view.real("epsilon", 1e-5);
    if (symbol.dims.empty()) throw Refused("has no channels, expected some");
    const auto channels = static_cast<std::size_t>(symbol.dims[0]);
    std::array<const OnnxArray*, 4> p{};
    constexpr std::array kNames{"scale", "B", "mean", "var"};
    for (std::size_t i = 0; i < p.size(); ++i) {
        p[i] = &view.constant(i + 1, kNames[i]).array;
        if (p[i]->size() != channels)
            throw Refused("found " + std::to_string(p[i]->size()) + " numbers as " + kNames[i] + ", expected " + std::to_string(channels));
    }
    RealNode& node = in.affine(view, given, true);
    node.factor.resize(channels);
    node.bias.resize(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        node.factor[c] = p[0]->at(c) / std::sqrt(p[3]->at(c) + epsilon);
        node.bias[c] = p[1]->at(c) - p[2]->at(c) * node.factor[c];
        if (!std::isfinite(node.factor[c]) || !std::isfinite(node.bias[c])) throw Refused("has a variance or a number that is not finite");
    }
}

}  // namespace dlasim
