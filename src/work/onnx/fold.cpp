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
        for (const std::int64_t each : wholes->wholes)
            values.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(each, INT32_MIN, INT32_MAX)));
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

/// Elements of an array, from their places.
OnnxArray taken(const OnnxArray& in, std::vector<std::int64_t> shape, const std::vector<std::int32_t>& from)
{
    OnnxArray out = like(in, std::move(shape));
    for (const std::int32_t place : from) append(out, in, static_cast<std::size_t>(place));
    return out;
}

std::vector<std::int64_t> counts_of(const std::vector<std::vector<std::int64_t>>& places)
{
    std::vector<std::int64_t> counts(places.size());
    std::ranges::transform(places, counts.begin(), [](const auto& list) { return static_cast<std::int64_t>(list.size()); });
    return counts;
}

OnnxArray gathered(NodeView& view, const OnnxArray& in, const OnnxArray& indices)
{
    const auto rank = static_cast<std::int64_t>(in.shape.size());
    std::int64_t axis = view.whole("axis", 0);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) throw Refused("gathers along axis " + std::to_string(axis) + ", expected one of the constant");
    std::vector<std::vector<std::int64_t>> places = all_places(in.shape);
    const std::int64_t size = in.shape[static_cast<std::size_t>(axis)];
    places[static_cast<std::size_t>(axis)].clear();
    for (const std::int32_t index : list_of(indices, "the indices")) {
        const std::int64_t at = index < 0 ? index + size : index;
        if (at < 0 || at >= size) throw Refused("gathers an index out of range");
        places[static_cast<std::size_t>(axis)].push_back(at);
    }
    std::vector<std::int64_t> shape(in.shape.begin(), in.shape.begin() + axis);
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), in.shape.begin() + axis + 1, in.shape.end());
    if (shape.size() > kMaxOnnxRank) throw Refused("makes " + std::to_string(shape.size()) + " dimensions, expected at most 8");
    elements(shape);
    return taken(in, shape, selection(in.shape, places));
}

OnnxArray sliced(NodeView& view, const OnnxArray& in)
{
    const auto places = sliced_places(view, in.shape);
    return taken(in, counts_of(places), selection(in.shape, places));
}

/// Of a shape, from `start` to `end`.
OnnxArray part_of_shape(NodeView& view, const std::vector<std::int64_t>& shape)
{
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto place = [&](const char* name, std::int64_t fallback) {
        const std::int64_t at = view.whole(name, fallback);
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = place("start", 0), end = std::max(start, place("end", rank));
    std::vector<std::int32_t> sizes;
    for (std::int64_t i = start; i < end; ++i) sizes.push_back(static_cast<std::int32_t>(shape[static_cast<std::size_t>(i)]));
    return whole_array(std::move(sizes));
}

OnnxArray joined(NodeView& view)
{
    OnnxArray out;
    for (std::size_t i = 0; i < view.inputs(); ++i) {
        const OnnxArray& part = view.constant(i, "a part").array;
        if (i == 0) out = like(part, {0});
        if (part.shape.size() != 1 || view.whole("axis", 0) != 0 || is_real(part.type) != is_real(out.type))
            throw Refused("concatenates more than lists of constants");
        for (std::size_t n = 0; n < part.size(); ++n) append(out, part, n);
        out.shape[0] += part.shape[0];
    }
    return out;
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
    if (is_real(a.type) != is_real(b.type) && op != "Pow") throw Refused("computes with constants of different types");
    std::uint64_t elements = 1;
    for (const std::int64_t size : out.shape)
        if ((elements *= static_cast<std::uint64_t>(size)) > static_cast<std::uint64_t>(kMaxOnnxElements))
            throw Refused("makes a constant of more than " + std::to_string(kMaxOnnxElements) + " elements");
    for (std::size_t i = 0; i < elements; ++i) {
        const double x = a.at(place_in(a, out.shape, i)), y = b.at(place_in(b, out.shape, i));
        if (op == "Div" && y == 0 && !is_real(out.type)) throw Refused("divides by 0");
        const double z = op == "Add"   ? x + y
                         : op == "Sub" ? x - y
                         : op == "Mul" ? x * y
                         : op == "Max" ? std::max(x, y)
                         : op == "Min" ? std::min(x, y)
                         : op == "Pow" ? std::pow(x, y)
                                       : x / y;
        if (is_real(out.type)) out.reals.push_back(static_cast<float>(z));
        else out.wholes.push_back(static_cast<std::int32_t>(std::clamp(std::trunc(z), -2147483648.0, 2147483647.0)));
    }
    return out;
}

OnnxArray cast(NodeView& view, const OnnxArray& in)
{
    const std::int64_t to = cast_type(view);
    view.whole("saturate", 1);
    const bool real = to == 1 || to == 10 || to == 11;
    if (!real && to != 6 && to != 7)
        throw Refused("casts a constant to type " + std::to_string(to) + ", expected floating point, int32 or int64");
    OnnxArray out;
    out.type = *onnx_type(to);
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
            if (target[i] != -1 && (target[i] < 1 || (known *= target[i]) > kMaxMade)) throw Refused("has an impossible target shape");
        }
        for (std::int64_t& size : target)
            if (size == -1) size = static_cast<std::int64_t>(in.size()) / known;
        if (elements(target) != static_cast<std::int64_t>(in.size()) || target.size() > kMaxOnnxRank)
            throw Refused("has a target shape of another number of elements");
        out.shape = target;
    }
    return out;
}

