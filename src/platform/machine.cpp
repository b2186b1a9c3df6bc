#include "platform/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "memory/ideal_memory.h"
#include "memory/memory_store.h"
#include "platform/software.h"
#include "platform/top.h"
#include "units/dram/module.h"
#include "units/dram/reader.h"
#include "units/dram/report.h"

namespace dlasim {
namespace {

constexpr Cycle kTail = 64;             // recording goes on after the last entry has completed: interfaces.md 3
constexpr Cycle kMostDrain = 1u << 20;  // cycles after which a memory that does not answer is left alone
constexpr Cycle kChunk = 1u << 16;      // cycles between two looks at the outside world
constexpr unsigned kQuietChunks = 64;   // chunks without any evaluation of a unit: nothing moves any more

/// What stands behind a memory port.
class PortMemory {
public:
    PortMemory(const char* name, const Clock& clock, const MemorySpec& spec, const MachineOptions& options, MemoryStore& store)
    {
        if (spec.kind == "ideal") ideal_ = std::make_unique<IdealMemory>(name, clock, spec, store);
        else dram_ = std::make_unique<DramMemory>(name, clock, dram::read_config(spec.kind, spec.options), store, options.check_dram);
    }
    tlm::tlm_target_socket<512>& socket() { return ideal_ ? ideal_->socket : dram_->socket; }
    MemoryReport report(Cycle end)
    {
        MemoryReport report;
        if (!dram_) return report;
        const auto channels = dram_->finish(end);
        report.text = dram::statistics_text(dram_->config(), channels);
        report.json = dram::statistics_json(dram_->config(), channels).dump();
        if (dram_->checker())
            for (const dram::Violation& violation : dram_->checker()->violations())
                report.violations.push_back(fmt::format("cycle {}, {}: {}", violation.cycle, violation.rule, violation.what));
        return report;
    }

private:
    std::unique_ptr<IdealMemory> ideal_;
    std::unique_ptr<DramMemory> dram_;
};

/// The period of the core clock, in whole picoseconds.
sc_core::sc_time period(const Hardware& hardware)
{
    return sc_core::sc_time(std::max(1.0, std::round(1e6 / hardware.clock_mhz)), sc_core::SC_PS);
}

}  // namespace

struct Machine::Parts {
    Parts(const Hardware& hw, const MemorySpec& spec, const MachineOptions& opt)
        : hardware(hw), options(opt), clock(period(hw)), top("dla", hw, clock, TopOptions{opt.stepping, opt.values, opt.events})
    {
        primary.emplace("dbb_memory", clock, spec, opt, primary_store);
        top.dbb.bind(primary->socket());
        if (top.cvsram) {
            // The secondary port is for memory on the chip: ideal, whatever stands behind DBB.
            const MemorySpec on_chip = spec.kind == "ideal" ? spec : MemorySpec{};
            secondary.emplace("cvsram_memory", clock, on_chip, opt, opt.one_memory ? primary_store : secondary_store);
            top.cvsram->bind(secondary->socket());
        }
        top.interrupt.bind(interrupt);
        if (options.events) top.attach(probes);
    }
    MemoryStore& store(MemorySpace space) { return space == MemorySpace::Primary || options.one_memory ? primary_store : secondary_store; }
    std::uint64_t evaluations() const
    {
        std::uint64_t sum = 0;
        for (const UnitModule* unit : top.units()) sum += unit->evaluations();
        return sum;
    }
    bool idle() { return top.mcif().fabric().idle() && (!top.cvif() || top.cvif()->fabric().idle()); }
    std::string diagnose(const Software& software, Cycle now)
    {
        std::string text = software.failure().empty()
                               ? fmt::format("nothing moves any more in cycle {}; software waits for {}\n", now, software.waiting_for())
                               : fmt::format("{} (cycle {})\n", software.failure(), now);
        for (UnitModule* unit : top.units()) text += fmt::format("  {:9} {}\n", unit->basename(), unit->core().waiting_for());
        return text;
    }

