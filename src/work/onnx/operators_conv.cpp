// What the array does: convolutions and matrix products with constant weights.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "config/layer/layer_reader.h"
#include "config/network_reader.h"
#include "onnx/importing.h"

namespace dlasim {
namespace {

constexpr std::int64_t kMaxGroups = 8192, kMaxSize = 1 << 20;

Json sides(const char* x, std::int64_t of_x, const char* y, std::int64_t of_y) { return {{x, of_x}, {y, of_y}}; }

/// A number of a list of one or two: columns are the last one.
std::int64_t columns(const std::vector<std::int64_t>& list) { return list.back(); }
std::int64_t rows(const std::vector<std::int64_t>& list) { return list.size() > 1 ? list.front() : 1; }

void refuse_zero_scale(const std::vector<double>& scales)
{
    for (const double scale : scales)
        if (!(scale > 0) || !std::isfinite(scale)) throw Refused("found a scale of " + std::to_string(scale) + ", expected one above 0");
}

struct Weights {
    std::vector<float> values{};
    std::vector<double> scales{};
};

/// As reals; scales of integers stay known where they are one or one a kernel.
Weights weights_of(const RealConstant& constant, std::int64_t kernel_axis)
{
    Weights weights;
    for (std::size_t i = 0; i < constant.array.size(); ++i) weights.values.push_back(static_cast<float>(constant.array.at(i)));
    for (const float value : weights.values)
        if (!std::isfinite(value)) throw Refused("has weights that are no finite numbers");
    const auto rank = static_cast<std::int64_t>(constant.array.shape.size());
    const std::int64_t axis = constant.axis < 0 ? constant.axis + rank : constant.axis;
    if (constant.scales.size() == 1 || (constant.scales.size() > 1 && axis == kernel_axis)) weights.scales = constant.scales;
    return weights;
}

std::vector<double> bias_of(NodeView& view, std::size_t input, std::size_t kernels)
{
    if (!view.has(input)) return {};
    const OnnxArray& array = view.constant(input, "the bias").array;
    if (array.size() != kernels && array.size() != 1)
        throw Refused("found " + std::to_string(array.size()) + " numbers as the bias, expected " + std::to_string(kernels));
    std::vector<double> bias;
    for (std::size_t k = 0; k < kernels; ++k) bias.push_back(array.at(array.size() == 1 ? 0 : k));
    return bias;
}

/// [kernels], [1, kernels], or one number.
bool joins_as_bias(const OnnxArray& array, std::size_t kernels)
{
    return array.size() == 1 ||
           (array.size() == kernels && array.shape.size() <= 2 && static_cast<std::size_t>(array.shape.back()) == kernels);
}

void check_weights(std::uint64_t elements)
{
    if (elements > kMaxNetworkWeights)
        throw Refused("has " + std::to_string(elements) + " weights, expected at most " + std::to_string(kMaxNetworkWeights));
}

struct Window {
    std::vector<std::int64_t> kernel, strides, dilations, spans;
};

Window read_window(NodeView& view, const std::vector<std::int64_t>& weight_shape, std::size_t rank)
{
    Window window{
        {weight_shape.begin() + 2, weight_shape.end()}, read_spatial(view, "strides", rank), read_spatial(view, "dilations", rank), {}};
    if (view.given("kernel_shape") && view.wholes("kernel_shape", {}) != window.kernel)
        throw Refused("attribute \"kernel_shape\" is not that of the weights");
    for (std::size_t i = 0; i < rank; ++i) {
        if (window.kernel[i] < 1 || window.kernel[i] > 8192) throw Refused("has an empty kernel");
        window.spans.push_back((window.kernel[i] - 1) * window.dilations[i] + 1);
    }
    return window;
}

Json descriptor_of(const char* op, const CubeShape& cube, const Window& window, std::int64_t kernels, std::int64_t groups,
                   const std::vector<WindowSides>& pads)
{
    const WindowSides& x = pads.back();
    const WindowSides y = pads.size() > 1 ? pads.front() : WindowSides{};
    Json json{{"op", op},
              {"input", {{"width", cube.w}, {"height", cube.h}, {"channels", cube.c}}},
              {"kernel", {{"width", columns(window.kernel)}, {"height", rows(window.kernel)}, {"count", kernels}}},
              {"stride", sides("x", columns(window.strides), "y", rows(window.strides))},
              {"dilation", sides("x", columns(window.dilations), "y", rows(window.dilations))},
              {"pad", {{"left", x.before}, {"right", x.after}, {"top", y.before}, {"bottom", y.after}}},
              {"groups", groups}};
    return json;
}

constexpr std::int64_t kMaxStride = 8;  // of the machine

/// Strides beyond the machine's: the elements of a stride's cell become channels, by the host, and kernels get as many.
Symbol in_cells(Importing& in, NodeView& view, const Symbol& x, Window& window, std::vector<WindowSides>& pads, RealConstant& constant,
                std::int64_t groups)
{
    const std::size_t rank = x.dims.size() - 1;
    if (std::any_of(window.dilations.begin(), window.dilations.end(), [](std::int64_t d) { return d != 1; })) return x;
    const std::int64_t channels = x.dims[0], kernels = constant.array.shape[0], per = constant.array.shape[1];
    std::array<std::int64_t, 2> cell{1, 1}, cells{1, 1}, outs{1, 1}, size{1, 1}, kernel{1, 1}, before{0, 0};
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t d = i + 2 - rank;
        cell[d] = window.strides[i];
        size[d] = x.dims[i + 1];
        kernel[d] = window.kernel[i];
        before[d] = pads[i].before;
        outs[d] = (size[d] + pads[i].before + pads[i].after - kernel[d]) / cell[d] + 1;
        if (size[d] + pads[i].before + pads[i].after < kernel[d]) return x;
        cells[d] = (kernel[d] + cell[d] - 1) / cell[d];
    }
    const std::int64_t inner = cell[0] * cell[1], height = outs[0] + cells[0] - 1, width = outs[1] + cells[1] - 1;
    in.cube_of({channels * inner, height, width});
    std::vector<std::int32_t> from;
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < inner; ++i)
            for (std::int64_t y = 0; y < height; ++y)
                for (std::int64_t w = 0; w < width; ++w) {
                    const std::int64_t row = y * cell[0] + i / cell[1] - before[0], column = w * cell[1] + i % cell[1] - before[1];
                    const bool inside = row >= 0 && row < size[0] && column >= 0 && column < size[1];
                    from.push_back(inside ? static_cast<std::int32_t>((c * size[0] + row) * size[1] + column) : -1);
                }
    std::vector<std::int64_t> dims{channels * inner};
    if (rank == 2) dims.push_back(height);
    dims.push_back(width);
    Symbol seen = in.moved(view, x, in.of_front(dims), std::move(from));
    seen.dims = dims;
    RealConstant spread;
    spread.scales = constant.scales;
    spread.axis = constant.axis;
    spread.array.shape = {kernels, per * inner};
    if (rank == 2) spread.array.shape.push_back(cells[0]);
    spread.array.shape.push_back(cells[1]);
    spread.array.reals.assign(static_cast<std::size_t>(elements_of(spread.array.shape)), 0);
    for (std::int64_t k = 0; k < kernels * per; ++k)
        for (std::int64_t r = 0; r < kernel[0]; ++r)
            for (std::int64_t q = 0; q < kernel[1]; ++q) {
                const std::int64_t place = (r % cell[0]) * cell[1] + q % cell[1];
                spread.array.reals[static_cast<std::size_t>(((k * inner + place) * cells[0] + r / cell[0]) * cells[1] + q / cell[1])] =
                    static_cast<float>(constant.array.at(static_cast<std::size_t>((k * kernel[0] + r) * kernel[1] + q)));
            }
    check_weights(spread.array.size());
    if (groups < 1) return x;
    constant = std::move(spread);
    window.strides.assign(rank, 1);
    window.kernel.assign(constant.array.shape.begin() + 2, constant.array.shape.end());
    window.spans = window.kernel;
    pads.assign(rank, {});
    return seen;
}

