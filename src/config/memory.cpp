#include "config/memory.h"

#include <algorithm>
#include <array>
#include <cctype>

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

constexpr std::array kMemoryKeys{
    KeyRow{"kind", "text", "", "ideal, or the preset of a DRAM"},
};

std::int64_t number(const std::string& text, const std::string& where, std::int64_t low, const std::string& meaning)
{
    return checked_integer(json_or_text(text, where), where, {low, 1'000'000}, meaning);
}

}  // namespace

const std::vector<std::string>& memory_presets()
{
    static const std::vector<std::string> names{"ideal", "ddr4-2400", "ddr4-3200", "lpddr4-3200", "lpddr5-6400", "hbm2"};
    return names;
}

const std::vector<std::string>& memory_descriptions()
{
    static const std::vector<std::string> lines{
        "fixed latency, one beat every interval: latency=32,interval=1,write_latency=8,command_interval=1,write_interval=1",
        "DDR4-2400, 64-bit channel",
        "DDR4-3200, 64-bit channel",
        "LPDDR4-3200",
        "LPDDR5-6400",
        "HBM2",
    };
    return lines;
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

MemorySpec parse_memory(const std::string& text, const std::string& where)
{
    MemorySpec spec;
    const std::size_t colon = text.find(':');
    spec.kind = text.substr(0, colon);
    const std::vector<std::string>& names = memory_presets();
    if (std::find(names.begin(), names.end(), spec.kind) == names.end())
        throw ConfigError(where, "unknown memory \"" + spec.kind + "\"" + suggest(spec.kind, names));
    if (colon == std::string::npos) return spec;
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

std::vector<PlacedKey> memory_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, kMemoryKeys);
    place_keys(keys, kIdealOptions);
    return keys;
}

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
