#include "config/layer/layer_input.h"

#include <algorithm>

#include "config/descriptor_keys.h"
#include "config/layer/pool_reader.h"

namespace dlasim {
namespace {

constexpr Within kPixelChannels{1, 8192};

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

}  // namespace

Precision read_precision(const JsonObject& object, const char* key, Precision fallback)
{
    return static_cast<Precision>(object.word(key, {"int8", "int16", "fp16"}, static_cast<std::size_t>(fallback)));
}

void read_input(Layer& layer, const JsonObject& top)
{
    if (!top.has("input")) top.missing("input", "an object {\"width\", \"height\", \"channels\"}");
    const JsonObject input = top.object("input", keys::kInput);
    layer.width = input.count("width");
    layer.height = input.count("height");
    layer.batch = input.count("batch", 1);
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
        layer.channels = input.count("channels", kPixelChannels, "components of a pixel", layer.format->components);
        if (layer.channels != layer.format->components)
            throw ConfigError(input.where("channels"), found(input.raw("channels")) + ", expected " +
                                                           std::to_string(layer.format->components) + ", the components of " +
                                                           layer.format->name);
        if (input.has("precision"))
            throw ConfigError(input.where("precision"),
                              std::string("the format implies it (") + layer.format->name + "), expected no such key");
        layer.signed_pixels = input.flag("signed", true);
        layer.x_offset = input.count("x_offset", 0);
    } else {
        layer.channels = input.count("channels");
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
        layer.conversion.shift = object.count("shift", 0);
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

void read_pool_input(Layer& layer, const JsonObject& top)
{
    for (const char* key :
         {"kernel", "kernel_shape", "stride",   "strides", "dilation",  "dilations", "groups",  "group", "pad",        "pads",
          "mode",   "weights",      "winograd", "image",   "partition", "plan",      "overlap", "bias",  "activation", "post"})
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

}  // namespace dlasim
