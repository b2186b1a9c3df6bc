#include "dlasim/workload.h"

#include <filesystem>
#include <utility>

#include "config/descriptor.h"
#include "config/file_kind.h"
#include "config/machine/memory.h"
#include "config/network_reader.h"
#include "jobs/job_host.h"
#include "library/parts.h"
#include "loadable/reference/loadable_host.h"
#include "network/network_host.h"

namespace dlasim {
namespace {

/// What many comparisons found together.
void add(CheckResult& all, const Comparison& found)
{
    all.compared += found.compared;
    all.mismatches += found.mismatches;
    all.examples.insert(all.examples.end(), found.examples.begin(), found.examples.end());
}

CheckResult judged(CheckResult all)
{
    all.right = all.compared != 0 && all.mismatches == 0;
    return all;
}

HostMemory host_memory(const MemoryAccess& memory)
{
    return {[memory](const Place& place, std::uint64_t bytes) { return memory.read(!place.primary, place.address.byte(), bytes); },
            [memory](const Place& place, std::span<const std::uint8_t> bytes) {
                memory.write(!place.primary, place.address.byte(), {bytes.begin(), bytes.end()});
            }};
}

void compile_layer(CompiledWorkload::Parts& parts, const Json& json, const std::string& file, const CompileOptions& options)
{
    Descriptor descriptor = descriptor_from_json(json, file, "", std::filesystem::path(file).parent_path().string());
    if (options.seed != 0) set_seed(descriptor, options.seed);
    auto job = std::make_shared<Job>(job_of(descriptor, parts.config.parts().hardware, parse_memory(options.memory, "memory")));
    auto host = std::make_unique<JobHost>(*job, options.values);
    parts.found = [&host = *host] {
        CheckResult all;
        if (host.findings()) {
            add(all, host.findings()->comparison);
            if (host.findings()->expected) {
                all.compared += host.findings()->expected->compared;
                all.mismatches += host.findings()->expected->differing;
            }
        }
        return judged(all);
    };
    parts.precision = job->text.descriptor.value("precision", "");
    parts.work = std::move(job);
    parts.host = std::move(host);
}

void compile_network(CompiledWorkload::Parts& parts, const Json& json, const std::string& file, const CompileOptions& options)
{
    auto plan = std::make_shared<NetworkPlan>(plan_network(network_from_json(json, file), parts.config.parts().hardware,
                                                           parse_memory(options.memory, "memory"),
                                                           {.seed = options.seed == 0 ? 1 : options.seed, .values = options.values}));
    auto host = std::make_unique<NetworkHost>(*plan, options.values);
    parts.found = [&host = *host] {
        CheckResult all;
        for (const TensorFinding& finding : host.findings()) add(all, finding.comparison);
        return judged(all);
    };
    parts.precision = plan->network.is_fp16() ? "fp16" : "int8";
    parts.work = std::move(plan);
    parts.host = std::move(host);
}

void compile_loadable(CompiledWorkload::Parts& parts, const std::string& file, const CompileOptions& options)
{
    loadable::Options how;
    if (options.seed != 0) how.seed = static_cast<std::uint32_t>(options.seed);
    auto plan = std::make_shared<loadable::LoadablePlan>(
        loadable::plan_loadable(loadable::read_loadable(file), parts.config.parts().hardware, parse_memory(options.memory, "memory"), how));
    auto host = std::make_unique<loadable::LoadableHost>(*plan, options.values, options.values);
    parts.found = [&host = *host] {
        CheckResult all;
        for (const auto& verdict : host.verdicts())
            if (verdict) add(all, verdict->comparison);
        return judged(all);
    };
    parts.work = std::move(plan);
    parts.host = std::move(host);
}

struct AsStep {
    std::uint32_t status;  // address of GLB.S_INTR_STATUS
    using Kind = ProgramStep::Kind;
    ProgramStep operator()(const RegisterWrite& e) const { return {Kind::Write, e.address, e.value, 0, e.name}; }
    ProgramStep operator()(const RegisterRead& e) const { return {Kind::Read, e.address, e.expected, e.mask, e.name}; }
    ProgramStep operator()(const PollRegister& e) const { return {Kind::Poll, e.address, e.expected, e.mask, e.name}; }
    ProgramStep operator()(const MarkT0&) const { return {Kind::Mark, 0, 0, 0, ""}; }
    ProgramStep operator()(const WaitInterrupt& e) const { return {Kind::WaitInterrupt, status, 0, 0, e.name}; }
    ProgramStep operator()(const WaitPin&) const { return {Kind::WaitPin, 0, 0, 0, ""}; }
    ProgramStep operator()(const WaitStatus& e) const { return {Kind::WaitStatus, status, 0, e.bits, ""}; }
    ProgramStep operator()(const HostStep& e) const { return {Kind::Host, 0, static_cast<std::uint32_t>(e.number), 0, ""}; }
    ProgramStep operator()(const Stamp&) const { return {Kind::Stamp, 0, 0, 0, ""}; }
};

}  // namespace

CompiledWorkload::CompiledWorkload(const std::string& file, const HardwareConfig& hardware, const CompileOptions& options)
    : parts_(std::make_unique<Parts>(hardware))
{
    if (file.ends_with(".onnx"))
        throw ConfigError(file,
                          "is an ONNX model, expected a layer, a network or a file of the NVDLA compiler; dlasim export takes models");
    if (!file.ends_with(".json")) {
        compile_loadable(*parts_, file, options);
        return;
    }
    const Json json = read_json(file);
    if (kind_of(json) == FileKind::Network) {
        compile_network(*parts_, json, file, options);
        return;
    }
    expect_kind(json, file, FileKind::Layer);
    compile_layer(*parts_, json, file, options);
}

CompiledWorkload::CompiledWorkload(CompiledWorkload&&) noexcept = default;
CompiledWorkload& CompiledWorkload::operator=(CompiledWorkload&&) noexcept = default;
CompiledWorkload::~CompiledWorkload() = default;

const std::string& CompiledWorkload::name() const { return parts_->work->name; }
const HardwareConfig& CompiledWorkload::hardware() const { return parts_->config; }

std::vector<ProgramStep> CompiledWorkload::steps() const
{
    const AsStep as_step{parts_->config.register_address("GLB.S_INTR_STATUS")};
    std::vector<ProgramStep> steps;
    for (const ProgramEntry& entry : parts_->work->program) steps.push_back(std::visit(as_step, entry));
    return steps;
}

std::vector<CompiledWorkload::Range> CompiledWorkload::ranges() const
{
    std::vector<Range> ranges;
    for (const TouchedRange& range : parts_->work->ranges)
        ranges.push_back({range.where, !range.place.primary, range.place.address.byte(), range.bytes});
    return ranges;
}

void CompiledWorkload::load(const MemoryAccess& memory) { parts_->host->before(host_memory(memory)); }

void CompiledWorkload::host(std::uint32_t number, const MemoryAccess& memory) { parts_->host->at(number, host_memory(memory)); }

CheckResult CompiledWorkload::check(const MemoryAccess& memory, std::uint32_t last_read)
{
    RunResult run;
    run.reads.emplace_back("", last_read);
    parts_->host->after(run, host_memory(memory));
    return parts_->found();
}

}  // namespace dlasim
