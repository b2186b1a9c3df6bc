#include "config/machine/hardware.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "base/files/foreign/foreign_file.h"
#include "config/file_kind.h"
#include "config/warning.h"
#include "facts/client.h"
#include "facts/optional_units.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

#define DLASIM_NUMBER(path, member, low, high, unit, meaning)                              \
    HardwareField                                                                          \
    {                                                                                      \
        path, [](Hardware& hw) { return &hw.member; }, nullptr, {low, high}, unit, meaning \
    }
#define DLASIM_SWITCH(path, member, meaning)                                        \
    HardwareField                                                                   \
    {                                                                               \
        path, nullptr, [](Hardware& hw) { return &hw.member; }, {0, 1}, "", meaning \
    }

template <std::size_t... kUnit>
void add_optional_units(std::vector<HardwareField>& list, std::index_sequence<kUnit...>)
{
    (list.push_back({std::string(facts::kOptionalUnits[kUnit].key),
                     nullptr,
                     [](Hardware& hw) { return &(hw.*facts::kOptionalUnits[kUnit].there); },
                     {0, 1},
                     "",
                     std::string(facts::kOptionalUnits[kUnit].name)}),
     ...);
}

template <std::size_t... kId>
void add_credits(std::vector<HardwareField>& list, std::index_sequence<kId...>)
{
    (list.push_back({credit_path(static_cast<Client>(kId)),
                     [](Hardware& hw) { return &hw.fabric.read_credit[kId]; },
                     nullptr,
                     {0, 65536},
                     "beats",
                     kClientFacts[kId].meaning}),
     ...);
}

std::vector<HardwareField> list_fields()
{
    std::vector<HardwareField> list{
        DLASIM_NUMBER("mac.atomic_c", mac.atomic_c, 1, 1024, "channels", "input channels a cycle"),
        DLASIM_NUMBER("mac.atomic_k", mac.atomic_k, 1, 1024, "kernels", "MAC cells: kernels a cycle"),
        DLASIM_NUMBER("cbuf.banks", cbuf.banks, 2, 32, "banks", "CBUF banks"),
        DLASIM_NUMBER("cbuf.bank_depth", cbuf.bank_depth, 16, 4096, "entries", "entries a bank"),
        DLASIM_NUMBER("cbuf.entry_bytes", cbuf.entry_bytes, 1, 1024, "bytes", "bytes a CBUF entry"),
        DLASIM_NUMBER("memory.atom_bytes", memory.atom_bytes, 1, 1024, "bytes", "bytes a memory atom"),
        DLASIM_NUMBER("memory.primary.width_bytes", memory.primary.width_bytes, 1, 1024, "bytes", "bytes a beat of the primary port"),
        DLASIM_NUMBER("memory.primary.burst_beats", memory.primary.burst_beats, 1, 16, "beats", "longest burst in beats"),
        DLASIM_SWITCH("memory.has_secondary", memory.has_secondary, "the secondary port (CVSRAM)"),
        DLASIM_NUMBER("memory.secondary.width_bytes", memory.secondary.width_bytes, 0, 1024, "bytes", "bytes a beat of the secondary port"),
        DLASIM_NUMBER("memory.secondary.burst_beats", memory.secondary.burst_beats, 1, 16, "beats", "longest burst in beats"),
        DLASIM_NUMBER("memory.secondary.bytes", memory.secondary_bytes, 0, 1 << 29, "bytes",
                      "bytes of CVSRAM, in which networks keep tensors between layers"),
        DLASIM_NUMBER("memory.fifo_cover_cycles", memory.fifo_cover_cycles, 1, 65536, "cycles",
                      "memory latency in cycles that the read FIFOs are sized for"),
        DLASIM_NUMBER("memory.address_bits", memory.address_bits, 32, 64, "bits", "address width"),
        DLASIM_NUMBER("sdp.bs_throughput", sdp.bs_throughput, 1, 16, "elements", "BS elements a cycle"),
        DLASIM_NUMBER("sdp.bn_throughput", sdp.bn_throughput, 1, 16, "elements", "BN elements a cycle"),
        DLASIM_NUMBER("sdp.ew_throughput", sdp.ew_throughput, 1, 16, "elements", "EW elements a cycle"),
        DLASIM_SWITCH("sdp.has_ew", sdp.has_ew, "the EW unit"),
        DLASIM_SWITCH("sdp.has_lut", sdp.has_lut, "the look-up tables"),
        DLASIM_NUMBER("cdp.throughput", cdp.throughput, 1, 8, "bytes", "CDP bytes a cycle"),
        DLASIM_NUMBER("pdp.throughput", pdp.throughput, 1, 16, "bytes", "bytes PDP takes a cycle: int8 elements"),
        DLASIM_SWITCH("winograd", winograd, "Winograd convolution"),
        DLASIM_SWITCH("batch", batch, "multi-batch"),
        DLASIM_SWITCH("weight_compression", weight_compression, "compressed weights"),
    };
    add_optional_units(list, std::make_index_sequence<std::size(facts::kOptionalUnits)>());
    list.push_back(DLASIM_NUMBER("clock_mhz", clock_mhz, 1, 10000, "MHz", "core clock"));
    add_credits(list, std::make_index_sequence<kClients>());
    return list;
}
#undef DLASIM_NUMBER
#undef DLASIM_SWITCH

