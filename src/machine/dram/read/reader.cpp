#include "dram/read/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files/expression.h"
#include "base/files/foreign/foreign_file.h"
#include "base/files/input.h"
#include "base/files/json_text.h"
#include "base/files/number.h"
#include "base/files/spelling.h"
#include "dram/data_bus.h"
#include "dram/embedded.h"
#include "dram/read/object.h"

namespace dlasim::dram {
namespace {

Json parse(const std::string& where, const std::string& text)
{
    refuse_foreign(where, text, Wanted::Memory);
    Json json = parse_json(text, where);
    refuse_foreign_json(where, json, Wanted::Memory);
    if (!json.is_object()) throw ConfigError(where, "is not a JSON object");
    return json;
}

Command read_command(const Json& json, const std::string& where)
{
    if (json.is_string())
        for (std::size_t c = 0; c < kCommands; ++c)
            if (json.get<std::string>() == kCommandNames[c]) return static_cast<Command>(c);
    throw ConfigError(where, fmt::format("found {}, a command is needed: {}", json_excerpt(json), fmt::join(kCommandNames, ", ")));
}

std::vector<Command> read_commands(const Json& json, const std::string& where)
{
    if (!json.is_array()) return {read_command(json, where)};
    std::vector<Command> commands;
    for (const Json& each : json) commands.push_back(read_command(each, where));
    if (commands.empty()) throw ConfigError(where, "is empty");
    return commands;
}

/// Timing names and what they are worth; remembers which were used.
struct Names {
    std::map<std::string, std::int64_t> values;
    std::set<std::string> used;

