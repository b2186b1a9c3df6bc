#include "config/layer/layer_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "config/descriptor_keys.h"
#include "config/layer/geometry_reader.h"
#include "config/layer/layer_input.h"
#include "config/layer/layer_words.h"
#include "config/layer/partition_reader.h"
#include "config/layer/place_reader.h"
#include "config/layer/sdp_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/model/fp16.h"
#include "config/tolerance_reader.h"

namespace dlasim {
namespace {

// Register widths: [spec] registers, CDMA and CSC. The machine cannot encode larger values.
constexpr Within kKernelSide{1, 32}, kLayerStride{1, keys::kMaxKernelStride}, kDilation{1, keys::kMaxDilation};
constexpr Within kPadNear{0, 31}, kPadFar{0, 63};

void read_kernel(Layer& layer, const JsonObject& top)
{
    if (!top.has("kernel")) top.missing("kernel", "an object {\"width\", \"height\", \"count\"}");
    const JsonObject kernel = top.object("kernel", keys::kKernel);
    layer.kernels = kernel.count("count");
    const bool connected = layer.op == Op::FullyConnected;
    const JsonObject* shape = kernel.has("kernel_shape") ? &kernel : top.has("kernel_shape") ? &top : nullptr;
    if (shape) {
        kernel.not_both("kernel_shape", "width");
        kernel.not_both("kernel_shape", "height");
        if (shape == &top && (kernel.has("width") || kernel.has("height")))
            throw ConfigError(top.where("kernel_shape"), "duplicates kernel width and height, expected only one of them");
        const auto yx = shape->counts("kernel_shape", 2, kKernelSide, "kernel height and width");
        layer.kernel_height = yx[0];
        layer.kernel_width = yx[1];
    } else if (connected) {
        layer.kernel_width = kernel.count("width", layer.width);
        layer.kernel_height = kernel.count("height", layer.height);
    } else {
        layer.kernel_width = kernel.count("width");
        layer.kernel_height = kernel.count("height");
    }
    if (connected && (layer.kernel_width != layer.width || layer.kernel_height != layer.height))
        throw ConfigError(top.where("kernel"), "found a kernel of " + std::to_string(layer.kernel_width) + " x " +
                                                   std::to_string(layer.kernel_height) + ", expected the input plane " +
                                                   std::to_string(layer.width) + " x " + std::to_string(layer.height) +
                                                   " of a fully_connected layer");
    if (connected && (layer.kernel_width > 32 || layer.kernel_height > 32))
        throw ConfigError(top.where("kernel"), "found an input plane of " + std::to_string(layer.width) + " x " +
                                                   std::to_string(layer.height) +
                                                   ", expected at most 32 x 32: the kernel of a fully_connected layer covers it");
}

std::int32_t read_pad_value(const Layer& layer, const JsonObject& pad)
{
    if (!pad.has("value")) return 0;
    if (layer.precision == Precision::Fp16) {
        const Json& value = pad.raw("value");
        if (!value.is_number() || !std::isfinite(value.get<double>()) || std::abs(value.get<double>()) > 65504)
            throw ConfigError(pad.where("value"), found(value) + ", expected a number in -65504..65504 (fp16 padding)");
        return fp16_from_double(value.get<double>());
    }
    const Within range = layer.precision == Precision::Int8 ? Within{-128, 127} : Within{-32768, 32767};
    return static_cast<std::int32_t>(pad.integer("value", range, "padding value", 0));
}

void read_padding(Layer& layer, const JsonObject& top)
{
    std::int32_t value = 0;
    const Sides sides = read_sides(top, kPadNear, kPadFar, [&](const JsonObject& pad) { value = read_pad_value(layer, pad); });
    layer.pad = {sides.left, sides.right, sides.top, sides.bottom, value};
}

void read_data(Layer& layer, const JsonObject& top, const std::string& folder)
{
    layer.data.where = top.where("data");
    if (!top.has("data")) return;
    const JsonObject data = top.object("data", keys::kData);
    layer.data.seed = static_cast<std::uint64_t>(data.integer("seed", 1));
    layer.data.input = data.input_file("input", folder);
    layer.data.weights = data.input_file("weights", folder);
    layer.data.expected = data.input_file("expected", folder);
    layer.data.tolerance = read_tolerance(data);
    if (layer.post.compares() && data.has("expected"))
        throw ConfigError(data.where("expected"), "the layer compares and writes nothing, expected no such key");
    if (!layer.convolves() && data.has("weights"))
        throw ConfigError(data.where("weights"), "the layer has no weights, expected no such key");
    data.not_both("bias", "bs_alu");
    for (std::size_t slot = 0; slot < kOperandNames.size(); ++slot) {
        const char* key = slot == 0 && data.has("bias") ? "bias" : kOperandNames[slot];
        if (!data.has(key)) continue;
        layer.data.operands[slot] = data.input_file(key, folder);
        const PointEngine& engine = layer.post.engines[slot / 2];
        if (!(slot % 2 == 0 ? engine.alu : engine.mul).streamed())
            throw ConfigError(
                data.where(key),
                slot == 0 ? "the layer has no bias, expected \"post\": {\"bias\": true} or an alu of \"bs\" per kernel or per element"
                          : "the layer has no such operand, expected one in \"post\", per kernel or per element");
    }
}

void check_shape(const Layer& layer, const JsonObject& top)
{
    if (layer.channels % layer.groups != 0 || layer.kernels % layer.groups != 0)
        throw ConfigError(top.where("groups"), "found " + std::to_string(layer.groups) + " groups for " + std::to_string(layer.channels) +
                                                   " channels and " + std::to_string(layer.kernels) +
                                                   " kernels, expected a divisor of both");
    if (layer.image() && layer.groups != 1)
        throw ConfigError(top.where("groups"), "found " + std::to_string(layer.groups) + ", expected 1 for pixels");
    const auto fits = [&](const char* axis, std::uint32_t span, std::uint64_t size) {
        if (span > size)
            throw ConfigError(top.where("kernel"), "found a kernel that spans " + std::to_string(span) + " " + axis +
                                                       ", expected at most the " + std::to_string(size) + " of the padded input");
    };
    if (layer.op == Op::Deconvolution) {
        const std::int64_t w = std::int64_t{layer.width - 1} * layer.stride.x + layer.span_x() - layer.pad.left - layer.pad.right;
        const std::int64_t h = std::int64_t{layer.height - 1} * layer.stride.y + layer.span_y() - layer.pad.top - layer.pad.bottom;
        if (w < 1 || h < 1 || w > 8192 || h > 8192)
            throw ConfigError(top.where("pad"),
                              "leaves an output of " + std::to_string(w) + " x " + std::to_string(h) + ", expected 1..8192 each way");
        return;
    }
    fits("columns", layer.span_x(), std::uint64_t{layer.width} + layer.pad.left + layer.pad.right);
    fits("rows", layer.span_y(), std::uint64_t{layer.height} + layer.pad.top + layer.pad.bottom);
    if (layer.out_width() > 8192 || layer.out_height() > 8192)
        throw ConfigError(top.where("pad"), "gives an output of " + std::to_string(layer.out_width()) + " x " +
                                                std::to_string(layer.out_height()) + ", expected at most 8192 each way");
}

void read_placement(Layer& layer, const JsonObject& top)
{
    if (!top.has("placement")) return;
    const JsonObject placement = top.object("placement", keys::kPlacement);
    Placement& p = layer.placement;
    p.input = read_place(placement, "input", {}, p.input);
    p.weights = read_place(placement, "weights", {}, p.weights);
    p.output = read_place(placement, "output", {}, p.output);
    placement.not_both("bias", "bs");
    for (std::size_t i = 0; i < p.operands.size(); ++i)
        p.operands[i] = read_place(placement, i == 0 && placement.has("bias") ? "bias" : kEngineNames[i], {}, p.operands[i]);
}

/// Before anything else: after a slip of the pen in `op` the keys of another op would look unknown.
void check_op(const Json& json, const std::string& where)
{
    if (!json.is_object() || !json.contains("op") || !json.at("op").is_string()) return;
    std::vector<std::string> ops = kLayerOps;
    for (const TransferKeys& transfer : transfer_keys()) ops.push_back(transfer.op);
    const std::string op = json.at("op").get<std::string>();
    if (std::find(ops.begin(), ops.end(), op) == ops.end())
        throw ConfigError(where, found(json.at("op")) + suggest(op, ops) + ", expected an operation");
    if (is_transfer(json)) throw ConfigError(where, found(json.at("op")) + ", expected a layer's operation");
}

}  // namespace

Layer layer_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder)
{
    check_op(json, at(file, pointer + "/op"));
    const JsonObject top(json, file, pointer, keys::kLayer);
    Layer layer;
    layer.file = at(file, pointer);
    layer.name = top.text("name", std::filesystem::path(file).stem().string());
    layer.op = static_cast<Op>(top.word("op", kLayerOps, 0));
    layer.precision = read_precision(top, "precision", Precision::Int8);
    layer.mode = static_cast<Mode>(top.word("mode", kLayerModes, 0));
    read_input(layer, top);
    if (layer.op == Op::Sdp) read_sdp_input(layer, top);
    else if (layer.op == Op::Pool) read_pool_input(layer, top);
    else read_kernel(layer, top);
    layer.stride = read_extent(top, "stride", "strides", kLayerStride, keys::kStrideMeaning);
    layer.dilation = read_extent(top, "dilation", "dilations", kDilation, "dilation");
    top.not_both("groups", "group");
    layer.groups = top.count(top.has("group") ? "group" : "groups", 1);
    read_padding(layer, top);
    read_post(layer, top);
    if (top.has("weights")) {
        const JsonObject weights = top.object("weights", keys::kWeights);
        layer.compressed = weights.flag("compressed", false);
        layer.density = weights.count("density", 100);
    }
    if (layer.op != Op::Pool && top.has("pool"))
        throw ConfigError(top.where("pool"), "the operation is no pooling, expected \"pool\" in \"post\" or \"op\": \"pool\"");
    read_placement(layer, top);
    if (top.has("winograd")) {
        const JsonObject winograd = top.object("winograd", keys::kWinograd);
        layer.winograd_truncate = winograd.count("truncate", 2);
    }
    if (top.has("image")) {
        if (!layer.image()) throw ConfigError(top.where("image"), "only for pixel formats, expected no such key for \"feature\"");
        const JsonObject image = top.object("image", keys::kImage);
        layer.rows_at_once = image.count("rows_at_once", 1);
        if (layer.rows_at_once == 3) throw ConfigError(image.where("rows_at_once"), "found 3, expected 1, 2 or 4");
    }
    layer.partition = read_partition(top);
    layer.overlap = read_overlap(top, 3);
    read_data(layer, top, folder);
    check_shape(layer, top);
    read_post_pool(layer, top);
    if (layer.image() && layer.mode != Mode::Auto && layer.mode != Mode::Image)
        throw ConfigError(top.where("mode"), found(top.raw("mode")) + ", expected \"image\" or \"auto\" for pixels");
    if (!layer.image() && layer.mode == Mode::Image)
        throw ConfigError(top.where("mode"), "found \"image\", expected a pixel format in input.format");
    return layer;
}

Layer read_layer(const std::string& path)
{
    return layer_from_json(read_json(path), path, "", std::filesystem::path(path).parent_path().string());
}

}  // namespace dlasim
