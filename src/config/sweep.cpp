#include "config/sweep.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "config/layer_reader.h"
#include "config/transfer_reader.h"

namespace dlasim {
namespace {

constexpr std::array kSweepKeys{
    KeyRow{"base", "object", "", "what all points have in common"},
    KeyRow{"axes", "object", "", "lists of values by axis; the points are their product, the last one varies fastest"},
    KeyRow{"exclude", "list", "", "objects of axis and value: points that all of one hold for are left out", "optional"},
    KeyRow{"name", "text", "", "for whoever reads the file", "optional"},
};
constexpr std::array kBaseKeys{
    KeyRow{"layer", "text or object", "", "a descriptor, or its path, from the sweep's folder on"},
    KeyRow{"network", "any", "", "refused: networks are not swept yet", "refused"},
    KeyRow{"hw", "text or object", "", "a preset, a file or a hardware object", "optional: nv_full"},
    KeyRow{"memory", "text", "", "as --memory", "optional: ideal"},
};
/// Axes; all other names are looked for among the fields of the hardware, of the layer and the options of the memory.
constexpr std::array kAxisKeys{
    KeyRow{"hw", "list", "", "machines", "optional"},
    KeyRow{"memory", "list", "", "memories", "optional"},
    KeyRow{"layer", "list", "", "descriptors or their paths", "optional"},
};
constexpr KeyRow kAnyAxis{
    "*", "list", "", "a field of the hardware (cbuf.banks), a field of the layer (input.channels) or an option of the memory (latency)",
    "optional"};

constexpr std::size_t kMostPoints = 1'000'000, kMostExclusions = 10'000, kMostChecks = 100'000'000;

SweepAxis::Kind kind_of(const std::string& name, const std::string& where)
{
    using Kind = SweepAxis::Kind;
    if (name == "hw") return Kind::WholeHardware;
    if (name == "memory") return Kind::WholeMemory;
    if (name == "layer") return Kind::WholeLayer;
    if (find_hardware_field(name)) return Kind::Hardware;
    std::vector<std::string> known = names_of(kAxisKeys);
    for (const HardwareField& field : hardware_fields()) known.push_back(field.path);
    if (is_layer_field(name) || is_transfer_field(name)) return Kind::Layer;
    if (name.find('.') == std::string::npos) return Kind::MemoryOption;
    throw ConfigError(where, "unknown axis" + suggest(name, known));
}

/// Relative paths are relative to the sweep's file.
std::string resolve(const Sweep& sweep, const std::string& path)
{
    std::error_code none;
    if (std::filesystem::path(path).is_absolute() || !std::filesystem::exists(std::filesystem::path(sweep.folder) / path, none))
        return path;
    return (std::filesystem::path(sweep.folder) / path).lexically_normal().string();
}

void read_base(Sweep& sweep, const JsonObject& top)
{
    if (!top.has("base")) top.missing("base", "an object {\"layer\", \"hw\", \"memory\"}");
    const JsonObject base(top.raw("base"), top.file(), top.pointer("base"), names_of(kBaseKeys));
    if (base.has("network")) throw ConfigError(base.where("network"), "networks are not swept yet, expected \"layer\"");
    if (!base.has("layer")) base.missing("layer", "a descriptor or its path");
    sweep.layer = base.raw("layer");
    sweep.hardware = base.has("hw") ? base.raw("hw") : Json("nv_full");
    sweep.memory = base.text("memory", "ideal");
    if (!sweep.hardware.is_string() && !sweep.hardware.is_object())
        throw ConfigError(base.where("hw"), found(sweep.hardware) + ", expected a preset, a file or a hardware object");
}

void read_axes(Sweep& sweep, const JsonObject& top, const OrderedJson& ordered)
{
    if (!top.has("axes") || !top.raw("axes").is_object() || top.raw("axes").empty())
        top.missing("axes", "an object {\"cbuf.banks\": [8, 16], ...} with at least one axis");
    std::size_t points = 1;
    for (const auto& [name, values] : ordered.at("axes").items()) {
        const std::string where = at(top.file(), "/axes/" + name);
        SweepAxis axis{name, kind_of(name, where), {}};
        if (!values.is_array() || values.empty())
            throw ConfigError(where, found(top.raw("axes").at(name)) + ", expected a list of at least one value");
        for (const Json& value : top.raw("axes").at(name)) axis.values.push_back(value);
        points *= axis.values.size();
        if (points > kMostPoints) throw ConfigError(where, "makes more than " + std::to_string(kMostPoints) + " points, expected fewer");
        sweep.axes.push_back(std::move(axis));
    }
}

/// What an exclusion says: an axis, and which places on it are meant. All of its lines hold for a point
/// that is left out.
using Exclusion = std::vector<std::pair<std::size_t, std::vector<bool>>>;

Exclusion exclusion(const Sweep& sweep, const Json& rule)
{
    Exclusion lines;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
        const SweepAxis& axis = sweep.axes[a];
        if (!rule.contains(axis.name)) continue;
        std::vector<bool> meant;
        for (const Json& value : axis.values) meant.push_back(value == rule[axis.name]);
        lines.emplace_back(a, std::move(meant));
    }
    return lines;
}

bool excluded(const std::vector<Exclusion>& exclusions, const std::vector<std::size_t>& point)
{
    return std::any_of(exclusions.begin(), exclusions.end(), [&](const Exclusion& lines) {
        return std::all_of(lines.begin(), lines.end(), [&](const auto& line) { return line.second[point[line.first]]; });
    });
}

std::vector<Exclusion> read_exclusions(const Sweep& sweep, const JsonObject& top)
{
    std::vector<std::string> names;
    for (const SweepAxis& axis : sweep.axes) names.push_back(axis.name);
    const Json exclude = top.has("exclude") ? top.raw("exclude") : Json::array();
    if (!exclude.is_array()) throw ConfigError(top.where("exclude"), found(exclude) + ", expected a list of objects");
    if (exclude.size() > kMostExclusions)
        throw ConfigError(top.where("exclude"), "has more than " + std::to_string(kMostExclusions) + " objects, expected fewer");
    std::vector<Exclusion> exclusions;
    std::size_t values = 0;
    for (const SweepAxis& axis : sweep.axes) values += axis.values.size();
    for (std::size_t i = 0; i < exclude.size(); ++i) {
        const JsonObject rule(exclude[i], top.file(), "/exclude/" + std::to_string(i), names);
        if (exclude[i].empty())
            throw ConfigError(at(top.file(), "/exclude/" + std::to_string(i)), "excludes everything, expected an axis and a value");
        if (values * exclude.size() > kMostChecks)
            throw ConfigError(top.where("exclude"), "is too long for these axes, expected fewer objects");
        exclusions.push_back(exclusion(sweep, exclude[i]));
    }
    return exclusions;
}

void list_points(Sweep& sweep, const JsonObject& top)
{
    const std::vector<Exclusion> exclusions = read_exclusions(sweep, top);
    std::size_t all = 1;
    for (const SweepAxis& axis : sweep.axes) all *= axis.values.size();
    if (all * exclusions.size() > kMostChecks)
        throw ConfigError(top.where("exclude"), std::to_string(exclusions.size()) + " objects for " + std::to_string(all) +
                                                    " points are too many to compare, expected fewer");
    std::vector<std::size_t> point(sweep.axes.size());
    for (bool more = true; more;) {
        if (!excluded(exclusions, point)) sweep.points.push_back(point);
        more = false;
        for (std::size_t a = point.size(); a-- > 0;) {
            if (++point[a] < sweep.axes[a].values.size()) {
                more = true;
                break;
            }
            point[a] = 0;
        }
    }
}

}  // namespace

