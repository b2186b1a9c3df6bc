// Pooling and normalisation across channels.
#include <algorithm>

#include "config/layer/transfer_reader.h"
#include "onnx/importing.h"

namespace dlasim {
namespace {

constexpr std::int64_t kMaxWindow = 64;

void check_axis(const PoolAxis& axis, std::uint32_t size, const char* what)
{
    if (axis.before >= axis.kernel || axis.after >= axis.kernel || axis.kernel > size + axis.before + axis.after)
        throw Refused("found a window of " + std::to_string(axis.kernel) + " " + what + " over " + std::to_string(size) +
                      " with a padding of " + std::to_string(axis.before) + " and " + std::to_string(axis.after) +
                      ", expected one that fits and is more than the padding");
}

void global_window(NodeView& view, const Symbol& symbol, RealNode& node, const CubeShape& cube)
{
    if (symbol.dims.size() < 2) throw Refused("has no rows and columns to pool, expected them after the channels");
    node.pool.y = {.kernel = cube.h, .stride = 1};
    node.pool.x = {.kernel = cube.w, .stride = 1};
    node.pool.function = view.node().op == "GlobalMaxPool" ? PoolFunction::Max : PoolFunction::Average;
}

/// The places of the axes of ReduceMean.
std::vector<std::size_t> mean_axes(Importing& in, NodeView& view, const Symbol& symbol)
{
    std::vector<std::int64_t> axes = view.integers(1, "axes");
    std::vector<std::size_t> places;
    if (axes.empty() && view.whole("noop_with_empty_axes", 0) != 0) return places;
    if (axes.empty() && in.batched()) throw BatchRefused("works along the batch, expected axes: images are independent of each other");
    for (std::size_t i = 0; axes.empty() && i < symbol.dims.size(); ++i) places.push_back(i);
    for (const std::int64_t axis : axes) places.push_back(view.axis(axis, symbol.dims.size()));
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) throw Refused("reduces an axis twice, expected it once");
    return places;
}

/// Over all rows and columns of every channel, as PDP has it.
bool over_plane(const Importing& in, const std::vector<std::size_t>& places, const std::vector<std::int64_t>& dims)
{
    const std::size_t channel = in.batched() ? 0 : 1;
    if (dims.size() > channel + 3 || dims.size() < channel + 2 || (channel == 1 && dims.front() != 1)) return false;
    std::vector<std::size_t> all;
    for (std::size_t i = channel + 1; i < dims.size(); ++i) all.push_back(i);
    return places == all;
}

void import_mean(Importing& in, NodeView& view)
{
    const Symbol symbol = view.value(0, "what it reduces");
    const std::vector<std::size_t> places = mean_axes(in, view, symbol);
    const bool keep = view.whole("keepdims", 1) != 0;
    view.whole("noop_with_empty_axes", 0);
    if (places.empty()) return in.set(view, symbol);
    if (!over_plane(in, places, symbol.dims)) return in.set(view, mean_over(in, view, symbol, places, keep));
    const std::size_t input = in.natural(view, symbol);
    const CubeShape cube = in.value(input).cube;
    std::vector<std::int64_t> dims(symbol.dims.begin(), symbol.dims.begin() + static_cast<std::ptrdiff_t>(places.front()));
    if (keep) dims.resize(symbol.dims.size(), 1);
    RealNode& node = in.add(view, RealOp::Pool, {input}, dims, {cube.c, 1, 1});
    node.pool.y = {.kernel = cube.h, .stride = 1};
    node.pool.x = {.kernel = cube.w, .stride = 1};
    node.pool.function = PoolFunction::Average;
    in.set(view, {std::nullopt, node.output, dims, std::nullopt});
}

/// What a node before puts around joins the padding of the windows.
bool padding_joins(Importing& in, NodeView& view, Symbol& symbol)
{
    const Importing::Padded* padded = in.padding_of(symbol.value);
    const std::string& op = view.node().op;
    if (!padded || view.text("auto_pad", "NOTSET") != "NOTSET" || view.whole("ceil_mode", 0) != 0) return false;
    const std::vector<std::int64_t> pads = view.wholes("pads", {}), kernel = view.wholes("kernel_shape", {});
    const bool own = std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; });
    const bool largest = op == "MaxPool" && padded->fill < 0, mean = op == "AveragePool" && padded->fill == 0 && !own;
    const std::vector<std::int64_t> around = padded->inner.dims.size() == (in.batched() ? 3U : 4U)
                                                 ? std::vector{padded->top, padded->left, padded->bottom, padded->right}
                                                 : std::vector{padded->left, padded->right};
    for (std::size_t i = 0; i < around.size(); ++i) {
        const std::int64_t all = around[i] + (i < pads.size() ? pads[i] : 0);
        if (kernel.size() * 2 != around.size() || all >= kernel[i % kernel.size()] || all > 5) return false;
    }
    if (!largest && !mean) return false;
    view.around = around;
    symbol = padded->inner;
    return true;
}

}  // namespace

