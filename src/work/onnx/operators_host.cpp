// What the host computes: no unit normalises, divides tensors, or multiplies two matrices that are computed.
#include <algorithm>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {
namespace {

std::size_t product(const std::vector<std::int64_t>& dims, std::size_t first, std::size_t last)
{
    std::size_t all = 1;
    for (std::size_t i = first; i < last; ++i) all *= static_cast<std::size_t>(dims[i]);
    return all;
}

/// The last dimension is as long as a vector of constants, one for each place of it: shape [1, .., n, 1, ..].
RealConstant along(const RealConstant& vector, std::size_t place, std::size_t rank)
{
    RealConstant out = vector;
    out.array.shape.assign(rank, 1);
    out.array.shape[place] = static_cast<std::int64_t>(vector.array.size());
    return out;
}

std::string name_of(const NodeView& view, std::size_t input) { return view.node().inputs[input]; }

}  // namespace

Symbol mean_over(Importing& in, NodeView& view, const Symbol& symbol, const std::vector<std::size_t>& places, bool keep)
{
    const std::vector<std::int64_t>& dims = symbol.dims;
    std::vector<std::size_t> order;
    std::vector<std::int64_t> kept, out;
    const auto reduced = [&](std::size_t i) { return std::find(places.begin(), places.end(), i) != places.end(); };
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!reduced(i)) kept.push_back(dims[i]);
        if (!reduced(i)) order.push_back(i);
        if (!reduced(i)) out.push_back(dims[i]);
        else if (keep) out.push_back(1);
    }
    order.insert(order.end(), places.begin(), places.end());
    Compute compute;
    compute.kind = Compute::Kind::Mean;
    compute.outer = product(kept, 0, kept.size());
    compute.count = product(dims, 0, dims.size()) / compute.outer;
    const Symbol in_order = in.exchanged(view, symbol, dims, order);
    return in.computed(view, compute, {in_order}, out);
}

void import_instance_norm(Importing& in, NodeView& view)
{
    const Symbol symbol = in.image(view.value(0, "what it normalises"));
    if (symbol.dims.empty()) throw Refused("has no channels, expected some");
    Compute compute;
    compute.kind = Compute::Kind::Normalise;
    compute.outer = static_cast<std::size_t>(symbol.dims[0]);
    compute.count = product(symbol.dims, 1, symbol.dims.size());
    compute.epsilon = view.real("epsilon", 1e-5);
    for (const std::size_t input : {1U, 2U})
        if (view.constant(input, "a number for each channel").array.size() != compute.outer)
            throw Refused("found " + std::to_string(view.constant(input, "").array.size()) + " numbers, expected one for each of " +
                          std::to_string(compute.outer) + " channels");
    Symbol made = in.computed(view, compute, {symbol}, in.of_front(symbol.dims));
    const std::size_t rank = symbol.dims.size() + 1;
    made = with_constant(in, view, "Mul", made, along(view.constant(1, "the scale"), 1, rank), name_of(view, 1));
    in.set(view, with_constant(in, view, "Add", made, along(view.constant(2, "B"), 1, rank), name_of(view, 2)));
}

void import_layer_norm(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it normalises");
    const std::size_t first = view.axis(view.whole("axis", -1), symbol.dims.size());
    Compute compute;
    compute.kind = Compute::Kind::Normalise;
    compute.outer = product(symbol.dims, 0, first);
    compute.count = product(symbol.dims, first, symbol.dims.size());
    compute.epsilon = view.real("epsilon", 1e-5);
    view.whole("stash_type", 1);
    Symbol made = in.computed(view, compute, {symbol}, symbol.dims);
    made = with_constant(in, view, "Mul", made, view.constant(1, "the scale"), name_of(view, 1));
    if (view.has(2)) made = with_constant(in, view, "Add", made, view.constant(2, "B"), name_of(view, 2));
    in.set(view, made);
}

void import_extreme(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    std::optional<Symbol> so_far;
    std::optional<Clamp> limits;
    std::vector<std::size_t> later;
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        if (view.is_constant(i) && view.constant(i, "a limit").array.size() == 1) {
            const double value = view.scalar(i, "a limit");
            if (!std::isfinite(value)) throw Refused("found a limit that is no finite number");
            if (!limits) limits.emplace();
            std::optional<double>& limit = op == "Max" ? limits->low : limits->high;
            limit = !limit ? value : op == "Max" ? std::max(*limit, value) : std::min(*limit, value);
        } else if (view.is_constant(i)) {
            later.push_back(i);
        } else {
            const Symbol& next = view.value(i, "a term");
            so_far = so_far ? between(in, view, op, *so_far, next) : next;
        }
    }
    if (!so_far) throw Refused("has constants alone of different kinds, expected a tensor that is computed");
    for (const std::size_t i : later) {
        const RealConstant& constant = view.constant(i, "a term");
        const std::vector<std::int64_t> dims = in.of_image(common_shape(in.full(so_far->dims), constant.array.shape));
        so_far = between(in, view, op, *so_far, in.fixed_value(name_of(view, i), constant, dims));
    }
    if (limits) {
        in.affine(view, *so_far, false).clamp = *limits;
        return;
    }
    in.set(view, *so_far);
}

