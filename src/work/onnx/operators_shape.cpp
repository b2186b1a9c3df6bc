// Operators that move no element, or move elements only.
#include <algorithm>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {
namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes)
{
    std::int64_t all = 1;
    for (const std::int64_t size : sizes)
        if (__builtin_mul_overflow(all, size, &all)) throw Refused("has a target shape of too many elements");
    return all;
}

/// With the whole batch the number of elements may be right.
[[noreturn]] void refuse_count(const Importing& in, const std::string& why)
{
    if (in.batched()) throw BatchRefused(why);
    throw Refused(why);
}

std::vector<std::int64_t> reshaped(NodeView& view, const Importing& in, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> target = view.integers(1, "shape");
    const bool keep_zero = view.whole("allowzero", 0) != 0;
    if (target.size() > kMaxOnnxRank)
        throw Refused("has a target shape of " + std::to_string(target.size()) + " dimensions, expected at most 8");
    const bool copied_front = !target.empty() && target.front() == 0 && !keep_zero;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] == 0 && !keep_zero && i < shape.size()) target[i] = shape[i];
        if (target[i] == -1 && !open) open = i;
        else if (target[i] < 1)
            throw Refused("has a target dimension of " + std::to_string(target[i]) + ", expected numbers above 0, and -1 once");
    }
    if (in.batched() && !target.empty()) {
        const std::int64_t batch = in.declared_batch();
        const bool of_batch = view.has(1) && view.constant(1, "shape").front_batch;
        if (target.front() == 1 && batch != 1 && !of_batch && !copied_front)
            throw BatchRefused("merges all images of the batch, expected dimension 0 to be kept: images are independent of each other");
        // A model of a fixed batch names it; here it is 1.
        if (target.front() == batch && batch > 1) target.front() = 1;
    }
    const std::int64_t all = product(shape);
    if (open) {
        target[*open] = 1;
        const std::int64_t rest = product(target);
        if (rest == 0 || all % rest != 0) refuse_count(in, "has a target shape that does not divide " + std::to_string(all) + " elements");
        target[*open] = all / rest;
    }
    if (product(target) != all)
        refuse_count(in, "has a target shape of " + std::to_string(product(target)) + " elements, expected the " + std::to_string(all) +
                             " of an image");
    return target;
}

std::vector<std::int64_t> squeezed(NodeView& view, const Importing& in, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> axes = view.integers(1, "axes"), out;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const bool all = axes.empty();
    if (all && in.batched() && in.declared_batch() < 2)
        throw BatchRefused("squeezes all dimensions of size 1, a batch of 1 too, expected axes");
    for (std::int64_t& axis : axes) {
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank || shape[static_cast<std::size_t>(axis)] != 1)
            throw Refused("squeezes axis " + std::to_string(axis) + ", expected one of size 1");
        if (in.batched() && axis == 0) throw BatchRefused("squeezes the batch, expected another axis");
    }
    for (std::int64_t i = 0; i < rank; ++i) {
        const bool gone = all ? !(in.batched() && i == 0) && shape[static_cast<std::size_t>(i)] == 1
                              : std::find(axes.begin(), axes.end(), i) != axes.end();
        if (!gone) out.push_back(shape[static_cast<std::size_t>(i)]);
    }
    return out;
}

std::vector<std::int64_t> unsqueezed(NodeView& view, const Importing& in, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> axes = view.integers(1, "axes"), out = shape;
    const auto rank = static_cast<std::int64_t>(shape.size() + axes.size());
    if (rank > static_cast<std::int64_t>(kMaxOnnxRank)) throw Refused("makes " + std::to_string(rank) + " dimensions, expected at most 8");
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::sort(axes.begin(), axes.end());
    if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
        throw Refused("has no axes or the same one twice, expected each once");
    for (const std::int64_t axis : axes) {
        if (axis < 0 || axis > static_cast<std::int64_t>(out.size()))
            throw Refused("adds axis " + std::to_string(axis) + ", expected one that can be");
        if (in.batched() && axis == 0) throw BatchRefused("adds a dimension in front of the batch, expected it to stay in front");
        out.insert(out.begin() + axis, 1);
    }
    return out;
}

std::vector<std::int64_t> flattened(NodeView& view, const Importing& in, const std::vector<std::int64_t>& shape)
{
    const auto rank = static_cast<std::int64_t>(shape.size());
    std::int64_t axis = view.whole("axis", 1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis > rank) throw Refused("flattens from axis " + std::to_string(axis) + ", expected one of the tensor");
    if (in.batched() && axis != 1)
        throw BatchRefused("flattens from axis " + std::to_string(axis) +
                           ", expected 1, after the batch: images are independent of each other");
    std::vector<std::int64_t> out{1, 1};
    for (std::int64_t i = 0; i < rank; ++i) out[i < axis ? 0 : 1] *= shape[static_cast<std::size_t>(i)];
    return out;
}

}  // namespace

