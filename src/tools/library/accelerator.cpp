#include "dlasim/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <sstream>
#include <string_view>

#include "library/parts.h"
#include "registers/tables.h"
#include "report/causes_report.h"
#include "report/run_sections.h"
#include "silicon/silicon_keys.h"

namespace dlasim {
namespace {

sc_core::sc_time checked(const sc_core::sc_time& period)
{
    if (period == sc_core::SC_ZERO_TIME)
        throw ConfigError("clock_period",
                          "is 0, expected at least the resolution of time, " + sc_core::sc_get_time_resolution().to_string());
    return period;
}

constexpr const char* kRegistersHeader = "dlasim registers 1";

}  // namespace

const AcceleratorReport::Unit* AcceleratorReport::unit(const std::string& name) const
{
    const auto found = std::ranges::find(units, name, &Unit::name);
    return found == units.end() ? nullptr : &*found;
}

std::uint64_t AcceleratorReport::counter(const std::string& unit_name, const std::string& name) const
{
    const Unit* found = unit(unit_name);
    if (!found) return 0;
    const auto value = std::ranges::find(found->counters, name, [](const auto& counter) { return counter.first; });
    return value == found->counters.end() ? 0 : value->second;
}

AcceleratorReport public_report(const RunResult& run, const Hardware& hardware, const std::string& precision)
{
    AcceleratorReport report;
    report.cycles = run.cycles;
    for (const UnitReport& unit : run.units) {
        AcceleratorReport::Unit& out = report.units.emplace_back();
        out.name = unit.name;
        out.issuing = unit.phases.cycles(Phase::Issuing);
        out.starved = unit.phases.cycles(Phase::Starved);
        out.blocked = unit.phases.cycles(Phase::Blocked);
        out.draining = unit.phases.cycles(Phase::Draining);
        out.gated = unit.phases.cycles(Phase::Gated);
        out.counters.assign(unit.counters.begin(), unit.counters.end());
    }
    const auto port = [](const PortTraffic& traffic, const PortHardware& size) {
        return AcceleratorReport::Port{traffic.read_beats * size.width_bytes, traffic.write_bytes};
    };
    report.dbb = port(run.dbb, hardware.memory.primary);
    report.cvsram = port(run.cvsram, hardware.memory.secondary);
    const std::vector<CauseCycles> causes = run.causes.total();
    for (const CauseCycles& spent : causes) report.causes.emplace_back(path_of(spent.cause), spent.cycles);
    OrderedJson json;
    json["hardware"] = hardware_json(hardware);
    if (!precision.empty()) json["precision"] = precision;
    json["cycles"] = run.cycles;
    if (!causes.empty()) json["causes"] = causes_json(causes);
    if (!run.units.empty()) json["units"] = units_json(run);
    json["traffic"]["dbb"] = port_json(run.dbb, hardware.memory.primary.width_bytes);
    if (hardware.memory.has_secondary) json["traffic"]["cvsram"] = port_json(run.cvsram, hardware.memory.secondary.width_bytes);
    silicon::add_silicon(json, silicon::read_technology(silicon::kDefaultTechnology, "technology", ""));
    report.json = json.dump(1);
    return report;
}

Accelerator::Parts::Parts(const HardwareConfig& config_, const AcceleratorOptions& options)
    : config(config_),
      clock(checked(options.clock_period)),
      top("dla", config.parts().hardware, clock, TopOptions{.stepping = false, .values = options.values, .events = false}),
      meter("meter", clock, top, options.causes)
{
}

Accelerator::Accelerator(const sc_core::sc_module_name& name, const AcceleratorOptions& options)
    : Accelerator(name, HardwareConfig(options.hardware, options.settings), options)
{
}

Accelerator::Accelerator(const sc_core::sc_module_name& name, const HardwareConfig& hardware, const AcceleratorOptions& options)
    : sc_module(name), parts_(std::make_unique<Parts>(hardware, options))
{
    parts_->top.failures().listen([on_error = options.on_error](const std::string& what) {
        if (on_error) on_error(MachineError(what));
        else SC_REPORT_ERROR("/dlasim/accelerator", what.c_str());
    });
    csb.bind(parts_->top.csb);
    parts_->top.dbb.bind(dbb);
    if (parts_->top.cvsram) {
        cvsram = std::make_unique<tlm::tlm_initiator_socket<512>>("cvsram");
        parts_->top.cvsram->bind(*cvsram);
    }
    parts_->top.interrupt.bind(interrupt);
    warn_of_cut_addresses();
    // Whoever else follows the pin may call before the process below runs.
    parts_->top.in_reset = [this] {
        const bool low = reset_n.size() != 0 && !reset_n->read();
        if (!low) release();
        return low;
    };
}

/// Machines of 32 address bits have the registers of the high words, and use nothing of them.
void Accelerator::warn_of_cut_addresses()
{
    const Hardware& built = parts_->config.parts().hardware;
    if (built.memory.address_bits >= 64) return;
    std::map<std::uint32_t, std::string> high;
    for (const UnitRegisters& unit : register_units(built))
        for (const RegisterRow& row : unit.rows)
            if (row.name.find("ADDR_HIGH") != std::string_view::npos)
                high.emplace(unit.base + row.offset, std::string(unit.name) + "." + std::string(row.name));
    const std::uint32_t cut = ~static_cast<std::uint32_t>((std::uint64_t{1} << (built.memory.address_bits - 32)) - 1);
    parts_->top.bus().on_access = [this, high, cut](Cycle, std::uint32_t address, std::uint32_t data, bool write) mutable {
        if (!write || (data & cut) == 0) return;
        const auto found = high.find(address);
        if (found == high.end()) return;
        const std::string text = found->second + " = " + std::to_string(data) + ": " + hardware().name() + " has " +
                                 std::to_string(hardware().get("memory.address_bits")) +
                                 " address bits, so higher bits are ignored, as in the silicon";
        high.erase(found);  // once a register
        SC_REPORT_WARNING("/dlasim/accelerator", text.c_str());
    };
}

void Accelerator::start_of_simulation()
{
    if (reset_n.size() == 0) return;
    // not a process of the constructor: SystemC would run it for an accelerator that is gone before time begins
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.set_sensitivity(&reset_n->value_changed_event());
    sc_core::sc_spawn([this] { follow_reset(); }, "follow_reset", &method);
}

void Accelerator::follow_reset()
{
    const bool high = reset_n->read();
    if (parts_->trace) parts_->trace->reset_n = high;
    if (high) return release();
    if (parts_->top.held()) return;
    struct ReleaseOnExit {  // also where a memory throws
        Meter& meter;
        ~ReleaseOnExit() { meter.hold(); }
    } anew{parts_->meter};
    parts_->top.hold();
}

void Accelerator::release()
{
    if (!parts_->top.held()) return;
    parts_->top.release();
    parts_->meter.release();
}

Accelerator::~Accelerator() = default;

const HardwareConfig& Accelerator::hardware() const { return parts_->config; }

std::uint32_t Accelerator::address(const std::string& register_name) const { return parts_->config.register_address(register_name); }

std::string Accelerator::failure() const { return parts_->top.failures().first(); }

void Accelerator::reset_counters()
{
    const Cycle next = parts_->clock.first_not_run();
    parts_->meter.mark(next == 0 ? 0 : next - 1);
}

AcceleratorReport Accelerator::counters() { return public_report(parts_->meter.read(false), parts_->config.parts().hardware, ""); }

void Accelerator::trace(sc_core::sc_trace_file* file)
{
    if (!parts_->trace)
        parts_->trace = std::make_unique<BoundaryTrace>(sc_core::sc_gen_unique_name("boundary_trace"), parts_->clock, parts_->top);
    const std::string prefix = std::string(name()) + ".";
    sc_core::sc_trace(file, interrupt, prefix + "interrupt");
    parts_->trace->add_to(file, prefix);
}

void Accelerator::save(std::ostream& out) const
{
    const Top& top = parts_->top;
    const auto files = top.register_files();
    const bool busy = std::ranges::any_of(files, [](const auto& file) { return !file.second->idle(); }) || interrupt->read() ||
                      !parts_->top.mcif().fabric().idle() || (parts_->top.cvif() && !parts_->top.cvif()->fabric().idle());
    if (busy || top.held() || !failure().empty())
        throw ConfigError(name(), "is not between operations, expected no unit enabled, nothing in flight and the interrupt cleared");
    out << kRegistersHeader << '\n';
    for (const auto& [unit, file] : files) {
        out << unit;
        for (const std::uint32_t value : file->state()) out << ' ' << value;
        out << '\n';
    }
}

void Accelerator::restore(std::istream& in)
{
    std::string line;
    std::vector<std::pair<RegisterFile*, std::vector<std::uint32_t>>> states;
    bool right = std::getline(in, line) && line == kRegistersHeader;
    for (const auto& [unit, file] : parts_->top.register_files()) {
        std::istringstream values(right && std::getline(in, line) ? line : "");
        std::string name;
        values >> name;
        right = right && name == unit && file->idle();
        std::vector<std::uint32_t>& state = states.emplace_back(file, std::vector<std::uint32_t>{}).second;
        for (std::uint32_t value = 0; values >> value;) state.push_back(value);
        right = right && state.size() == file->state().size();
    }
    if (!right || parts_->top.held())
        throw ConfigError(name(),
                          "cannot take these registers, expected what save() has written for the same hardware, and nothing enabled");
    for (auto& [file, state] : states)
        if (!file->restore(state)) throw ConfigError(name(), "cannot take these registers: a pointer is neither 0 nor 1");
}

std::string Accelerator::diagnosis()
{
    std::string text = "unit      waits for\n";
    for (UnitModule* unit : parts_->top.units()) text += fmt::format("{:9} {}\n", unit->basename(), unit->core().waiting_for());
    return text;
}

}  // namespace dlasim
