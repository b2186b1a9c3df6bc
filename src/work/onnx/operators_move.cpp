// Operators that take, repeat, surround or resample elements.
#include <algorithm>
#include <cmath>

#include "onnx/importing.h"

namespace dlasim {

std::int64_t elements_of(const std::vector<std::int64_t>& dims)
{
    std::int64_t all = 1;
    for (const std::int64_t size : dims)
        if (size < 0 || __builtin_mul_overflow(all, size, &all) || all > kMaxOnnxElements)
            throw Refused("has a target shape of too many elements");
    return all;
}

std::vector<std::int32_t> permutation(const std::vector<std::int64_t>& dims, const std::vector<std::size_t>& order)
{
    std::vector<std::int64_t> step(dims.size(), 1), at(dims.size());
    for (std::size_t i = dims.size(); i-- > 1;) step[i - 1] = step[i] * dims[i];
    std::vector<std::int32_t> from(static_cast<std::size_t>(elements_of(dims)));
    for (std::int32_t& element : from) {
        std::int64_t place = 0;
        for (std::size_t i = 0; i < order.size(); ++i) place += at[i] * step[order[i]];
        element = static_cast<std::int32_t>(place);
        for (std::size_t i = order.size(); i-- > 0 && ++at[i] == dims[order[i]];) at[i] = 0;
    }
    return from;
}

std::vector<std::int32_t> selection(const std::vector<std::int64_t>& dims, const std::vector<std::vector<std::int64_t>>& places)
{
    std::vector<std::int64_t> made;
    made.reserve(places.size());
    for (const auto& list : places) made.push_back(static_cast<std::int64_t>(list.size()));
    std::vector<std::int32_t> from{0};
    from.reserve(static_cast<std::size_t>(elements_of(made)));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        std::vector<std::int32_t> next;
        next.reserve(from.size() * places[i].size());
        for (const std::int32_t before : from)
            for (const std::int64_t place : places[i])
                next.push_back(before < 0 || place < 0 ? -1 : static_cast<std::int32_t>(before * dims[i] + place));
        from = std::move(next);
    }
    return from;
}

std::vector<std::vector<std::int64_t>> all_places(const std::vector<std::int64_t>& dims)
{
    std::vector<std::vector<std::int64_t>> places;
    for (const std::int64_t size : dims) {
        std::vector<std::int64_t>& list = places.emplace_back();
        for (std::int64_t i = 0; i < size; ++i) list.push_back(i);
    }
    return places;
}

std::vector<std::vector<std::int64_t>> sliced_places(NodeView& view, const std::vector<std::int64_t>& dims)
{
    const std::vector<std::int64_t> starts = view.integers(1, "starts"), ends = view.integers(2, "ends"), steps = view.integers(4, "steps");
    std::vector<std::int64_t> axes = view.integers(3, "axes");
    if (axes.empty())
        for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (starts.size() != axes.size() || ends.size() != axes.size() || (!steps.empty() && steps.size() != axes.size()))
        throw Refused("found " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) + " ends and " +
                      std::to_string(axes.size()) + " axes, expected equal numbers");
    std::vector<std::vector<std::int64_t>> places = all_places(dims);
    std::vector<bool> seen(dims.size());
    const auto rank = static_cast<std::int64_t>(dims.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], step = steps.empty() ? 1 : steps[i];
        if (axis < 0 || axis >= rank || seen[static_cast<std::size_t>(axis)])
            throw Refused("slices axis " + std::to_string(axes[i]) + ", expected each axis of the tensor once at most");
        if (step == 0) throw Refused("found a step of 0, expected another");
        seen[static_cast<std::size_t>(axis)] = true;
        const std::int64_t size = dims[static_cast<std::size_t>(axis)];
        const auto place = [&](std::int64_t at) {
            const std::int64_t from_front = at < 0 ? at + size : at;
            return step > 0 ? std::clamp<std::int64_t>(from_front, 0, size) : std::clamp<std::int64_t>(from_front, -1, size - 1);
        };
        const std::int64_t start = step > 0 ? place(starts[i])
                                            : std::clamp<std::int64_t>(starts[i] < 0 ? starts[i] + size : starts[i], 0, size - 1),
                           end = place(ends[i]);
        std::vector<std::int64_t>& list = places[static_cast<std::size_t>(axis)];
        list.clear();
        for (std::int64_t at = start; step > 0 ? at < end : at > end; at += step) list.push_back(at);
    }
    return places;
}

