#include "explain/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "config/layer/layer_reader.h"

namespace dlasim {
namespace {

using Of = Change::Of;

/// What a memory is replaced by to see what a faster one gains.
constexpr std::array<std::pair<const char*, const char*>, 6> kFasterMemories{{
    {"ddr4-2400", "ddr4-3200"},
    {"ddr4-3200", "lpddr5-6400"},
    {"lpddr4-3200", "lpddr5-6400"},
    {"lpddr5-6400", "hbm2"},
    {"reference-ddr4-2400", "reference-ddr4-3200"},
    {"reference-ddr4-3200", "lpddr5-6400"},
}};
constexpr std::array<std::uint64_t, 4> kSlowerClocks{90, 75, 50, 25};  // percent of the clock
constexpr std::int64_t kMinShare = 100;                                // smaller causes than this fraction are not worth a trial

std::string text_under(const Json& json, const char* key)
{
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

std::string path_of_setting(const std::string& setting) { return setting.substr(0, setting.find('=')); }

std::vector<std::string> with_setting(std::vector<std::string> settings, const std::string& path, const std::string& value)
{
    std::erase_if(settings, [&](const std::string& setting) { return path_of_setting(setting) == path; });
    settings.push_back(path + "=" + value);
    return settings;
}

/// "mac.atomic_k" twice, half, a quarter or an eighth of `is`, or the value itself; empty if that is no change.
std::string changed(std::uint64_t is, std::string_view value)
{
    if (value == "*2") return is > UINT32_MAX / 2 || is == 0 ? "" : std::to_string(2 * is);
    if (value.starts_with('/')) {
        const std::uint64_t by = value == "/2" ? 2 : value == "/4" ? 4 : 8;
        return is < by || is % by != 0 ? "" : std::to_string(is / by);
    }
    return std::string(value);
}

/// The place a path of a layer or network names, made where it is missing.
Json& place_in(Json& work, std::string_view path)
{
    Json* place = &work;
    while (true) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        place = &(*place)[std::string(path.substr(0, dot))];
        if (dot == path.size()) return *place;
        path.remove_prefix(dot + 1);
    }
}

Trial trial_to(const Change& change, std::string path, std::string value, std::string option)
{
    Trial trial;
    trial.change = change;
    trial.path = std::move(path);
    trial.value = std::move(value);
    trial.option = std::move(option);
    return trial;
}

std::optional<Trial> work_trial(const Change& change, const RecordedPoint& recorded)
{
    Json work = recorded.work.json;
    if (work.is_null()) return std::nullopt;
    Json& place = place_in(work, change.path);
    const std::string is = place.is_string() ? place.get<std::string>() : change.path == "overlap" ? "all" : "parts";
    if (is == change.value) return std::nullopt;
    if (change.path == "plan.minimise" && work.contains("partition")) return std::nullopt;  // given
    const char* what = recorded.kind->key;
    std::string option = change.path == "plan.minimise" ? fmt::format("\"plan\": {{\"minimise\": \"{}\"}} in the {}", change.value, what)
                                                        : fmt::format("\"{}\": \"{}\" in the {}", change.path, change.value, what);
    return trial_to(change, std::string(change.path), std::string(change.value), std::move(option));
}

std::optional<Trial> hardware_trial(const Change& change, const RecordedPoint& recorded, const std::string& path)
{
    const HardwareField* field = find_hardware_field(path);
    if (!field || !field->number) return std::nullopt;
    Hardware hardware = load_hardware(recorded.preset, recorded.settings, HardwareRules::Ignored);
    const std::string value = changed(*field->number(hardware), change.value);
    if (value.empty()) return std::nullopt;
    return trial_to(change, path, value, "--set " + path + "=" + value);
}

std::optional<Trial> memory_trial(const Change& change, const RecordedPoint& recorded)
{
    const std::string kind = text_under(recorded.memory, "kind");
    const std::string path(change.path);
    const bool ideal = kind == "ideal";
    if (ideal != (path == "latency" || path == "interval" || path == "write_latency")) return std::nullopt;
    std::uint64_t is = path == "channels" ? static_cast<std::uint64_t>(recorded.dram_channels) : 0;
    if (ideal)
        is = recorded.memory.contains(path) && recorded.memory[path].is_number_unsigned() ? recorded.memory[path].get<std::uint64_t>() : 0;
    else if (text_under(recorded.memory, path.c_str()) == change.value) return std::nullopt;
    const std::string value = changed(is, change.value);
    if (value.empty() || kind.empty()) return std::nullopt;
    return trial_to(change, path, value, fmt::format("--memory {}:{}={}", kind, path, value));
}

std::optional<Trial> faster_memory(const Change& change, const RecordedPoint& recorded)
{
    const std::string kind = text_under(recorded.memory, "kind");
    for (const auto& [slow, fast] : kFasterMemories)
        if (kind == slow) return trial_to(change, "memory", fast, std::string("--memory ") + fast);
    return std::nullopt;
}

/// A read credit is one of a client: "SDP_BS" is fabric.read_credit.sdp_bs.
std::string hardware_path(const Change& change, const CauseTotal& total)
{
    if (change.path != "fabric.read_credit" || total.clients.empty()) return std::string(change.path);
    for (std::size_t client = 0; client < kClients; ++client)
        if (total.clients.front().name == kClientNames[client]) return credit_path(static_cast<Client>(client));
    return "";
}

std::optional<Trial> trial_of(const Change& change, const CauseTotal& total, const RecordedPoint& recorded)
{
    std::optional<Trial> trial = change.of == Of::Work       ? work_trial(change, recorded)
                                 : change.of == Of::Hardware ? hardware_trial(change, recorded, hardware_path(change, total))
                                 : change.of == Of::Memory   ? memory_trial(change, recorded)
                                                             : faster_memory(change, recorded);
    if (!trial || (change.of == Of::Hardware && recorded.kind->compiled)) return std::nullopt;  // it is compiled for this machine
    trial->against = total.cause;
    trial->charged = total.cycles;
    return trial;
}

/// Values of a run without values come by seed: files of tensors are not needed.
Json without_files(Json layer)
{
    if (layer.contains("data") && layer["data"].is_object())
        for (const char* key : {"input", "weights", "bias", "operand", "expected"}) layer["data"].erase(key);
    return layer;
}

/// A model of ONNX, its first image: cycles are those of one, whatever its numbers.
OnnxWork model_of(const Json& model)
{
    OnnxWork work;
    const auto list = [&](const char* key) {
        std::vector<std::string> texts;
        if (model.contains(key) && model[key].is_array())
            for (const Json& one : model[key])
                if (one.is_string()) texts.push_back(one.get<std::string>());
        return texts;
    };
    work.input = list("input");
    work.calibrate = list("calibrate");
    work.shapes = list("shape");
    work.preprocess = list("preprocess");
    work.bias_correction = model.contains("bias_correction") && model["bias_correction"] == true;
    work.calibration = text_under(model, "calibration");
    work.precision = text_under(model, "precision");
    if (const std::string how = text_under(model, "calibration"); how != "max") work.calibration = how;
    work.most_images = 1;
    return work;
}

void add_trials(std::vector<Trial>& trials, const char* memory_option, std::initializer_list<const char*> values,
                const RecordedPoint& recorded)
{
    for (const char* value : values)
        if (std::optional<Trial> trial = memory_trial({Of::Memory, memory_option, value}, recorded)) trials.push_back(std::move(*trial));
}

/// Of every size of the hardware. What is compiled for a machine has none.
std::vector<Trial> trials_of_sizes(const RecordedPoint& recorded, std::initializer_list<const char*> values)
{
    static const std::set<std::string> kNoSizes{
        "clock_mhz",         "memory.address_bits",        "cbuf.entry_bytes",
        "memory.atom_bytes", "memory.primary.width_bytes", "memory.secondary.width_bytes"};  // follow, or change no cycle
    std::vector<Trial> trials;
    for (const HardwareField& field : hardware_fields()) {
        if (!field.number || kNoSizes.count(field.path) != 0 || recorded.kind->compiled) continue;
        for (const char* value : values)
            if (std::optional<Trial> trial = hardware_trial({Of::Hardware, field.path, value}, recorded, field.path))
                trials.push_back(std::move(*trial));
    }
    return trials;
}

}  // namespace

RecordedPoint recorded_point(const Json& result, const std::string& file)
{
    RecordedPoint recorded;
    recorded.file = file;
    recorded.kind = kind_in_result(result);
    if (recorded.kind) {
        const Json& work = result[recorded.kind->key];
        if (recorded.kind->described)
            recorded.work = {without_files(work), file, std::string("/") + recorded.kind->key,
                             std::filesystem::path(file).parent_path().string()};
        else recorded.work.file = work.is_string() ? work.get<std::string>() : text_under(work, "file");
        if (recorded.kind->images) recorded.model = model_of(work);
    }
    if (!recorded.kind || recorded.work.file.empty())
        throw ConfigError(file, "is no run of a layer, a network or a loadable, expected one: a recorded program cannot be changed");
    recorded.mode = text_under(result, "mode").empty() ? "overlap" : text_under(result, "mode");
    recorded.memory = result.contains("memory") ? result["memory"] : Json("ideal");
    const Json& hardware = result.contains("hardware") ? result["hardware"] : recorded.memory;
    recorded.preset = hardware.is_string() ? hardware.get<std::string>() : text_under(hardware, "preset");
    if (recorded.preset.empty()) throw ConfigError(at(file, "/hardware"), "has no preset, expected the machine of a run");
    if (hardware.is_object()) recorded.settings = settings_of(read_hardware(hardware, file, "/hardware"));
    if (result.contains("memory_report") && result["memory_report"].is_object() && result["memory_report"].contains("dbb")) {
        const Json& dbb = result["memory_report"]["dbb"];
        if (dbb.is_object() && dbb.contains("channels") && dbb["channels"].is_array())
            recorded.dram_channels = std::max<std::int64_t>(1, static_cast<std::int64_t>(dbb["channels"].size()));
    }
    return recorded;
}

SweepPoint trial_point(const RecordedPoint& recorded, std::span<const Trial> trials)
{
    SweepPoint point;
    std::vector<std::string> settings = recorded.settings;
    WrittenWork work = recorded.work;
    Json memory = recorded.memory;
    for (const Trial& trial : trials) {
        if (trial.software()) place_in(work.json, trial.path) = trial.value;
        if (trial.change.of == Of::Hardware) settings = with_setting(std::move(settings), trial.path, trial.value);
        if (trial.change.of == Of::FasterMemory) memory = Json{{"kind", trial.value}};
    }
    point.hardware = load_hardware(recorded.preset, settings);
    point.memory = memory.is_object() ? read_memory(memory, recorded.file, "/memory")
                                      : parse_memory(memory.is_string() ? memory.get<std::string>() : "ideal");
    for (const Trial& trial : trials)
        if (trial.change.of == Of::Memory) set_memory_option(point.memory, trial.path, trial.value, trial.option);
    point.work = recorded.kind->read(std::move(work), recorded.model, {.mode = recorded.mode});
    return point;
}

std::vector<Trial> remedies(const Explanation& explanation, const RecordedPoint& recorded, std::size_t most)
{
    std::vector<Trial> trials;
    std::set<std::string> known;
    for (const CauseTotal& total : explanation.causes) {
        if (total.cycles * kMinShare < explanation.run.cycles) break;
        for (const Change& change : advice_on(total.cause).changes) {
            std::optional<Trial> trial = trial_of(change, total, recorded);
            if (trial && known.insert(trial->option).second) trials.push_back(std::move(*trial));
        }
    }
    std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.software() > b.software(); });
    if (trials.size() > most) trials.resize(most);
    return trials;
}