/// A convolution with its weights and its bias; `x` as `image` sees it.
RealNode& convolution(Importing& in, NodeView& view, const Symbol& x, RealConstant constant, std::vector<double> bias)
{
    const std::vector<std::int64_t> shape = constant.array.shape;
    const std::size_t rank = x.dims.size() - 1;
    if (rank != 1 && rank != 2) throw Refused("has " + std::to_string(x.dims.size() + 1) + " dimensions, expected 3 or 4");
    if (shape.size() != rank + 2)
        throw Refused("has weights of " + std::to_string(shape.size()) + " dimensions, expected " + std::to_string(rank + 2));
    check_weights(constant.array.size());
    in.charge(constant.array.size());
    const std::int64_t groups = view.whole("group", 1);
    if (groups < 1 || groups > kMaxGroups || shape[1] * groups != x.dims[0])
        throw Refused("found weights for " + std::to_string(shape[1]) + " channels in " + std::to_string(groups) + " groups, expected " +
                      std::to_string(x.dims[0]) + " channels");
    Window window = read_window(view, shape, rank);
    std::vector<WindowSides> pads = read_window_pads(view, {x.dims.begin() + 1, x.dims.end()}, window.spans, window.strides);
    Symbol seen = x;
    if (std::any_of(window.strides.begin(), window.strides.end(), [](std::int64_t stride) { return stride > kMaxStride; }))
        seen = in_cells(in, view, x, window, pads, constant, groups);
    const std::size_t input = in.as_cube(view, seen, in.cube_of(seen.dims));
    const Json json = descriptor_of("conv2d", in.value(input).cube, window, shape[0], groups, pads);
    const Layer layer = layer_from_json(json, "as a layer", "", "");
    std::vector<std::int64_t> dims{shape[0]};
    if (rank == 2) dims.push_back(layer.out_height());
    dims.push_back(layer.out_width());
    RealNode& node = in.add(view, RealOp::Convolution, {input}, dims, {layer.kernels, layer.out_height(), layer.out_width()});
    node.geometry = layer;
    Weights weights = weights_of(constant, 0);
    node.weights = std::move(weights.values);
    node.weight_scale = std::move(weights.scales);
    node.bias = std::move(bias);
    in.set_image(view, {std::nullopt, node.output, dims, std::nullopt});
    return node;
}

