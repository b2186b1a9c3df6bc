#include "config/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/files/printable.h"
#include "config/file_kind.h"
#include "config/layer/layer_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/network_reader.h"
#include "config/sweep/sweep_choice.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

constexpr std::array kSweepKeys{
    KeyRow{"base", "object", "", "settings that all points share", "optional where an axis has layers, networks or loadables"},
    KeyRow{"axes", "object", "",
           "lists of values by axis; the points are their product, the last one varies fastest. A text is an expression, "
           "\"= mac.atomic_c / 2\": the value follows from the others; so is one that begins with \"= \" in a list"},
    KeyRow{"exclude", "list", "",
           "points to skip: objects of axes and values that all match, expressions that are true, \"cbuf.banks * cbuf.bank_depth > "
           "8192\", "
           "\"area_mm2 > 2.5\"",
           "optional"},
    KeyRow{"technology", "file or object", "", "areas and energies: a name, a file, or an object laid over one", "optional: 16nm"},
    KeyRow{"workloads", "list", "", "networks or layers that every machine runs; rows of machines.csv have the figures of all", "optional"},
    KeyRow{"require", "text or list", "", "what every workload of a machine must meet: \"frames_per_s >= 30 && area_mm2 < 2\"", "optional"},
    KeyRow{"order", "text", "", "which ready frame runs next", "optional: first_come", "first_come priority deadline"},
    KeyRow{"name", "text", "", "documentation", "optional"},
};
constexpr std::array kWorkloadKeys{
    KeyRow{"network", "file or object", "", "a network, or its path", "or a layer"},
    KeyRow{"layer", "file or object", "", "a descriptor, or its path", "or a network"},
    KeyRow{"name", "text", "", "of its columns", "optional: that of the file"},
    KeyRow{"weight", "number", "", "frames of it in the mix", "optional: 1"},
    KeyRow{"require", "text", "", "what this workload must meet", "optional"},
    KeyRow{"rate", "number", "1/s",
           "required frames per second, a multiple of 0.001: the machine is judged on all workloads with a rate together. 0: as fast "
           "as possible, judged alone",
           "optional: of several workloads the number of frames_per_s >= in its own require"},
    KeyRow{"deadline_ms", "number", "ms", "worst-case time from the release of a frame to its end", "optional: none"},
    KeyRow{"priority", "integer", "", "the larger goes first, with \"order\": \"priority\"", "optional: 0"},
};
constexpr std::array kBaseKeys{
    KeyRow{"layer", "file or object", "", "a descriptor, or its path, from the sweep's folder on", "a sweep of layers"},
    KeyRow{"network", "file or object", "", "a network, or its path, NETWORK.md; the path of an ONNX model, ONNX.md",
           "a sweep of networks"},
    KeyRow{"loadable", "file", "", "a file of the NVDLA compiler: LOADABLE.md", "a sweep of such files"},
    KeyRow{"input", "file or list", "", "a file with the values of its input; of a model images, [NAME=]FILE",
           "optional, of a loadable or a model: made by seed"},
    KeyRow{"calibrate", "file or list", "", "calibration images", "optional, of a model: those of the input"},
    KeyRow{"labels", "file", "", "the class of every image", "optional, of a model"},
    KeyRow{"precision", "text", "", "type of the elements", "optional, of a model: int8", "int8 fp16"},
    KeyRow{"preprocess", "text or list", "", "KEY=VALUE of `--preprocess`, for pictures", "optional, of a model"},
    KeyRow{"mode", "text", "", "order of its register writes", "optional, of a loadable: overlap", "serial overlap driver"},
    KeyRow{"host_ns", "number", "ns", "of CPU fallback per element: `--host`", "optional: frames per second exclude CPU fallback"},
    KeyRow{"hw", "file or object", "", "a preset, a file or a hardware object", "optional: nv_full"},
    KeyRow{"memory", "file or object", "", "as --memory, or {\"kind\": .., and its options}", "optional: ideal"},
};
/// Axes; all other names are looked for among the fields of the hardware, of the layer and the options of the memory.
constexpr std::array kAxisKeys{
    KeyRow{"hw", "list", "", "machines", "optional"},
    KeyRow{"memory", "list", "", "memories", "optional"},
    KeyRow{"layer", "list", "", "descriptors or their paths", "optional"},
    KeyRow{"network", "list", "", "networks or their paths", "optional"},
    KeyRow{"loadable", "list", "", "files of the NVDLA compiler", "optional"},
    KeyRow{"mode", "list", "", "orders of their register writes", "optional"},
};
constexpr KeyRow kAnyAxis{
    "*", "list", "",
    "a field of the hardware (cbuf.banks), a field of the layer (input.channels) or an option of the memory (latency, timing.tRCD)",
    "optional"};