/// Names that were changed: still read, with a warning.
struct OldName {
    const char *prefix, *key, *path;
};
constexpr OldName kOldNames[] = {{"memory.", "latency", "memory.fifo_cover_cycles"}};

/// What is laid over a preset, and which paths were named.
struct Overlay {
    Hardware hardware;
    std::set<std::string> named;
};

void assign(Overlay& overlay, const HardwareField& field, const Json& value, const std::string& where)
{
    if (field.flag) {
        if (!value.is_boolean()) throw ConfigError(where, found(value) + ", expected true or false (" + field.meaning + ")");
        *field.flag(overlay.hardware) = value.get<bool>();
    } else {
        *field.number(overlay.hardware) = static_cast<std::uint32_t>(checked_integer(value, where, field.range, field.meaning));
    }
    if (!overlay.named.insert(field.path).second && where.rfind("--set", 0) != 0)
        throw ConfigError(where, "duplicates " + field.path + ", expected only one of them");
}

/// Keys one level below `prefix` ("" or "memory.").
std::vector<std::string> keys_below(const std::string& prefix)
{
    std::vector<std::string> keys;
    for (const HardwareField& field : hardware_fields()) {
        if (field.path.compare(0, prefix.size(), prefix) != 0) continue;
        const std::string key = field.path.substr(prefix.size(), field.path.find('.', prefix.size()) - prefix.size());
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    return keys;
}

void lay_object(Overlay& overlay, const Json& json, const std::string& file, const std::string& pointer, const std::string& prefix)
{
    std::vector<std::string> keys = keys_below(prefix);
    for (const OldName& old : kOldNames)
        if (json.is_object() && prefix == old.prefix && json.contains(old.key)) keys.push_back(old.key);
    if (prefix.empty())
        std::transform(kHardwareKeys.begin(), kHardwareKeys.end(), std::back_inserter(keys),
                       [](const KeyRow& key) { return std::string(key.name); });
    const JsonObject object(json, file, pointer, keys);
    for (const auto& item : json.items()) {
        const std::string& key = item.key();
        const Json& value = item.value();
        if (const HardwareField* field = find_hardware_field(prefix + key)) assign(overlay, *field, value, object.where(key));
        else if (!prefix.empty() ||
                 std::none_of(kHardwareKeys.begin(), kHardwareKeys.end(), [&name = key](const KeyRow& k) { return name == k.name; }))
            lay_object(overlay, value, file, pointer + "/" + key, prefix + key + ".");
    }
}

void lay_setting(Overlay& overlay, const std::string& setting)
{
    const std::string where = "--set " + setting;
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) throw ConfigError(where, "expected PATH=VALUE, for example cbuf.banks=16");
    const std::string path = setting.substr(0, equals);
    const HardwareField* field = find_hardware_field(path);
    if (!field) {
        std::vector<std::string> known;
        for (const HardwareField& f : hardware_fields()) known.push_back(f.path);
        throw ConfigError(where, "unknown path" + suggest(path, known));
    }
    assign(overlay, *field, json_or_text(setting.substr(equals + 1), where), where);
}

