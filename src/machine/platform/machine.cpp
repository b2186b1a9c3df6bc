#include "platform/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <chrono>
#include <cmath>
#include <ctime>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "dram/read/reader.h"
#include "dram/report/energy.h"
#include "dram/report/log.h"
#include "dram/report/report.h"
#include "facts/cdma.h"
#include "facts/fabric.h"
#include "memory/dram_memory.h"
#include "memory/ideal_memory.h"
#include "memory/memory_store.h"
#include "platform/hazards.h"
#include "platform/software.h"
#include "platform/top.h"
#include "platform/window.h"
#include "registers/interrupts.h"
#include "workload/operations.h"

namespace dlasim {
namespace {

constexpr Cycle kTail = 64;         // recording goes on after the last entry has completed: interfaces.md 3
constexpr Cycle kChunk = 1u << 16;  // cycles between two looks at the outside world
constexpr Cycle kOften = 1000;      // cycles between two sums of causes, when stepping
// A memory may think for as long as its timings say; but when it has been woken that often and no unit has, nothing moves any more.
constexpr std::uint64_t kMaxWakesInACycle = 1u << 20;

/// The memory at a port.
class PortMemory {
public:
    PortMemory(const char* name, Clock& clock, const MemorySpec& spec, const SimulateOptions& options, MemoryStore& store)
    {
        if (spec.kind == "ideal") ideal_ = std::make_unique<IdealMemory>(name, clock, spec, store);
        else dram_ = std::make_unique<DramMemory>(name, clock, dram::read_config(spec), store, options.check_dram);
    }
    tlm::tlm_target_socket<512>& socket() { return ideal_ ? ideal_->socket : dram_->socket(); }
    /// Of each DRAM channel, all cycles before `end`; none for the ideal memory.
    std::vector<dram::Statistics> statistics(Cycle end) { return dram_ ? dram_->statistics(end) : std::vector<dram::Statistics>{}; }
    /// Energy between two of these.
    double picojoules(const std::vector<dram::Statistics>& from, const std::vector<dram::Statistics>& to) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < from.size(); ++i) sum += dram::energy_of(dram_->config(), to[i].since(from[i])).total();
        return sum;
    }
    /// Ends the check of the commands.
    MemoryReport report(Cycle end, const std::vector<dram::Statistics>& from, std::vector<dram::Statistics> to)
    {
        MemoryReport report;
        if (!dram_) return report;
        for (std::size_t i = 0; i < from.size(); ++i) to[i] = to[i].since(from[i]);
        report.text = dram::statistics_text(dram_->config(), to);
        report.json = dram::statistics_json(dram_->config(), to).dump();
        for (const dram::Statistics& s : to) report.bus_held = std::max(report.bus_held, dram_->whole_cycles(dram::held(s)));
        dram_->finish(end);
        if (dram_->checker())
            for (const dram::Violation& violation : dram_->checker()->violations())
                report.violations.push_back(fmt::format("cycle {}, {}: {}", violation.cycle, violation.rule, violation.what));
        return report;
    }
    std::string refusal(Address address, std::uint64_t bytes) const { return dram_ ? dram_->refusal(address, bytes) : ""; }
    /// Why it answered with an error, if it did.
    std::string refused() const { return dram_ ? dram_->refused() : ""; }
    std::uint64_t wakes() const { return dram_ ? dram_->evaluations() : 0; }
    /// Sees when rows are opened and closed; nothing without a DRAM.
    void observe(std::vector<OpenRow>& rows, std::vector<std::string>& banks)
    {
        if (!dram_) return;
        banks = dram::bank_names(dram_->config());
        dram_->observe([log = dram::RowLog(dram_->config(), [this, &rows](std::uint32_t bank, std::uint32_t row, Cycle from, Cycle to) {
                            rows.push_back({bank, row, static_cast<std::int64_t>(dram_->whole_cycles(from)),
                                            static_cast<std::int64_t>(dram_->whole_cycles(to))});
                        })](const dram::Issued& issued) mutable { log.see(issued); });
    }
    void fail_with(Failures& failures)
    {
        if (dram_) dram_->failures = &failures;
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
    Parts(const Hardware& hw, const MemorySpec& spec, const SimulateOptions& opt)
        : hardware(hw),
          options(opt),
          clock(period(hw)),
          top("dla", hw, clock, TopOptions{opt.stepping, !opt.timing_only, opt.events || opt.all_commands, opt.all_commands, opt.flushed})
    {
        primary.emplace("dbb_memory", clock, spec, opt, primary_store);
        top.dbb.bind(primary->socket());
        if (top.cvsram) {
            // The secondary port is for memory on the chip: ideal, whatever is at DBB.
            const MemorySpec on_chip = spec.kind == "ideal" ? spec : MemorySpec{};
            secondary.emplace("cvsram_memory", clock, on_chip, opt, opt.one_memory ? primary_store : secondary_store);
            top.cvsram->bind(secondary->socket());
        }
        top.interrupt.bind(interrupt);
        primary->fail_with(top.failures());
        if (secondary) secondary->fail_with(top.failures());
        top.failures().listen([this](const std::string&) { pause(); });
        if (options.events) top.attach(probes);
        if (options.events) primary->observe(rows, banks);
    }
    /// Ends sc_start() in the cycle that is evaluated.
    void pause()
    {
        clock.run_ahead(0);
        sc_core::sc_pause();
    }
    /// Runs the cycles before `end`, unless something pauses.
    void run_until(Cycle end)
    {
        if (!options.stepping) clock.run_ahead(end);
        try {
            sc_core::sc_start(clock.until(end));
        } catch (const sc_core::sc_report& report) {
            // The one allocation of SystemC that is no operator new.
            if (report.get_msg_type() == sc_core::SC_ID_STACK_SETUP_FAILED_) throw std::bad_alloc();
            throw;
        }
    }
    MemoryStore& store(const Place& place) { return place.primary || options.one_memory ? primary_store : secondary_store; }
    bool idle() { return top.mcif().fabric().idle() && (!top.cvif() || top.cvif()->fabric().idle()); }
    std::uint64_t memory_wakes() const { return primary->wakes() + (secondary ? secondary->wakes() : 0); }
    std::string diagnose(const Software& host_software, Cycle now)
    {
        std::string text;
        if (top.failures().any()) text = fmt::format("{} (cycle {})\n", top.failures().first(), now);
        else if (!host_software.failure().empty()) text = fmt::format("{} (cycle {})\n", host_software.failure(), now);
        else text = fmt::format("no unit makes progress in cycle {}; software waits for {}\n", now, host_software.waiting_for());
        for (UnitModule* unit : top.units())
            if (const std::string why = unit->core().stuck(); !why.empty()) text += fmt::format("  because: {}\n", why);
        for (const PortMemory* memory : {&*primary, secondary ? &*secondary : nullptr})
            if (memory && !memory->refused().empty()) text += fmt::format("  memory: {}\n", memory->refused());
        for (UnitModule* unit : top.units()) text += fmt::format("  {:9} {}\n", unit->basename(), unit->core().waiting_for());
        return text;
    }
    /// All cycles before `end`, which is the next cycle that has not run.
    Snapshot snapshot(Cycle end)
    {
        Snapshot taken;
        for (UnitModule* unit : top.units()) taken.units.push_back(unit->core().report(end));
        taken.primary = primary->statistics(end);
        if (secondary) taken.secondary = secondary->statistics(end);
        return taken;
    }

    Hardware hardware;
    SimulateOptions options;
    Clock clock;
    MemoryStore primary_store, secondary_store;
    Top top;
    std::optional<PortMemory> primary, secondary;
    sc_core::sc_signal<bool> interrupt{"interrupt"};
    ProbeSet probes;
    std::vector<OpenRow> rows;  // cycles of the machine
    std::vector<std::string> banks;
    const Software* software = nullptr;  // while it runs
    std::optional<Hazards> hazards;
    std::optional<CriticalPathRecorder> path;
    bool ran = false;
};

Machine::Machine(const Hardware& hardware, const MemorySpec& memory, const SimulateOptions& options)
    : parts_(std::make_unique<Parts>(hardware, memory, options))
{
}

Machine::~Machine() = default;

void Machine::require_memory(const Place& place, std::uint64_t bytes, const std::string& what) const
{
    const std::optional<PortMemory>& memory = place.primary ? parts_->primary : parts_->secondary;
    const std::string refusal = memory ? memory->refusal(place.address, bytes) : "";
    if (!refusal.empty()) throw ConfigError(what, refusal);
}

void Machine::write_memory(const Place& place, std::span<const std::uint8_t> bytes)
{
    if (parts_->hazards) parts_->hazards->host_access(place.primary, place.address, bytes.size(), true);
    parts_->store(place).write(place.address.byte(), bytes.data(), bytes.size());
}

std::vector<std::uint8_t> Machine::read_memory(const Place& place, std::uint64_t bytes) const
{
    std::vector<std::uint8_t> data(bytes);
    if (parts_->hazards) parts_->hazards->host_access(place.primary, place.address, bytes, false);
    parts_->store(place).read(place.address.byte(), data.data(), data.size());
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

/// Of the cycles after t0 up to `done`.
UnitPhases unit_phases(const std::string& unit, const std::map<std::string, PhaseHistory>& histories, Cycle t0, Cycle done)
{
    UnitPhases phases{unit, {}};
    const auto history = histories.find(unit);
    if (history == histories.end()) return phases;
    const auto& changes = history->second.changes();
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const Cycle from = std::max(changes[i].at, t0 + 1), to = std::min(i + 1 < changes.size() ? changes[i + 1].at : kNever, done + 1);
        if (changes[i].phase != Phase::Gated && from < to)
            phases.runs.push_back({static_cast<std::int64_t>(from - t0), to - from, changes[i].phase});
    }
    return phases;
}

/// Beside the probes: clients, levels, register groups, stripes.
void add_records(RunResult& result, const ProbeSet& probes)
{
    const auto relative = [&](Cycle c) { return static_cast<std::int64_t>(c) - static_cast<std::int64_t>(result.t0); };
    for (const auto& [name, probe] : probes.all_clients()) {
        ProbeEvents beats = probe_events(name, *probe, result.t0, result.end);
        if (beats.active != 0) result.clients.push_back(std::move(beats));
    }
    for (const auto& [name, level] : probes.all_levels()) {
        LevelValues& values = result.levels.emplace_back(LevelValues{name, {}});
        for (const auto& [at, value] : level.values()) values.values.emplace_back(relative(at), value);
    }
    for (const auto& [unit, uses] : probes.all_groups())
        if (!uses.empty()) result.groups.push_back({unit, uses});
    result.stripes = probes.all_stripes().all();
}

}  // namespace