namespace {

using Places = std::vector<std::vector<std::int64_t>>;

std::vector<std::int64_t> sizes_of(const Places& places)
{
    std::vector<std::int64_t> sizes;
    for (const auto& list : places) {
        if (list.empty()) throw Refused("takes no element of a dimension, expected one at least");
        sizes.push_back(static_cast<std::int64_t>(list.size()));
    }
    return sizes;
}

/// The batch stays as it is.
void keep_batch(const Importing& in, const Places& places, const std::vector<std::int64_t>& shape)
{
    if (!in.batched()) return;
    if (places.front() != all_places({shape.front()}).front())
        throw BatchRefused("takes or adds images of the batch, expected all of them: images are independent of each other");
}

/// Of an image dimension 0 is 1, whatever a Slice takes of the batch.
void keep_all_images(NodeView& view, std::size_t rank)
{
    const std::vector<std::int64_t> starts = view.integers(1, "starts"), ends = view.integers(2, "ends"), axes = view.integers(3, "axes"),
                                    steps = view.integers(4, "steps");
    for (std::size_t i = 0; i < starts.size() && i < ends.size(); ++i) {
        const std::int64_t axis = i < axes.size() ? axes[i] : static_cast<std::int64_t>(i);
        const bool all = starts[i] == 0 && ends[i] >= INT32_MAX && (i >= steps.size() || steps[i] == 1);
        if ((axis == 0 || axis == -static_cast<std::int64_t>(rank)) && !all)
            throw BatchRefused("takes images of the batch, expected all of them: images are independent of each other");
    }
}

Symbol selected(Importing& in, NodeView& view, const Symbol& symbol, const Places& places, double fill = 0)
{
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    keep_batch(in, places, shape);
    const std::vector<std::int64_t> dims = in.of_image(sizes_of(places));
    in.natural_cube(dims);  // before as many places are listed
    return in.moved(view, symbol, dims, selection(shape, places), fill);
}

// ------------------------------------------------------------------------------------------ padding

/// The place that an output of a padded dimension shows.
std::int64_t padded_place(std::int64_t at, std::int64_t size, const std::string& mode)
{
    if (at >= 0 && at < size) return at;
    if (mode == "constant") return -1;
    if (mode == "edge") return std::clamp<std::int64_t>(at, 0, size - 1);
    if (mode == "wrap") return ((at % size) + size) % size;
    if (mode != "reflect") throw Refused("found mode \"" + mode + "\", expected constant, reflect, edge or wrap");
    if (size == 1) throw Refused("reflects a dimension of size 1, expected at least 2");
    const std::int64_t period = 2 * (size - 1), folded = ((at % period) + period) % period;
    return folded < size ? folded : period - folded;
}

/// Zeros, or what is below everything, around rows and columns only.
void note(Importing& in, const Symbol& inner, const Symbol& made, const std::vector<std::int64_t>& pads, double fill)
{
    const std::size_t rank = pads.size() / 2;
    if (made.value == inner.value || rank < 3 || rank > 4 || inner.whole) return;
    for (std::size_t i = 0; i < rank; ++i)
        if (pads[i] < 0 || pads[i + rank] < 0 || (i < 2 && (pads[i] != 0 || pads[i + rank] != 0))) return;
    const bool plane = rank == 4;
    in.note_padding(made.value, {inner, plane ? pads[2] : 0, plane ? pads[6] : 0, pads[rank - 1], pads[2 * rank - 1], fill});
}

// ----------------------------------------------------------------------------------------- resizing

struct Resampling {
    std::string mode, how, nearest;
    double cubic = -0.75, outside = 0;
    bool exclude = false;
};

/// Where output `i` of a dimension lies in the input; `out`: the scaled size, before it becomes whole; `begin`, `end`: of the part that
/// tf_crop_and_resize takes.
double source_of(double i, double scale, double in, double out, const Resampling& r, double begin, double end)
{
    if (r.how == "half_pixel") return (i + 0.5) / scale - 0.5;
    if (r.how == "half_pixel_symmetric") return in / 2 * (1 - std::floor(out) / out) + (i + 0.5) / scale - 0.5;
    if (r.how == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
    if (r.how == "align_corners") return out > 1 ? i * (in - 1) / (out - 1) : 0;
    if (r.how == "asymmetric") return i / scale;
    if (r.how == "tf_crop_and_resize")
        return out > 1 ? begin * (in - 1) + i * (end - begin) * (in - 1) / (out - 1) : 0.5 * (begin + end) * (in - 1);
    throw Refused("found coordinates \"" + r.how +
                  "\", expected half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or tf_crop_and_resize");
}

double nearest_of(double x, const std::string& mode)
{
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    throw Refused("found nearest mode \"" + mode + "\", expected round_prefer_floor, round_prefer_ceil, floor or ceil");
}

std::vector<ResampledAxis::Tap> taps_at(double x, std::int64_t size, const Resampling& r)
{
    const double base = std::floor(x), part = x - base, a = r.cubic;
    std::vector<double> weights;
    std::int64_t first = static_cast<std::int64_t>(base);
    if (r.mode == "linear") weights = {1 - part, part};
    else {
        --first;
        const auto near = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
        const auto far = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
        weights = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    }
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::int64_t at = first + static_cast<std::int64_t>(i);
        if (r.exclude && (at < 0 || at >= size)) weights[i] = 0;
        sum += weights[i];
    }
    std::vector<ResampledAxis::Tap> taps;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (weights[i] != 0)
            taps.push_back({static_cast<std::size_t>(std::clamp<std::int64_t>(first + static_cast<std::int64_t>(i), 0, size - 1)),
                            r.exclude ? weights[i] / sum : weights[i]});
    return taps;
}

/// Of every dimension how often, and how many there are then.
struct Scaled {
    std::vector<double> scales, begins, ends;
    std::vector<std::int64_t> sizes;
};

std::vector<double> numbers_of(NodeView& view, std::size_t input, const char* what)
{
    std::vector<double> numbers;
    if (!view.has(input)) return numbers;
    const OnnxArray& array = view.constant(input, what).array;
    for (std::size_t i = 0; i < array.size(); ++i) numbers.push_back(array.at(i));
    return numbers;
}

std::vector<double> given_scales(NodeView& view, bool old, std::size_t rank)
{
    if (const OnnxAttribute* attribute = view.any("scales")) return attribute->reals;
    if (view.given("width_scale") || view.given("height_scale")) {
        std::vector<double> scales(rank, 1);
        if (rank != 4) throw Refused("scales rows and columns of " + std::to_string(rank) + " dimensions, expected 4");
        scales[2] = view.real("height_scale", 1);
        scales[3] = view.real("width_scale", 1);
        return scales;
    }
    return numbers_of(view, old ? 1 : 2, "scales");
}

Scaled scaled_shape(const Importing& in, NodeView& view, const std::vector<std::int64_t>& shape, bool old)
{
    const std::size_t rank = shape.size();
    std::vector<double> scales = given_scales(view, old, rank), sizes, roi;
    if (!old) sizes = numbers_of(view, 3, "sizes");
    if (!old) roi = numbers_of(view, 1, "roi");
    if (in.batched() && sizes.size() == rank) {  // those of the batch come first
        const bool of_batch = view.constant(3, "sizes").front_batch;
        if (sizes.front() == 1 && in.declared_batch() != 1 && !of_batch)
            throw BatchRefused("makes one image of the batch, expected all of them");
        if (sizes.front() == static_cast<double>(in.declared_batch())) sizes.front() = 1;
    }
    std::vector<std::int64_t> axes = view.wholes("axes", {});
    if (axes.empty())
        for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (scales.empty() == sizes.empty()) throw Refused("has neither scales nor sizes or both, expected one of them");
    const std::size_t given = std::max(scales.size(), sizes.size());
    if (given != axes.size())
        throw Refused("found " + std::to_string(given) + " scales, expected " + std::to_string(axes.size()) + " constants");
    Scaled out{std::vector<double>(rank, 1), std::vector<double>(rank, 0), std::vector<double>(rank, 1), shape};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i];
        if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
            throw Refused("resizes axis " + std::to_string(axes[i]) + ", expected one of the tensor");
        const auto a = static_cast<std::size_t>(axis);
        const auto size = static_cast<double>(shape[a]);
        const double wanted = scales.empty() ? sizes[i] : std::floor(size * scales[i]);
        if (!(wanted >= 1 && wanted <= 8192) || (!scales.empty() && !(scales[i] > 0)))
            throw Refused("makes a dimension of " + std::to_string(wanted) + ", expected 1 to 8192");
        out.scales[a] = scales.empty() ? wanted / size : scales[i];
        out.sizes[a] = static_cast<std::int64_t>(wanted);
        if (roi.size() == 2 * axes.size()) {
            out.begins[a] = roi[i];
            out.ends[a] = roi[i + axes.size()];
        }
    }
    return out;
}

