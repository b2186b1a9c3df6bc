#include "config/source.h"

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
    if (is_onnx(path)) return FileKind::Model;
    if (is_loadable(path)) return FileKind::Loadable;
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

const char* kind_name(std::size_t index)
{
    constexpr std::array kNames{"a layer", "a network", "an ONNX model", "a file of the NVDLA compiler", "a recorded program"};
    return kNames[index];
}

bool has_expected(const AnyWork& work)
{
    if (const Descriptor* descriptor = std::get_if<Descriptor>(&work)) return has_expected(*descriptor);
    const Network* network = std::get_if<Network>(&work);
    return network && !network->expected.empty();
}

bool is_onnx(const std::string& path) { return path.ends_with(".onnx"); }
bool is_loadable(const std::string& path) { return path.ends_with(".nvdla"); }

Source read_source(const SourceOptions& options)
{
    const std::string& file = options.file;
    FileKind kind = named_kind(file, options.assumed);
    Json json;
    if (kind == FileKind::Unknown) kind = kind_of_description(json = read_description(file), file, options.assumed);
    Source source{.own_hardware = options.hardware.empty(), .own_memory = options.memory.empty()};
    source.hardware = load_hardware(source.own_hardware ? kDefaultHardware : options.hardware, options.settings);
    source.memory = parse_memory(source.own_memory ? "ideal" : options.memory);
    if (kind == FileKind::Case) {
        source.work = RecordedWork{file, std::move(json)};
    } else if (kind == FileKind::Model) {
        source.work = options.model;
        std::get<OnnxWork>(source.work).file = file;
    } else if (kind == FileKind::Loadable) {
        LoadableWork work = options.loadable;
        work.file = file;
        work.inputs = options.model.input;
        source.work = std::move(work);
    } else if (kind == FileKind::Network) {
        if (!options.model.precision.empty() && json.is_object()) json["precision"] = options.model.precision;
        source.work = network_from_json(json, file);
    } else source.work = descriptor_from_json(json, file, "", fs::path(file).parent_path().string());
    return source;
}

}  // namespace dlasim