std::vector<Trial> size_trials(const RecordedPoint& recorded)
{
    std::vector<Trial> trials = trials_of_sizes(recorded, {"/2", "*2"});
    for (const char* option : {"latency", "interval", "write_latency", "channels"}) add_trials(trials, option, {"/2", "*2"}, recorded);
    return trials;
}

std::vector<Trial> slack_trials(const RecordedPoint& recorded)
{
    std::vector<Trial> trials = trials_of_sizes(recorded, {"/2", "/4", "/8"});
    if (!recorded.kind->compiled) {
        Hardware hardware = load_hardware(recorded.preset, recorded.settings, HardwareRules::Ignored);
        for (const HardwareField& field : hardware_fields())
            if (field.flag && *field.flag(hardware))
                trials.push_back(trial_to({Of::Hardware, field.path, "false"}, field.path, "false", "--set " + field.path + "=false"));
        for (const std::uint64_t percent : kSlowerClocks)
            if (const std::string mhz = std::to_string(hardware.clock_mhz * percent / 100); mhz != "0")
                trials.push_back(trial_to({Of::Hardware, "clock_mhz", mhz}, "clock_mhz", mhz, "--set clock_mhz=" + mhz));
    }
    add_trials(trials, "channels", {"/2", "/4", "/8"}, recorded);
    return trials;
}

}  // namespace dlasim