constexpr std::size_t kMaxPoints = 1'000'000, kMaxValue = 1 << 20;

SweepAxis::Kind kind_of(const std::string& name, const std::string& where, bool of_compiled)
{
    using Kind = SweepAxis::Kind;
    if (name == "hw") return Kind::WholeHardware;
    if (name == "memory") return Kind::WholeMemory;
    if (std::ranges::count(swept_keys(), name) != 0) return Kind::Work;
    if (name == "mode" && of_compiled) return Kind::Mode;  // a layer has one too
    if (find_hardware_field(name)) return Kind::Hardware;
    if (is_layer_field(name) || is_transfer_field(name)) return Kind::Layer;
    const std::vector<std::string> options = memory_options();
    const std::string any_below = name.substr(0, name.find('.')) + ".*";
    if (std::any_of(options.begin(), options.end(), [&](const std::string& option) { return option == name || option == any_below; }))
        return Kind::MemoryOption;
    std::vector<std::string> known = names_of(kAxisKeys);
    for (const HardwareField& field : hardware_fields()) known.push_back(field.path);
    known.insert(known.end(), options.begin(), options.end());
    throw ConfigError(where, "unknown axis" + suggest(name, known));
}

/// Without a base of its own the first value of an axis of layers, networks or loadables is one.
void take_work_of_axes(Sweep& sweep, const JsonObject& top, const JsonObject& base)
{
    const Json axes = top.has("axes") ? top.raw("axes") : Json();
    for (const std::string_view key : swept_keys()) {
        if (!axes.is_object() || !axes.contains(key) || !axes[key].is_array() || axes[key].empty() || axes[key][0].is_null()) continue;
        sweep.runs = key;
        sweep.work = axes[key][0];
        if (sweep.kind().described || (sweep.work.is_string() && sweep.work != "")) return;
    }
    base.missing("layer", "a descriptor or its path, \"network\" or \"loadable\", here or as an axis");
}

/// `range`: what it must be, beside at most 1e9.
template <class InRange>
double number_of(const JsonObject& object, const char* key, const char* range, InRange in_range)
{
    const Json& value = object.raw(key);
    if (!value.is_number() || !in_range(value.get<double>()) || value.get<double>() > 1e9)
        throw ConfigError(object.where(key), found(value) + ", expected a number " + range + ", at most 1e9");
    return value.get<double>();
}

SweepWorkload read_workload(const JsonObject& object)
{
    object.not_both("network", "layer");
    const char* key = object.has("layer") ? "layer" : "network";
    if (!object.has(key)) object.missing("network", "a network or its path, or \"layer\"");
    SweepWorkload workload;
    workload.name = object.text("name", "");
    workload.require = object.text("require", "");
    workload.work = object.raw(key);
    if (!workload.work.is_string() && !workload.work.is_object())
        throw ConfigError(object.where(key), found(workload.work) + ", expected an object or its path");
    if (const WorkKind& kind = swept_kind(key, workload.work); !kind.described)
        throw ConfigError(object.where(key), std::string("is ") + kind.name + ", expected a network or a layer");
    if (workload.name.empty() && workload.work.is_string())
        workload.name = std::filesystem::path(workload.work.get<std::string>()).stem().string();
    if (workload.name.empty() && workload.work.is_object() && workload.work.contains("name") && workload.work["name"].is_string())
        workload.name = workload.work["name"].get<std::string>();
    if (workload.name.empty()) object.missing("name", "prefix of its columns");
    if (object.has("weight")) workload.weight = number_of(object, "weight", "above 0", [](double weight) { return weight > 0; });
    if (object.has("rate"))
        workload.rate = number_of(object, "rate", "from 0 on, a multiple of 0.001",
                                  [](double rate) { return rate >= 0 && std::abs(1000 * rate - std::round(1000 * rate)) < 1e-6; });
    if (object.has("deadline_ms")) workload.deadline_ms = number_of(object, "deadline_ms", "above 0", [](double ms) { return ms > 0; });
    if (object.has("priority")) {
        const double priority =
            number_of(object, "priority", "that is whole, from 0 on", [](double p) { return p >= 0 && p == std::floor(p); });
        workload.priority = static_cast<int>(priority);
    }
    return workload;
}

constexpr std::size_t kMaxWorkloads = 100;

