#include "dlasim/workload.h"

#include <utility>

#include "config/machine/memory.h"
#include "library/parts.h"

namespace dlasim {
namespace {

HostMemory host_memory(const MemoryAccess& memory)
{
    return {[memory](const Place& place, std::uint64_t bytes) { return memory.read(!place.primary, place.address.byte(), bytes); },
            [memory](const Place& place, std::span<const std::uint8_t> bytes) {
                memory.write(!place.primary, place.address.byte(), {bytes.begin(), bytes.end()});
            }};
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
    Source source = read_source({.file = file, .assumed = FileKind::Loadable});
    source.hardware = hardware.parts().hardware;
    source.memory = parse_memory(options.memory, "memory");
    source.own_hardware = source.own_memory = false;
    PlanOptions how;
    if (options.seed != 0) how.seed = options.seed;
    how.values = options.values;
    with_planned(source, how, [&](auto planned) { parts_->planned = std::move(planned); });
}

CompiledWorkload::CompiledWorkload(CompiledWorkload&&) noexcept = default;
CompiledWorkload& CompiledWorkload::operator=(CompiledWorkload&&) noexcept = default;
CompiledWorkload::~CompiledWorkload() = default;

const std::string& CompiledWorkload::name() const { return parts_->planned->workload().name; }
const HardwareConfig& CompiledWorkload::hardware() const { return parts_->config; }

std::vector<ProgramStep> CompiledWorkload::steps() const
{
    const AsStep as_step{parts_->config.register_address("GLB.S_INTR_STATUS")};
    std::vector<ProgramStep> steps;
    for (const ProgramEntry& entry : parts_->planned->workload().program) steps.push_back(std::visit(as_step, entry));
    return steps;
}

std::vector<CompiledWorkload::Range> CompiledWorkload::ranges() const
{
    std::vector<Range> ranges;
    for (const TouchedRange& range : parts_->planned->workload().ranges)
        ranges.push_back({range.where, !range.place.primary, range.place.address.byte(), range.bytes});
    return ranges;
}

void CompiledWorkload::load(const MemoryAccess& memory) { parts_->planned->host().before(host_memory(memory)); }

void CompiledWorkload::host(std::uint32_t number, const MemoryAccess& memory) { parts_->planned->host().at(number, host_memory(memory)); }

CheckResult CompiledWorkload::check(const MemoryAccess& memory, std::uint32_t last_read)
{
    RunResult run;
    run.reads.emplace_back("", last_read);
    parts_->planned->host().after(run, host_memory(memory));
    const Comparison found = parts_->planned->found();
    return {found.compared != 0 && found.equal(), found.compared, found.mismatches, found.examples};
}

}  // namespace dlasim