using RealFunction = double (*)(double);
const std::map<std::string, RealFunction>& functions()
{
    static const std::map<std::string, RealFunction> known{{"Neg", [](double x) { return -x; }},
                                                           {"Abs", [](double x) { return std::abs(x); }},
                                                           {"Sqrt", [](double x) { return std::sqrt(x); }},
                                                           {"Exp", [](double x) { return std::exp(x); }},
                                                           {"Log", [](double x) { return std::log(x); }},
                                                           {"Reciprocal", [](double x) { return 1 / x; }},
                                                           {"Floor", [](double x) { return std::floor(x); }},
                                                           {"Ceil", [](double x) { return std::ceil(x); }}};
    return known;
}

}  // namespace

std::optional<OnnxArray> folded(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    if (op == "Constant") return constant_of(view);
    if (op == "Shape" && view.has(0) && !view.is_constant(0)) {
        return part_of_shape(view, in.full(view.symbol(0).dims));
    }
    for (std::size_t i = 0; i < view.inputs(); ++i)
        if (view.has(i) && !view.is_constant(i)) return std::nullopt;
    if (!view.has(0)) return std::nullopt;
    const OnnxArray& first = view.constant(0, "a constant").array;
    if (op == "Shape") return part_of_shape(view, first.shape);
    if (op == "Identity") return first;
    if (const auto made = functions().find(op); made != functions().end()) {
        if (!is_real(first.type) && op != "Neg" && op != "Abs") throw Refused("found integers, expected floating point");
        OnnxArray out = first;
        for (float& value : out.reals) value = static_cast<float>(made->second(static_cast<double>(value)));
        for (std::int32_t& value : out.wholes)
            value = static_cast<std::int32_t>(std::clamp(made->second(static_cast<double>(value)), -2147483648.0, 2147483647.0));
        return out;
    }
    if (op == "Cast") return cast(view, first);
    if (op == "Transpose") return transposed(view, first);
    if (op == "Gather") return gathered(view, first, view.constant(1, "the indices").array);
    if (op == "Slice") return sliced(view, first);
    if (op == "Concat") return joined(view);
    if (op == "Reshape" || op == "Squeeze" || op == "Unsqueeze") return moved(view, first);
    const bool pairs = op == "Max" || op == "Min" || op == "Pow";
    if ((pairs && view.inputs() == 2) || op == "Add" || op == "Sub" || op == "Mul" || op == "Div")
        return computed(view, first, view.constant(1, "a constant").array);
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
