// Nodes of constants alone: what exporters write around shapes and weights.
#include <algorithm>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {
namespace {

constexpr std::int64_t kMaxMade = std::int64_t{1} << 26;

std::int64_t elements(const std::vector<std::int64_t>& shape)
{
    std::int64_t all = 1;
    for (const std::int64_t size : shape)
        if (size < 0 || (size != 0 && all > kMaxMade / size)) throw Refused("makes a constant of too many elements");
        else all *= size;
    return all;
}

OnnxArray whole_array(std::vector<std::int32_t> values)
{
    OnnxArray array;
    array.type = OnnxType::Int64;
    array.shape = {static_cast<std::int64_t>(values.size())};
    array.wholes = std::move(values);
    return array;
}

/// An array like another one, without elements.
OnnxArray like(const OnnxArray& other, std::vector<std::int64_t> shape)
{
    OnnxArray array;
    array.type = other.type;
    array.shape = std::move(shape);
    return array;
}

void append(OnnxArray& to, const OnnxArray& from, std::size_t i)
{
    if (is_real(to.type)) to.reals.push_back(from.reals[i]);
    else to.wholes.push_back(from.wholes[i]);
}

std::vector<std::int32_t> list_of(const OnnxArray& array, const char* what)
{
    if (is_real(array.type)) throw Refused(std::string("found floating point as ") + what + ", expected integers");
    return array.wholes;
}

OnnxArray constant_of(NodeView& view)
{
    if (const OnnxAttribute* value = view.any("value")) return value->array;
    OnnxArray array;
    if (const OnnxAttribute* value = view.any("value_float")) array.reals = {static_cast<float>(value->real)};
    else if (const OnnxAttribute* list = view.any("value_floats")) {
        array.reals.assign(list->reals.begin(), list->reals.end());
        array.shape = {static_cast<std::int64_t>(array.reals.size())};
    } else if (const OnnxAttribute* whole = view.any("value_int")) {
        array = whole_array({static_cast<std::int32_t>(std::clamp<std::int64_t>(whole->whole, INT32_MIN, INT32_MAX))});
        array.shape.clear();
    } else if (const OnnxAttribute* wholes = view.any("value_ints")) {
        std::vector<std::int32_t> values;
        for (const std::int64_t value : wholes->wholes)
            values.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX)));
        array = whole_array(std::move(values));
    } else throw Refused("has no value of numbers, expected one");
    return array;
}

OnnxArray transposed(NodeView& view, const OnnxArray& in)
{
    const std::size_t rank = in.shape.size();
    std::vector<std::int64_t> order;
    for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    order = view.wholes("perm", order);
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted.size() != rank || sorted[i] != static_cast<std::int64_t>(i))
            throw Refused("attribute \"perm\" is no order of the dimensions");
    std::vector<std::size_t> step(rank, 1);
    for (std::size_t i = rank; i-- > 1;) step[i - 1] = step[i] * static_cast<std::size_t>(in.shape[i]);
    OnnxArray out = like(in, {});
    for (const std::int64_t axis : order) out.shape.push_back(in.shape[static_cast<std::size_t>(axis)]);
    std::vector<std::int64_t> at(rank);
    for (std::size_t n = 0; n < in.size(); ++n) {
        std::size_t from = 0;
        for (std::size_t i = 0; i < rank; ++i) from += static_cast<std::size_t>(at[i]) * step[static_cast<std::size_t>(order[i])];
        append(out, in, from);
        for (std::size_t i = rank; i-- > 0 && ++at[i] == out.shape[i];) at[i] = 0;
    }
    return out;
}

OnnxArray gathered(NodeView& view, const OnnxArray& in, const OnnxArray& indices)
{
    if (view.whole("axis", 0) != 0 || in.shape.size() != 1) throw Refused("gathers from more than a list of constants");
    OnnxArray out = like(in, indices.shape);
    for (std::int32_t index : list_of(indices, "the indices")) {
        if (index < 0) index += static_cast<std::int32_t>(in.size());
        if (index < 0 || static_cast<std::size_t>(index) >= in.size()) throw Refused("gathers what is not there");
        append(out, in, static_cast<std::size_t>(index));
    }
    return out;
}