/// Every element a whole number of times: one unit less to describe.
std::optional<std::uint32_t> repeats(const std::vector<std::int64_t>& places, std::int64_t size)
{
    const auto count = static_cast<std::int64_t>(places.size());
    const std::int64_t times = count / size;
    if (times < 1 || times > 8 || times * size != count) return std::nullopt;
    for (std::int64_t i = 0; i < count; ++i)
        if (places[static_cast<std::size_t>(i)] != i / times) return std::nullopt;
    return static_cast<std::uint32_t>(times);
}

void nearest(Importing& in, NodeView& view, const Symbol& symbol, const Places& places)
{
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    keep_batch(in, places, shape);
    const std::vector<std::int64_t> dims = in.of_image(sizes_of(places));
    in.natural_cube(dims);
    const bool batch = shape.front() == 1 && places.front().size() == 1, planes = shape.size() == 3 || shape.size() == 4;
    std::vector<std::optional<std::uint32_t>> times;
    for (std::size_t i = 0; i < shape.size(); ++i) times.push_back(repeats(places[i], shape[i]));
    const bool whole = std::all_of(times.begin(), times.end(), [](const auto& by) { return by.has_value(); });
    if (!batch || !planes || !whole || *times[1] != 1) return in.set(view, in.moved(view, symbol, dims, selection(shape, places)));
    RealNode& node = in.add(view, RealOp::Upsample, {in.natural(view, symbol)}, dims, in.natural_cube(dims));
    node.times.x = *times.back();
    if (shape.size() == 4) node.times.y = *times[2];
    in.set(view, {std::nullopt, node.output, dims, std::nullopt});
}

}  // namespace

