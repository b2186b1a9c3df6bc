#include "config/layer/lrn_reader.h"

#include <cmath>

#include "config/descriptor_keys.h"
#include "config/layer/cube_reader.h"
#include "config/layer/layer_words.h"

namespace dlasim {
namespace {

double number(const JsonObject& object, const char* key, double low, double high, const char* meaning, double fallback)
{
    if (!object.has(key)) return fallback;
    const Json& value = object.raw(key);
    if (!value.is_number() || !(value.get<double>() >= low) || !(value.get<double>() <= high))
        throw ConfigError(object.where(key),
                          found(value) + ", expected a number in " + Json(low).dump() + ".." + Json(high).dump() + " (" + meaning + ")");
    return value.get<double>();
}

}  // namespace

Lrn read_lrn(const JsonObject& top)
{
    Lrn lrn;
    if (!top.has("lrn")) top.missing("lrn", "an object {\"size\"}");
    const JsonObject lrn_object = top.object("lrn", keys::kLrn);
    lrn.size = static_cast<std::uint32_t>(lrn_object.integer("size"));
    if (lrn.size % 2 == 0)
        throw ConfigError(lrn_object.where("size"), "found " + std::to_string(lrn.size) + ", expected 3, 5, 7 or 9: CDP sums these");
    lrn.alpha = number(lrn_object, "alpha", 0, 1e6, "weight of the squares", lrn.alpha);
    lrn.beta = number(lrn_object, "beta", 0, 8, "exponent", lrn.beta);
    lrn.bias = number(lrn_object, "bias", 1e-6, 1e6, "added to the squares", lrn.bias);
    lrn.precision = static_cast<Precision>(top.word("precision", kPrecisions, 0));
    if (lrn.precision == Precision::Fp16) {
        for (const char* key : {"input_scale", "output_scale"})
            if (lrn_object.has(key))
                throw ConfigError(lrn_object.where(key), found(lrn_object.raw(key)) + ", expected no such key: fp16 has no steps");
    } else {
        lrn.input_scale = number(lrn_object, "input_scale", 1e-9, 1e9, "real value of a step of the input represents", 1);
        // By default the largest factor keeps the range of the input.
        lrn.output_scale = number(lrn_object, "output_scale", 1e-60, 1e60, "real value of a step of the output represents",
                                  lrn.input_scale * std::pow(lrn.bias, -lrn.beta));
    }
    read_cube(top, {1, keys::kMaxSide}, lrn);
    return lrn;
}

void put_lrn(OrderedJson& json, const Lrn& lrn)
{
    json["lrn"] = {{"size", lrn.size}, {"alpha", lrn.alpha}, {"beta", lrn.beta}, {"bias", lrn.bias}};
    if (lrn.precision != Precision::Fp16) {
        json["lrn"]["input_scale"] = lrn.input_scale;
        json["lrn"]["output_scale"] = lrn.output_scale;
    }
    put_cube(json, lrn);
}

}  // namespace dlasim