/// Sizes that follow from others, unless they were named themselves.
void derive(Overlay& overlay)
{
    Hardware& hw = overlay.hardware;
    const auto named = [&](const char* path) { return overlay.named.count(path) != 0; };
    if (!named("memory.secondary.bytes")) hw.memory.secondary_bytes = hw.memory.has_secondary ? kCvsramBytes : 0;
    if (hw.full() && named("mac.atomic_c")) {
        if (!named("cbuf.entry_bytes")) hw.cbuf.entry_bytes = 2 * hw.mac.atomic_c;
        if (!named("winograd")) hw.winograd = hw.winograd && hw.mac.atomic_c >= kWinogradLanes;
    }
    if (hw.scalable()) {
        if (named("mac.atomic_c") && !named("cbuf.entry_bytes")) hw.cbuf.entry_bytes = hw.mac.atomic_c;
        if (named("mac.atomic_k") && !named("memory.atom_bytes")) hw.memory.atom_bytes = hw.mac.atomic_k;
        if (hw.memory.atom_bytes != find_preset(hw.name)->memory.atom_bytes && !named("memory.primary.width_bytes"))
            hw.memory.primary.width_bytes = hw.memory.atom_bytes;
        if (hw.memory.has_secondary && !named("memory.secondary.width_bytes"))
            hw.memory.secondary.width_bytes = hw.memory.primary.width_bytes;
        const auto narrow = [&](const char* path, std::uint32_t& elements) {
            if (!named(path)) elements = std::min(elements, hw.mac.atomic_k);
        };
        narrow("sdp.bs_throughput", hw.sdp.bs_throughput);
        narrow("sdp.bn_throughput", hw.sdp.bn_throughput);
        narrow("sdp.ew_throughput", hw.sdp.ew_throughput);
        if (!named("cdp.throughput")) hw.cdp.throughput = std::min(hw.cdp.throughput, std::max(1u, hw.memory.atom_bytes / 4));
        // PDP is never wider than SDP, and an atom takes four cycles at least.
        if (!named("pdp.throughput"))
            hw.pdp.throughput = std::max(1u, std::min({hw.pdp.throughput, hw.sdp.max_throughput(), hw.memory.atom_bytes / 4}));
        const auto credits = configurable_credits(hw);
        for (std::size_t id = 0; id < credits.size(); ++id)
            if (!named(credit_path(static_cast<Client>(id)).c_str())) hw.fabric.read_credit[id] = credits[id];
    }
}

const Hardware& preset_named(const std::string& name, const std::string& where)
{
    if (const Hardware* preset = find_preset(name)) return *preset;
    std::vector<std::string> known;
    for (const Hardware& hw : presets()) known.push_back(hw.name);
    throw ConfigError(where, "unknown preset \"" + name + "\"" + suggest(name, known));
}

Hardware finish(Overlay overlay, const std::vector<std::string>& settings, const std::string& where, HardwareRules rules)
{
    for (const std::string& setting : settings) lay_setting(overlay, setting);
    derive(overlay);
    if (rules == HardwareRules::Ignored) return overlay.hardware;
    std::string with;
    for (const std::string& setting : settings) with += (with.empty() ? " with " : ", ") + setting;
    try {
        check_hardware(overlay.hardware, where + with);
    } catch (const ConfigError& error) {
        if (rules == HardwareRules::Checked) throw;
        warn(std::string(error.what()) + "; dlasim cannot simulate it, area and power are extrapolated");
    }
    return overlay.hardware;
}

}  // namespace

const std::array<KeyRow, 3> kHardwareKeys{
    KeyRow{"preset", "text", "", "the preset that the object overrides"},
    KeyRow{"name", "text", "", "documentation", "read, and not written"},
    KeyRow{"generation", "text", "", "must be the preset's", "", "full configurable"},
};

std::string credit_path(Client client) { return std::string("fabric.read_credit.") + kClientFacts[static_cast<std::size_t>(client)].key; }

const HardwareField* find_hardware_field(const std::string& path)
{
    std::string today = path;
    for (const OldName& old : kOldNames)
        if (path == std::string(old.prefix) + old.key) {
            today = old.path;
            warn("\"" + path + "\" of the hardware is called \"" + today +
                 "\": what the read FIFOs are sized for, not the latency of the memory");
        }
    for (const HardwareField& field : hardware_fields())
        if (field.path == today) return &field;
    return nullptr;
}