namespace {

/// The mask of Dropout where nothing is dropped.
OnnxArray kept_elements(const Importing& in, std::vector<std::int64_t> shape)
{
    if (in.batched() && in.declared_batch() != 1) throw BatchRefused("makes a mask of the whole batch, expected images to be independent");
    OnnxArray mask;
    mask.type = OnnxType::Bool;
    mask.wholes.assign(static_cast<std::size_t>(elements_of(shape)), 1);
    mask.shape = std::move(shape);
    return mask;
}

}  // namespace

namespace {

/// A part of a concatenation that is a constant.
Symbol constant_part(Importing& in, NodeView& view, std::size_t input, std::vector<std::int64_t> dims, std::size_t axis)
{
    const RealConstant& constant = view.constant(input, "a part");
    const std::vector<std::int64_t>& own = constant.array.shape;
    const std::size_t place = in.batched() ? axis + 1 : axis;
    if (own.size() != in.full(dims).size())
        throw Refused("part " + std::to_string(input) + " has other dimensions than the first, expected the same");
    if (in.batched() && own.front() != 1) throw BatchRefused("concatenates a constant of a whole batch, expected one per image");
    dims[axis] = own[place];
    return in.fixed_value(view.node().inputs[input], constant, dims);
}

/// Parts whose axis is in front are channels.
CubeShape side_cube(const Importing& in, const std::vector<std::int64_t>& dims, std::size_t axis, std::uint32_t size)
{
    std::vector<std::int64_t> rest{size};
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (i != axis) rest.push_back(dims[i]);
    return in.cube_of(rest);
}

}  // namespace

std::int64_t cast_type(NodeView& view)
{
    const OnnxAttribute* to = view.any("to");
    if (!to || to->kind == OnnxAttribute::Kind::Whole) return to ? to->whole : 1;
    static const std::map<std::string, std::int64_t> known{{"FLOAT", 1}, {"UINT8", 2},    {"INT8", 3},   {"INT32", 6}, {"INT64", 7},
                                                           {"BOOL", 9},  {"FLOAT16", 10}, {"DOUBLE", 11}};  // operator sets 1 to 5
    const auto found = known.find(to->text);
    return found == known.end() ? 0 : found->second;
}

void import_shape(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    Symbol symbol = view.any_value(0, "what it reads");
    std::vector<std::int64_t> shape = in.full(symbol.dims);
    if (op == "Reshape") shape = reshaped(view, in, shape);
    else if (op == "Flatten") shape = flattened(view, in, shape);
    else if (op == "Squeeze") shape = squeezed(view, in, shape);
    else if (op == "Unsqueeze") shape = unsqueezed(view, in, shape);
    else if (op == "Cast") {
        const std::int64_t to = cast_type(view);
        view.whole("saturate", 1);
        if (symbol.whole || (to != 1 && to != 10 && to != 11))
            throw Refused("casts from or to integers, expected floating point on both sides");
    } else if (op == "Dropout") {
        view.real("ratio", 0.5);
        view.whole("seed", 0);
        const bool trains = in.model().opset < 7 ? view.whole("is_test", 0) == 0 : view.has(2) && view.scalar(2, "training_mode") != 0;
        const double ratio = view.has(1) ? view.scalar(1, "ratio") : view.real("ratio", 0.5);
        if (trains && ratio != 0)
            throw Refused(in.model().opset < 7 ? "drops elements: is_test is 0, expected 1"
                                               : "drops elements: training_mode is true, expected false");
        if (view.node().outputs.size() > 1) in.set_constant(view, kept_elements(in, shape), 1);
    }
    symbol.dims = in.of_image(shape);
    in.set(view, std::move(symbol));
}

void import_transpose(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it transposes");
    const std::size_t rank = in.full(symbol.dims).size(), front = in.batched() ? 1 : 0;
    std::vector<std::int64_t> order;
    for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    order = view.wholes("perm", order);
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted.size() != rank || sorted[i] != static_cast<std::int64_t>(i))
            throw Refused("attribute \"perm\" is no order of the " + std::to_string(rank) + " dimensions");
    if (in.batched() && (order.empty() || order.front() != 0))
        throw BatchRefused("moves the batch, expected it to stay in front: images are independent of each other");
    std::vector<std::size_t> places;
    for (std::size_t i = front; i < rank; ++i) places.push_back(static_cast<std::size_t>(order[i]) - front);
    in.set(view, in.exchanged(view, symbol, symbol.dims, places));
}

