#include "config/source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "config/description.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

AnyWork read_layer(WrittenWork&& written, const OnnxWork&, const LoadableWork&)
{
    return descriptor_from_json(written.json, written.file, written.pointer, written.folder);
}

AnyWork read_network(WrittenWork&& written, const OnnxWork& model, const LoadableWork&)
{
    if (!model.precision.empty() && written.json.is_object()) written.json["precision"] = model.precision;
    return network_from_json(written.json, written.pointer.empty() ? written.file : at(written.file, written.pointer));
}

AnyWork read_model(WrittenWork&& written, const OnnxWork& model, const LoadableWork&)
{
    OnnxWork work = model;
    work.file = std::move(written.file);
    return work;
}

AnyWork read_compiled(WrittenWork&& written, const OnnxWork& model, const LoadableWork& loadable)
{
    LoadableWork work = loadable;
    work.file = std::move(written.file);
    work.inputs = model.input;
    return work;
}

AnyWork read_recorded(WrittenWork&& written, const OnnxWork&, const LoadableWork&)
{
    return RecordedWork{std::move(written.file), std::move(written.json)};
}

/// In the order of AnyWork.
constexpr std::array kWorkKinds{
    WorkKind{.file = FileKind::Layer,
             .name = "a layer",
             .many = "layers",
             .key = "layer",
             .swept = "layer",
             .command = "run",
             .read = read_layer,
             .described = true,
             .fields = true,
             .bounded = true},
    WorkKind{.file = FileKind::Network,
             .name = "a network",
             .many = "networks",
             .key = "network",
             .swept = "network",
             .command = "net",
             .read = read_network,
             .described = true,
             .bounded = true},
    WorkKind{.file = FileKind::Model,
             .name = "an ONNX model",
             .many = "ONNX models",
             .key = "model",
             .swept = "network",
             .command = "net",
             .ending = ".onnx",
             .read = read_model,
             .images = true},
    WorkKind{.file = FileKind::Loadable,
             .name = "a file of the NVDLA compiler",
             .many = "loadables",
             .key = "loadable",
             .swept = "loadable",
             .command = "loadable",
             .ending = ".nvdla",
             .read = read_compiled,
             .compiled = true},
    WorkKind{.file = FileKind::Case,
             .name = "a recorded program",
             .many = "recorded programs",
             .key = nullptr,
             .swept = nullptr,
             .command = "replay",
             .read = read_recorded,
             .tested = false},
};
static_assert(kWorkKinds.size() == std::variant_size_v<AnyWork>);

/// None of what does not run.
const WorkKind* find_kind(FileKind file)
{
    const auto found = std::ranges::find(kWorkKinds, file, &WorkKind::file);
    return found == kWorkKinds.end() ? nullptr : &*found;
}

/// It begins with "[section]": a configuration of another program, not a trace.
bool has_sections(const std::string& path)
{
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::ifstream file(path);
    return (file >> std::ws).peek() == '[';
}

/// By its name; Unknown: its content says.
FileKind named_kind(const std::string& path, FileKind assumed)
{
    const fs::path extension = fs::path(path).extension();
    std::error_code error;
    if (const WorkKind* kind = kind_of_name(path)) return kind->file;
    if (extension == ".cfg" && has_sections(path)) return FileKind::Unknown;
    if (extension == ".txn" || extension == ".cfg" || fs::is_directory(path, error)) return FileKind::Case;
    const bool binary = assumed == FileKind::Loadable || assumed == FileKind::Case;
    return binary && !is_description(path) ? assumed : FileKind::Unknown;
}

FileKind kind_of_description(const Json& json, const std::string& file, FileKind assumed)
{
    if (assumed == FileKind::Loadable) assumed = FileKind::Layer;
    const FileKind kind = kind_of(json);
    if (kind == FileKind::Unknown) return assumed;
    if (kind != FileKind::Network && kind != FileKind::Case) expect_kind(json, file, kind == FileKind::Layer ? kind : assumed);
    return kind;
}

}  // namespace

const WorkKind& kind_of(const AnyWork& work) { return kWorkKinds[work.index()]; }

const WorkKind* kind_in_result(const Json& result)
{
    // A model's result has its network too.
    const auto holds = [&](const WorkKind& kind) {
        return kind.key && result.contains(kind.key) && (kind.compiled ? result[kind.key].is_string() : result[kind.key].is_object());
    };
    const auto found = std::find_if(kWorkKinds.rbegin(), kWorkKinds.rend(), holds);
    return found == kWorkKinds.rend() ? nullptr : &*found;
}

const std::vector<std::string_view>& swept_keys()
{
    static const std::vector<std::string_view> kKeys = [] {
        std::vector<std::string_view> keys;
        for (const WorkKind& kind : kWorkKinds)
            if (kind.swept && std::ranges::count(keys, std::string_view(kind.swept)) == 0) keys.emplace_back(kind.swept);
        return keys;
    }();
    return kKeys;
}

const WorkKind& swept_kind(const std::string& key, const Json& value)
{
    const WorkKind* named = value.is_string() ? kind_of_name(value.get<std::string>()) : nullptr;
    if (named && named->swept && key == named->swept) return *named;
    return *std::ranges::find_if(kWorkKinds, [&](const WorkKind& kind) { return kind.swept && key == kind.swept; });
}

const WorkKind* kind_of_name(const std::string& path)
{
    const auto found = std::ranges::find_if(kWorkKinds, [&](const WorkKind& kind) { return kind.ending && path.ends_with(kind.ending); });
    return found == kWorkKinds.end() ? nullptr : &*found;
}

const WorkKind* kind_of_file(const std::string& path)
{
    const WorkKind* named = find_kind(named_kind(path, FileKind::Layer));
    return named || !path.ends_with(".json") ? named : find_kind(kind_of(read_json(path)));
}

const char* kind_name(std::size_t index) { return kWorkKinds[index].name; }

bool has_expected(const AnyWork& work)
{
    if (const Descriptor* descriptor = std::get_if<Descriptor>(&work)) return has_expected(*descriptor);
    const Network* network = std::get_if<Network>(&work);
    return network && !network->expected.empty();
}

const Layer* layer_of(const AnyWork& work)
{
    const Descriptor* descriptor = std::get_if<Descriptor>(&work);
    return descriptor ? std::get_if<Layer>(descriptor) : nullptr;
}

Source read_source(const SourceOptions& options)
{
    const std::string& file = options.file;
    FileKind kind = named_kind(file, options.assumed);
    Json json;
    if (kind == FileKind::Unknown) kind = kind_of_description(json = read_description(file), file, options.assumed);
    Source source{.own_hardware = options.hardware.empty(), .own_memory = options.memory.empty()};
    source.hardware = load_hardware(source.own_hardware ? kDefaultHardware : options.hardware, options.settings);
    source.memory = parse_memory(source.own_memory ? "ideal" : options.memory);
    source.work =
        find_kind(kind)->read({std::move(json), file, "", fs::path(file).parent_path().string()}, options.model, options.loadable);
    return source;
}

}  // namespace dlasim