void import_slice(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it slices");
    if (in.batched()) keep_all_images(view, symbol.dims.size() + 1);
    in.set(view, selected(in, view, symbol, sliced_places(view, in.full(symbol.dims))));
}

void import_split(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it splits");
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    const std::size_t place = view.axis(view.whole("axis", 0), symbol.dims.size()), axis = in.batched() ? place + 1 : place;
    std::vector<std::int64_t> sizes = view.integers(1, "split");
    const auto outputs = static_cast<std::int64_t>(view.node().outputs.size());
    const std::int64_t count = view.whole("num_outputs", outputs), size = shape[axis];
    if (count != outputs) throw Refused("makes " + std::to_string(outputs) + " outputs, expected the num_outputs " + std::to_string(count));
    if (sizes.empty()) {
        const std::int64_t part = (size + count - 1) / count;
        for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::min(part, size - i * part));
        if (sizes.back() != part && !view.given("num_outputs"))
            throw Refused("splits " + std::to_string(size) + " elements into " + std::to_string(count) +
                          " equal parts, expected sizes of them");
    }
    std::int64_t sum = 0;
    for (const std::int64_t part : sizes) {
        if (part < 1 || part > size - sum)
            throw Refused("splits " + std::to_string(size) + " elements into other sizes, expected the same total");
        sum += part;
    }
    if (sum != size || static_cast<std::int64_t>(sizes.size()) != outputs)
        throw Refused("splits " + std::to_string(size) + " elements into " + std::to_string(sizes.size()) + " sizes of " +
                      std::to_string(sum) + " in all, expected one for each output, and the same total");
    std::int64_t first = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Places places = all_places(shape);
        places[axis] = {places[axis].begin() + first, places[axis].begin() + first + sizes[i]};
        first += sizes[i];
        in.set(view, selected(in, view, symbol, places), i);
    }
}