std::uint64_t Machine::work() const
{
    std::uint64_t most = 0;
    for (UnitModule* unit : parts_->top.units()) most = std::max(most, unit->core().work());
    return most;
}

std::size_t Machine::stamps() const { return parts_->software ? parts_->software->stamps().size() : 0; }

namespace {

class Stopwatch {
public:
    double wall_seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(); }
    double cpu_seconds() const { return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC; }

private:
    std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
    std::clock_t cpu_ = std::clock();
};

void add_bytes(std::vector<std::pair<std::string, std::uint64_t>>& clients, const char* name, std::uint64_t bytes)
{
    if (bytes == 0) return;
    const auto known = std::ranges::find(clients, name, &std::pair<std::string, std::uint64_t>::first);
    if (known != clients.end()) known->second += bytes;
    else clients.emplace_back(name, bytes);
}

}  // namespace

/// A run: software plays the program, the clock goes on until nothing is left to do, and what was seen becomes the result.
class Machine::Running {
public:
    Running(Machine& machine, const Program& program, std::unique_ptr<ProgramSource> source)
        : machine_(machine),
          parts_(*machine.parts_),
          software_("software", parts_.clock, program, *register_address(parts_.hardware, "GLB.S_INTR_STATUS"), parts_.options.host,
                    std::move(source)),
          window_([this](Cycle end) { return parts_.snapshot(end); }, seen(), parts_.options.sample_every, parts_.options.even_samples)
    {
        parts_.software = &software_;
        software_.keeps_accesses = parts_.options.accesses;
        software_.socket.bind(parts_.top.csb);
        software_.interrupt.bind(parts_.interrupt);
        if (parts_.options.causes) {
            const Cycle sum_up_every = parts_.options.sum_up_every == 0 && parts_.options.stepping ? kOften : parts_.options.sum_up_every;
            parts_.path.emplace(parts_.top, sum_up_every).stamps = &software_.stamps();
            software_.logs = &parts_.path->logs();
        }
        if (parts_.options.operations) operations_.emplace(parts_.hardware, program);
        for (Operations::Number i = 1; operations_ && i <= operations_->size(); ++i)
            if (!(*operations_)[i].has(Launched::Host)) software_.noted.push_back((*operations_)[i].entry);
        listen();
    }
    ~Running() { parts_.software = nullptr; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    RunResult play();

private:
    Window::Observer seen();
    void listen();
    void go_on();
    bool may_go_on(Cycle now, bool still);
    void add_program(RunResult& result) const;
    void add_dropped(RunResult& result) const;
    void add_operations(RunResult& result) const;
    void add_events(RunResult& result) const;
    void add_window(RunResult& result);

    std::int64_t relative(Cycle cycle) const { return static_cast<std::int64_t>(cycle) - static_cast<std::int64_t>(software_.t0()); }

    const Stopwatch all_;
    Machine& machine_;
    Parts& parts_;
    Software software_;
    Window window_;
    std::optional<const Operations> operations_;  // of the program, where they are looked for
    double host_wall_ = 0, host_cpu_ = 0;
    bool over_ = false;  // the program has ended
    bool hung_ = false, interrupted_ = false;
    Cycle stop_ = kNever;  // first cycle that is not run
    Cycle look_ = kChunk;  // the next look at the outside world
};

Window::Observer Machine::Running::seen()
{
    if (!machine_.on_sample) return {};
    return [this](Cycle at, bool interrupt, const Snapshot& from, const Snapshot& now) {
        Sample sample{.cycle = at,
                      .interrupt = interrupt,
                      .units = reports(from, now),
                      .dram_pj = parts_.primary->picojoules(from.primary, now.primary),
                      .read_by_client = {},
                      .written_by_client = {}};
        for (std::size_t i = 0; i < from.primary.size(); ++i) {
            sample.row_hits += now.primary[i].hits - from.primary[i].hits;
            sample.row_misses += now.primary[i].misses - from.primary[i].misses;
            sample.row_conflicts += now.primary[i].conflicts - from.primary[i].conflicts;
        }
        const auto add = [&](const PortTotals& port) {
            for (std::size_t i = 0; i < kClients; ++i) {
                add_bytes(sample.read_by_client, kClientNames[i], port.read_bytes_by_client[i]);
                add_bytes(sample.written_by_client, kClientNames[i], port.write_bytes_by_client[i]);
            }
        };
        add(parts_.top.mcif().traffic().since_mark(at + software_.t0()));
        if (parts_.top.cvif()) add(parts_.top.cvif()->traffic().since_mark(at + software_.t0()));
        machine_.on_sample(sample);
    };
}

void Machine::Running::listen()
{
    software_.on_mark = [this](Cycle t0) {
        if (parts_.path) parts_.path->path().cut(t0);
        parts_.top.count_from(t0 + 1);
        window_.mark(t0);
        parts_.pause();
    };
    parts_.top.glb().on_interrupt = [this](Cycle at) {
        window_.interrupt(at);
        if (parts_.path) parts_.path->path().interrupt(at);
        parts_.pause();
    };
    software_.on_host = [this](const HostStep& step) {
        if (step.ends_report && parts_.path) parts_.path->path().end();
        const Stopwatch host;
        if (parts_.hazards) parts_.hazards->host(true);
        if (machine_.on_host) machine_.on_host(step.number);
        if (parts_.hazards) parts_.hazards->host(false);
        host_wall_ += host.wall_seconds();
        host_cpu_ += host.cpu_seconds();
    };
    software_.on_end = [this] {
        over_ = true;
        parts_.pause();
    };
}

/// Until the program has ended and nothing is on its way, or it cannot or may not end.
void Machine::Running::go_on()
{
    std::uint64_t evaluations = 0, memory_wakes = 0;
    const auto cycle = [this] { return parts_.clock.now(); };
    while (cycle() < stop_) {
        hung_ = parts_.top.failures().any() || (over_ && !software_.finished());
        if (hung_) return;
        if (over_ && stop_ == kNever) {
            stop_ = software_.completed() + kTail + 1;
            if (cycle() >= stop_) return;
        }
        hung_ = !over_ && cycle() > 0 && !sc_core::sc_pending_activity();
        if (hung_) return;
        parts_.run_until(std::min({stop_, over_ ? stop_ : look_, window_.next(), parts_.path ? parts_.path->path().next() : kNever}));
        window_.look(cycle());
        if (parts_.path) parts_.path->look(cycle());
        const std::uint64_t now = parts_.top.evaluations();
        if (now != evaluations) memory_wakes = parts_.memory_wakes();
        evaluations = now;
        if (!may_go_on(cycle(), parts_.memory_wakes() - memory_wakes > kMaxWakesInACycle)) return;
    }
}

/// `still`: only a memory has moved for long.
bool Machine::Running::may_go_on(Cycle now, bool still)
{
    if (over_) {
        // What no interrupt waited for may still be on its way.
        if (now >= stop_ && parts_.options.drain && !parts_.idle() && !still && sc_core::sc_pending_activity()) stop_ += kTail;
        return true;
    }
    if (now < look_) return true;
    look_ = now + kChunk;
    interrupted_ = machine_.keep_going && !machine_.keep_going(now);
    hung_ = !interrupted_ && (still || now >= parts_.options.cycle_limit);
    return !interrupted_ && !hung_;
}

RunResult Machine::Running::play()
{
    go_on();
    RunResult result;
    result.hung = hung_;
    result.interrupted = interrupted_;
    result.t0 = software_.t0();
    result.end = stop_ == kNever ? parts_.clock.now() : stop_ - 1;
    add_window(result);
    add_program(result);
    if (parts_.options.events) add_events(result);
    result.wall_seconds = all_.wall_seconds() - host_wall_;
    result.cpu_seconds = all_.cpu_seconds() - host_cpu_;
    return result;
}

void Machine::Running::add_program(RunResult& result) const
{
    for (const Cycle c : software_.interrupt_cycles())
        if (c > result.t0) result.interrupt_cycles.push_back(relative(c));
    for (const GlbCore::Done& done : parts_.top.glb().done()) result.done.push_back({relative(done.cycle), done.bits});
    for (std::size_t i = 0; i < software_.stamps().size(); ++i) {
        const std::size_t number = software_.stamp_numbers()[i];
        if (number >= result.stamps.size()) result.stamps.resize(number + 1, RunResult::kNotStamped);
        result.stamps[number] = relative(software_.stamps()[i]);
    }
    result.accesses = software_.accesses();
    if (software_.decides()) result.played = software_.program();
    result.reads = software_.reads();
    if (parts_.hazards) result.hazards = parts_.hazards->report(result.t0);
    add_dropped(result);
    add_operations(result);
    result.failed_checks = software_.failed_checks();
}

/// The n-th interrupt of a unit ends its n-th launch, of those that it did not drop. pre: add_dropped()
void Machine::Running::add_operations(RunResult& result) const
{
    if (!operations_) return;
    std::array<std::vector<std::int64_t>, kLaunched> done;
    for (const DoneEvent& event : result.done)
        for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
            if (const auto unit = launched_called(interrupt->unit); unit && (event.bits & interrupt->bits()) != 0)
                done[static_cast<std::size_t>(*unit)].push_back(event.cycle);
    std::set<std::size_t> dropped;
    for (const DroppedWrite& write : result.dropped) dropped.insert(write.entry);
    std::array<std::vector<std::size_t>, kLaunched> lost;  // launches, by unit
    for (Operations::Number i = 1; i <= operations_->size(); ++i)
        for (const OperationLaunch& launch : (*operations_)[i].launches)
            if (dropped.contains(launch.entry)) lost[static_cast<std::size_t>(launch.unit)].push_back(launch.number);
    std::size_t noted = 0;
    for (Operations::Number i = 1; i <= operations_->size(); ++i) {
        const LaunchedOperation& operation = (*operations_)[i];
        OperationTimes& times = result.operations.emplace_back();
        if (operation.has(Launched::Host)) continue;
        if (noted < software_.accepted().size()) times.start = relative(software_.accepted()[noted]);
        ++noted;
        const std::optional<Launched> last = operation.ends();
        if (!last) continue;
        const auto launch = std::ranges::find(operation.launches, *last, &OperationLaunch::unit);
        if (dropped.contains(launch->entry)) continue;
        const auto unit = static_cast<std::size_t>(*last);
        const auto before = std::ranges::count_if(lost[unit], [&](std::size_t number) { return number < launch->number; });
        if (const std::size_t n = launch->number - static_cast<std::size_t>(before); n < done[unit].size()) times.done = done[unit][n];
    }
}

/// The writes that units dropped, with their entries: the n-th write to a unit is the n-th entry that writes there.
void Machine::Running::add_dropped(RunResult& result) const
{
    for (const auto& [name, file] : parts_.top.register_files()) {
        if (file->unit().has_groups() && !file->idle()) result.working.emplace_back(name);
        std::uint64_t number = 0;
        auto next = file->dropped().begin();
        for (std::size_t i = 0; next != file->dropped().end() && i < software_.program().size(); ++i) {
            const auto* write = std::get_if<RegisterWrite>(&software_.program()[i]);
            if (!write || !file->unit().has(write->address) || number++ != next->number) continue;
            result.dropped.push_back({write->name, write->value, next->group, i, relative(next->decode)});
            ++next;
        }
    }
    std::ranges::stable_sort(result.dropped, {}, &DroppedWrite::entry);
}

/// pre: add_window()
void Machine::Running::add_events(RunResult& result) const
{
    add_records(result, parts_.probes);
    for (OpenRow& row : parts_.rows) {
        row.start = relative(static_cast<Cycle>(row.start));
        row.end = relative(static_cast<Cycle>(row.end));
    }
    result.rows = std::move(parts_.rows);
    result.banks = std::move(parts_.banks);
    for (const UnitReport& unit : result.units)
        result.phases.push_back(unit_phases(unit.name, parts_.probes.all_phases(), result.t0, result.t0 + result.cycles));
}

/// Cycles, causes, counters and traffic. Units evaluate what they have put off before anything is read of them; one that failed is not
/// asked again.
void Machine::Running::add_window(RunResult& result)
{
    const Cycle ran = std::max(result.end + 1, parts_.clock.now());
    const Snapshot last = parts_.top.failures().any() ? window_.from() : parts_.snapshot(ran);
    if (result.hung) result.diagnosis = parts_.diagnose(software_, parts_.clock.now());
    result.dbb = port_traffic(parts_.top.mcif().traffic(), result.end);
    if (parts_.top.cvif()) result.cvsram = port_traffic(parts_.top.cvif()->traffic(), result.end);
    for (const auto& [name, probe] : parts_.probes.all()) result.probes.push_back(probe_events(name, *probe, result.t0, result.end));
    const Snapshot &from = window_.from(), &to = window_.to(last);
    result.cycles = window_.done(result.end) - result.t0;
    if (parts_.path && !result.hung && !result.interrupted)
        result.causes = parts_.path->causes(result.t0, result.t0 + result.cycles, window_.interrupted());
    result.dbb_memory = parts_.primary->report(ran, from.primary, to.primary);
    if (parts_.secondary) result.cvsram_memory = parts_.secondary->report(ran, from.secondary, to.secondary);
    result.units = reports(from, to);
}

RunResult Machine::run(const Program& program, std::unique_ptr<ProgramSource> source)
{
    Parts& parts = *parts_;
    DLASIM_EXPECTS(!parts.ran);
    parts.ran = true;
    if (parts.options.hazards) parts.hazards.emplace(parts.hardware, program, parts.options.one_memory, parts.clock, parts.top);
    return Running(*this, program, std::move(source)).play();
}

}  // namespace dlasim