void import_power(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it raises");
    const double exponent = view.scalar(1, "the exponent");
    if (!std::isfinite(exponent)) throw Refused("found an exponent that is no finite number");
    if (exponent == 1) return in.set(view, symbol);
    if (exponent == 2) return in.set(view, between(in, view, "Mul", symbol, symbol));
    RealNode& node = in.add(view, RealOp::Function, {symbol.value}, symbol.dims, in.value(symbol.value).cube);
    node.function = exponent == 0.5  ? Function{Function::Kind::Sqrt}
                    : exponent == -1 ? Function{Function::Kind::Reciprocal, 1}
                                     : Function{Function::Kind::Power, exponent};
    in.set(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
}

void import_argmax(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it looks through");
    const std::size_t axis = view.axis(view.whole("axis", 0), symbol.dims.size());
    Compute compute;
    compute.kind = Compute::Kind::ArgMax;
    compute.outer = product(symbol.dims, 0, axis);
    compute.count = static_cast<std::size_t>(symbol.dims[axis]);
    compute.inner = product(symbol.dims, axis + 1, symbol.dims.size());
    compute.last = view.whole("select_last_index", 0) != 0;
    std::vector<std::int64_t> dims = symbol.dims;
    if (view.whole("keepdims", 1) != 0) dims[axis] = 1;
    else dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    in.set(view, in.computed(view, compute, {symbol}, dims));
}

void multiply_matrices(Importing& in, NodeView& view, const Symbol& a, const Symbol& b)
{
    std::vector<std::int64_t> left = in.full(a.dims), right = in.full(b.dims);
    const bool vector_left = left.size() == 1, vector_right = right.size() == 1;
    if (in.batched() && (a.dims.size() < 2 || b.dims.size() < 2))
        throw BatchRefused("multiplies the rows of the batch, expected matrices after it: images are independent of each other");
    if (in.batched() && left.size() != right.size())
        throw BatchRefused("multiplies tensors of " + std::to_string(left.size()) + " and " + std::to_string(right.size()) +
                           " dimensions, expected equal numbers");
    if (vector_left) left.insert(left.begin(), 1);
    if (vector_right) right.push_back(1);
    if (left.size() < 2 || right.size() < 2) throw Refused("multiplies a number, expected matrices");
    const std::int64_t rows = left[left.size() - 2], count = left.back(), columns = right.back();
    if (right[right.size() - 2] != count)
        throw Refused("multiplies " + std::to_string(count) + " columns with " + std::to_string(right[right.size() - 2]) +
                      " rows, expected equal numbers");
    std::vector<std::int64_t> outer = common_shape({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
    const auto matrices = [&](const Symbol& from, std::int64_t height, std::int64_t width) {
        std::vector<std::int64_t> shape = outer;
        shape.insert(shape.end(), {height, width});
        Symbol seen = from;
        std::vector<std::int64_t> own = &from == &a ? left : right;
        own.insert(own.begin(), shape.size() - own.size(), 1);
        seen.dims = in.of_image(own);
        return repeated(in, view, seen, in.of_image(shape));
    };
    Compute compute;
    compute.kind = Compute::Kind::MatMul;
    compute.outer = product(outer, 0, outer.size());
    compute.rows = static_cast<std::size_t>(rows);
    compute.count = static_cast<std::size_t>(count);
    compute.columns = static_cast<std::size_t>(columns);
    if (compute.outer * compute.rows * compute.columns > std::size_t{1} << 26 ||
        compute.outer * compute.rows * compute.count > (std::size_t{1} << 34) / compute.columns)
        throw Refused("multiplies matrices of " + std::to_string(rows) + " x " + std::to_string(count) + " and " + std::to_string(columns) +
                      " columns, expected at most 2^34 products");
    std::vector<std::int64_t> out = outer;
    if (!vector_left) out.push_back(rows);
    if (!vector_right) out.push_back(columns);
    in.set(view, in.computed(view, compute, {matrices(a, rows, count), matrices(b, count, columns)}, in.of_image(out)));
}

}  // namespace dlasim