void read_workloads(Sweep& sweep, const JsonObject& top)
{
    if (top.has("require")) {
        const Json& require = top.raw("require");
        const Json list = require.is_array() ? require : Json::array({require});
        for (const Json& one : list) {
            if (!one.is_string()) throw ConfigError(top.where("require"), found(one) + ", expected a text or a list of texts");
            sweep.require.push_back(one.get<std::string>());
        }
    }
    if (!top.has("workloads")) return;
    const Json& list = top.raw("workloads");
    if (!list.is_array() || list.empty() || list.size() > kMaxWorkloads)
        throw ConfigError(top.where("workloads"), found(list) + fmt::format(", expected a list of 1 to {} objects", kMaxWorkloads));
    for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonObject object(list[i], top.file(), fmt::format("/workloads/{}", i), names_of(kWorkloadKeys));
        SweepWorkload workload = read_workload(object);
        if (list[i].contains("layer") != list[0].contains("layer"))
            throw ConfigError(top.where("workloads"), "has networks and layers, expected one kind");
        for (const SweepWorkload& other : sweep.workloads)
            if (other.name == workload.name) throw ConfigError(object.where("name"), "two workloads are called \"" + workload.name + "\"");
        sweep.workloads.push_back(std::move(workload));
    }
    sweep.runs = list[0].contains("layer") ? "layer" : "network";
    sweep.work = sweep.workloads.front().work;
}

/// Workloads are the last axis: it varies fastest.
void add_workload_axis(Sweep& sweep, const std::string& where)
{
    if (sweep.workloads.empty()) return;
    using Kind = SweepAxis::Kind;
    SweepAxis axis{sweep.runs, Kind::Work, {}};
    std::size_t points = sweep.workloads.size();
    for (const SweepAxis& other : sweep.axes) {
        points *= other.places();
        if (other.kind == Kind::Work || other.kind == Kind::Layer)
            throw ConfigError(where, "found together with the axis " + other.name + ", expected axes of the hardware and the memory only");
    }
    if (points > kMaxPoints) throw ConfigError(where, "make more than " + std::to_string(kMaxPoints) + " points, expected fewer");
    for (std::size_t w = 0; w < sweep.workloads.size(); ++w) {
        const Json& work = sweep.workloads[w].work;
        std::error_code none;
        if (work.is_string() && !std::filesystem::exists(resolve(sweep, work.get<std::string>()), none))
            throw ConfigError(where + "/" + std::to_string(w) + "/" + axis.name, found(work) + ", expected a readable file");
        axis.values.push_back(work);
    }
    sweep.axes.push_back(std::move(axis));
}

void read_base(Sweep& sweep, const JsonObject& top)
{
    static const Json kNone = Json::object();
    const JsonObject base(top.has("base") ? top.raw("base") : kNone, top.file(), top.pointer("base"), names_of(kBaseKeys));
    const std::vector<std::string_view>& keys = swept_keys();
    for (auto one = keys.begin(); one != keys.end(); ++one)
        for (auto other = one + 1; other != keys.end(); ++other) base.not_both(*one, *other);
    if (base.has("loadable") && base.text("loadable", "").empty()) throw ConfigError(base.where("loadable"), "found \"\", expected a file");
    const auto key = std::ranges::find_if(keys, [&](std::string_view one) { return base.has(one); });
    const bool work = key != keys.end();
    if (work && !sweep.workloads.empty())
        throw ConfigError(at(top.file(), "/workloads"),
                          "found together with a layer, network or loadable in \"base\", expected one of them");
    if (work) {
        sweep.runs = *key;
        sweep.work = base.raw(sweep.runs.c_str());
    } else if (sweep.workloads.empty()) take_work_of_axes(sweep, top, base);
    const WorkKind& kind = sweep.kind();
    for (const char* of : {"input", "mode"})
        if (base.has(of) && !kind.compiled && !(kind.images && of == std::string("input")))
            throw ConfigError(base.where(of), "is of a loadable, and the base has none");
    for (const char* of : {"calibrate", "labels", "precision", "preprocess"})
        if (base.has(of) && !kind.images) throw ConfigError(base.where(of), "is of an ONNX model, and the base has none");
    const auto from_folder = [&](const std::string& path) { return resolve(sweep, path); };
    if (kind.images) sweep.model = read_onnx_work(base, from_folder);
    else if (const std::string input = base.text("input", ""); !input.empty()) sweep.model.input = {from_folder(input)};
    sweep.mode = base.text("mode", sweep.mode);
    if (base.has("host_ns")) sweep.host_ns = number_of(base, "host_ns", "from 0 on", [](double ns) { return ns >= 0; });
    sweep.hardware = base.has("hw") ? base.raw("hw") : Json(kDefaultHardware);
    if (base.has("memory")) sweep.memory = base.raw("memory");
    if (!sweep.hardware.is_string() && !sweep.hardware.is_object())
        throw ConfigError(base.where("hw"), found(sweep.hardware) + ", expected a preset, a file or a hardware object");
}

