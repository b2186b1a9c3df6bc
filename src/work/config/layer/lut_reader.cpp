// The lookup table of EW from a descriptor: both tables in full, or the name of a function.
//
//   "le": {"function", "start", "end", "index_offset" or "index_select", "underflow", "overflow", "entries": [65]}
//   "lo": the same with 257 entries, always linear
//   "priority": {"underflow": "le", "overflow": "le", "hybrid": "le"}
//
//   "function": "sigmoid" or "tanh", with input_scale and output_scale: a number n of the machine
//   represents n * scale. LO covers the lower part of the range, LE the upper end.
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

/// A function with limits: beyond `range` it is flat to half a step of 16 bits.
struct NamedFunction {
    double (*f)(double);
    double range, low, high;
};
constexpr NamedFunction kSigmoid{+[](double x) { return 1 / (1 + std::exp(-x)); }, 12, 0, 1};
constexpr NamedFunction kTanh{+[](double x) { return std::tanh(x); }, 6, -1, 1};

/// What a table has of a function: its positions are `first` and every 2^log2_step after it.
struct Sampling {
    NamedFunction of;
    Precision precision;
    double input_scale, output_scale;

    std::int16_t entry(double y) const
    {
        y /= output_scale;
        return precision == Precision::Fp16 ? static_cast<std::int16_t>(fp16_from_double(y))
                                            : static_cast<std::int16_t>(std::lround(std::fmin(std::fmax(y, -32768.0), 32767.0)));
    }
    /// Between two entries lies their chord: entries are moved by half of its distance, so that the error is the same at both.
    double balanced(double position, double step) const
    {
        const auto f = [&](double at) { return of.f(at * input_scale); };
        const double there = f(position);
        return step > 1 || precision == Precision::Fp16 ? there - (f(position + step) + f(position - step) - 2 * there) / 16 : there;
    }
    LutTable table(double first, int log2_step, std::size_t entries) const
    {
        LutTable made;
        made.index_select = log2_step;
        const double step = std::ldexp(1.0, log2_step);
        const auto place = [&](double value) {
            return precision == Precision::Fp16 ? std::bit_cast<std::int32_t>(static_cast<float>(value)) : static_cast<std::int32_t>(value);
        };
        made.start = place(first);
        made.end = place(first + static_cast<double>(entries - 1) * step);
        for (std::size_t i = 0; i < entries; ++i) made.entries[i] = entry(balanced(first + static_cast<double>(i) * step, step));
        return made;
    }
};

/// LO from the lower end on, then LE to the upper end, in steps up to four times as long: both functions bend less there. The steps are the
/// smallest powers of two that reach both ends. Beyond them the outermost entries answer, which are the limits.
Lut named_function(const JsonObject& lut, Precision precision)
{
    constexpr int kLoSteps = Lut::kLoEntries - 1, kLeSteps = Lut::kLeEntries - 1, kMostLonger = 2;
    for (const char* key : {"le", "lo", "priority"}) lut.not_both("function", key);
    const NamedFunction& function = lut.word("function", {"sigmoid", "tanh"}, 0) == 1 ? kTanh : kSigmoid;
    const bool fp = precision == Precision::Fp16;
    const Sampling sampling{function, precision, positive(lut, "input_scale", fp ? 1 : 1.0 / 4096),
                            positive(lut, "output_scale", fp ? 1 : 1.0 / 32767)};
    const double wanted = 2 * function.range / sampling.input_scale;
    const auto reached = [&](int step, int longer) { return std::ldexp(kLoSteps + std::ldexp(kLeSteps, longer), step); };
    int step = static_cast<int>(std::ceil(std::log2(wanted / reached(0, kMostLonger)))), longer = 0;
    if (!fp) step = std::max(step, 0);
    while (longer < kMostLonger && reached(step, longer) < wanted) ++longer;
    if (step > 22 || step < -60)
        throw ConfigError(lut.where("input_scale"), found(lut.has("input_scale") ? lut.raw("input_scale") : Json()) +
                                                        ", expected a scale whose range of " + std::to_string(function.range) +
                                                        " fits 32 bits");
    const double first = -reached(step, longer) / 2;
    Lut made;
    made.underflow_lo = true;  // of both, so below; above LE answers
    made.lo = sampling.table(first, step, Lut::kLoEntries);
    made.le = sampling.table(first + std::ldexp(kLoSteps, step), step + longer, Lut::kLeEntries);
    made.le.exponential = false;
    made.lo.entries.front() = sampling.entry(function.low);
    made.le.entries[kLeSteps] = sampling.entry(function.high);
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
