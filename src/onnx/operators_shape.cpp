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
        if (__builtin_mul_overflow(all, size, &all)) throw Refused("asks for a shape of too many elements");
    return all;
}

/// The batch in front: of an image it is 1.
std::vector<std::int64_t> whole_shape(const std::vector<std::int64_t>& dims)
{
    std::vector<std::int64_t> shape{1};
    shape.insert(shape.end(), dims.begin(), dims.end());
    return shape;
}

std::vector<std::int64_t> without_batch(const std::vector<std::int64_t>& shape)
{
    if (shape.empty() || shape.front() != 1)
        throw Refused("mixes the batch with other dimensions, expected it to stay in front: images are independent of each other");
    return {shape.begin() + 1, shape.end()};
}

std::vector<std::int64_t> integers(NodeView& view, std::size_t input, const char* attribute)
{
    if (view.given(attribute)) return view.wholes(attribute, {});
    if (!view.has(input)) return {};
    const OnnxArray& array = view.constant(input, attribute).array;
    if (is_real(array.type)) throw Refused(std::string("found floating point as ") + attribute + ", expected integers");
    return {array.wholes.begin(), array.wholes.end()};
}

std::vector<std::int64_t> reshaped(NodeView& view, const Importing& in, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> target = integers(view, 1, "shape");
    const bool keep_zero = view.whole("allowzero", 0) != 0;
    if (target.size() > kMaxOnnxRank) throw Refused("asks for " + std::to_string(target.size()) + " dimensions, expected at most 8");
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] == 0 && !keep_zero && i < shape.size()) target[i] = shape[i];
        if (target[i] == -1 && !open) open = i;
        else if (target[i] < 1)
            throw Refused("asks for a dimension of " + std::to_string(target[i]) + ", expected numbers above 0, and -1 once");
    }
    // A model of a fixed batch names it; here it is 1.
    const std::vector<std::int64_t>& batch = in.model().inputs.front().shape;
    if (!target.empty() && !batch.empty() && target.front() == batch.front() && target.front() > 1) target.front() = 1;
    const std::int64_t all = product(shape);
    if (open) {
        target[*open] = 1;
        const std::int64_t rest = product(target);
        if (rest == 0 || all % rest != 0) throw Refused("asks for a shape that does not divide " + std::to_string(all) + " elements");
        target[*open] = all / rest;
    }
    if (product(target) != all)
        throw Refused("asks for a shape of " + std::to_string(product(target)) + " elements, expected the " + std::to_string(all) +
                      " of an image");
    return target;
}

std::vector<std::int64_t> squeezed(NodeView& view, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> axes = integers(view, 1, "axes"), out;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const bool all = axes.empty();
    for (std::int64_t& axis : axes) {
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank || shape[static_cast<std::size_t>(axis)] != 1)
            throw Refused("squeezes axis " + std::to_string(axis) + ", expected one of size 1");
        if (axis == 0) throw Refused("squeezes the batch, expected another axis");
    }
    for (std::int64_t i = 0; i < rank; ++i) {
        const bool gone = all ? i != 0 && shape[static_cast<std::size_t>(i)] == 1 : std::find(axes.begin(), axes.end(), i) != axes.end();
        if (!gone) out.push_back(shape[static_cast<std::size_t>(i)]);
    }
    return out;
}

std::vector<std::int64_t> unsqueezed(NodeView& view, const std::vector<std::int64_t>& shape)
{
    std::vector<std::int64_t> axes = integers(view, 1, "axes"), out = shape;
    const auto rank = static_cast<std::int64_t>(shape.size() + axes.size());
    if (rank > static_cast<std::int64_t>(kMaxOnnxRank)) throw Refused("makes " + std::to_string(rank) + " dimensions, expected at most 8");
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::sort(axes.begin(), axes.end());
    for (const std::int64_t axis : axes) {
        if (axis < 0 || axis > static_cast<std::int64_t>(out.size()))
            throw Refused("adds axis " + std::to_string(axis) + ", expected one that can be");
        out.insert(out.begin() + axis, 1);
    }
    return out;
}