/// [kernels][elements] times the elements of an image.
RealNode& connected(Importing& in, NodeView& view, const Symbol& x, Weights weights, std::int64_t kernels, std::vector<double> bias)
{
    in.charge(weights.values.size());
    std::size_t input = x.value;
    if (in.value(input).cube.h > 32 || in.value(input).cube.w > 32) input = in.as_cube(view, x, in.cube_of(x.dims));
    const CubeShape cube = in.value(input).cube;
    const Json json{{"op", "fully_connected"},
                    {"input", {{"width", cube.w}, {"height", cube.h}, {"channels", cube.c}}},
                    {"kernel", {{"count", kernels}}}};
    const Layer layer = layer_from_json(json, "as a layer", "", "");
    RealNode& node = in.add(view, RealOp::Connected, {input}, {kernels}, {layer.kernels, 1, 1});
    node.geometry = layer;
    node.weights = std::move(weights.values);
    node.weight_scale = std::move(weights.scales);
    node.bias = std::move(bias);
    in.set_image(view, {std::nullopt, node.output, {kernels}, std::nullopt});
    return node;
}

/// The elements of an image as a row: [1, elements], or a cube of one place.
Symbol row_of(const Symbol& symbol)
{
    Symbol row = symbol;
    for (std::size_t i = 0; i + 1 < symbol.dims.size(); ++i)
        if (symbol.dims[i] != 1) throw Refused("multiplies several rows of an image, expected one: Flatten in front");
    if (symbol.dims.empty()) throw Refused("multiplies a number, expected a row");
    row.dims = {symbol.dims.back()};
    return row;
}

RealConstant transposed(const RealConstant& matrix)
{
    if (matrix.array.shape.size() != 2)
        throw Refused("found weights of " + std::to_string(matrix.array.shape.size()) + " dimensions, expected 2");
    const auto height = static_cast<std::size_t>(matrix.array.shape[0]), width = static_cast<std::size_t>(matrix.array.shape[1]);
    RealConstant out;
    out.array.shape = {matrix.array.shape[1], matrix.array.shape[0]};
    out.array.reals.resize(height * width);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) out.array.reals[x * height + y] = static_cast<float>(matrix.array.at(y * width + x));
    out.scales = matrix.scales;
    out.axis = 1 - (matrix.axis < 0 ? matrix.axis + 2 : matrix.axis);
    return out;
}

