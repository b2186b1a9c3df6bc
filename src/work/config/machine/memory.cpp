#include "config/machine/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files/foreign/foreign_file.h"
#include "config/file_kind.h"
#include "dram/read/keys.h"
#include "dram/read/reader.h"

namespace dlasim {
namespace {

struct IdealOption {
    KeyRow row;
    std::uint32_t MemorySpec::*member;
};

constexpr std::array kIdealOptions{
    IdealOption{{"latency", "integer", "cycles", "from the acceptance of a read command to its first data beat, at the earliest"},
                &MemorySpec::read_latency},
    IdealOption{{"interval", "integer", "cycles", "from a beat of read data to the next one"}, &MemorySpec::beat_interval},
    IdealOption{{"write_latency", "integer", "cycles", "from the last beat of write data to the answer"}, &MemorySpec::write_latency},
    IdealOption{{"command_interval", "integer", "cycles", "from a read command to the next one, and from a write command to the next one"},
                &MemorySpec::command_interval},
    IdealOption{{"write_interval", "integer", "cycles", "from a beat of write data to the next one"}, &MemorySpec::write_interval},
};

constexpr unsigned kDeepestKind = 8;

constexpr std::array kMemoryKeys{
    KeyRow{"kind", "text", "", "ideal, the preset of a DRAM or the file of one"},
};

std::int64_t number(const std::string& text, const std::string& where, std::int64_t low, const std::string& meaning)
{
    return checked_integer(json_or_text(text, where), where, {low, 1'000'000}, meaning);
}

/// What is in front of the options: a preset, or a file, whose folders may have a colon.
std::size_t end_of_kind(const std::string& text)
{
    const std::size_t file = text.rfind(".json"), end = file == std::string::npos ? file : file + 5;
    if (end <= text.size() && (end == text.size() || text[end] == ':')) return end;
    const std::size_t folder = text.rfind('/');
    return std::min(text.find(':', folder == std::string::npos ? 0 : folder), text.size());
}

/// A file of that name, from `folder` on or from here.
std::string file_of(const std::string& name, const std::string& folder)
{
    std::error_code none;
    const std::filesystem::path beside = std::filesystem::path(folder) / name;
    return !folder.empty() && std::filesystem::exists(beside, none) ? beside.lexically_normal().string() : name;
}

/// {"timing": {"tRCD": 18}} is the option timing.tRCD; a mapping is one as a whole.
void lay_options(MemorySpec& spec, const Json& json, const std::string& file, const std::string& pointer, const std::string& prefix)
{
    for (const auto& [key, value] : json.items()) {
        const std::string name = prefix + key, place = pointer + "/" + key;
        if (prefix.empty() && key == kMemoryKeys[0].name) continue;
        if (value.is_object() && name != "mapping") lay_options(spec, value, file, place, name + ".");
        else set_memory_option(spec, name, value.is_string() ? value.get<std::string>() : json_excerpt(value, SIZE_MAX), at(file, place));
    }
}

MemorySpec memory_of(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder, unsigned depth);

/// A preset or a file, without options. `depth`: of files that name each other.
MemorySpec memory_of_kind(const std::string& kind, const std::string& where, const std::string& folder, unsigned depth)
{
    MemorySpec spec;
    spec.kind = kind;
    const std::vector<std::string>& names = memory_presets();
    if (std::find(names.begin(), names.end(), kind) != names.end()) return spec;
    const std::string file = file_of(kind, folder);
    std::error_code none;
    const bool path = kind.find('/') != std::string::npos || kind.ends_with(".json") || std::filesystem::exists(file, none);
    if (!path) throw ConfigError(where, "unknown memory \"" + kind + "\"" + suggest(kind, names) + ", expected one of them or a file");
    if (depth == kDeepestKind) throw ConfigError(where, "names a file that names a file ..., expected a preset or a device at the end");
    std::string text = read_text(file);
    refuse_foreign(file, text, Wanted::Memory);
    const Json json = parse_json(text, file);
    refuse_foreign_json(file, json, Wanted::Memory);
    expect_kind(json, file, FileKind::Memory);
    if (!json.is_object()) throw ConfigError(file, found(json) + ", expected a memory {\"kind\": ...} or a DRAM's file");
    if (json.contains(std::string(kMemoryKeys[0].name)))
        return memory_of(json, file, "", std::filesystem::path(file).parent_path().string(), depth + 1);
    spec.kind = file;
    spec.device = std::move(text);
    return spec;
}

MemorySpec memory_of(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder, unsigned depth)
{
    if (!json.is_object()) throw ConfigError(at(file, pointer), found(json) + ", expected a memory {\"kind\": ...}");
    const std::string key(kMemoryKeys[0].name), place = pointer + "/" + key;
    if (!json.contains(key)) throw ConfigError(at(file, place), "is missing, expected ideal, the preset of a DRAM or the file of one");
    if (!json[key].is_string()) throw ConfigError(at(file, place), found(json[key]) + ", expected a text \"...\"");
    MemorySpec spec = memory_of_kind(json[key].get<std::string>(), at(file, place), folder, depth);
    lay_options(spec, json, file, pointer, "");
    return spec;
}

}  // namespace

const std::vector<std::string>& memory_presets()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all{"ideal"};
        for (const bool reference : {false, true})
            for (const std::string& name : dram::preset_names(reference)) all.push_back(name);
        return all;
    }();
    return names;
}

