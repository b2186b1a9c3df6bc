#include "config/layer/pool_reader.h"

#include <cmath>

#include "config/descriptor_keys.h"
#include "config/layer/geometry_reader.h"
#include "config/layer/layer_words.h"

namespace dlasim {
namespace {

// [spec] pdp.md 1.2: register widths; strides above 8 were never measured.
constexpr Within kPoolKernelSide{1, 8}, kPoolStride{1, 8}, kPoolPad{0, 7};

void read_kernel(Pool& pool, const JsonObject& object)
{
    object.not_both("kernel", "kernel_shape");
    if (object.has("kernel_shape")) {
        const auto yx = object.counts("kernel_shape", 2, kPoolKernelSide, "kernel height and width");
        pool.y.kernel = yx[0];
        pool.x.kernel = yx[1];
        return;
    }
    if (!object.has("kernel")) object.missing("kernel", "an object {\"width\", \"height\"}");
    const JsonObject kernel = object.object("kernel", keys::kPoolKernel);
    pool.x.kernel = kernel.count("width");
    pool.y.kernel = kernel.count("height");
}

void read_pad_value(Pool& pool, const JsonObject& pad, Precision precision)
{
    if (!pad.has("value")) return;
    const Json& value = pad.raw("value");
    const double most = precision == Precision::Int8 ? 127 : precision == Precision::Int16 ? 32767 : 8188;
    const bool whole = precision != Precision::Fp16;
    if (pool.function != PoolFunction::Average)
        throw ConfigError(pad.where("value"), found(value) + ", expected no such key: maximum and minimum ignore the padding");
    if (!value.is_number() || !std::isfinite(value.get<double>()) || std::abs(value.get<double>()) > most + whole ||
        value.get<double>() > most || (whole && !value.is_number_integer()))
        throw ConfigError(pad.where("value"), found(value) + ", expected " + (whole ? "a whole" : "a") + " number in " +
                                                  std::to_string(static_cast<int>(-most - whole)) + ".." +
                                                  std::to_string(static_cast<int>(most)) + " (" + precision_name(precision) + ")");
    pool.pad_value = value.get<double>();
}

void read_padding(Pool& pool, const JsonObject& object, Precision precision)
{
    const Sides sides = read_sides(object, kPoolPad, kPoolPad, [&](const JsonObject& pad) { read_pad_value(pool, pad, precision); });
    pool.x.before = sides.left;
    pool.x.after = sides.right;
    pool.y.before = sides.top;
    pool.y.after = sides.bottom;
}

void check_axis(const PoolAxis& axis, std::uint32_t size, bool ceil, const JsonObject& object, const char* name)
{
    const std::string kernel = std::to_string(axis.kernel), padding = std::to_string(axis.before) + " and " + std::to_string(axis.after);
    if (axis.kernel > size + axis.before + axis.after)
        throw ConfigError(object.where("kernel"), "found a kernel of " + kernel + " " + name + ", expected at most the " +
                                                      std::to_string(size + axis.before + axis.after) + " of the padded input");
    if (axis.before >= axis.kernel || axis.pad_after(size, ceil) >= axis.kernel)
        throw ConfigError(object.where("pad"), "found a padding of " + padding + " " + name + " for a kernel of " + kernel +
                                                   ", expected every window to contain an element of the input");
}

}  // namespace

Pool read_pool(const JsonObject& parent, Precision precision, std::uint32_t width, std::uint32_t height)
{
    const JsonObject object = parent.object("pool", keys::kPool);
    Pool pool;
    if (!object.has("function")) object.missing("function", "\"max\", \"min\" or \"average\"");
    pool.function = static_cast<PoolFunction>(object.word("function", kPoolFunctions, 0));
    pool.ceil = object.integer("ceil_mode", 0) != 0;
    read_kernel(pool, object);
    const Extent stride = read_extent(object, "stride", "strides", kPoolStride, "stride");
    pool.x.stride = stride.x;
    pool.y.stride = stride.y;
    read_padding(pool, object, precision);
    check_axis(pool.x, width, pool.ceil, object, "columns");
    check_axis(pool.y, height, pool.ceil, object, "rows");
    const bool counted = object.integer("count_include_pad", 0) != 0;
    const std::int64_t right = pool.x.pad_after(width, pool.ceil), bottom = pool.y.pad_after(height, pool.ceil);
    if (pool.function != PoolFunction::Average) return pool;
    if (!counted && (pool.x.before != 0 || pool.y.before != 0 || right > 0 || bottom > 0))
        throw ConfigError(
            object.where("count_include_pad"),
            "found an average over padding that does not count, expected 1: the machine divides by the whole kernel everywhere");
    if (right > std::int64_t{pool.x.after} || bottom > std::int64_t{pool.y.after})
        throw ConfigError(object.where("ceil_mode"),
                          "found an average whose last window ends beyond the padding, expected \"pad\" to reach there: "
                          "the machine divides by the whole kernel everywhere");
    return pool;
}

OrderedJson pool_json(const Pool& pool)
{
    OrderedJson json;
    json["function"] = function_name(pool.function);
    json["kernel"] = {{"width", pool.x.kernel}, {"height", pool.y.kernel}};
    json["stride"] = {{"x", pool.x.stride}, {"y", pool.y.stride}};
    json["pad"] = {{"left", pool.x.before}, {"right", pool.x.after}, {"top", pool.y.before}, {"bottom", pool.y.after}};
    if (pool.function == PoolFunction::Average) {
        if (pool.pad_value == std::trunc(pool.pad_value)) json["pad"]["value"] = static_cast<std::int64_t>(pool.pad_value);
        else json["pad"]["value"] = pool.pad_value;
        json["count_include_pad"] = 1;
    }
    json["ceil_mode"] = pool.ceil ? 1 : 0;
    return json;
}

}  // namespace dlasim