void check_row(const Symbol& row, const RealConstant& matrix)
{
    if (matrix.array.shape.size() != 2 || matrix.array.shape[1] != row.dims[0])
        throw Refused("multiplies " + std::to_string(row.dims[0]) + " elements with weights for " +
                      (matrix.array.shape.size() == 2 ? std::to_string(matrix.array.shape[1]) : "other dimensions") +
                      ", expected equal numbers");
    check_weights(matrix.array.size());
    if (matrix.array.shape[0] < 1) throw Refused("has no kernels, expected some");
}

// Integers with scales as inputs: x, its scale, its zero point, w, its scale, its zero point, scale and zero point of the result, bias.

Quantisation quantisation_of(NodeView& view, std::size_t scale, std::size_t zero, OnnxType type)
{
    Quantisation quantisation{view.scalar(scale, "a scale"), 0};
    refuse_zero_scale({quantisation.scale});
    quantisation.zero = static_cast<std::int32_t>(view.scalar(zero, "a zero point")) - (type == OnnxType::Uint8 ? 128 : 0);
    if (quantisation.zero < -128 || quantisation.zero > 127) throw Refused("found a zero point out of the range of its integers");
    return quantisation;
}

Symbol whole_input(Importing& in, NodeView& view)
{
    Symbol x = view.any_value(0, "what it multiplies");
    if (!x.whole) throw Refused("found real numbers as what it multiplies, expected integers: QuantizeLinear in front");
    const Quantisation quantisation = quantisation_of(view, 1, 2, *x.whole);
    std::optional<Quantisation>& own = in.value(x.value).quantisation;
    if (own && !(*own == quantisation))
        throw Refused("reads integers with another scale or zero point than they were made with, expected the same");
    own = quantisation;
    x.whole.reset();
    return x;
}

RealConstant whole_weights(NodeView& view, std::int64_t axis)
{
    const OnnxArray& w = view.constant(3, "the weights").array;
    const OnnxArray& scale = view.constant(4, "the scale of the weights").array;
    const OnnxArray& zero = view.constant(5, "the zero point of the weights").array;
    if (is_real(w.type) || w.shape.empty()) throw Refused("found floating point as the weights, expected integers");
    const auto kernels = static_cast<std::size_t>(w.shape[static_cast<std::size_t>(axis)]);
    if ((scale.size() != 1 && scale.size() != kernels) || (zero.size() != 1 && zero.size() != scale.size()))
        throw Refused("found " + std::to_string(scale.size()) + " scales for the weights, expected 1 or " + std::to_string(kernels));
    RealConstant out;
    out.array.shape = w.shape;
    out.axis = axis;
    for (std::size_t k = 0; k < scale.size(); ++k) out.scales.push_back(scale.at(k));
    refuse_zero_scale(out.scales);
    std::size_t inner = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < w.shape.size(); ++i) inner *= static_cast<std::size_t>(w.shape[i]);
    for (std::size_t i = 0; i < w.size(); ++i) {
        const std::size_t k = i / inner % kernels;
        out.array.reals.push_back(
            static_cast<float>((w.at(i) - zero.at(zero.size() == 1 ? 0 : k)) * out.scales[out.scales.size() == 1 ? 0 : k]));
    }
    return out;
}

void whole_output(Importing& in, NodeView& view, std::size_t value, const std::vector<std::int64_t>& dims)
{
    const OnnxType type = view.constant(7, "a zero point").array.type;
    if (type != OnnxType::Int8 && type != OnnxType::Uint8) throw Refused("makes integers that are neither int8 nor uint8");
    in.value(value).quantisation = quantisation_of(view, 6, 7, type);
    in.set_image(view, {std::nullopt, value, dims, type});
}

/// Zeros that an earlier Pad node adds become padding of the convolution, up to the machine's limit.
bool padded_convolution(Importing& in, NodeView& view, const Symbol& given, const RealConstant& w, const std::vector<double>& bias)
{
    const Importing::Padded* padded = in.padding_of(given.value);
    if (!padded || padded->fill != 0 || view.text("auto_pad", "NOTSET") != "NOTSET") return false;
    const Symbol inner = in.image(padded->inner);
    const bool plane = inner.dims.size() == 3;
    view.around = plane ? std::vector{padded->top, padded->left, padded->bottom, padded->right} : std::vector{padded->left, padded->right};
    try {
        convolution(in, view, inner, w, bias);
        return true;
    } catch (const ConfigError&) {  // beyond the machine's padding: the node before stays
    }
    view.around.clear();
    return false;
}

}  // namespace

