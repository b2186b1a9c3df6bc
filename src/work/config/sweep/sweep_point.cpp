#include <filesystem>

#include "config/description.h"
#include "config/layer/layer_reader.h"
#include "config/sweep/sweep_choice.h"

namespace dlasim {
namespace {

using Kind = SweepAxis::Kind;

/// The value of an axis that takes texts.
std::string text_of(const Sweep& sweep, const std::string& axis, const Json& value, const char* expected)
{
    if (!value.is_string() || value.get<std::string>().empty())
        throw ConfigError(at(sweep.file, "/axes/" + axis), found(value) + ", expected " + expected);
    return value.get<std::string>();
}

/// A description is read from the file that it names.
WrittenWork written_at(const Sweep& sweep, const Json& value, bool described)
{
    const std::string pointer = "/base/" + sweep.runs;
    if (!described) return {.file = resolve(sweep, text_of(sweep, sweep.runs, value, "a file of the NVDLA compiler"))};
    if (!value.is_string() && !value.is_object())
        throw ConfigError(at(sweep.file, pointer), found(value) + ", expected a " + sweep.runs + " or its path");
    if (value.is_object()) return {value, sweep.file, pointer, sweep.folder};
    const std::string file = resolve(sweep, value.get<std::string>());
    const Json& json = sweep.files->json(file);
    if (!json.is_object()) throw ConfigError(file, found(json) + ", expected an object {...}");
    return {json, file, "", std::filesystem::path(file).parent_path().string()};
}

MemorySpec swept_memory(const Sweep& sweep, const Json& memory, const std::string& pointer)
{
    if (memory.is_object()) return read_memory(memory, sweep.file, pointer, sweep.folder);
    const std::string where = at(sweep.file, pointer);
    if (!memory.is_string()) throw ConfigError(where, found(memory) + ", expected a memory, for example \"ideal:latency=32\"");
    return parse_memory(memory.get<std::string>(), where, sweep.folder);
}

}  // namespace

const Json& swept(const Sweep& sweep, const std::vector<Json>& values, Kind kind, const Json& base)
{
    for (std::size_t a = values.size(); a-- > 0;)
        if (sweep.axes[a].kind == kind && !values[a].is_discarded()) return values[a];
    return base;
}

Hardware swept_hardware(const Sweep& sweep, const std::vector<Json>& values, HardwareRules rules)
{
    std::vector<std::string> settings;
    for (std::size_t a = 0; a < values.size(); ++a)
        if (sweep.axes[a].kind == Kind::Hardware && !values[a].is_discarded())
            settings.push_back(sweep.axes[a].name + "=" + values[a].dump());
    const Json& base = swept(sweep, values, Kind::WholeHardware, sweep.hardware);
    if (!base.is_string()) return read_hardware(base, sweep.file, "/base/hw", "", settings, rules);
    const std::string name = resolve(sweep, base.get<std::string>());
    return is_hardware_file(name) ? read_hardware(sweep.files->json(name), name, "", "", settings, rules)
                                  : load_hardware(name, settings, rules);
}

const Json& SweepFiles::json(const std::string& path)
{
    const auto there = read_.find(path);
    return there != read_.end() ? there->second : read_.emplace(path, read_description(path)).first->second;
}

std::string resolve(const Sweep& sweep, const std::string& path)
{
    std::error_code none;
    if (std::filesystem::path(path).is_absolute() || !std::filesystem::exists(std::filesystem::path(sweep.folder) / path, none))
        return path;
    return (std::filesystem::path(sweep.folder) / path).lexically_normal().string();
}

SweepPoint sweep_point(const Sweep& sweep, std::size_t index)
{
    const std::vector<Json> values = point_values(sweep, sweep.points.at(index));
    const Json &work = swept(sweep, values, Kind::Work, sweep.work), &memory = swept(sweep, values, Kind::WholeMemory, sweep.memory);
    const Json base_mode = sweep.mode, &mode = swept(sweep, values, Kind::Mode, base_mode);
    const WorkKind& kind = swept_kind(sweep.runs, work);
    WrittenWork written = written_at(sweep, work, kind.described);
    SweepPoint point;
    point.host_ns = sweep.host_ns;
    point.memory = swept_memory(sweep, memory, &memory == &sweep.memory ? "/base/memory" : "/axes/memory");
    for (std::size_t a = 0; a < values.size(); ++a) {
        const std::string& name = sweep.axes[a].name;
        const std::string where = at(sweep.file, "/axes/" + name);
        if (sweep.axes[a].kind == Kind::Layer) set_layer_field(written.json, name, values[a], where);
        if (sweep.axes[a].kind == Kind::MemoryOption)
            set_memory_option(point.memory, name, values[a].is_string() ? values[a].get<std::string>() : values[a].dump(), where);
    }
    point.hardware = swept_hardware(sweep, values, HardwareRules::Checked);
    if (kind.fields) point.described = written.folder + "\n" + json_excerpt(written.json, SIZE_MAX);
    point.work = kind.read(std::move(written), sweep.model, {.mode = text_of(sweep, "mode", mode, "serial, overlap or driver")});
    return point;
}

}  // namespace dlasim