void import_pool(Importing& in, NodeView& view)
{
    const std::string& op = view.node().op;
    if (op == "ReduceMean") return import_mean(in, view);
    Symbol given = view.any_value(0, "what it pools");
    const bool around = padding_joins(in, view, given);
    const Symbol symbol = in.image(given);
    const std::size_t input = in.as_cube(view, symbol, in.cube_of(symbol.dims));
    const CubeShape cube = in.value(input).cube;
    const std::optional<Quantisation> quantisation = in.value(input).quantisation;
    if (symbol.whole && op != "MaxPool") throw Refused("found integers as what it pools, expected real numbers: DequantizeLinear in front");
    RealNode node;
    std::vector<std::int64_t> dims = symbol.dims;
    if (op.starts_with("Global")) {
        global_window(view, symbol, node, cube);
        std::fill(dims.begin() + 1, dims.end(), 1);
    } else {
        if (dims.size() != 2 && dims.size() != 3)
            throw Refused("pools " + std::to_string(dims.size() + 1) + " dimensions, expected 3 or 4");
        const std::size_t rank = dims.size() - 1;
        if (!view.given("kernel_shape")) throw Refused("has no kernel_shape, expected one");
        const std::vector<std::int64_t> kernel = read_spatial(view, "kernel_shape", rank), strides = read_spatial(view, "strides", rank);
        for (const std::int64_t dilation : read_spatial(view, "dilations", rank))
            if (dilation != 1) throw Refused("found a dilation of " + std::to_string(dilation) + ", expected 1");
        view.expect("storage_order", 0);
        const std::vector<std::int64_t> sizes(dims.begin() + 1, dims.end());
        const std::vector<WindowSides> sides = read_window_pads(view, sizes, kernel, strides);
        Pool& pool = node.pool;
        pool.function = op == "MaxPool" ? PoolFunction::Max : PoolFunction::Average;
        pool.ceil = view.whole("ceil_mode", 0) != 0;
        node.exclusive = op == "AveragePool" && view.whole("count_include_pad", 0) == 0 && !around;
        for (std::size_t i = 0; i < rank; ++i) {
            if (kernel[i] < 1 || kernel[i] > kMaxWindow || strides[i] < 1 || strides[i] > kMaxWindow || sides[i].before < 0 ||
                sides[i].after < 0 || sides[i].before > kMaxWindow || sides[i].after > kMaxWindow)
                throw Refused("found a window, a stride or a padding out of range, expected at most 64");
            PoolAxis& axis = i + 1 == rank ? pool.x : pool.y;
            axis.kernel = static_cast<std::uint32_t>(kernel[i]);
            axis.stride = static_cast<std::uint32_t>(strides[i]);
            axis.before = static_cast<std::uint32_t>(sides[i].before);
            axis.after = static_cast<std::uint32_t>(sides[i].after);
            check_axis(axis, static_cast<std::uint32_t>(sizes[i]), i + 1 == rank ? "columns" : "rows");
            dims[i + 1] = axis.outputs(static_cast<std::uint32_t>(sizes[i]), pool.ceil);
        }
        const bool padded =
            pool.x.before + pool.y.before != 0 || pool.x.pad_after(cube.w, pool.ceil) > 0 || pool.y.pad_after(cube.h, pool.ceil) > 0;
        // Beyond the padding nothing counts, whatever count_include_pad says of the padding itself.
        const bool beyond = pool.x.pad_after(cube.w, pool.ceil) > static_cast<std::int64_t>(pool.x.after) ||
                            pool.y.pad_after(cube.h, pool.ceil) > static_cast<std::int64_t>(pool.y.after);
        if (!padded) node.exclusive = false;
        else if (op == "AveragePool" && !node.exclusive && beyond)
            throw Refused("averages over elements beyond the padding (ceil_mode with count_include_pad), expected one of them alone");
    }
    CubeShape out{cube.c, node.pool.y.outputs(cube.h, node.pool.ceil), node.pool.x.outputs(cube.w, node.pool.ceil)};
    RealNode& made = in.add(view, RealOp::Pool, {input}, dims, out);
    made.pool = node.pool;
    made.exclusive = node.exclusive;
    if (symbol.whole) in.value(made.output).quantisation = quantisation;
    in.set_image(view, {std::nullopt, made.output, dims, symbol.whole});
}