void import_conv(Importing& in, NodeView& view)
{
    const Symbol given = view.value(0, "what it convolves");
    const RealConstant& w = view.constant(1, "the weights");
    if (w.array.shape.empty()) throw Refused("has weights without dimensions");
    const std::vector<double> bias = bias_of(view, 2, static_cast<std::size_t>(w.array.shape[0]));
    if (padded_convolution(in, view, given, w, bias)) return;
    convolution(in, view, in.image(given), w, bias);
}

void import_qlinear_conv(Importing& in, NodeView& view)
{
    const Symbol x = in.image(whole_input(in, view));
    const RealConstant w = whole_weights(view, 0);
    const auto kernels = static_cast<std::size_t>(w.array.shape[0]);
    std::vector<double> bias = bias_of(view, 8, kernels);
    for (std::size_t k = 0; k < bias.size(); ++k) bias[k] *= in.value(x.value).quantisation->scale * w.scales[w.scales.size() == 1 ? 0 : k];
    const std::size_t output = convolution(in, view, x, w, std::move(bias)).output;
    whole_output(in, view, output, std::vector<std::int64_t>(in.value(output).dims));
}

void import_qlinear_matmul(Importing& in, NodeView& view)
{
    const Symbol x = row_of(whole_input(in, view));
    if (view.constant(3, "the weights").array.shape.size() != 2)
        throw Refused("multiplies with weights of other than 2 dimensions, expected 2");
    const RealConstant w = transposed(whole_weights(view, 1));
    check_row(x, w);
    const std::size_t output = connected(in, view, x, weights_of(w, 0), w.array.shape[0], {}).output;
    whole_output(in, view, output, std::vector<std::int64_t>(in.value(output).dims));
}

