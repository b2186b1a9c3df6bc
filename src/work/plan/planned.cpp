#include "plan/planned.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "config/machine/memory.h"
#include "config/manifest_reader.h"
#include "config/network_reader.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

void add(Comparison& all, const Comparison& found)
{
    all.compared += found.compared;
    all.mismatches += found.mismatches;
    all.examples.insert(all.examples.end(), found.examples.begin(), found.examples.end());
}

/// The trace file of a folder: input.txn, or the one .cfg in it.
fs::path trace_file(const fs::path& program)
{
    std::error_code error;
    if (!fs::is_directory(program, error)) return program;
    if (fs::exists(program / "input.txn", error)) return program / "input.txn";
    std::vector<fs::path> found;
    for (auto entry = fs::directory_iterator(program, error); !error && entry != fs::directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".cfg") found.push_back(entry->path());
    if (error) throw ConfigError(program.string(), "cannot be read (" + error.message() + "), expected a folder with a trace");
    if (found.size() != 1)
        throw ConfigError(program.string(),
                          fmt::format("is a folder with {} .cfg files and no input.txn, expected one trace", found.size()));
    return found.front();
}

/// The number of a name.
template <class Names>
std::size_t choice(const Names& names, const std::string& name, const std::string& file, const char* what)
{
    const auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names)) throw ConfigError(file, fmt::format("found {} \"{}\", expected {}", what, name, fmt::join(names, ", ")));
    return static_cast<std::size_t>(found - std::begin(names));
}

}  // namespace

Comparison PlannedLayer::found() const
{
    Comparison all;
    const std::optional<Findings>& findings = runs.findings();
    if (!findings) return all;
    all = findings->comparison;
    if (!findings->expected) return all;
    all.compared += findings->expected->compared;
    all.mismatches += findings->expected->differing;
    return all;
}

NetworkHost& PlannedNetwork::host()
{
    if (!host_) host_.emplace(plan, values_, keep_values_, source ? &*source : nullptr);
    return *host_;
}

Comparison PlannedNetwork::found() const
{
    Comparison all;
    for (const TensorFinding& finding : host_->findings()) add(all, finding.comparison);
    return all;
}

loadable::LoadableHost& PlannedFile::host()
{
    if (!host_) host_.emplace(plan, values_, values_ && verify_);
    return *host_;
}

Comparison PlannedFile::found() const
{
    Comparison all;
    for (const auto& verdict : host_->verdicts())
        if (verdict) add(all, verdict->comparison);
    return all;
}

Comparison PlannedRecording::found() const
{
    Comparison all;
    const std::vector<OutputRegion>& outputs = recorded.recording.outputs;
    for (std::size_t i = 0; i < runs.contents().size(); ++i) {
        if (!outputs[i].crc32 && outputs[i].content.empty()) continue;
        ++all.compared;
        const std::optional<SignalDifference> difference = region_difference(outputs[i], runs.contents()[i]);
        if (!difference) continue;
        ++all.mismatches;
        all.examples.push_back(difference->text());
    }
    return all;
}

std::unique_ptr<PlannedLayer> planned(const Descriptor& described, const Source& source, const PlanOptions& options)
{
    Descriptor descriptor = described;
    if (options.seed) set_seed(descriptor, *options.seed);
    set_tolerance(descriptor, options.tolerance);
    if (options.choose) options.choose(descriptor, source);
    Job job = options.outline ? outline_of(descriptor, source.hardware, source.memory)
                              : job_of(descriptor, source.hardware, source.memory, options.values, options.shared);
    return std::make_unique<PlannedLayer>(std::move(descriptor), std::move(job), options.values);
}

std::unique_ptr<PlannedNetwork> planned(const Network& network, const Source& source, const PlanOptions& options, std::size_t images)
{
    NetworkOptions how = options.network;
    how.seed = options.seed.value_or(1);
    how.values = options.values && !options.outline;
    std::optional<Network> better;
    if (!options.from_plan.empty()) take_plan(better.emplace(network), options.from_plan);
    if (options.improve) options.improve(better ? *better : better.emplace(network), source, how);
    how.images = images;
    return std::make_unique<PlannedNetwork>(plan_network(better ? *better : network, source.hardware, source.memory, how), options.values,
                                            options.tensors);
}

std::unique_ptr<PlannedNetwork> planned(const OnnxWork& model, const Source& source, const PlanOptions& options)
{
    if (!options.model_planner)
        throw ConfigError(model.file,
                          "is an ONNX model, expected a layer, a network or a file of the NVDLA compiler; dlasim export takes models");
    return options.model_planner(model, source, options);
}

std::unique_ptr<PlannedFile> planned(const LoadableWork& work, const Source& source, const PlanOptions& options)
{
    const std::uint64_t seed = options.seed.value_or(1);
    if (seed > UINT32_MAX)
        throw ConfigError("--seed", fmt::format("found {} with a file of the NVDLA compiler, expected at most {}", seed, UINT32_MAX));
    loadable::Options how;
    how.mode = static_cast<loadable::Mode>(choice(loadable::kModeNames, work.mode, work.file, "mode"));
    how.form = static_cast<loadable::InputForm>(choice(loadable::kInputForms, work.form, work.file, "form of inputs"));
    how.inputs = work.inputs;
    how.seed = static_cast<std::uint32_t>(seed);
    how.chains = work.chains;
    if (!work.manifest.empty()) how.pieces = manifest_pieces(work.manifest);
    return std::make_unique<PlannedFile>(
        loadable::plan_loadable(loadable::read_loadable(work.file), source.hardware, source.memory, std::move(how)), options.values,
        options.verify);
}

std::unique_ptr<PlannedRecording> planned(const RecordedWork& work, const Source& source, const PlanOptions&)
{
    const std::optional<Hardware> hardware = source.own_hardware ? std::nullopt : std::optional(source.hardware);
    const fs::path file = trace_file(work.file);
    MeasuredCase recorded;
    if (!work.json.is_null()) {
        recorded = measured_case(work.json, file, hardware);
    } else if (file.extension() == ".txn") {
        recorded.hardware = hardware.value_or(*find_preset("nv_full"));
        recorded.recording = read_txn_trace(file, recorded.hardware);
    } else if (file.extension() == ".cfg") {
        recorded.hardware = hardware.value_or(*find_preset("nv_small"));
        recorded.recording = read_cfg_trace(file, recorded.hardware);
    } else throw ConfigError(file.string(), "is neither a measured case (.json) nor a trace (.cfg, input.txn)");
    if (!source.own_memory) {
        recorded.same_memory = memory_json(source.memory) == memory_json(recorded.memory);
        recorded.memory = source.memory;
    }
    return std::make_unique<PlannedRecording>(std::move(recorded), work.file);
}

}  // namespace dlasim