const std::vector<HardwareField>& hardware_fields()
{
    static const std::vector<HardwareField> list = list_fields();
    return list;
}

bool is_hardware_file(const std::string& preset_or_file)
{
    std::error_code none;
    return !find_preset(preset_or_file) && (preset_or_file.find('/') != std::string::npos || preset_or_file.ends_with(".json") ||
                                            std::filesystem::exists(preset_or_file, none));
}

Hardware load_hardware(const std::string& preset_or_file, const std::vector<std::string>& settings, HardwareRules rules,
                       const std::string& where)
{
    if (is_hardware_file(preset_or_file))
        return read_hardware(read_json_of_ours(preset_or_file, Wanted::Machine), preset_or_file, "", "", settings, rules);
    return finish({preset_named(preset_or_file, where), {}}, settings, preset_or_file, rules);
}

Hardware read_hardware(const Json& json, const std::string& file, const std::string& pointer, const std::string& preset,
                       const std::vector<std::string>& settings, HardwareRules rules)
{
    if (!json.is_object()) throw ConfigError(at(file, pointer), found(json) + ", expected a hardware object {...}");
    if (pointer.empty()) expect_kind(json, file, FileKind::Hardware);
    std::string name = preset;
    if (json.contains("preset")) {
        if (!json["preset"].is_string())
            throw ConfigError(at(file, pointer + "/preset"), found(json["preset"]) + ", expected a preset's name");
        name = json["preset"].get<std::string>();
    }
    if (name.empty()) throw ConfigError(at(file, pointer + "/preset"), "is missing, expected the preset that this overrides");
    Overlay overlay{preset_named(name, at(file, pointer + "/preset")), {}};
    const std::string generation = name_of(overlay.hardware.generation);
    if (json.contains("generation") && json["generation"] != generation)
        throw ConfigError(at(file, pointer + "/generation"),
                          found(json["generation"]) + ", expected \"" + generation + "\", the generation of " + name);
    lay_object(overlay, json, file, pointer, "");
    return finish(std::move(overlay), settings, at(file, pointer), rules);
}

std::vector<std::string> settings_of(const Hardware& hardware)
{
    Hardware as = hardware, basis = load_hardware(hardware.name, {}, HardwareRules::Ignored);
    const auto value = [](const HardwareField& field, Hardware& of) -> std::string {
        return field.number ? std::to_string(*field.number(of)) : *field.flag(of) ? "true" : "false";
    };
    std::vector<std::string> settings;
    for (const HardwareField& field : hardware_fields())
        if (const std::string text = value(field, as); text != value(field, basis)) settings.push_back(field.path + "=" + text);
    const OrderedJson wanted = hardware_json(hardware);
    for (std::size_t i = settings.size(); i-- > 0;) {
        std::vector<std::string> fewer = settings;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (hardware_json(load_hardware(hardware.name, fewer, HardwareRules::Ignored)) == wanted) settings = std::move(fewer);
    }
    return settings;
}

std::string machine_name(const Hardware& hardware)
{
    constexpr std::size_t kMaxShown = 8;
    const std::vector<std::string> settings = settings_of(hardware);
    std::string text = hardware.name;
    for (std::size_t i = 0; i < std::min(settings.size(), kMaxShown); ++i) text += (i == 0 ? " with " : ", ") + settings[i];
    if (settings.size() > kMaxShown) text += " and " + std::to_string(settings.size() - kMaxShown) + " more";
    return text;
}

OrderedJson hardware_json(const Hardware& hardware)
{
    OrderedJson json;
    json[std::string(kHardwareKeys[0].name)] = hardware.name;
    json[std::string(kHardwareKeys[2].name)] = name_of(hardware.generation);
    Hardware copy = hardware;
    for (const HardwareField& field : hardware_fields()) {
        OrderedJson* place = &json;
        std::size_t start = 0;
        for (std::size_t dot; (dot = field.path.find('.', start)) != std::string::npos; start = dot + 1)
            place = &(*place)[field.path.substr(start, dot - start)];
        const std::string key = field.path.substr(start);
        if (field.flag) (*place)[key] = *field.flag(copy);
        else (*place)[key] = *field.number(copy);
    }
    return json;
}

}  // namespace dlasim