    std::int64_t evaluate(const std::string& text, const std::string& where)
    {
        return arithmetic(text, where, [&](const std::string& name) {
            const auto found = values.find(name);
            if (found == values.end()) {
                std::vector<std::string> known;
                for (const auto& [key, value] : values) known.push_back(key);
                throw ConfigError(where, fmt::format("\"{}\" is not in the timing table of the device{}", name, suggest(name, known)));
            }
            used.insert(name);
            return found->second;
        });
    }
};

Constraint read_row(const Json& json, const std::string& where, Names& names)
{
    Object row{json, where, "table/constraints/[]/"};
    Constraint c;
    c.rule = row.text("rule");
    c.owner = row.text("owner");
    c.from = read_commands(row.raw("from"), row.at("from"));
    c.to = read_commands(row.raw("to"), row.at("to"));
    c.scope = row.one_of<Scope>("scope", {{"B", Scope::Bank},
                                          {"L", Scope::Group},
                                          {"S", Scope::OtherGroups},
                                          {"X", Scope::OtherBanks},
                                          {"R", Scope::Rank},
                                          {"O", Scope::OtherRanks}});
    c.gap_text = row.text("gap");
    c.gap = names.evaluate(c.gap_text, row.at("gap"));
    if (c.gap > kLongestGap)
        throw ConfigError(row.at("gap"), fmt::format("\"{}\" is {} cycles, beyond {}", c.gap_text, c.gap, kLongestGap));
    if (row.has("after")) c.after = static_cast<std::uint32_t>(row.integer("after"));
    if (row.has("at_most")) c.at_most = row.truth("at_most");
    row.done();

    const bool whole_rank = c.scope == Scope::Rank || c.scope == Scope::OtherRanks;
    for (const auto* side : {&c.from, &c.to})
        for (Command command : *side)
            if (!whole_rank && !names_bank(command))
                throw ConfigError(row.at("scope"), fmt::format("{} concerns a whole rank: the scope must be R or O", name(command)));
    if (c.after > 1 && (c.scope != Scope::Rank || c.from.size() != 1 || c.from != c.to))
        throw ConfigError(row.at("after"), "a window counts one command in scope R");
    if (c.at_most && (c.after > 1 || c.scope != Scope::Bank || c.from.size() != 1 || c.to.size() != 1))
        throw ConfigError(row.at("at_most"), "a deadline joins two commands in scope B");
    return c;
}

Organisation read_organisation(Object o)
{
    Organisation out;
    for (const auto& [key, value] : {std::pair{"channels", &out.channels},
                                     {"bus_bits", &out.bus_bits},
                                     {"device_bits", &out.device_bits},
                                     {"bank_groups", &out.bank_groups},
                                     {"banks", &out.banks},
                                     {"rows", &out.rows},
                                     {"columns", &out.columns},
                                     {"burst_length", &out.burst_length},
                                     {"transfers_per_cycle", &out.transfers_per_cycle}})
        *value = o.power_of_two(key);
    out.channel_mib = static_cast<std::uint64_t>(o.integer("channel_mib"));
    o.done();
    if (out.device_bits > out.bus_bits) throw ConfigError(o.at("device_bits"), "a device is wider than the bus");
    if (out.columns < out.burst_length) throw ConfigError(o.at("columns"), "a row is shorter than a burst");
    if (out.burst_cycles() == 0) throw ConfigError(o.at("burst_length"), "is shorter than a cycle");
    if (out.ranks() == 0 || out.channel_bytes() % out.rank_bytes() != 0 || !std::has_single_bit(out.ranks()))
        throw ConfigError(o.at("channel_mib"),
                          fmt::format("{} MiB is not 1, 2, 4, ... ranks of {} MiB", out.channel_mib, out.rank_bytes() >> 20));
    if (out.banks_per_channel() > 64)
        throw ConfigError(o.at("banks"), fmt::format("{} banks in a channel, at most 64", out.banks_per_channel()));
    return out;
}

Mapping read_mapping(const Json& json, const std::string& where, const Organisation& organisation)
{
    if (json.is_string()) return {json.get<std::string>(), organisation, where};
    Object object{json, where, "mapping/"};
    constexpr std::array<const char*, kFields> keys{"channel", "rank", "group", "bank", "row", "column"};
    std::array<std::vector<std::vector<unsigned>>, kFields> bits;
    for (std::size_t f = 0; f < kFields; ++f) {
        if (!object.has(keys[f])) continue;
        const Json& list = object.raw(keys[f]);
        const ConfigError wrong{object.at(keys[f]), "a list of address bits is needed, [13, [14, 17], ...]"};
        if (!list.is_array()) throw wrong;
        for (const Json& bit : list) {
            std::vector<unsigned> xored;
            for (const Json& each : bit.is_array() ? bit : Json::array({bit})) {
                if (!each.is_number_unsigned() || each.get<std::uint64_t>() > 63) throw wrong;
                xored.push_back(each.get<unsigned>());
            }
            bits[f].push_back(xored);
        }
    }
    object.done();
    return {bits, organisation, where};
}

ControllerConfig read_controller(Object o)
{
    ControllerConfig c;
    if (o.has("profile")) c.profile = o.one_of<Profile>("profile", {{"default", Profile::Default}, {"reference", Profile::Reference}});
    if (o.has("page_policy"))
        c.page_policy = o.one_of<PagePolicy>("page_policy", {{"open", PagePolicy::Open},
                                                             {"closed_auto", PagePolicy::ClosedAuto},
                                                             {"closed_cap", PagePolicy::ClosedCap},
                                                             {"open_adaptive", PagePolicy::OpenAdaptive},
                                                             {"closed_adaptive", PagePolicy::ClosedAdaptive},
                                                             {"timeout", PagePolicy::Timeout}});
    for (const auto& [key, value] : {std::pair{"page_limit", &c.page_limit},
                                     {"read_queue", &c.read_queue},
                                     {"write_queue", &c.write_queue},
                                     {"write_high", &c.write_high},
                                     {"write_low", &c.write_low},
                                     {"write_age", &c.write_age},
                                     {"read_age", &c.read_age},
                                     {"hit_cap", &c.hit_cap},
                                     {"power_down_after", &c.power_down_after},
                                     {"self_refresh_after", &c.self_refresh_after},
                                     {"command_queue", &c.command_queue}})
        if (o.has(key)) *value = static_cast<std::uint32_t>(o.integer(key));
    o.done();
    if (c.write_high > c.write_queue)
        throw ConfigError(o.at("write_high"), fmt::format("{} is beyond the write queue of {}", c.write_high, c.write_queue));
    if (c.write_low >= c.write_high)
        throw ConfigError(o.at("write_low"), fmt::format("{} is not below write_high, {}", c.write_low, c.write_high));
    if (c.profile == Profile::Reference && c.page_policy != PagePolicy::Open && c.page_policy != PagePolicy::ClosedAuto)
        throw ConfigError(o.at("page_policy"), "the reference controller supports open and closed_auto");
    return c;
}

/// What a command adds to standby is never less than nothing.
void expect_more_than_standby(const Supply& supply, const Object& where)
{
    const auto expect = [&](const char* key, double current, double standby) {
        if (current < standby)
            throw ConfigError(where.at(key), fmt::format("found {}, expected at least the {} of standby", current, standby));
    };
    expect("IDD0", supply.idd0, std::max(supply.idd2n, supply.idd3n));
    expect("IDD4R", supply.idd4r, supply.idd3n);
    expect("IDD4W", supply.idd4w, supply.idd3n);
    expect("IDD5AB", supply.idd5ab, supply.idd3n);
}

EnergyConfig read_energy(Object o)
{
    EnergyConfig e;
    e.source = o.text("source");
    e.estimate = o.truth("estimate");
    const Json& list = o.raw("supplies");
    if (!list.is_array() || list.empty()) throw ConfigError(o.at("supplies"), "a list of supplies is needed");
    for (std::size_t i = 0; i < list.size(); ++i) {
        Object s{list[i], fmt::format("{}/{}", o.at("supplies"), i), "energy/supplies/[]/"};
        Supply supply;
        supply.name = s.text("name");
        supply.volts = s.number("volts");
        for (const auto& [key, value] : {std::pair{"IDD0", &supply.idd0},
                                         {"IDD2N", &supply.idd2n},
                                         {"IDD2P", &supply.idd2p},
                                         {"IDD3N", &supply.idd3n},
                                         {"IDD3P", &supply.idd3p},
                                         {"IDD4R", &supply.idd4r},
                                         {"IDD4W", &supply.idd4w},
                                         {"IDD5AB", &supply.idd5ab},
                                         {"IDD5PB", &supply.idd5pb},
                                         {"IDD6", &supply.idd6}})
            *value = s.number(key);
        s.done();
        expect_more_than_standby(supply, s);
        e.supplies.push_back(supply);
    }
    o.done();
    return e;
}

/// The constraint table, its times and its command bus, evaluated with the device's timing.
void read_standard(Config& config, const std::string& where, const Json& json, const std::string& timing_where)
{
    Object standard{json, where + ":", "table/"};
    if (standard.text("standard") != config.standard)
        throw ConfigError(standard.at("standard"),
                          fmt::format("found \"{}\", the device has \"{}\"", standard.text("standard"), config.standard));
    standard.text("source");
    Names names{config.timing, {}};
    names.values["BL"] = config.organisation.burst_length;

    Object times = standard.object("times");
    const auto time = [&](const char* key) { return names.evaluate(times.text(key), times.at(key)); };
    config.read_latency = names.values["RL"] = time("RL");
    config.write_latency = names.values["WL"] = time("WL");
    if (config.read_latency < 1 || config.write_latency < 0) throw ConfigError(times.at("RL"), "RL must be at least 1 and WL at least 0");
    for (const auto& [key, value] : {std::pair{"tRAS", &config.tras}, {"tRC", &config.trc}, {"tRP", &config.trp}, {"tRFC", &config.trfc}})
        *value = time(key);
    config.trfcpb = times.has("tRFCpb") ? time("tRFCpb") : 0;
    const std::int64_t all_bank = time("tREFI"), per_bank = times.has("tREFIpb") ? time("tREFIpb") : 0;
    times.done();
    const bool banks = config.refresh.policy == RefreshPolicy::PerBank;
    if (banks && per_bank == 0) throw ConfigError("/refresh/policy", fmt::format("{} has no per-bank refresh", config.standard));
    config.refresh.interval = banks ? per_bank : all_bank;
    const std::int64_t turns = banks ? config.organisation.banks_per_rank() : 1;  // until a bank is refreshed again
    if (config.refresh.policy != RefreshPolicy::None && config.refresh.interval * turns <= 2 * (banks ? config.trfcpb : config.trfc))
        throw ConfigError(times.at("tREFI"), "leaves no time between refreshes");

    config.command_cycles.fill(1);
    Object bus = standard.object("command_bus");
    config.row_and_column_bus = bus.truth("row_and_column");
    config.two_part_activation = bus.truth("two_part_activation");
    Object cycles = bus.object("cycles");
    for (std::size_t c = 0; c < kCommands; ++c)
        if (const std::string key{kCommandNames[c]}; cycles.has(key))
            config.command_cycles[c] = static_cast<std::uint32_t>(cycles.integer(key));
    cycles.done();
    bus.done();

    if (standard.has("write_clock")) {
        Object clock = standard.object("write_clock");
        config.write_clock = {true, names.evaluate(clock.text("after_read"), clock.at("after_read")),
                              names.evaluate(clock.text("after_write"), clock.at("after_write"))};
        clock.done();
    }
    const Json& rows = standard.raw("constraints");
    if (!rows.is_array() || rows.empty()) throw ConfigError(standard.at("constraints"), "a list of rows is needed");
    if (rows.size() > 250) throw ConfigError(standard.at("constraints"), "more than 250 rows");
    for (std::size_t i = 0; i < rows.size(); ++i)
        config.constraints.push_back(read_row(rows[i], fmt::format("{}/{}", standard.at("constraints"), i), names));
    standard.done();

    for (const auto& [key, value] : config.timing)
        if (!names.used.contains(key)) {
            std::vector<std::string> known(names.used.begin(), names.used.end());
            throw ConfigError(timing_where + "/" + key,
                              fmt::format("the constraint table of {} has no use for this{}", config.standard, suggest(key, known)));
        }
}

void lay_over(Json& json, const std::string& where, const std::map<std::string, std::string>& options)
{
    for (const auto& [key, text] : options) {
        const auto* longer =
            std::find_if(std::begin(kShortOptions), std::end(kShortOptions), [&key = key](const ShortOption& s) { return key == s.name; });
        std::stringstream path{longer == std::end(kShortOptions) ? key : longer->path};
        Json* at = &json;
        std::vector<std::string> steps;
        for (std::string step; std::getline(path, step, '.');) steps.push_back(step);
        if (steps.empty() || steps.size() > 4) throw ConfigError(where, fmt::format("\"{}\" is not the name of an option", key));
        if (steps.size() == 1 && !json.contains(steps[0]) && steps[0] != "wrap" && steps[0] != "base") {
            std::vector<std::string> known{"wrap", "base"};
            for (const ShortOption& option : kShortOptions) known.emplace_back(option.name);
            for (const auto& [name, value] : json.items()) known.push_back(name);
            throw ConfigError(where, fmt::format("\"{}\" is not an option{}", key, suggest(key, known)));
        }
        for (const std::string& step : steps) {
            if (!at->is_object()) throw ConfigError(where, fmt::format("option \"{}\": this has no keys", key));
            if (&step == &steps.back()) break;
            if (!at->contains(step)) {
                std::vector<std::string> known;
                for (const auto& [name, value] : at->items()) known.push_back(name);
                throw ConfigError(where, fmt::format("option \"{}\": no \"{}\" here{}", key, step, suggest(step, known)));
            }
            at = &(*at)[step];
        }
        Json value = json_or_text(text, fmt::format("{}: option {}", where, key));
        if (value.is_string() && text.starts_with("0x")) {
            const std::optional<std::uint64_t> number = whole_number(text, 0, UINT64_MAX, true);
            if (!number) throw ConfigError(where, fmt::format("option \"{}\": \"{}\" is not a number", key, text));
            value = *number;
        }
        (*at)[steps.back()] = value;
    }
}

const EmbeddedFile* embedded(const std::string& name)
{
    for (const EmbeddedFile& file : embedded_files())
        if (name == file.name) return &file;
    return nullptr;
}

bool is_path(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".json"); }

}  // namespace