OnnxArray sliced(NodeView& view, const OnnxArray& in)
{
    if (in.shape.size() != 1) throw Refused("slices more than a list of constants");
    const auto size = static_cast<std::int64_t>(in.size());
    const auto number = [&](std::size_t input, const char* attribute, std::int64_t fallback) -> std::int64_t {
        if (view.given(attribute)) {
            const std::vector<std::int64_t> list = view.wholes(attribute, {});
            if (list.size() != 1) throw Refused("slices along several axes, expected one");
            return list.front();
        }
        return view.has(input) ? static_cast<std::int64_t>(view.scalar(input, attribute)) : fallback;
    };
    std::int64_t start = number(1, "starts", 0), end = number(2, "ends", size);
    if (number(3, "axes", 0) != 0 || number(4, "steps", 1) != 1) throw Refused("slices along another axis or with a step");
    start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
    end = std::clamp<std::int64_t>(end < 0 ? end + size : end, start, size);
    OnnxArray out = like(in, {end - start});
    for (std::int64_t i = start; i < end; ++i) append(out, in, static_cast<std::size_t>(i));
    return out;
}

OnnxArray joined(NodeView& view)
{
    OnnxArray out;
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        const OnnxArray& part = view.constant(i, "a part").array;
        if (i == 0) out = like(part, {0});
        if (part.shape.size() != 1 || view.whole("axis", 0) != 0 || is_real(part.type) != is_real(out.type))
            throw Refused("joins more than lists of constants");
        for (std::size_t n = 0; n < part.size(); ++n) append(out, part, n);
        out.shape[0] += part.shape[0];
    }
    return out;
}

/// The shape of both, where what is there once is repeated.
std::vector<std::int64_t> common_shape(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
{
    std::vector<std::int64_t> shape(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x < 1 || y < 1 || (x != y && x != 1 && y != 1)) throw Refused("computes with constants of different shapes");
        shape[shape.size() - 1 - i] = std::max(x, y);
    }
    return shape;
}

/// Element `n` of that shape in an array.
std::size_t place_in(const OnnxArray& array, const std::vector<std::int64_t>& shape, std::size_t n)
{
    std::size_t place = 0, step = 1;
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        const auto size = static_cast<std::size_t>(array.shape[array.shape.size() - 1 - i]),
                   whole = static_cast<std::size_t>(shape[shape.size() - 1 - i]);
        if (size != 1) place += n % whole * step;
        step *= size;
        n /= whole;
    }
    return place;
}

OnnxArray computed(NodeView& view, const OnnxArray& a, const OnnxArray& b)
{
    const std::string& op = view.node().op;
    OnnxArray out = like(a, common_shape(a.shape, b.shape));
    if (is_real(a.type) != is_real(b.type)) throw Refused("computes with constants of different types");
    std::uint64_t elements = 1;
    for (const std::int64_t size : out.shape)
        if ((elements *= static_cast<std::uint64_t>(size)) > static_cast<std::uint64_t>(kMaxOnnxElements))
            throw Refused("makes a constant of more than " + std::to_string(kMaxOnnxElements) + " elements");
    for (std::size_t i = 0; i < elements; ++i) {
        const double x = a.at(place_in(a, out.shape, i)), y = b.at(place_in(b, out.shape, i));
        if (op == "Div" && y == 0 && !is_real(out.type)) throw Refused("divides by 0");
        const double z = op == "Add" ? x + y : op == "Sub" ? x - y : op == "Mul" ? x * y : x / y;
        if (is_real(out.type)) out.reals.push_back(static_cast<float>(z));
        else out.wholes.push_back(static_cast<std::int32_t>(std::clamp(std::trunc(z), -2147483648.0, 2147483647.0)));
    }
    return out;
}

OnnxArray cast(NodeView& view, const OnnxArray& in)
{
    const std::int64_t to = view.whole("to", 1);
    const bool real = to == 1 || to == 10 || to == 11;
    if (!real && to != 6 && to != 7)
        throw Refused("casts a constant to type " + std::to_string(to) + ", expected floating point, int32 or int64");
    OnnxArray out;
    out.type = real ? OnnxType::Float : OnnxType::Int64;
    out.shape = in.shape;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (real) out.reals.push_back(static_cast<float>(in.at(i)));
        else out.wholes.push_back(static_cast<std::int32_t>(std::clamp(std::trunc(in.at(i)), -2147483648.0, 2147483647.0)));
    return out;
}