void import_conv_transpose(Importing& in, NodeView& view)
{
    const Symbol x = in.image(view.value(0, "what it convolves"));
    const RealConstant& constant = view.constant(1, "the weights");
    const std::vector<std::int64_t>& shape = constant.array.shape;
    const std::size_t rank = x.dims.size() - 1;
    if (x.dims.size() < 2 || rank > 2 || shape.size() != rank + 2) throw Refused("has other than 3 or 4 dimensions, expected these");
    check_weights(constant.array.size());
    const std::int64_t groups = view.whole("group", 1);
    if (groups < 1 || groups > kMaxGroups || shape[0] != x.dims[0] || x.dims[0] % groups != 0 || shape[1] < 1)
        throw Refused("found weights for " + std::to_string(shape[0]) + " channels in " + std::to_string(groups) + " groups, expected " +
                      std::to_string(x.dims[0]) + " channels");
    const std::int64_t kernels = shape[1] * groups;
    const Window window = read_window(view, shape, rank);
    const std::vector<std::int64_t> more = view.wholes("output_padding", std::vector<std::int64_t>(rank, 0));
    std::vector<std::int64_t> wanted = view.wholes("output_shape", {});
    const std::string automatic = view.text("auto_pad", "NOTSET");
    std::vector<std::int64_t> pads = view.wholes("pads", std::vector<std::int64_t>(2 * rank, 0));
    if (pads.size() != 2 * rank || more.size() != rank || (!wanted.empty() && wanted.size() != rank))
        throw Refused("has pads, output_padding or output_shape of other than " + std::to_string(rank) + " dimensions");
    const auto check_sizes = [](const std::vector<std::int64_t>& list) {
        for (const std::int64_t size : list)
            if (size < 0 || size > kMaxSize)
                throw Refused("found " + std::to_string(size) + " in pads or output_shape, expected a possible size");
    };
    check_sizes(wanted);
    check_sizes(pads);
    std::vector<WindowSides> sides_of(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t full = (x.dims[i + 1] - 1) * window.strides[i] + window.spans[i];
        if (more[i] < 0 || more[i] >= std::max(window.strides[i], window.dilations[i]))
            throw Refused("found an output_padding out of range");
        sides_of[i] = {pads[i], pads[i + rank] - more[i]};
        if (automatic != "NOTSET" && automatic != "VALID" && wanted.empty()) wanted.assign(x.dims.begin() + 1, x.dims.end());
        if (!wanted.empty()) {
            const std::int64_t target = view.given("output_shape") ? wanted[i] : x.dims[i + 1] * window.strides[i],
                               all = full + more[i] - target;
            const std::int64_t near = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
            sides_of[i] = {near, all - near - more[i]};
        }
        // What output_padding adds beyond the last product is the bias alone: rows of zeros that no kernel reaches.
        if (sides_of[i].before < 0 || sides_of[i].after < 0)
            throw Refused("makes rows or columns that no product reaches, expected output_padding of at most the padding");
    }
    const std::size_t input = in.as_cube(view, x, in.cube_of(x.dims));
    // No unit dilates a deconvolution: zeros are inserted between the weights.
    const Window spread{window.spans, window.strides, std::vector<std::int64_t>(rank, 1), window.spans};
    const Json json = descriptor_of("deconv2d", in.value(input).cube, spread, kernels, 1, sides_of);
    const Layer layer = layer_from_json(json, "as a layer", "", "");
    std::vector<std::int64_t> dims{kernels};
    if (rank == 2) dims.push_back(layer.out_height());
    dims.push_back(layer.out_width());
    RealNode& node = in.add(view, RealOp::Deconvolution, {input}, dims, {layer.kernels, layer.out_height(), layer.out_width()});
    node.geometry = layer;
    // [channels][kernels / groups][taps] to [kernels][channels][taps]: another group's weights are 0, the machine has none.
    const Weights weights = weights_of(constant, groups == 1 ? 1 : -1);
    const std::size_t taps = std::size_t{layer.kernel_width} * layer.kernel_height, per = static_cast<std::size_t>(shape[1]),
                      all = static_cast<std::size_t>(shape[0]), channels = static_cast<std::size_t>(shape[0] / groups),
                      given_rows = static_cast<std::size_t>(rows(window.kernel)),
                      given_columns = static_cast<std::size_t>(columns(window.kernel)),
                      row_step = static_cast<std::size_t>(rows(window.dilations)) * layer.kernel_width,
                      column_step = static_cast<std::size_t>(columns(window.dilations));
    check_weights(std::uint64_t{layer.kernels} * all * taps);
    in.charge(layer.kernels * all * taps);
    node.weights.resize(layer.kernels * all * taps);
    for (std::size_t c = 0; c < all; ++c)
        for (std::size_t k = 0; k < per; ++k) {
            const std::size_t kernel = c / channels * per + k;
            const float* from = &weights.values[(c * per + k) * given_rows * given_columns];
            float* to = &node.weights[(kernel * all + c) * taps];
            for (std::size_t r = 0; r < given_rows; ++r)
                for (std::size_t s = 0; s < given_columns; ++s) to[r * row_step + s * column_step] = *from++;
        }
    node.weight_scale = weights.scales;
    node.bias = bias_of(view, 2, static_cast<std::size_t>(kernels));
    in.set_image(view, {std::nullopt, node.output, dims, std::nullopt});
}

namespace {

/// Several rows of an image: a 1 x 1 convolution whose places are the rows. The CPU turns consecutive elements into channels, and
/// back.
Symbol multiply_rows(Importing& in, NodeView& view, const Symbol& symbol, std::int64_t rows, RealConstant w, std::vector<double> bias)
{
    check_row({std::nullopt, symbol.value, {symbol.dims.back()}, std::nullopt}, w);
    Symbol across = in.exchanged(view, symbol, {rows, symbol.dims.back()}, {1, 0});
    across.dims = {symbol.dims.back(), rows};
    const std::int64_t kernels = w.array.shape[0];
    w.array.shape.push_back(1);
    const std::size_t made = convolution(in, view, across, std::move(w), std::move(bias)).output;
    Symbol out = in.exchanged(view, {std::nullopt, made, {kernels, rows}, std::nullopt}, {kernels, rows}, {1, 0});
    out.dims = symbol.dims;
    out.dims.back() = kernels;
    return out;
}

/// All rows of a tensor.
std::int64_t rows_of(const Symbol& symbol)
{
    if (symbol.dims.empty()) throw Refused("multiplies a number, expected a row");
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < symbol.dims.size(); ++i) rows *= symbol.dims[i];
    return rows;
}

}  // namespace

