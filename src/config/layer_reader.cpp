#include "config/layer_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "config/descriptor_keys.h"
#include "config/geometry_reader.h"
#include "config/half.h"
#include "config/partition_reader.h"
#include "config/place_reader.h"
#include "config/pool_reader.h"
#include "config/post_reader.h"
#include "config/transfer_reader.h"

namespace dlasim {
namespace {

// Register widths: [spec] registers, CDMA and CSC. The machine can be told nothing larger.
constexpr Within kChannels{1, 8192}, kKernel{1, 32}, kStride{1, 8}, kDilation{1, 32};
constexpr Within kPadNear{0, 31}, kPadFar{0, 63};

std::uint32_t small(std::int64_t value) { return static_cast<std::uint32_t>(value); }

Precision read_precision(const JsonObject& object, const char* key, Precision fallback)
{
    return static_cast<Precision>(object.word(key, {"int8", "int16", "fp16"}, static_cast<std::size_t>(fallback)));
}

/// [spec] cdma.md 9 and 16: CDMA converts features of one width; fp16 passes unchanged.
void check_feature_conversion(Layer& layer, const JsonObject& input)
{
    const Precision stored = layer.stored_precision();
    if (layer.op == Op::Sdp) {
        if (layer.conversion.on) throw ConfigError(input.where("conversion"), "an sdp layer does not pass CDMA, expected no such key");
        return;
    }
    const bool to_float = stored == Precision::Int16 && layer.precision == Precision::Fp16;
    if (stored != layer.precision && !to_float)
        throw ConfigError(input.where("precision"), std::string("found ") + precision_name(stored) + " for " +
                                                        precision_name(layer.precision) +
                                                        ", expected the same, or int16 for fp16: CDMA converts features of one width");
    if (to_float) layer.conversion.on = true;
    if (stored == Precision::Fp16 && layer.conversion.on)
        throw ConfigError(input.where("conversion"),
                          "found a conversion of fp16 features, expected none: they pass the converter unchanged");
}

void read_input(Layer& layer, const JsonObject& top)
{
    if (!top.has("input")) top.missing("input", "an object {\"width\", \"height\", \"channels\"}");
    const JsonObject input = top.object("input", keys::kInput);
    layer.width = small(input.integer("width"));
    layer.height = small(input.integer("height"));
    layer.batch = small(input.integer("batch", 1));
    layer.flush_nan = input.flag("nan_to_zero", false);
    if (layer.flush_nan && layer.precision != Precision::Fp16)
        throw ConfigError(input.where("nan_to_zero"),
                          std::string("found true for ") + precision_name(layer.precision) + ", expected fp16: integers have no NaN");
    const std::string format = input.text("format", "feature");
    if (format != "feature") {
        layer.format = find_pixel_format(format);
        if (!layer.format) layer.format = find_pixel_format("T_" + format);
        if (!layer.format)
            throw ConfigError(
                input.where("format"),
                found(input.raw("format")) + ", expected \"feature\" or a pixel format of the register map, for example \"T_A8B8G8R8\"");
        layer.channels = small(input.integer("channels", kChannels, "components of a pixel", layer.format->components));
        if (layer.channels != layer.format->components)
            throw ConfigError(input.where("channels"), found(input.raw("channels")) + ", expected " +
                                                           std::to_string(layer.format->components) + ", the components of " +
                                                           layer.format->name);
        if (input.has("precision"))
            throw ConfigError(input.where("precision"),
                              std::string("the format says it (") + layer.format->name + "), expected no such key");
        layer.signed_pixels = input.flag("signed", true);
        layer.x_offset = small(input.integer("x_offset", 0));
    } else {
        layer.channels = small(input.integer("channels"));
        for (const char* key : {"signed", "x_offset", "mean"})
            if (input.has(key)) throw ConfigError(input.where(key), "only for pixel formats, expected no such key for \"feature\"");
        if (input.has("precision")) layer.input_precision = read_precision(input, "precision", layer.precision);
    }
    if (layer.image() && !layer.signed_pixels && !input.has("mean") && !input.has("conversion"))
        throw ConfigError(input.where("signed"), "unsigned pixels are not numbers of the array, expected a \"conversion\" or a \"mean\"");
    if (input.has("mean")) {
        const auto mean = input.integers("mean", layer.channels, {-32768, 32767}, "mean of a component");
        std::transform(mean.begin(), mean.end(), layer.conversion.mean.begin(), [](auto m) { return static_cast<std::int32_t>(m); });
        layer.conversion.on = layer.conversion.per_component = true;
    }
    if (input.has("conversion")) {
        const JsonObject object = input.object("conversion", keys::kConversion);
        layer.conversion.on = true;
        layer.conversion.offset = static_cast<std::int32_t>(object.integer("offset", 0));
        layer.conversion.scale = static_cast<std::int32_t>(object.integer("scale", 1));
        layer.conversion.shift = small(object.integer("shift", 0));
    }
    if (!layer.image()) return check_feature_conversion(layer, input);
    // [spec] cdma.md 9.3, point 6.
    if (!layer.format->half_float) return;
    if (layer.precision != Precision::Fp16)
        throw ConfigError(input.where("format"), std::string("found fp16 pixels (") + layer.format->name + ") for precision " +
                                                     precision_name(layer.precision) +
                                                     ", expected precision fp16: they pass the converter unchanged");
    if (layer.conversion.on)
        throw ConfigError(input.where(input.has("mean") ? "mean" : "conversion"),
                          std::string("found a conversion of fp16 pixels (") + layer.format->name +
                              "), expected none: they pass the converter unchanged");
}

void read_kernel(Layer& layer, const JsonObject& top)
{
    if (!top.has("kernel")) top.missing("kernel", "an object {\"width\", \"height\", \"count\"}");
    const JsonObject kernel = top.object("kernel", keys::kKernel);
    layer.kernels = small(kernel.integer("count"));
    const bool connected = layer.op == Op::FullyConnected;
    const JsonObject* shape = kernel.has("kernel_shape") ? &kernel : top.has("kernel_shape") ? &top : nullptr;
    if (shape) {
        kernel.not_both("kernel_shape", "width");
        kernel.not_both("kernel_shape", "height");
        if (shape == &top && (kernel.has("width") || kernel.has("height")))
            throw ConfigError(top.where("kernel_shape"), "says the same as kernel width and height, expected only one of them");
        const auto yx = shape->integers("kernel_shape", 2, kKernel, "kernel height and width");
        layer.kernel_height = small(yx[0]);
        layer.kernel_width = small(yx[1]);
    } else if (connected) {
        layer.kernel_width = small(kernel.integer("width", layer.width));
        layer.kernel_height = small(kernel.integer("height", layer.height));
    } else {
        layer.kernel_width = small(kernel.integer("width"));
        layer.kernel_height = small(kernel.integer("height"));
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
        return half_from_double(value.get<double>());
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
    const auto path = [&](const char* key) {
        std::string text = data.text(key, "");
        if (text.empty() && data.has(key)) throw ConfigError(data.where(key), "found \"\", expected a NumPy file");
        if (text.empty() || std::filesystem::path(text).is_absolute()) return text;
        return (std::filesystem::path(folder) / text).string();
    };
    layer.data.input = path("input");
    layer.data.weights = path("weights");
    layer.data.expected = path("expected");
    if (layer.post.compares() && data.has("expected"))
        throw ConfigError(data.where("expected"), "the layer compares and writes nothing, expected no such key");
    if (!layer.convolves() && data.has("weights"))
        throw ConfigError(data.where("weights"), "the layer has no weights, expected no such key");
    data.not_both("bias", "bs_alu");
    for (std::size_t slot = 0; slot < kOperandNames.size(); ++slot) {
        const char* key = slot == 0 && data.has("bias") ? "bias" : kOperandNames[slot];
        if (!data.has(key)) continue;
        layer.data.operands[slot] = path(key);
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

/// Features that SDP reads itself: no kernel, nothing that belongs to one.
void read_sdp_input(Layer& layer, const JsonObject& top)
{
    for (const char* key : {"kernel", "kernel_shape", "stride", "strides", "dilation", "dilations", "groups", "group", "pad", "pads",
                            "mode", "weights", "winograd", "image", "partition", "plan", "overlap"})
        if (top.has(key)) throw ConfigError(top.where(key), "an sdp layer has no kernel, expected no such key");
    if (layer.batch != 1)
        throw ConfigError(top.where("input") + "/batch", "found " + std::to_string(layer.batch) + ", expected 1: SDP reads one cube");
    if (layer.image())
        throw ConfigError(top.where("input") + "/format", std::string("found ") + layer.format->name + ", expected \"feature\"");
    layer.kernels = layer.channels;
    const Precision stored = layer.stored_precision();
    const bool narrowing = stored == Precision::Int16 && layer.precision == Precision::Int8;
    if (layer.flush_nan)
        throw ConfigError(top.where("input") + "/nan_to_zero", "an sdp layer does not pass CDMA, expected \"nan_to_zero\" in \"post\"");
    if (stored != layer.precision && !narrowing)
        throw ConfigError(top.where("input") + "/precision", std::string("found ") + precision_name(stored) + " for " +
                                                                 precision_name(layer.precision) +
                                                                 ", expected the same, or int16 for int8");
}

/// Features that PDP pools: no kernel of weights, and nothing behind it.
void read_pool_input(Layer& layer, const JsonObject& top)
{
    for (const char* key : {"kernel", "kernel_shape", "stride", "strides", "dilation", "dilations", "groups", "group", "pad", "pads",
                            "mode", "weights", "winograd", "image", "partition", "plan", "overlap", "post"})
        if (top.has(key)) throw ConfigError(top.where(key), "a pool layer has windows only, expected them in \"pool\"");
    if (!top.has("pool")) top.missing("pool", "an object {\"function\", \"kernel\"}");
    if (layer.batch != 1)
        throw ConfigError(top.where("input") + "/batch", "found " + std::to_string(layer.batch) + ", expected 1: PDP reads one cube");
    if (layer.image())
        throw ConfigError(top.where("input") + "/format", std::string("found ") + layer.format->name + ", expected \"feature\"");
    if (layer.conversion.on || layer.input_precision)
        throw ConfigError(top.where("input"), "found a conversion, expected none: PDP pools the input as it is");
    layer.kernels = layer.channels;
    layer.pool = read_pool(top, layer.precision, layer.width, layer.height);
}

const std::vector<std::string> kOps{"conv2d", "fully_connected", "deconv2d", "sdp", "pool"};
const std::vector<std::string> kModes{"auto", "direct", "image", "winograd"};

/// Before anything else: after a slip of the pen in `op` the keys of another op would look unknown.
void check_op(const Json& json, const std::string& where)
{
    if (!json.is_object() || !json.contains("op") || !json.at("op").is_string()) return;
    std::vector<std::string> ops = kOps;
    ops.insert(ops.end(), transfer_ops().begin(), transfer_ops().end());
    const std::string op = json.at("op").get<std::string>();
    if (std::find(ops.begin(), ops.end(), op) == ops.end())
        throw ConfigError(where, found(json.at("op")) + suggest(op, ops) + ", expected an operation");
    if (is_transfer(json)) throw ConfigError(where, found(json.at("op")) + ", expected a layer's operation");
}

/// What an sdp layer does not have.
void convolution_json(OrderedJson& json, const Layer& layer)
{
    json["kernel"] = {{"width", layer.kernel_width}, {"height", layer.kernel_height}, {"count", layer.kernels}};
    json["stride"] = {{"x", layer.stride.x}, {"y", layer.stride.y}};
    json["dilation"] = {{"x", layer.dilation.x}, {"y", layer.dilation.y}};
    json["groups"] = layer.groups;
    json["pad"] = {{"left", layer.pad.left}, {"right", layer.pad.right}, {"top", layer.pad.top}, {"bottom", layer.pad.bottom}};
    if (layer.precision == Precision::Fp16) json["pad"]["value"] = double_from_half(static_cast<std::uint16_t>(layer.pad.value));
    else json["pad"]["value"] = layer.pad.value;
    json["precision"] = precision_name(layer.precision);
    json["mode"] = kModes[static_cast<std::size_t>(layer.mode)];
    if (layer.mode == Mode::Winograd) json["winograd"] = {{"truncate", layer.winograd_truncate}};
    if (layer.rows_at_once != 0) json["image"] = {{"rows_at_once", layer.rows_at_once}};
    json["weights"] = {{"compressed", layer.compressed}, {"density", layer.density}};
    if (layer.overlap != Overlap::All) json["overlap"] = overlap_name(layer.overlap);
    if (layer.partition.minimise != Minimise::Parts) json["plan"] = plan_json(layer.partition.minimise);
    else if (layer.partition.on()) json["partition"] = partition_json(layer.partition);
}

}  // namespace

Layer layer_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder)
{
    check_op(json, at(file, pointer + "/op"));
    const JsonObject top(json, file, pointer, keys::kLayer);
    Layer layer;
    layer.file = at(file, pointer);
    layer.name = top.text("name", std::filesystem::path(file).stem().string());
    layer.op = static_cast<Op>(top.word("op", kOps, 0));
    layer.precision = read_precision(top, "precision", Precision::Int8);
    layer.mode = static_cast<Mode>(top.word("mode", kModes, 0));
    read_input(layer, top);
    if (layer.op == Op::Sdp) read_sdp_input(layer, top);
    else if (layer.op == Op::Pool) read_pool_input(layer, top);
    else read_kernel(layer, top);
    layer.stride = read_extent(top, "stride", "strides", kStride, "stride");
    layer.dilation = read_extent(top, "dilation", "dilations", kDilation, "dilation");
    top.not_both("groups", "group");
    layer.groups = small(top.integer(top.has("group") ? "group" : "groups", 1));
    read_padding(layer, top);
    read_post(layer, top);
    if (top.has("weights")) {
        const JsonObject weights = top.object("weights", keys::kWeights);
        layer.compressed = weights.flag("compressed", false);
        layer.density = small(weights.integer("density", 100));
    }
    if (layer.op != Op::Pool && top.has("pool"))
        throw ConfigError(top.where("pool"), "the operation is no pooling, expected \"pool\" in \"post\" or \"op\": \"pool\"");
    read_placement(layer, top);
    if (top.has("winograd")) {
        const JsonObject winograd = top.object("winograd", keys::kWinograd);
        layer.winograd_truncate = small(winograd.integer("truncate", 2));
    }
    if (top.has("image")) {
        if (!layer.image()) throw ConfigError(top.where("image"), "only for pixel formats, expected no such key for \"feature\"");
        const JsonObject image = top.object("image", keys::kImage);
        layer.rows_at_once = small(image.integer("rows_at_once", 1));
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

OrderedJson layer_json(const Layer& layer)
{
    OrderedJson json;
    json["name"] = layer.name;
    json["op"] = kOps[static_cast<std::size_t>(layer.op)];
    json["input"] = {{"width", layer.width},
                     {"height", layer.height},
                     {"channels", layer.channels},
                     {"batch", layer.batch},
                     {"format", layer.format ? layer.format->name : "feature"}};
    if (layer.image()) {
        json["input"]["signed"] = layer.signed_pixels;
        json["input"]["x_offset"] = layer.x_offset;
        for (std::uint32_t c = 0; layer.conversion.per_component && c < layer.channels; ++c)
            json["input"]["mean"].push_back(layer.conversion.mean[c]);
    }
    if (layer.conversion.on)
        json["input"]["conversion"] = {
            {"offset", layer.conversion.offset}, {"scale", layer.conversion.scale}, {"shift", layer.conversion.shift}};
    if (layer.input_precision) json["input"]["precision"] = precision_name(*layer.input_precision);
    if (layer.flush_nan) json["input"]["nan_to_zero"] = true;
    if (!layer.convolves()) {
        json["precision"] = precision_name(layer.precision);
        if (layer.op == Op::Pool) json["pool"] = pool_json(*layer.pool);
    } else {
        convolution_json(json, layer);
    }
    const Placement& p = layer.placement;
    json["placement"] = {{"input", place_json(p.input)}, {"weights", place_json(p.weights)}, {"output", place_json(p.output)}};
    for (std::size_t i = 0; i < p.operands.size(); ++i) json["placement"][kEngineNames[i]] = place_json(p.operands[i]);
    if (layer.op != Op::Pool) json["post"] = post_json(layer);
    json["data"] = {{"seed", layer.data.seed}};
    for (const auto& [key, path] :
         {std::pair{"input", &layer.data.input}, std::pair{"weights", &layer.data.weights}, std::pair{"expected", &layer.data.expected}})
        if (!path->empty()) json["data"][key] = *path;
    for (std::size_t slot = 0; slot < kOperandNames.size(); ++slot)
        if (!layer.data.operands[slot].empty()) json["data"][kOperandNames[slot]] = layer.data.operands[slot];
    return json;
}

bool is_layer_field(const std::string& path)
{
    const std::string first = path.substr(0, path.find('.'));
    const bool spelt_otherwise =
        first == "strides" || first == "dilations" || first == "group" || first == "pads" || first == "kernel_shape";
    return !spelt_otherwise &&
           std::any_of(keys::kLayer.begin(), keys::kLayer.end(), [&](const InputKey& key) { return key.row.name == first; });
}

namespace {

/// A field of an object, an element of a list by its place.
Json& part_of(Json& json, const std::string& key, const std::string& path, const std::string& where)
{
    if (!json.is_array()) return json[key];
    const bool number = !key.empty() && key.size() < 7 && key.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(key) >= json.size())
        throw ConfigError(where, "\"" + path + "\" has \"" + key + "\" in a list of " + std::to_string(json.size()) +
                                     ", expected the place of one of them, from 0 on");
    return json[std::stoul(key)];
}

}  // namespace

void set_layer_field(Json& json, const std::string& path, const Json& value, const std::string& where)
{
    Json* place = &json;
    std::size_t start = 0;
    for (std::size_t dot; (dot = path.find('.', start)) != std::string::npos; start = dot + 1) {
        place = &part_of(*place, path.substr(start, dot - start), path, where);
        if (!place->is_null() && !place->is_structured())
            throw ConfigError(where, "\"" + path + "\" is below a value that is no object, expected a descriptor's field");
    }
    part_of(*place, path.substr(start), path, where) = value;
}

}  // namespace dlasim