std::vector<std::int64_t> flattened(NodeView& view, const std::vector<std::int64_t>& shape)
{
    const auto rank = static_cast<std::int64_t>(shape.size());
    std::int64_t axis = view.whole("axis", 1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis > rank) throw Refused("flattens from axis " + std::to_string(axis) + ", expected one of the tensor");
    std::vector<std::int64_t> out{1, 1};
    for (std::int64_t i = 0; i < rank; ++i) out[i < axis ? 0 : 1] *= shape[static_cast<std::size_t>(i)];
    return out;
}

/// Where nearest takes output `i` of a dimension from.
double source_of(double i, double scale, double in, double out, const std::string& how)
{
    if (how == "half_pixel") return (i + 0.5) / scale - 0.5;
    if (how == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
    if (how == "align_corners") return out > 1 ? i * (in - 1) / (out - 1) : 0;
    if (how == "asymmetric") return i / scale;
    throw Refused("found coordinates \"" + how + "\", expected half_pixel, pytorch_half_pixel, align_corners or asymmetric");
}

double nearest_of(double x, const std::string& mode)
{
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    throw Refused("found nearest mode \"" + mode + "\", expected round_prefer_floor, round_prefer_ceil, floor or ceil");
}

/// How often each element is repeated; refused where elements are not.
std::uint32_t repeats(double scale, std::int64_t in, const std::string& how, const std::string& mode)
{
    if (!(scale >= 1 && scale <= 8 && scale == std::floor(scale)))
        throw Refused("scales by " + std::to_string(scale) + ", expected a whole number 1 to 8");
    const auto times = static_cast<std::int64_t>(scale);
    for (std::int64_t i = 0; i < in * times; ++i) {
        const double at =
            nearest_of(source_of(static_cast<double>(i), scale, static_cast<double>(in), static_cast<double>(in * times), how), mode);
        const std::int64_t wanted = i / times;
        if (std::clamp(at, 0.0, static_cast<double>(in - 1)) != static_cast<double>(wanted))
            throw Refused("takes output " + std::to_string(i) + " from input " + std::to_string(static_cast<std::int64_t>(at)) +
                          ", expected every input " + std::to_string(times) +
                          " times: coordinates \"asymmetric\" with mode \"floor\" do that");
    }
    return static_cast<std::uint32_t>(times);
}

std::vector<double> resize_scales(NodeView& view, const std::vector<std::int64_t>& shape)
{
    std::vector<double> scales;
    const bool old = view.node().op == "Upsample" || (view.inputs() == 2 && view.node().op == "Resize");
    if (const OnnxAttribute* attribute = view.any("scales")) scales = attribute->reals;
    const std::size_t at = old ? 1 : 2;
    if (scales.empty() && view.has(at)) {
        const OnnxArray& array = view.constant(at, "scales").array;
        for (std::size_t i = 0; i < array.size(); ++i) scales.push_back(array.at(i));
    }
    if (scales.empty() && !old && view.has(3)) {
        const OnnxArray& sizes = view.constant(3, "sizes").array;
        if (sizes.size() == shape.size())
            for (std::size_t i = 0; i < shape.size(); ++i) scales.push_back(i == 0 ? 1 : sizes.at(i) / static_cast<double>(shape[i]));
    }
    if (scales.size() != shape.size())
        throw Refused("found " + std::to_string(scales.size()) + " scales, expected " + std::to_string(shape.size()) + " constants");
    return scales;
}

}  // namespace

void import_shape(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    Symbol symbol = view.any_value(0, "what it reads");
    std::vector<std::int64_t> shape = whole_shape(symbol.dims);
    if (op == "Reshape") shape = reshaped(view, in, shape);
    else if (op == "Flatten") shape = flattened(view, shape);
    else if (op == "Squeeze") shape = squeezed(view, shape);
    else if (op == "Unsqueeze") shape = unsqueezed(view, shape);
    else if (op == "Cast") {
        const std::int64_t to = view.whole("to", 1);
        view.whole("saturate", 1);
        if (symbol.whole || (to != 1 && to != 10 && to != 11))
            throw Refused("casts from or to integers, expected floating point on both sides");
    } else if (op == "Dropout") {
        view.real("ratio", 0.5);
        view.whole("seed", 0);
        if (view.has(2) && view.scalar(2, "training_mode") != 0) throw Refused("drops elements: training_mode is true, expected false");
    }
    symbol.dims = without_batch(shape);
    view.wholes("consumed_inputs", {});
    in.set(view, std::move(symbol));
}