SweepAxis read_axis(const Sweep& sweep, const std::string& name, const Json& values, const std::string& where)
{
    using Kind = SweepAxis::Kind;
    SweepAxis axis{name, kind_of(name, where, sweep.kind().compiled), {}};
    const std::string over = axis.kind == Kind::Work    ? name
                             : axis.kind == Kind::Layer ? "layer"
                             : axis.kind == Kind::Mode  ? "loadable"
                                                        : sweep.runs;
    if (over != sweep.runs)
        throw ConfigError(where,
                          fmt::format("is an axis over {}s, and the base is a {}, expected a base of the same kind", over, sweep.runs));
    if (const std::string text = values.is_string() ? values.get<std::string>() : ""; text.starts_with('=')) {
        axis.values.emplace_back("= " + text.substr(1));
        return axis;
    }
    if (!values.is_array() || values.empty())
        throw ConfigError(where, found(values) + ", expected a list of at least one value, or an expression \"= mac.atomic_c / 2\"");
    axis.values.assign(values.begin(), values.end());
    for (const Json& value : axis.values)
        if (json_excerpt(value, SIZE_MAX).size() > kMaxValue)
            throw ConfigError(where, found(value) + ", expected at most " + std::to_string(kMaxValue) + " bytes: every row holds it");
    return axis;
}

void read_axes(Sweep& sweep, const JsonObject& top, const OrderedJson& ordered)
{
    if (!top.has("axes") || !top.raw("axes").is_object() || top.raw("axes").empty())
        top.missing("axes", "an object {\"cbuf.banks\": [8, 16], ...} with at least one axis");
    std::size_t points = 1;
    for (const auto& [name, unused] : ordered.at("axes").items()) {
        if (name.size() > kMaxLetters)
            throw ConfigError(top.where("axes"),
                              "found a name of " + std::to_string(name.size()) + " bytes, expected at most " + std::to_string(kMaxLetters));
        const std::string where = at(top.file(), "/axes/" + name);
        SweepAxis axis = read_axis(sweep, name, top.raw("axes").at(name), where);
        points *= axis.places();
        if (points > kMaxPoints) throw ConfigError(where, "makes more than " + std::to_string(kMaxPoints) + " points, expected fewer");
        sweep.axes.push_back(std::move(axis));
    }
}

}  // namespace

std::vector<PlacedKey> sweep_keys()
{
    return placed(kSweepKeys, "", kWorkloadKeys, "workloads/[]/", kBaseKeys, "base/", kAxisKeys, "axes/", std::array{kAnyAxis}, "axes/");
}

std::string expression_of(const Json& value)
{
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    return text.starts_with("= ") ? text.substr(2) : "";
}

bool SweepAxis::follows() const
{
    return std::any_of(values.begin(), values.end(), [](const Json& value) { return !expression_of(value).empty(); });
}

Sweep read_sweep(const std::string& path, const KnownFigure& known) { return parse_sweep(read_text(path), path, known); }

Sweep parse_sweep(const std::string& text, const std::string& path, const KnownFigure& known)
{
    const Json json = parse_json(text, path);
    expect_kind(json, path, FileKind::Sweep);
    const JsonObject top(json, path, "", names_of(kSweepKeys));
    Sweep sweep;
    sweep.file = path;
    sweep.text = text;
    sweep.folder = std::filesystem::path(path).parent_path().string();
    read_workloads(sweep, top);
    read_base(sweep, top);
    read_axes(sweep, top, parse_ordered_json(text));
    add_workload_axis(sweep, at(path, "/workloads"));
    sweep.name = top.text("name", "");
    sweep.order = top.text("order", sweep.order);
    if (sweep.order != "first_come" && sweep.order != "priority" && sweep.order != "deadline")
        throw ConfigError(top.where("order"), "found \"" + printable(sweep.order) + "\", expected first_come, priority or deadline");
    if (top.has("technology")) sweep.technology = top.raw("technology");
    choose_points(sweep, top.has("exclude") ? top.raw("exclude") : Json::array(), known);
    return sweep;
}

}  // namespace dlasim