std::string memory_description(const std::string& preset)
{
    if (preset == "ideal")
        return "fixed latency, one beat every interval: latency=32,interval=1,write_latency=8,command_interval=1,write_interval=1";
    const dram::Config config = dram::read_config(preset);
    return fmt::format("{} x {:.1f} GB/s, {} GiB: {}", config.organisation.channels, config.peak_gb_per_s() / config.organisation.channels,
                       config.organisation.capacity_bytes() >> 30, config.about);
}

void set_memory_option(MemorySpec& spec, const std::string& option, const std::string& value, const std::string& where)
{
    if (spec.kind != "ideal") {
        spec.options[option] = value;
        return;
    }
    std::vector<std::string> known;
    for (const IdealOption& row : kIdealOptions) {
        if (option == row.row.name) {
            spec.*row.member = static_cast<std::uint32_t>(number(value, where, 1, "cycles"));
            return;
        }
        known.emplace_back(row.row.name);
    }
    throw ConfigError(where, "unknown option \"" + option + "\"" + suggest(option, known));
}

MemorySpec read_memory(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder)
{
    return memory_of(json, file, pointer, folder, 0);
}

MemorySpec parse_memory(const std::string& text, const std::string& where, const std::string& folder)
{
    if (text.size() > kMaxLetters)
        throw ConfigError(where, "found " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(kMaxLetters));
    const std::size_t colon = end_of_kind(text);
    MemorySpec spec = memory_of_kind(text.substr(0, colon), where, folder, 0);
    if (colon == text.size()) return spec;
    std::vector<std::string> given;
    for (std::size_t start = colon + 1; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        const std::string option = text.substr(start, comma - start);
        start = comma + 1;
        const std::size_t equals = option.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == option.size())
            throw ConfigError(where, "found \"" + option + "\", expected OPTION=VALUE, for example latency=32");
        const std::string name = option.substr(0, equals);
        if (std::find(given.begin(), given.end(), name) != given.end())
            throw ConfigError(where, "option \"" + name + "\" is given twice, expected once");
        given.push_back(name);
        set_memory_option(spec, name, option.substr(equals + 1), where + " " + name);
    }
    return spec;
}

std::string memory_text(const MemorySpec& spec)
{
    std::string text = spec.kind;
    const auto add = [&](const std::string& name, const std::string& value) {
        text += (text == spec.kind ? ":" : ",") + name + "=" + value;
    };
    if (spec.kind == "ideal")
        for (const IdealOption& row : kIdealOptions) {
            // The intervals between commands and between write data are rarely anything but 1.
            const bool rare = row.member == &MemorySpec::command_interval || row.member == &MemorySpec::write_interval;
            if (rare && spec.*row.member == 1) continue;
            add(std::string(row.row.name), std::to_string(spec.*row.member));
        }
    else
        for (const auto& [name, value] : spec.options) add(name, value);
    return text;
}

std::vector<std::string> memory_options()
{
    std::vector<std::string> names;
    names.reserve(std::size(kIdealOptions) + std::size(dram::kShortOptions) + std::size(dram::kConfigKeys));
    for (const IdealOption& option : kIdealOptions) names.emplace_back(option.row.name);
    for (const dram::ShortOption& option : dram::kShortOptions) names.emplace_back(option.name);
    for (const dram::ConfigKey& key : dram::kConfigKeys) {
        if (key.row.name.starts_with("table/")) continue;
        names.emplace_back(key.row.name);
        std::replace(names.back().begin(), names.back().end(), '/', '.');
    }
    return names;
}

std::vector<PlacedKey> memory_keys() { return placed(kMemoryKeys, "", kIdealOptions, ""); }

OrderedJson memory_json(const MemorySpec& spec)
{
    OrderedJson json;
    json[std::string(kMemoryKeys[0].name)] = spec.kind;
    if (spec.kind == "ideal")
        for (const IdealOption& row : kIdealOptions) json[std::string(row.row.name)] = spec.*row.member;
    else
        for (const auto& [name, value] : spec.options) json[name] = value;
    return json;
}

}  // namespace dlasim