Config parse_config(const std::string& where, const std::string& device, const std::string& standard_where, const std::string& standard,
                    const std::map<std::string, std::string>& options)
{
    Json json = parse(where, device);
    lay_over(json, where, options);
    Object root{json, where + ":", ""};
    Config config;
    config.name = root.text("name");
    config.about = root.text("about");
    config.source = root.text("source");
    config.verified = root.truth("verified");
    config.standard = root.text("standard");
    config.organisation = read_organisation(root.object("organisation"));
    config.mapping = read_mapping(root.raw("mapping"), root.at("mapping"), config.organisation);
    if (root.has("wrap")) config.wrap = root.truth("wrap");
    if (root.has("base")) config.base = static_cast<std::uint64_t>(root.integer("base"));
    config.tck_ns = root.number("tCK_ns");
    Object timing = root.object("timing");
    for (const auto& [key, value] : timing.json().items()) config.timing[key] = timing.integer(key);
    Object refresh = root.object("refresh");
    config.refresh.policy = refresh.one_of<RefreshPolicy>("policy", {{"all_bank_staggered", RefreshPolicy::AllBankStaggered},
                                                                     {"all_bank_simultaneous", RefreshPolicy::AllBankSimultaneous},
                                                                     {"per_bank", RefreshPolicy::PerBank},
                                                                     {"none", RefreshPolicy::None}});
    config.refresh.postpone = static_cast<std::uint32_t>(refresh.integer("postpone"));
    refresh.done();
    config.controller = read_controller(root.object("controller"));
    config.energy = read_energy(root.object("energy"));
    root.done();
    read_standard(config, standard_where, parse(standard_where, standard), root.at("timing"));
    check_data_bus(config, root.at("organisation"));
    if (config.controller.profile == Profile::Reference && config.two_part_activation)
        throw ConfigError(where, "the reference controller does not support two-part activation");
    if (config.controller.profile == Profile::Reference && config.refresh.policy == RefreshPolicy::PerBank)
        throw ConfigError(where, "the reference controller does not support per-bank refresh");
    return config;
}

