// Arithmetic with constants and between tensors; what is there once is repeated.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {
namespace {

/// Rows, columns and channels of which there is one are repeated until there are as many as in `dims`: by the host.
Symbol repeated(Importing& in, NodeView& view, const Symbol& from, const std::vector<std::int64_t>& dims)
{
    if (from.dims == dims) return from;
    if (dims.size() > 3)
        throw Refused("repeats elements of a tensor of " + std::to_string(dims.size()) +
                      " dimensions behind the batch, expected at most 3: channels, rows and columns");
    const auto times = [&](std::size_t i) { return static_cast<std::uint32_t>(from.dims[i] == dims[i] ? 1 : dims[i]); };
    RealNode& node = in.add(view, RealOp::Upsample, {in.natural(view, from)}, dims, in.natural_cube(dims));
    node.copies = times(0);
    if (dims.size() > 1) node.times.x = times(dims.size() - 1);
    if (dims.size() > 2) node.times.y = times(1);
    return {std::nullopt, node.output, dims, std::nullopt};
}

/// The dimensions that both have when what is there once is repeated.
std::vector<std::int64_t> common_dims(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
{
    if (a.size() != b.size())
        throw Refused("joins tensors of " + std::to_string(a.size()) + " and " + std::to_string(b.size()) +
                      " dimensions behind the batch, expected as many");
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if ((a[i] != b[i] && a[i] != 1 && b[i] != 1) || b[i] < 1)
            throw Refused("joins tensors of " + std::to_string(a[i]) + " and " + std::to_string(b[i]) +
                          " channels, rows or columns, expected as many, or one");
        dims.push_back(std::max(a[i], b[i]));
    }
    return dims;
}

void between(Importing& in, NodeView& view, const std::string& op, const Symbol& first, const Symbol& second)
{
    if (op == "Div") throw Refused("divides by a tensor, expected a constant: no unit divides");
    const std::vector<std::int64_t> dims = common_dims(first.dims, second.dims);
    const Symbol a = repeated(in, view, first, dims), b = repeated(in, view, second, dims);
    std::size_t left = a.value, right = b.value;
    if (!(in.value(left).cube == in.value(right).cube)) {
        left = in.natural(view, a);
        right = in.natural(view, b);
    }
    RealNode& node = in.add(view, op == "Mul" ? RealOp::Multiply : RealOp::Add, {left, right}, a.dims, in.value(left).cube);
    if (op == "Sub") node.sign = -1;
    in.set(view, {std::nullopt, node.output, a.dims, std::nullopt});
}

/// Dimensions of a constant behind the batch, as many as `rank`: ONNX aligns the last ones.
std::vector<std::int64_t> aligned(const OnnxArray& array, std::size_t rank)
{
    std::vector<std::int64_t> shape = array.shape;
    while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
    if (shape.size() > rank || array.shape.size() > rank + 1)
        throw Refused("joins a tensor and a constant of " + std::to_string(array.shape.size()) + " dimensions, expected at most " +
                      std::to_string(rank + 1) + " of which the first is 1");
    if (array.size() == 0) throw Refused("joins a tensor and a constant without elements, expected some");
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
}

/// An element for each one of `dims`.
std::vector<double> expanded(const OnnxArray& array, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& dims)
{
    std::size_t elements = 1;
    for (const std::int64_t size : dims) elements *= static_cast<std::size_t>(size);
    std::vector<double> values(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        std::size_t rest = i, from = 0, step = 1;
        for (std::size_t d = dims.size(); d-- > 0;) {
            const auto size = static_cast<std::size_t>(dims[d]);
            if (shape[d] != 1) from += rest % size * step;
            step *= static_cast<std::size_t>(shape[d]);
            rest /= size;
        }
        values[i] = array.at(from);
    }
    return values;
}

/// With a constant: one number, one a channel, or a tensor that stands in memory.
void with_constant(Importing& in, NodeView& view, const std::string& op, std::size_t variable)
{
    const OnnxArray& array = view.constant(1 - variable, "a constant").array;
    if (op == "Div" && variable == 1) throw Refused("divides a constant by a tensor, expected a constant on the right");
    const Symbol given = view.value(variable, "a tensor");
    const std::vector<std::int64_t> shape = aligned(array, given.dims.size()), dims = common_dims(given.dims, shape);
    in.natural_cube(dims);
    const bool by_channel = std::all_of(shape.begin() + (shape.empty() ? 0 : 1), shape.end(), [](std::int64_t size) { return size == 1; });
    std::vector<double> values = expanded(array, shape, by_channel ? shape : dims);
    for (double& value : values) {
        if (op == "Div") value = 1 / value;
        if (!std::isfinite(value))
            throw Refused(op == "Div" ? "divides by 0, or by what is no number" : "found a constant that is no finite number");
    }
    const Symbol symbol = repeated(in, view, given, dims);
    if (!by_channel) {
        const Symbol fixed = in.fixed_value(view, 1 - variable, values, dims);
        const std::string same = op == "Div" ? "Mul" : op;
        return variable == 0 ? between(in, view, same, symbol, fixed) : between(in, view, same, fixed, symbol);
    }
    RealNode& node = in.affine(view, symbol, values.size() > 1);
    if (op == "Mul" || op == "Div") node.factor = std::move(values);
    else {
        if (op == "Sub" && variable == 0)
            for (double& value : values) value = -value;
        node.bias = std::move(values);
        if (op == "Sub" && variable == 1) node.factor = {-1};
    }
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
        for (std::size_t i = 1; i < view.inputs(); ++i) {
            between(in, view, "Add", sum, view.value(i, "a term"));
            sum = in.symbol(view.node().outputs.front());
        }
        return;
    }
    if (view.inputs() != 2) throw Refused("has " + std::to_string(view.inputs()) + " inputs, expected 2");
    for (const std::size_t variable : {0U, 1U})
        if (view.is_constant(1 - variable)) return with_constant(in, view, op, variable);
    between(in, view, op, view.value(0, "a tensor"), view.value(1, "a tensor"));
}

void import_batch_norm(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it normalises");
    view.expect("training_mode", 0);
    view.expect("spatial", 1);
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
    RealNode& node = in.affine(view, symbol, true);
    node.factor.resize(channels);
    node.bias.resize(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        node.factor[c] = p[0]->at(c) / std::sqrt(p[3]->at(c) + epsilon);
        node.bias[c] = p[1]->at(c) - p[2]->at(c) * node.factor[c];
        if (!std::isfinite(node.factor[c]) || !std::isfinite(node.bias[c])) throw Refused("has a variance or a number that is not finite");
    }
}

void import_expand(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it repeats");
    const OnnxArray& to = view.constant(1, "the shape").array;
    if (is_real(to.type) || to.size() != symbol.dims.size() + 1)
        throw Refused("makes " + std::to_string(to.size()) + " dimensions of " + std::to_string(symbol.dims.size() + 1) +
                      ", expected as many, the batch in front");
    const std::vector<std::int64_t> dims = common_dims(symbol.dims, {to.wholes.begin() + 1, to.wholes.end()});
    in.set(view, repeated(in, view, symbol, dims));
}

}  // namespace dlasim
