#include "suite/suite.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/files/claims.h"
#include "base/files/printable.h"
#include "config/description.h"
#include "config/descriptor_keys.h"
#include "config/file_kind.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/sweep/sweep.h"
#include "config/tolerance_reader.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxCases = 10'000;

constexpr InputKey kHardware{{"hw", "text", "", "hardware preset or file, relative to the suite's folder"}, 0, 0, "--hw"};
constexpr InputKey kMemory{{"memory", "text", "", "memory preset, options, or file"}, 0, 0, "--memory"};
constexpr InputKey kSet{{"set", "list", "", "PATH=VALUE overrides the hardware"}, 0, 0, "--set"};
constexpr InputKey kTolerance{{"tolerance", "number", "%", "maximum difference from the golden cycles"}, 0, 0, "--tolerance"};
constexpr InputKey kTimingOnly{{"timing_only", "flag", "", "time without values"}, 0, 0, "--timing-only"};
constexpr std::array kSuiteKeys{
    InputKey{{"name", "text", "", "of the suite"}, 0, 0, "the folder's"},
    kHardware,
    kMemory,
    kSet,
    kTolerance,
    kTimingOnly,
    keys::kUlp,
    keys::kAtol,
    keys::kRtol,
    InputKey{{"cases", "list", "", "the cases, in addition to other files of the folder"}, 0, 0, "none"},
};
constexpr std::array kCaseKeys{
    InputKey{{"file", "text", "", "a layer, a network, a model or a file of the NVDLA compiler, from the suite's folder on"}},
    InputKey{{"name", "text", "", "letters, digits, . - _ and /; no two are equal"}, 0, 0, "the file's"},
    kHardware,
    kMemory,
    kSet,
    kTolerance,
    kTimingOnly,
    keys::kUlp,
    keys::kAtol,
    keys::kRtol,
    InputKey{{"expected", "file", "", "NumPy file that output.npy must equal"}, 0, 0, "none"},
    InputKey{{"cycles", "integer", "cycles", "golden ones: --update writes them"}, 0, INT64_MAX, "not compared"},
    InputKey{{"input", "file or list", "", "of an ONNX model: images, [NAME=]FILE"}, 0, 0, "one image by seed"},
    InputKey{{"calibrate", "file or list", "", "of an ONNX model: calibration images"}, 0, 0, "those of the input"},
    InputKey{{"labels", "file", "", "of an ONNX model: the class of every image"}, 0, 0, "none"},
    InputKey{{"precision", "text", "", "of an ONNX model", "", "int8 fp16"}, 0, 0, "int8"},
    InputKey{{"preprocess", "text or list", "", "of an ONNX model: KEY=VALUE of `--preprocess`, for pictures"}, 0, 0, "none"},
    InputKey{{"accuracy", "number", "", "of an ONNX model with labels: the least, 0..1"}, 0, 0, "not compared"},
};

/// A name as one of files: nothing that leads out of a folder.
std::string as_name(std::string text)
{
    for (char& c : text)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_' && c != '/') c = '_';
    return text;
}

bool is_name(const std::string& text)
{
    if (text.empty() || text.size() > 200 || as_name(text) != text) return false;
    return std::ranges::none_of(fs::path("/" + text).relative_path(),
                                [](const fs::path& part) { return part == ".." || part == "." || part.empty(); }) &&
           text.front() != '/';
}

/// From the suite's folder on, where there is such a file.
std::string from_folder(const fs::path& folder, const std::string& text)
{
    std::error_code none;
    return fs::path(text).is_relative() && fs::exists(folder / text, none) ? (folder / text).string() : text;
}