    Hardware hardware;
    MachineOptions options;
    Clock clock;
    MemoryStore primary_store, secondary_store;
    Top top;
    std::optional<PortMemory> primary, secondary;
    sc_core::sc_signal<bool> interrupt{"interrupt"};
    ProbeSet probes;
    bool ran = false;
};

Machine::Machine(const Hardware& hardware, const MemorySpec& memory, const MachineOptions& options)
    : parts_(std::make_unique<Parts>(hardware, memory, options))
{
}

Machine::~Machine() = default;

void Machine::write_memory(MemorySpace space, std::uint64_t address, std::span<const std::uint8_t> bytes)
{
    parts_->store(space).write(address, bytes.data(), bytes.size());
}

std::vector<std::uint8_t> Machine::read_memory(MemorySpace space, std::uint64_t address, std::uint64_t bytes) const
{
    std::vector<std::uint8_t> data(bytes);
    parts_->store(space).read(address, data.data(), data.size());
    return data;
}

namespace {

ProbeEvents probe_events(const std::string& name, const Probe& probe, Cycle t0, Cycle end)
{
    ProbeEvents events{.name = name, .active = 0, .first = -1, .last = -1, .runs = {}};
    const auto relative = [t0](Cycle c) { return static_cast<std::int64_t>(c) - static_cast<std::int64_t>(t0); };
    for (const Probe::Run& run : probe.runs(t0 + 1, end + 1)) {
        events.active += run.length;
        events.runs.emplace_back(relative(run.start), run.length);
    }
    if (!events.runs.empty()) {
        events.first = events.runs.front().first;
        events.last = events.runs.back().first + static_cast<std::int64_t>(events.runs.back().second) - 1;
    }
    return events;
}

}  // namespace

namespace {

PortTraffic port_traffic(const TrafficLog& log)
{
    static constexpr std::array<const char*, kClients> kNames{"BDMA",   "SDP",    "PDP",    "CDP",      "RBK",
                                                              "SDP_BS", "SDP_BN", "SDP_EW", "CDMA_DAT", "CDMA_WT"};
    const PortTotals& totals = log.since_mark();
    PortTraffic port{.ar = totals.ar,
                     .read_beats = totals.read_beats,
                     .aw = totals.aw,
                     .write_beats = totals.write_beats,
                     .write_bytes = totals.write_bytes,
                     .ar_log = {},
                     .aw_log = {},
                     .read_bytes_by_client = {},
                     .write_bytes_by_client = {}};
    for (const auto& c : log.ar_log()) port.ar_log.push_back({c.cycle, c.address, c.beats, c.id});
    for (const auto& c : log.aw_log()) port.aw_log.push_back({c.cycle, c.address, c.beats, c.id});
    for (std::size_t i = 0; i < kClients; ++i) {
        if (totals.read_bytes_by_client[i]) port.read_bytes_by_client.emplace_back(kNames[i], totals.read_bytes_by_client[i]);
        if (totals.write_bytes_by_client[i]) port.write_bytes_by_client.emplace_back(kNames[i], totals.write_bytes_by_client[i]);
    }
    return port;
}

}  // namespace

std::uint64_t Machine::work() const
{
    std::uint64_t most = 0;
    for (UnitModule* unit : parts_->top.units()) most = std::max(most, unit->core().work());
    return most;
}

RunResult Machine::run(const Program& program)
{
    Parts& parts = *parts_;
    DLASIM_EXPECTS(!parts.ran);
    parts.ran = true;
    Software software("software", parts.clock, program, *register_address(parts.hardware, "GLB.S_INTR_STATUS"));
    software.socket.bind(parts.top.csb);
    software.interrupt.bind(parts.interrupt);
    software.on_mark = [&](Cycle t0) { parts.top.count_from(t0 + 1); };
    bool over = false;
    software.on_end = [&] {
        over = true;
        sc_core::sc_pause();
    };

    RunResult result;
    std::uint64_t evaluations = 0;
    unsigned quiet = 0;
    const auto cycle = [&] { return parts.clock.now(); };
    Cycle stop = kNever;  // first cycle that is not run
    while (cycle() < stop) {
        if (over && stop == kNever) {
            if (!software.finished()) {
                result.hung = true;
                break;
            }
            stop = software.completed() + kTail + 1;
            if (cycle() >= stop) break;
        }
        if (!over && cycle() > 0 && !sc_core::sc_pending_activity()) {
            result.hung = true;
            break;
        }
        Cycle target = std::min(stop, cycle() + kChunk);
        sc_core::sc_start(parts.clock.at(target) - sc_core::sc_time_stamp());
        if (over) {
            // What no interrupt waited for may still be on its way.
            if (cycle() >= stop && parts.options.drain && !parts.idle() && stop < software.completed() + kMostDrain) stop += kTail;
            continue;
        }
        if (keep_going && !keep_going(cycle())) {
            result.interrupted = true;
            break;
        }
        const std::uint64_t now = parts.evaluations();
        quiet = now == evaluations ? quiet + 1 : 0;
        evaluations = now;
        if (quiet == kQuietChunks || cycle() >= parts.options.cycle_limit) {
            result.hung = true;
            break;
        }
    }
    result.t0 = software.t0();
    result.end = stop == kNever ? cycle() : stop - 1;
    if (result.hung) result.diagnosis = parts.diagnose(software, cycle());
    for (const Cycle c : software.interrupt_cycles())
        if (c > result.t0) result.interrupt_cycles.push_back(static_cast<std::int64_t>(c) - static_cast<std::int64_t>(result.t0));
    for (const GlbCore::Done& done : parts.top.glb().done())
        result.done.push_back({static_cast<std::int64_t>(done.cycle) - static_cast<std::int64_t>(result.t0), done.bits});
    result.reads = software.reads();
    result.failed_checks = software.failed_checks();
    result.dbb = port_traffic(parts.top.mcif().traffic());
    result.dbb_memory = parts.primary->report(result.end + 1);
    if (parts.secondary) result.cvsram_memory = parts.secondary->report(result.end + 1);
    if (parts.top.cvif()) result.cvsram = port_traffic(parts.top.cvif()->traffic());
    for (const auto& [name, probe] : parts.probes.all()) result.probes.push_back(probe_events(name, *probe, result.t0, result.end));
    for (UnitModule* unit : parts.top.units()) {
        UnitReport& report = result.units.emplace_back(unit->core().report(std::max(result.end + 1, cycle())));
        for (char& c : report.name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

std::optional<std::uint32_t> register_address(const Hardware& hardware, const std::string& name)
{
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) return std::nullopt;
    const UnitRegisters* unit = find_unit(hardware.generation, std::string_view(name).substr(0, dot));
    if (!unit) return std::nullopt;
    const RegisterRow* row = unit->find(std::string_view(name).substr(dot + 1));
    if (!row) return std::nullopt;
    return unit->base + row->offset;
}

}  // namespace dlasim