namespace {

/// `contents`: of the file, where it was read before.
Config config_of(const std::string& name_or_path, const std::map<std::string, std::string>& options, const std::string& contents)
{
    std::string where, device;
    if (!contents.empty()) {
        where = name_or_path;
        device = contents;
    } else if (std::error_code none; is_path(name_or_path) || (!embedded(name_or_path) && std::filesystem::exists(name_or_path, none))) {
        where = name_or_path;
        device = read_text(name_or_path);
    } else if (const EmbeddedFile* file = embedded(name_or_path)) {
        where = fmt::format("configs/dram/{}.json", name_or_path);
        device = file->text;
    } else {
        std::vector<std::string> known = preset_names();
        for (const std::string& name : preset_names(true)) known.push_back(name);
        throw ConfigError(name_or_path, "is no DRAM preset" + suggest(name_or_path, known));
    }
    Json json = parse(where, device);
    Object root{json, where + ":", ""};
    const std::string standard = root.text("standard");
    if (is_path(standard)) {
        const std::size_t slash = where.rfind('/');
        const std::string path = standard.starts_with("/") || slash == std::string::npos ? standard : where.substr(0, slash + 1) + standard;
        return parse_config(where, device, path, read_text(path), options);
    }
    const EmbeddedFile* table = embedded("standards/" + standard);
    if (!table) throw ConfigError(root.at("standard"), fmt::format("\"{}\" is no constraint table of configs/dram/standards", standard));
    return parse_config(where, device, fmt::format("configs/dram/standards/{}.json", standard), table->text, options);
}

}  // namespace