void import_transpose(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it transposes");
    const std::size_t rank = symbol.dims.size() + 1;
    std::vector<std::int64_t> order;
    for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    order = view.wholes("perm", order);
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted.size() != rank || sorted[i] != static_cast<std::int64_t>(i))
            throw Refused("attribute \"perm\" is no order of the " + std::to_string(rank) + " dimensions");
    if (order.empty() || order.front() != 0)
        throw Refused("moves the batch, expected it to stay in front: images are independent of each other");
    std::vector<std::size_t> places;
    for (std::size_t i = 1; i < rank; ++i) places.push_back(static_cast<std::size_t>(order[i] - 1));
    in.set(view, in.exchanged(view, symbol, symbol.dims, places));
}

void import_concat(Importing& in, NodeView& view)
{
    const std::vector<std::int64_t> first = view.any_value(0, "a part").dims;
    if (view.axis(view.whole("axis", 1), first.size()) != 0) throw Refused("joins along another axis, expected axis 1, the channels");
    std::vector<std::size_t> parts;
    std::vector<std::int64_t> dims = first;
    dims.at(0) = 0;
    std::optional<OnnxType> whole;
    std::optional<Quantisation> quantisation;
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        const Symbol part = view.any_value(i, "a part");
        if (i == 0) whole = part.whole;
        if (part.whole != whole) throw Refused("joins integers with real numbers, expected one kind");
        std::vector<std::int64_t> rest = part.dims;
        if (rest.size() != first.size() || !std::equal(rest.begin() + 1, rest.end(), first.begin() + 1))
            throw Refused("part " + std::to_string(i) + " has other rows and columns than the first, expected the same");
        dims[0] += rest[0];
        parts.push_back(in.natural(view, part));
        const std::optional<Quantisation>& own = in.value(parts.back()).quantisation;
        if (whole && i != 0 && own != quantisation) throw Refused("joins integers of different scales, expected one scale");
        quantisation = own;
    }
    if (parts.size() == 1) return in.set(view, view.symbol(0));
    const std::size_t made = in.add(view, RealOp::Concat, parts, dims, in.natural_cube(dims)).output;
    if (whole) in.value(made).quantisation = quantisation;
    in.set(view, {std::nullopt, made, dims, whole});
}

void import_resize(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it resizes");
    const std::string mode = view.text("mode", "nearest");
    if (mode != "nearest") throw Refused("found mode \"" + mode + "\", expected \"nearest\": no unit interpolates");
    const bool old = view.node().op == "Upsample" || view.inputs() == 2;
    const std::string how = view.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
                      nearest = view.text("nearest_mode", old ? "floor" : "round_prefer_floor");
    view.real("cubic_coeff_a", -0.75);
    view.whole("exclude_outside", 0);
    view.real("extrapolation_value", 0);
    std::vector<std::int64_t> dims = symbol.dims;
    if (dims.size() != 3 && dims.size() != 2) throw Refused("resizes " + std::to_string(dims.size() + 1) + " dimensions, expected 3 or 4");
    const std::vector<double> scales = resize_scales(view, whole_shape(dims));
    if (scales[0] != 1 || scales[1] != 1) throw Refused("scales the batch or the channels, expected 1 for both");
    Extent times;
    for (std::size_t i = 1; i < dims.size(); ++i) {
        const std::uint32_t by = repeats(scales[i + 1], dims[i], how, nearest);
        (i + 1 == dims.size() ? times.x : times.y) = by;
        dims[i] *= by;
    }
    RealNode& node = in.add(view, RealOp::Upsample, {in.natural(view, symbol)}, dims, in.natural_cube(dims));
    node.times = times;
    in.set(view, {std::nullopt, node.output, dims, std::nullopt});
}

void import_softmax(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it normalises");
    const bool old = in.model().opset < 13;
    const std::size_t axis = view.axis(view.whole("axis", old ? 1 : -1), symbol.dims.size());
    const CubeShape cube = in.natural_cube(symbol.dims);
    if (axis != 0 || (old && cube.h * cube.w != 1)) throw Refused("normalises along another axis, expected the channels");
    RealNode& node = in.add(view, RealOp::Softmax, {in.natural(view, symbol)}, symbol.dims, cube);
    node.logarithm = view.node().op == "LogSoftmax";
    in.set(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
}

}  // namespace dlasim