void read_defaults(const JsonObject& object, const fs::path& folder, SuiteDefaults& defaults)
{
    if (object.has("hw")) {
        defaults.hardware = from_folder(folder, object.text("hw", ""));
        load_hardware(defaults.hardware, {}, HardwareRules::Ignored, object.where("hw"));
    }
    if (object.has("memory")) {
        defaults.memory = from_folder(folder, object.text("memory", ""));
        parse_memory(defaults.memory, object.where("memory"));
    }
    if (object.has("set")) {
        const Json& list = object.raw("set");
        if (!list.is_array() || std::ranges::any_of(list, [](const Json& text) { return !text.is_string(); }))
            throw ConfigError(object.where("set"), found(list) + ", expected a list of texts \"PATH=VALUE\"");
        defaults.settings = list.get<std::vector<std::string>>();
    }
    if (object.has("tolerance")) {
        const Json& percent = object.raw("tolerance");
        if (!percent.is_number() || !(percent.get<double>() >= 0) || percent.get<double>() > 1e6)
            throw ConfigError(object.where("tolerance"), found(percent) + ", expected percent in 0..1000000");
        defaults.tolerance = percent.get<double>();
    }
    defaults.values = read_tolerance(object, defaults.values, false);
    defaults.timing_only = object.flag("timing_only", defaults.timing_only);
}

void read_model(const JsonObject& object, const fs::path& folder, SuiteCase& one)
{
    for (const char* key : {"input", "calibrate", "labels", "precision", "preprocess", "accuracy"})
        if (const WorkKind* kind = kind_of_name(one.file.string()); object.has(key) && !(kind && kind->images))
            throw ConfigError(object.where(key), "is of an ONNX model, and " + one.file.filename().string() + " is none");
    one.model = read_onnx_work(object, [&](const std::string& path) { return from_folder(folder, path); });
    if (!object.has("accuracy")) return;
    const Json& share = object.raw("accuracy");
    if (!share.is_number() || !(share.get<double>() >= 0) || share.get<double>() > 1)
        throw ConfigError(object.where("accuracy"), found(share) + ", expected a share of the images in 0..1");
    for (const auto& [without, what] :
         {std::pair{one.model.labels.empty(), "without labels"}, std::pair{one.timing_only, "with timing_only"}})
        if (without) throw ConfigError(object.where("accuracy"), std::string("found ") + what + ", expected labels and values");
    one.accuracy = share.get<double>();
}

SuiteCase read_case(const Json& json, const std::string& file, const std::string& pointer, const Suite& suite)
{
    const JsonObject object(json, file, pointer, kCaseKeys);
    SuiteCase one;
    static_cast<SuiteDefaults&>(one) = suite.defaults;
    if (!object.has("file")) object.missing("file", "a layer, a network, a model or a file of the NVDLA compiler");
    one.file = object.input_file("file", suite.folder.string());
    one.name = object.text("name", as_name(fs::path(object.text("file", "")).replace_extension().string()));
    if (!is_name(one.name))
        throw ConfigError(
            object.where(object.has("name") ? "name" : "file"),
            "gives the case the name \"" + printable(one.name) + "\", expected a name of letters, digits, . - _ and / (\"name\")");
    read_defaults(object, suite.folder, one);
    one.expected = object.input_file("expected", suite.folder.string());
    if (!one.expected.empty() && one.timing_only)
        throw ConfigError(object.where("expected"), "found with timing_only, expected one of them: no values are computed then");
    read_model(object, suite.folder, one);
    if (object.has("cycles")) one.cycles = static_cast<std::uint64_t>(object.integer("cycles"));
    return one;
}

bool can_run(const fs::path& file)
{
    try {
        const WorkKind* kind = kind_of_file(file.string());
        return kind && kind->tested;
    } catch (const ConfigError&) {
        return true;  // who runs it says what is wrong
    }
}