std::vector<PlacedKey> sweep_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kSweepKeys);
    place_keys(keys, kBaseKeys, "base/");
    place_keys(keys, kAxisKeys, "axes/");
    place_keys(keys, std::array{kAnyAxis}, "axes/");
    return keys;
}

Sweep read_sweep(const std::string& path) { return parse_sweep(read_text(path), path); }

Sweep parse_sweep(const std::string& text, const std::string& path)
{
    const Json json = parse_json(text, path);
    const JsonObject top(json, path, "", names_of(kSweepKeys));
    Sweep sweep;
    sweep.file = path;
    sweep.folder = std::filesystem::path(path).parent_path().string();
    read_base(sweep, top);
    read_axes(sweep, top, parse_ordered_json(text));
    list_points(sweep, top);
    return sweep;
}

SweepPoint sweep_point(const Sweep& sweep, std::size_t index)
{
    using Kind = SweepAxis::Kind;
    const std::vector<std::size_t>& place = sweep.points.at(index);
    Json layer = sweep.layer, hardware = sweep.hardware;
    std::string memory = sweep.memory;
    const auto value_of = [&](std::size_t a) -> const Json& { return sweep.axes[a].values[place[a]]; };
    for (std::size_t a = 0; a < place.size(); ++a) {
        const std::string where = at(sweep.file, "/axes/" + sweep.axes[a].name);
        if (sweep.axes[a].kind == Kind::WholeLayer) layer = value_of(a);
        if (sweep.axes[a].kind == Kind::WholeHardware) hardware = value_of(a);
        if (sweep.axes[a].kind != Kind::WholeMemory) continue;
        if (!value_of(a).is_string())
            throw ConfigError(where, found(value_of(a)) + ", expected a memory, for example \"ideal:latency=32\"");
        memory = value_of(a).get<std::string>();
    }

    std::string file = sweep.file, folder = sweep.folder;
    if (!layer.is_string() && !layer.is_object())
        throw ConfigError(at(sweep.file, "/base/layer"), found(layer) + ", expected a descriptor or its path");
    if (layer.is_string()) {
        file = resolve(sweep, layer.get<std::string>());
        folder = std::filesystem::path(file).parent_path().string();
        layer = read_json(file);
        if (!layer.is_object()) throw ConfigError(file, found(layer) + ", expected an object {...}");
    }
    std::vector<std::string> settings;
    SweepPoint point;
    point.memory = parse_memory(memory, at(sweep.file, "/base/memory"));
    for (std::size_t a = 0; a < place.size(); ++a) {
        const std::string& name = sweep.axes[a].name;
        const std::string where = at(sweep.file, "/axes/" + name);
        if (sweep.axes[a].kind == Kind::Hardware) settings.push_back(name + "=" + value_of(a).dump());
        if (sweep.axes[a].kind == Kind::Layer) set_layer_field(layer, name, value_of(a), where);
        if (sweep.axes[a].kind == Kind::MemoryOption)
            set_memory_option(point.memory, name, value_of(a).is_string() ? value_of(a).get<std::string>() : value_of(a).dump(), where);
    }
    if (hardware.is_string()) point.hardware = load_hardware(resolve(sweep, hardware.get<std::string>()), settings);
    else point.hardware = read_hardware(hardware, sweep.file, "/base/hw", "", settings);
    const std::string pointer = file == sweep.file ? "/base/layer" : "";
    point.descriptor = descriptor_from_json(layer, file, pointer, folder);
    return point;
}

}  // namespace dlasim