void import_gather(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it gathers from");
    const RealConstant& given = view.constant(1, "the indices");
    if (is_real(given.array.type)) throw Refused("found floating point as the indices, expected integers");
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    const std::size_t place = view.axis(view.whole("axis", 0), symbol.dims.size()), axis = in.batched() ? place + 1 : place;
    Places places = all_places(shape);
    places[axis].clear();
    for (const std::int32_t index : given.array.wholes) {
        const std::int64_t at = index < 0 ? index + shape[axis] : index;
        if (at < 0 || at >= shape[axis])
            throw Refused("gathers element " + std::to_string(index) + " of " + std::to_string(shape[axis]) +
                          ", expected an index in range");
        places[axis].push_back(at);
    }
    Symbol made = selected(in, view, symbol, places);
    std::vector<std::int64_t> out(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
    out.insert(out.end(), given.array.shape.begin(), given.array.shape.end());
    out.insert(out.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());
    if (out.size() > kMaxOnnxRank) throw Refused("makes " + std::to_string(out.size()) + " dimensions, expected at most 8");
    made.dims = in.of_image(out);
    in.set(view, made);
}

void import_pad(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it pads");
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    const std::size_t rank = shape.size();
    std::vector<std::int64_t> given = view.given("paddings") ? view.wholes("paddings", {}) : view.integers(1, "pads"),
                              axes = view.integers(3, "axes"), pads(2 * rank);
    if (axes.empty())
        for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (given.size() != 2 * axes.size())
        throw Refused("found " + std::to_string(given.size()) + " numbers as pads, expected " + std::to_string(2 * axes.size()));
    const std::string mode = view.text("mode", "constant");
    const double fill = view.given("value") ? view.real("value", 0) : view.has(2) ? view.scalar(2, "the value") : 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(rank) : axes[i];
        if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
            throw Refused("pads axis " + std::to_string(axes[i]) + ", expected one of the tensor");
        pads[static_cast<std::size_t>(axis)] = given[i];
        pads[static_cast<std::size_t>(axis) + rank] = given[i + axes.size()];
    }
    Places places(rank);
    bool fills = false;
    for (std::size_t i = 0; i < rank; ++i) {
        if (pads[i] < -8192 || pads[i] > 8192 || pads[i + rank] < -8192 || pads[i + rank] > 8192)
            throw Refused("found a padding of " + std::to_string(pads[i]) + " and " + std::to_string(pads[i + rank]) +
                          ", expected -8192 to 8192");
        for (std::int64_t at = -pads[i]; at < shape[i] + pads[i + rank]; ++at) places[i].push_back(padded_place(at, shape[i], mode));
        fills |= std::find(places[i].begin(), places[i].end(), -1) != places[i].end();
    }
    const bool lowest = fills && fill < -65504;
    if (lowest && !in.only_read_by(view.node().outputs.front(), {"MaxPool"}))
        throw Refused("pads with " + std::to_string(fill) + ", expected a number within 65504, or only MaxPool after it");
    if (!std::isfinite(fill) && !lowest) throw Refused("pads with " + std::to_string(fill) + ", expected a finite number");
    const Symbol made = selected(in, view, symbol, places, fills ? std::max(fill, -65504.0) : 0);
    if (fills && mode == "constant" && (fill == 0 || lowest)) note(in, symbol, made, pads, lowest ? -65504.0 : 0);
    in.set(view, made);
}

void import_tile(Importing& in, NodeView& view)
{
    const Symbol symbol = view.any_value(0, "what it repeats");
    const std::vector<std::int64_t> shape = in.full(symbol.dims), times = view.integers(1, "repeats");
    if (times.size() != shape.size())
        throw Refused("found " + std::to_string(times.size()) + " repeats, expected " + std::to_string(shape.size()));
    Places places;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        std::vector<std::int64_t>& list = places.emplace_back();
        if (times[i] < 1 || times[i] > 8192 / shape[i])
            throw Refused("repeats " + std::to_string(times[i]) + " times, expected 1 and more, to 8192 elements");
        for (std::int64_t n = 0; n < times[i] * shape[i]; ++n) list.push_back(n % shape[i]);
    }
    in.set(view, selected(in, view, symbol, places));
}

void import_expand(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it repeats");
    const std::vector<std::int64_t> to = view.integers(1, "the shape"), shape = in.full(symbol.dims);
    if (to.size() > kMaxOnnxRank) throw Refused("makes " + std::to_string(to.size()) + " dimensions, expected at most 8");
    if (in.batched() && to.size() > shape.size()) throw BatchRefused("adds dimensions before the batch, expected equal numbers");
    std::vector<std::int64_t> wanted = to;
    if (in.batched() && to.size() == shape.size() && to.front() == in.declared_batch()) wanted.front() = 1;
    const std::vector<std::int64_t> made = common_shape(shape, wanted);
    in.set(view, repeated(in, view, symbol, in.of_image(made)));
}