/// Files of the folder that are no case yet, by name.
std::vector<fs::path> files_of(const Suite& suite, const fs::path& apart)
{
    std::set<fs::path> listed;
    std::error_code error;
    for (const SuiteCase& one : suite.cases) listed.insert(fs::weakly_canonical(one.file, error));
    const fs::path without = fs::weakly_canonical(apart, error);
    std::vector<fs::path> files;
    for (auto entry = fs::recursive_directory_iterator(suite.folder, error); !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
        const fs::path place = fs::weakly_canonical(entry->path(), error);
        if (entry->is_directory(error) && place == without) entry.disable_recursion_pending();
        if (!entry->is_regular_file(error) || entry->path() == suite.folder / kSuiteFile) continue;
        if (entry->path().extension() != ".xml") claim_input(entry->path());  // the last run's JUnit file may be here
        if (listed.contains(place)) continue;
        if (can_run(entry->path())) files.push_back(entry->path());
        if (files.size() > kMaxCases) throw ConfigError(suite.folder.string(), "has more than 10,000 files to run, expected a suite");
    }
    if (error) throw ConfigError(suite.folder.string(), "cannot be read (" + error.message() + "), expected a folder");
    std::ranges::sort(files);
    return files;
}

}  // namespace

Suite read_suite(const fs::path& folder, const SuiteDefaults& defaults, const fs::path& apart)
{
    std::error_code none;
    Suite suite{fs::weakly_canonical(folder, none).filename().string(), folder, nlohmann::ordered_json::object(), defaults, {}};
    const fs::path file = folder / kSuiteFile;
    if (!fs::is_directory(folder, none)) throw ConfigError(folder.string(), "is no folder, expected one with layers and networks");
    if (fs::exists(file, none)) {
        const std::string text = read_own_text(file.string());  // --update writes it again
        const Json json = parse_json(text, file.string());
        suite.json = parse_ordered_json(text);
        const JsonObject top(json, file.string(), "", kSuiteKeys);
        suite.name = top.text("name", suite.name);
        read_defaults(top, folder, suite.defaults);
        const Json list = top.has("cases") ? top.raw("cases") : Json::array();
        if (!list.is_array() || list.size() > kMaxCases) throw ConfigError(top.where("cases"), found(list) + ", expected a list of cases");
        for (std::size_t i = 0; i < list.size(); ++i) {
            suite.cases.push_back(read_case(list[i], file.string(), "/cases/" + std::to_string(i), suite));
            suite.cases.back().place = i;
        }
    }
    for (const fs::path& path : files_of(suite, apart)) {
        SuiteCase one;
        static_cast<SuiteDefaults&>(one) = suite.defaults;
        one.file = path;
        one.name = as_name(path.lexically_relative(folder).replace_extension().string());
        suite.cases.push_back(std::move(one));
    }
    if (suite.cases.empty()) throw ConfigError(folder.string(), "has nothing to run, expected layers, networks, models or a suite.json");
    std::set<std::string> names;
    for (const SuiteCase& one : suite.cases)
        if (!names.insert(one.name).second)
            throw ConfigError(folder.string(), "has two cases \"" + one.name + "\", expected a \"name\" for each in suite.json");
    return suite;
}

nlohmann::ordered_json updated_suite(const Suite& suite, const std::vector<std::optional<std::uint64_t>>& cycles)
{
    nlohmann::ordered_json json = suite.json;
    // Golden cycles are those of a machine: it is recorded with them.
    if (!json.contains("hw")) json["hw"] = suite.defaults.hardware;
    if (!json.contains("memory")) json["memory"] = suite.defaults.memory;
    if (!json.contains("set") && !suite.defaults.settings.empty()) json["set"] = suite.defaults.settings;
    if (!json.contains("cases")) json["cases"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        const SuiteCase& one = suite.cases[i];
        if (!cycles[i]) continue;
        if (one.place) json["cases"][*one.place]["cycles"] = *cycles[i];
        else json["cases"].push_back({{"file", one.file.lexically_relative(suite.folder).string()}, {"cycles", *cycles[i]}});
    }
    return json;
}

std::vector<PlacedKey> suite_keys() { return placed(kSuiteKeys, "", kCaseKeys, "cases/[]/"); }

}  // namespace dlasim