void import_concat(Importing& in, NodeView& view)
{
    std::optional<std::vector<std::int64_t>> first;
    for (std::size_t i = 0; i < view.inputs() && !first; ++i)
        if (!view.is_constant(i)) first = view.symbol(i).dims;
    const std::size_t axis = view.axis(view.whole("axis", 1), first->size());
    const bool front =
        std::all_of(first->begin(), first->begin() + static_cast<std::ptrdiff_t>(axis), [](std::int64_t size) { return size == 1; });
    const bool channels = front && axis == (!in.batched() && first->front() == 1 && first->size() > 1 ? 1U : 0U);
    std::vector<std::int64_t> dims = *first;
    dims[axis] = 0;
    std::vector<std::size_t> parts;
    std::optional<OnnxType> whole;
    std::optional<Quantisation> quantisation;
    std::vector<std::size_t> order{axis}, back;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (i != axis) order.push_back(i);
    for (std::size_t i = 0; i < dims.size(); ++i)
        back.push_back(static_cast<std::size_t>(std::find(order.begin(), order.end(), i) - order.begin()));
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        const Symbol part = view.is_constant(i) ? constant_part(in, view, i, *first, axis) : view.any_value(i, "a part");
        if (i == 0) whole = part.whole;
        if (part.whole != whole) throw Refused("concatenates integers with real numbers, expected one kind");
        std::vector<std::int64_t> rest = part.dims;
        if (rest.size() == dims.size()) rest[axis] = (*first)[axis];
        if (rest != *first)
            throw Refused("part " + std::to_string(i) + " has other dimensions than the first, expected the same beside axis " +
                          std::to_string(axis));
        dims[axis] += part.dims[axis];
        const Symbol lying = channels ? part : in.exchanged(view, part, part.dims, order);
        const auto size = static_cast<std::uint32_t>(part.dims[axis]);
        const CubeShape cube = channels ? in.natural_cube(part.dims) : side_cube(in, part.dims, axis, size);
        parts.push_back(in.as_cube(view, lying, cube));
        const std::optional<Quantisation>& own = in.value(parts.back()).quantisation;
        if (whole && i != 0 && own != quantisation) throw Refused("concatenates integers of different scales, expected one scale");
        quantisation = own;
    }
    if (parts.size() == 1) return in.set(view, view.symbol(0));
    std::vector<std::int64_t> lying;
    for (const std::size_t from : order) lying.push_back(dims[from]);
    CubeShape cube = in.value(parts.front()).cube;
    cube.c = 0;
    for (const std::size_t part : parts) cube.c += in.value(part).cube.c;
    in.natural_cube(dims);
    if (cube.c > 8192) throw Refused("joins " + std::to_string(cube.c) + " channels, expected at most 8192");
    const std::size_t made = in.add(view, RealOp::Concat, parts, channels ? dims : lying, cube).output;
    if (whole) in.value(made).quantisation = quantisation;
    const Symbol joined{std::nullopt, made, channels ? dims : lying, whole};
    in.set(view, channels ? joined : in.exchanged(view, joined, lying, back));
}

void import_softmax(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it normalises");
    const bool old = in.model().opset < 13, logarithm = view.node().op == "LogSoftmax";
    const std::vector<std::int64_t>& dims = symbol.dims;
    const std::size_t axis = view.axis(view.whole("axis", old ? 1 : -1), dims.size());
    // [outer][count][inner]: before operator set 13 over all dimensions from the axis on.
    std::int64_t outer = 1, count = 1, inner = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) (i < axis ? outer : i == axis || old ? count : inner) *= dims[i];
    const auto cube = [&](std::int64_t c, std::int64_t h, std::int64_t w) {
        in.cube_of({c, h, w});
        return CubeShape{static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(w)};
    };
    const Symbol in_front = in.exchanged(view, symbol, {outer, count, inner}, {1, 0, 2});
    const CubeShape natural = in.natural_cube(dims);
    const CubeShape sides = outer == 1 && natural.c == count ? natural : cube(count, outer, inner);
    RealNode& node = in.add(view, RealOp::Softmax, {in.as_cube(view, in_front, sides)}, in_front.dims, sides);
    node.logarithm = logarithm;
    Symbol made = in.exchanged(view, {std::nullopt, node.output, {count, outer, inner}, std::nullopt}, {count, outer, inner}, {1, 0, 2});
    made.dims = dims;
    in.set(view, made);
}

}  // namespace dlasim