void import_gemm(Importing& in, NodeView& view)
{
    Symbol a = view.value(0, "A");
    if (view.whole("transA", 0) != 0) {
        if (in.batched()) throw BatchRefused("attribute \"transA\": found 1, expected 0: the batch stays in front");
        if (a.dims.size() != 2) throw Refused("transposes A of " + std::to_string(a.dims.size()) + " dimensions, expected 2");
        a = in.exchanged(view, a, a.dims, {1, 0});
    }
    const bool stands = view.whole("transB", 0) != 0;
    const double alpha = view.real("alpha", 1), beta = view.real("beta", 1);
    view.whole("broadcast", 0);  // before operator set 7
    const RealConstant& given = view.constant(1, "B");
    const RealConstant w = stands ? given : transposed(given);
    const std::int64_t rows = in.batched() ? 1 : rows_of(a);
    const Symbol x = rows == 1 ? row_of(a) : a;
    check_row({std::nullopt, x.value, {x.dims.back()}, std::nullopt}, w);
    Weights weights = weights_of(w, 0);
    const auto kernels = static_cast<std::size_t>(w.array.shape[0]);
    // C of every kernel joins; with other shapes it is added afterwards.
    const bool behind = view.has(2) && (!view.is_constant(2) || !joins_as_bias(view.constant(2, "C").array, kernels));
    std::vector<double> bias = behind ? std::vector<double>{} : bias_of(view, 2, kernels);
    for (double& value : bias) value *= beta;
    if (alpha != 1) {
        for (float& value : weights.values) value = static_cast<float>(value * alpha);
        if (alpha > 0)
            for (double& scale : weights.scales) scale *= alpha;
        else weights.scales.clear();
    }
    if (rows == 1) connected(in, view, x, std::move(weights), w.array.shape[0], std::move(bias));
    else {
        RealConstant scaled = w;
        scaled.array.type = OnnxType::Float;
        scaled.array.reals = std::move(weights.values);
        scaled.scales = std::move(weights.scales);
        in.set(view, multiply_rows(in, view, x, rows, std::move(scaled), std::move(bias)));
    }
    if (!behind) return;
    const Symbol product = in.symbol(view.node().outputs.front());
    if (!view.is_constant(2)) {
        Symbol added = view.value(2, "C");
        if (beta != 1) {
            in.affine(view, added, false).factor = {beta};
            added = in.symbol(view.node().outputs.front());
        }
        return in.set(view, between(in, view, "Add", product, added));
    }
    RealConstant added = view.constant(2, "C");
    for (float& value : added.array.reals) value = static_cast<float>(value * beta);
    in.set(view, with_constant(in, view, "Add", product, added, view.node().inputs[2]));
}

void import_matmul(Importing& in, NodeView& view)
{
    const bool weights = !view.is_constant(0) && view.is_constant(1) && view.constant(1, "the right side").array.shape.size() == 2;
    if (!weights) {
        const auto side = [&](std::size_t input, std::size_t other) {
            if (!view.is_constant(input)) return view.value(input, "a side");
            const RealConstant& constant = view.constant(input, "a side");
            std::vector<std::int64_t> shape = constant.array.shape;
            // A matrix is the same for all images.
            if (in.batched())
                shape.insert(shape.begin(), std::max(in.full(view.symbol(other).dims).size(), shape.size()) - shape.size(), 1);
            return in.fixed_value(view.node().inputs[input], constant, in.of_image(shape));
        };
        const Symbol a = side(0, 1);
        return multiply_matrices(in, view, a, side(1, 0));
    }
    const Symbol symbol = view.value(0, "the left side");
    const std::int64_t rows = rows_of(symbol);
    const RealConstant w = transposed(view.constant(1, "the right side"));
    if (rows != 1) return in.set(view, multiply_rows(in, view, symbol, rows, w, {}));
    const Symbol x = row_of(symbol);
    check_row(x, w);
    const std::size_t output = connected(in, view, x, weights_of(w, 0), w.array.shape[0], {}).output;
    std::vector<std::int64_t> dims = symbol.dims;
    dims.back() = w.array.shape[0];
    in.set(view, {std::nullopt, output, dims, std::nullopt});
}

}  // namespace dlasim