Config read_config(const std::string& name_or_path, const std::map<std::string, std::string>& options)
{
    if (is_path(name_or_path)) return config_of(name_or_path, options, "");  // a file may change
    MemorySpec preset;
    preset.kind = name_or_path;
    preset.options = options;
    return read_config(preset);
}

Config read_config(const MemorySpec& memory)
{
    struct Remembered {
        std::string kind, device;
        std::map<std::string, std::string> options;
        Config config;
    };
    thread_local std::optional<Remembered> last;  // bounds and machine of a run ask for the same
    if (!last || last->kind != memory.kind || last->device != memory.device || last->options != memory.options)
        last.emplace(Remembered{memory.kind, memory.device, memory.options, config_of(memory.kind, memory.options, memory.device)});
    return last->config;
}

std::vector<std::string> preset_names(bool reference)
{
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_files()) {
        const std::string name = file.name;
        if (name.find('/') == std::string::npos && name.starts_with("reference-") == reference) names.push_back(name);
    }
    return names;
}

bool is_preset(const std::string& name) { return name.find('/') == std::string::npos && embedded(name) != nullptr; }

std::string preset_text(const std::string& name)
{
    const EmbeddedFile* file = is_preset(name) ? embedded(name) : nullptr;
    if (!file) read_config(name);  // says what there is
    return file->text;
}

std::string preset_line(const std::string& name)
{
    const Config config = read_config(name);
    return fmt::format("{:<14} {} x {:.1f} GB/s, {} GiB: {}", name, config.organisation.channels,
                       config.peak_gb_per_s() / config.organisation.channels, config.organisation.capacity_bytes() >> 30, config.about);
}

}  // namespace dlasim::dram