void import_depth(Importing& in, NodeView& view)
{
    const Symbol symbol = in.image(view.any_value(0, "what it moves"));
    const std::int64_t b = view.whole("blocksize", 0);
    const bool to_depth = view.node().op == "SpaceToDepth";
    const std::string mode = to_depth ? "" : view.text("mode", "DCR");
    if (symbol.dims.size() != 3) throw Refused("moves " + std::to_string(symbol.dims.size() + 1) + " dimensions, expected 4");
    const std::int64_t c = symbol.dims[0], h = symbol.dims[1], w = symbol.dims[2];
    const bool fits = b >= 1 && b <= 1024 && (to_depth ? h % b == 0 && w % b == 0 : c % (b * b) == 0);
    if (!fits || (!to_depth && mode != "DCR" && mode != "CRD"))
        throw Refused("found a blocksize of " + std::to_string(b) + " and mode \"" + mode + "\" for " + std::to_string(c) +
                      " channels of " + std::to_string(h) + " x " + std::to_string(w) +
                      ", expected a blocksize that divides them, mode DCR or CRD");
    std::vector<std::int64_t> seen, out;
    std::vector<std::size_t> order;
    if (to_depth) {
        seen = {c, h / b, b, w / b, b};
        order = {2, 4, 0, 1, 3};
        out = {c * b * b, h / b, w / b};
    } else {
        const std::int64_t d = c / (b * b);
        seen = mode == "DCR" ? std::vector{b, b, d, h, w} : std::vector{d, b, b, h, w};
        order = mode == "DCR" ? std::vector<std::size_t>{2, 3, 0, 4, 1} : std::vector<std::size_t>{0, 3, 1, 4, 2};
        out = {d, h * b, w * b};
    }
    Symbol made = in.moved(view, symbol, in.of_front(out), permutation(seen, order));
    made.dims = out;
    in.set_image(view, made);
}

void import_resize(Importing& in, NodeView& view)
{
    const bool old = view.node().op == "Upsample" || view.inputs() == 2;
    Resampling r;
    r.mode = view.text("mode", "nearest");
    if (r.mode == "bilinear") r.mode = "linear";
    if (r.mode != "nearest" && r.mode != "linear" && r.mode != "cubic")
        throw Refused("found mode \"" + r.mode + "\", expected nearest, linear or cubic");
    r.how = view.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
    r.nearest = view.text("nearest_mode", old ? "floor" : "round_prefer_floor");
    r.cubic = view.real("cubic_coeff_a", -0.75);
    r.exclude = view.whole("exclude_outside", 0) != 0;
    r.outside = view.real("extrapolation_value", 0);
    view.expect("antialias", 0);
    if (const std::string policy = view.text("keep_aspect_ratio_policy", "stretch"); policy != "stretch")
        throw Refused("attribute \"keep_aspect_ratio_policy\": found \"" + policy + "\", expected stretch");
    // Nearest only moves elements, of any scale.
    const Symbol symbol = r.mode == "nearest" ? view.any_value(0, "what it resizes") : view.value(0, "what it resizes");
    const std::vector<std::int64_t> shape = in.full(symbol.dims);
    const Scaled scaled = scaled_shape(in, view, shape, old);
    const bool crops = r.how == "tf_crop_and_resize";
    if (in.batched() && scaled.sizes.front() != 1) throw BatchRefused("scales the batch, expected 1: images are independent of each other");
    Places places(shape.size());
    Compute compute;
    compute.kind = Compute::Kind::Resample;
    compute.outside = r.outside;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        ResampledAxis& taps = compute.axes.emplace_back();
        taps.size = static_cast<std::size_t>(shape[d]);
        const bool same = scaled.sizes[d] == shape[d] && scaled.scales[d] == 1 && !crops;
        for (std::int64_t i = 0; i < scaled.sizes[d]; ++i) {
            const auto size = static_cast<double>(shape[d]);
            const double x = same ? static_cast<double>(i)
                                  : source_of(static_cast<double>(i), scaled.scales[d], size, size * scaled.scales[d], r, scaled.begins[d],
                                              scaled.ends[d]);
            if (!std::isfinite(x)) throw Refused("reads elements at positions that are no numbers, expected finite scales and roi");
            const bool outside = crops && (x < 0 || x > size - 1);
            if (r.mode == "nearest")
                places[d].push_back(outside ? -1 : static_cast<std::int64_t>(std::clamp(nearest_of(x, r.nearest), 0.0, size - 1)));
            else if (outside) taps.outputs.emplace_back();
            else if (same) taps.outputs.push_back({{static_cast<std::size_t>(i), 1}});
            else taps.outputs.push_back(taps_at(x, shape[d], r));
        }
    }
    if (r.mode == "nearest" && crops) return in.set(view, selected(in, view, symbol, places, r.outside));
    if (r.mode == "nearest") return nearest(in, view, symbol, places);
    in.set(view, in.computed(view, compute, {symbol}, in.of_image(scaled.sizes)));
}

}  // namespace dlasim
