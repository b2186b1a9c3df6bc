// The lookup table of EW from a descriptor: both tables in full, or the name of a function.
//
//   "le": {"function", "start", "end", "index_offset" or "index_select", "underflow", "overflow", "entries": [65]}
//   "lo": the same with 257 entries, always linear
//   "priority": {"underflow": "le", "overflow": "le", "hybrid": "le"}
//
//   "function": "sigmoid" or "tanh", with input_scale and output_scale: a number n of the machine
//   stands for n * scale. LO covers the whole range, LE its middle with a quarter of LO's step.
//
// Source  sdp.md 1.3, 4.5.
#include <bit>
#include <cmath>
#include <span>

#include "config/descriptor_keys.h"
#include "config/layer/sdp_reader.h"
#include "config/model/fp16.h"

namespace dlasim {
namespace {

struct Kinds {
    NumberKind position, entry;
};
Kinds kinds_of(Precision precision)
{
    return precision == Precision::Fp16 ? Kinds{NumberKind::Fp32, NumberKind::Fp16} : Kinds{NumberKind::Int32, NumberKind::Int16};
}

LutSlope read_slope(const JsonObject& table, const char* key, Kinds kinds)
{
    LutSlope slope;
    if (!table.has(key)) return slope;
    const JsonObject object = table.object(key, keys::kSlope);
    slope.scale = read_number(object, "scale", kinds.entry, "slope beyond the table", 0);
    slope.shift = static_cast<std::int32_t>(object.integer("shift", 0));
    return slope;
}

LutTable read_table(const JsonObject& lut, const char* key, std::size_t entries, Kinds kinds)
{
    if (!lut.has(key)) lut.missing(key, "a table, or \"function\" in its place");
    const bool le = entries == Lut::kLeEntries;
    const JsonObject object = lut.object(key, le ? std::span<const InputKey>(keys::kLe) : keys::kLo);
    LutTable table;
    if (le) {
        table.exponential = object.word("function", {"exponential", "linear"}, 0) == 0;
        table.index_offset = static_cast<std::int32_t>(object.integer("index_offset", 0));
    }
    table.index_select = static_cast<std::int32_t>(object.integer("index_select", 0));
    table.start = read_number(object, "start", kinds.position, "where the table begins", 0);
    table.end = read_number(object, "end", kinds.position, "where the table ends", 0);
    table.underflow = read_slope(object, "underflow", kinds);
    table.overflow = read_slope(object, "overflow", kinds);
    if (!object.has("entries")) object.missing("entries", "the numbers of the table");
    const Json& list = object.raw("entries");
    if (!list.is_array() || list.size() != entries)
        throw ConfigError(object.where("entries"), found(list) + ", expected an array of " + std::to_string(entries) + " numbers");
    for (std::size_t i = 0; i < entries; ++i)
        table.entries[i] = static_cast<std::int16_t>(
            checked_number(list[i], object.where("entries") + "/" + std::to_string(i), kinds.entry, "entry of the table"));
    return table;
}

double positive(const JsonObject& lut, const char* key, double fallback)
{
    if (!lut.has(key)) return fallback;
    const Json& value = lut.raw(key);
    if (!value.is_number() || !(value.get<double>() >= 1e-9) || !(value.get<double>() <= 1e9))
        throw ConfigError(lut.where(key), found(value) + ", expected a number in 1e-9..1e9");
    return value.get<double>();
}

/// `f` sampled at every step of 2^log2_step from -2^log2_step * (entries - 1) / 2.
LutTable sampled(double (*f)(double), int log2_step, std::size_t entries, Precision precision, double input_scale, double output_scale)
{
    LutTable table;
    table.index_select = log2_step;
    const double half = static_cast<double>(entries - 1) / 2, step = std::ldexp(1.0, log2_step);
    const auto position = [&](double value) {
        return precision == Precision::Fp16 ? std::bit_cast<std::int32_t>(static_cast<float>(value)) : static_cast<std::int32_t>(value);
    };
    table.start = position(-half * step);
    table.end = position(half * step);
    for (std::size_t i = 0; i < entries; ++i) {
        const double y = f((static_cast<double>(i) - half) * step * input_scale) / output_scale;
        table.entries[i] = precision == Precision::Fp16
                               ? static_cast<std::int16_t>(fp16_from_double(y))
                               : static_cast<std::int16_t>(std::lround(std::fmin(std::fmax(y, -32768.0), 32767.0)));
    }
    return table;
}

Lut named_function(const JsonObject& lut, Precision precision)
{
    for (const char* key : {"le", "lo", "priority"}) lut.not_both("function", key);
    const bool tanh = lut.word("function", {"sigmoid", "tanh"}, 0) == 1;
    const auto f = tanh ? +[](double x) { return std::tanh(x); } : +[](double x) { return 1 / (1 + std::exp(-x)); };
    const bool fp = precision == Precision::Fp16;
    const double input = positive(lut, "input_scale", fp ? 1 : 1.0 / 4096), output = positive(lut, "output_scale", fp ? 1 : 1.0 / 32767);
    const double range = tanh ? 4 : 8;  // beyond it the function is flat to 16 bits
    int step = static_cast<int>(std::ceil(std::log2(range / input / 128)));
    if (!fp) step = std::max(step, 0);
    if (step > 22 || step < -60)
        throw ConfigError(lut.where("input_scale"), found(lut.has("input_scale") ? lut.raw("input_scale") : Json()) +
                                                        ", expected a scale whose range of " + std::to_string(range) + " fits 32 bits");
    Lut made;
    made.underflow_lo = made.overflow_lo = true;  // beyond both tables the wider one answers: its ends are the limits of the function
    made.lo = sampled(f, step, Lut::kLoEntries, precision, input, output);
    made.le = sampled(f, fp ? step - 2 : std::max(step - 2, 0), Lut::kLeEntries, precision, input, output);
    return made;
}

OrderedJson table_json(const LutTable& table, std::size_t entries, Kinds kinds)
{
    OrderedJson json;
    if (entries == Lut::kLeEntries) {
        json["function"] = table.exponential ? "exponential" : "linear";
        json["index_offset"] = table.index_offset;
    }
    json["index_select"] = table.index_select;
    json["start"] = number_json(table.start, kinds.position);
    json["end"] = number_json(table.end, kinds.position);
    for (const auto& [key, slope] : {std::pair{"underflow", table.underflow}, std::pair{"overflow", table.overflow}})
        json[key] = {{"scale", number_json(slope.scale, kinds.entry)}, {"shift", slope.shift}};
    for (std::size_t i = 0; i < entries; ++i) json["entries"].push_back(number_json(table.entries[i], kinds.entry));
    return json;
}

}  // namespace

Lut read_lut(const JsonObject& lut, Precision precision)
{
    if (lut.has("function")) return named_function(lut, precision);
    for (const char* key : {"input_scale", "output_scale"})
        if (lut.has(key)) throw ConfigError(lut.where(key), "only with a \"function\", expected no such key beside tables");
    const Kinds kinds = kinds_of(precision);
    Lut read;
    read.le = read_table(lut, "le", Lut::kLeEntries, kinds);
    read.lo = read_table(lut, "lo", Lut::kLoEntries, kinds);
    if (!lut.has("priority")) return read;
    const JsonObject priority = lut.object("priority", keys::kPriority);
    const auto lo = [&](const char* key) { return priority.word(key, {"le", "lo"}, 0) == 1; };
    read.underflow_lo = lo("underflow");
    read.overflow_lo = lo("overflow");
    read.hybrid_lo = lo("hybrid");
    return read;
}

OrderedJson lut_json(const Lut& lut, Precision precision)
{
    OrderedJson json;
    json["le"] = table_json(lut.le, Lut::kLeEntries, kinds_of(precision));
    json["lo"] = table_json(lut.lo, Lut::kLoEntries, kinds_of(precision));
    const auto name = [](bool lo) { return lo ? "lo" : "le"; };
    json["priority"] = {{"underflow", name(lut.underflow_lo)}, {"overflow", name(lut.overflow_lo)}, {"hybrid", name(lut.hybrid_lo)}};
    return json;
}

}  // namespace dlasim