/// Without `axes` all of size 1.
void squeeze(std::vector<std::int64_t>& shape, std::vector<std::int64_t> axes)
{
    if (axes.empty()) {
        std::erase(shape, 1);
        return;
    }
    const auto rank = static_cast<std::int64_t>(shape.size());
    for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::sort(axes.begin(), axes.end(), std::greater<>());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    for (const std::int64_t axis : axes) {
        if (axis < 0 || axis >= rank || shape[static_cast<std::size_t>(axis)] != 1)
            throw Refused("squeezes axis " + std::to_string(axis) + " of a constant, expected one of size 1");
        shape.erase(shape.begin() + axis);
    }
}

OnnxArray moved(NodeView& view, const OnnxArray& in)
{
    const std::string& op = view.node().op;
    OnnxArray out = in;
    std::vector<std::int64_t> axes = view.wholes("axes", {});
    if (op != "Reshape" && axes.empty() && view.has(1))
        for (const std::int32_t axis : list_of(view.constant(1, "axes").array, "axes")) axes.push_back(axis);
    if (op == "Unsqueeze") {
        const auto rank = static_cast<std::int64_t>(in.shape.size() + axes.size());
        for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
        std::sort(axes.begin(), axes.end());
        for (const std::int64_t axis : axes) {
            if (axis < 0 || axis > static_cast<std::int64_t>(out.shape.size()) || out.shape.size() >= kMaxOnnxRank)
                throw Refused("adds an axis that cannot be");
            out.shape.insert(out.shape.begin() + axis, 1);
        }
    } else if (op == "Squeeze") {
        squeeze(out.shape, axes);
    } else if (op == "Reshape") {
        std::vector<std::int64_t> target;
        for (const std::int32_t size : list_of(view.constant(1, "shape").array, "shape")) target.push_back(size);
        view.whole("allowzero", 0);
        std::int64_t known = 1;
        for (std::size_t i = 0; i < target.size(); ++i) {
            if (target[i] == 0 && i < in.shape.size()) target[i] = in.shape[i];
            if (target[i] != -1 && (target[i] < 1 || (known *= target[i]) > kMaxMade)) throw Refused("asks for an impossible shape");
        }
        for (std::int64_t& size : target)
            if (size == -1) size = static_cast<std::int64_t>(in.size()) / known;
        if (elements(target) != static_cast<std::int64_t>(in.size()) || target.size() > kMaxOnnxRank)
            throw Refused("asks for a shape of other elements");
        out.shape = target;
    }
    return out;
}

}  // namespace

std::optional<OnnxArray> folded(NodeView& view)
{
    const std::string& op = view.node().op;
    if (op == "Constant") return constant_of(view);
    if (op == "Shape" && view.has(0) && !view.is_constant(0)) {
        std::vector<std::int32_t> shape{1};  // of one image
        for (const std::int64_t size : view.symbol(0).dims) shape.push_back(static_cast<std::int32_t>(size));
        if (view.given("start") || view.given("end")) throw Refused("takes a part of a shape, expected all of it");
        return whole_array(std::move(shape));
    }
    for (std::size_t i = 0; i < view.inputs(); ++i)
        if (view.has(i) && !view.is_constant(i)) return std::nullopt;
    if (!view.has(0)) return std::nullopt;
    const OnnxArray& first = view.constant(0, "a constant").array;
    if (op == "Shape") return whole_array({first.shape.begin(), first.shape.end()});
    if (op == "Identity") return first;
    if (op == "Cast") return cast(view, first);
    if (op == "Transpose") return transposed(view, first);
    if (op == "Gather") return gathered(view, first, view.constant(1, "the indices").array);
    if (op == "Slice") return sliced(view, first);
    if (op == "Concat") return joined(view);
    if (op == "Reshape" || op == "Squeeze" || op == "Unsqueeze") return moved(view, first);
    if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div") return computed(view, first, view.constant(1, "a constant").array);
    if (op == "ConstantOfShape") {
        OnnxArray value;
        value.reals = {0};
        if (const OnnxAttribute* given = view.any("value")) value = given->array;
        if (value.size() != 1) throw Refused("has a value of other than one element");
        OnnxArray out = like(value, {});
        for (const std::int32_t size : list_of(first, "the shape")) out.shape.push_back(size);
        if (out.shape.size() > kMaxOnnxRank) throw Refused("makes too many dimensions");
        for (std::int64_t i = elements(out.shape); i > 0; --i) append(out, value, 0);
        return out;
    }
    return std::nullopt;
}

}  // namespace dlasim