void import_lrn(Importing& in, NodeView& view)
{
    const Symbol symbol = in.image(view.value(0, "what it normalises"));
    const std::size_t input = in.as_cube(view, symbol, in.cube_of(symbol.dims));
    const CubeShape cube = in.value(input).cube;
    const Json descriptor{{"op", "lrn"},
                          {"input", {{"width", cube.w}, {"height", cube.h}, {"channels", cube.c}}},
                          {"lrn",
                           {{"size", view.whole("size", 0)},
                            {"alpha", view.real("alpha", 1e-4)},
                            {"beta", view.real("beta", 0.75)},
                            {"bias", view.real("bias", 1)}}}};
    RealNode& node = in.add(view, RealOp::Lrn, {input}, symbol.dims, cube);
    node.lrn = *transfer_from_json(descriptor, "as the operation of CDP", "", "").lrn();
    in.set_image(view, {std::nullopt, node.output, symbol.dims, std::nullopt});
}

std::vector<std::int64_t> read_spatial(NodeView& view, const char* attribute, std::size_t rank)
{
    std::vector<std::int64_t> list = view.wholes(attribute, std::vector<std::int64_t>(rank, 1));
    if (list.size() != rank)
        throw Refused(std::string("attribute \"") + attribute + "\" has " + std::to_string(list.size()) + " numbers, expected " +
                      std::to_string(rank));
    for (const std::int64_t value : list)
        if (value < 1 || value > 8192)
            throw Refused(std::string("attribute \"") + attribute + "\": found " + std::to_string(value) + ", expected 1 to 8192");
    return list;
}

std::vector<WindowSides> read_window_pads(NodeView& view, const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& spans,
                                          const std::vector<std::int64_t>& strides)
{
    const std::string automatic = view.text("auto_pad", "NOTSET");
    const std::size_t rank = sizes.size();
    std::vector<std::int64_t> pads = view.wholes("pads", std::vector<std::int64_t>(2 * rank, 0));
    for (std::size_t i = 0; i < pads.size() && i < view.around.size(); ++i) pads[i] += view.around[i];
    std::vector<WindowSides> sides(rank);
    if (automatic == "NOTSET") {
        if (pads.size() != 2 * rank)
            throw Refused("attribute \"pads\" has " + std::to_string(pads.size()) + " numbers, expected " + std::to_string(2 * rank));
        for (std::size_t i = 0; i < rank; ++i) {
            sides[i] = {pads[i], pads[i + rank]};
            if (sides[i].before < 0 || sides[i].after < 0 || sides[i].before > 8192 || sides[i].after > 8192)
                throw Refused("attribute \"pads\": found " + std::to_string(std::min(sides[i].before, sides[i].after)) +
                              ", expected 0 to 8192: nothing is cropped");
        }
        return sides;
    }
    if (automatic == "VALID") return sides;
    if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
        throw Refused("attribute \"auto_pad\": found \"" + automatic + "\", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t outputs = (sizes[i] + strides[i] - 1) / strides[i];
        const std::int64_t all = std::max<std::int64_t>((outputs - 1) * strides[i] + spans[i] - sizes[i], 0);
        const std::int64_t less = all / 2;
        sides[i] = automatic == "SAME_UPPER" ? WindowSides{less, all - less} : WindowSides{all - less, less};
    }
    return sides;
}

}  // namespace dlasim
