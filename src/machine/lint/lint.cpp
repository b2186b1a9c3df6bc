#include "lint/lint.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <variant>

#include "lint/layer_ends.h"
#include "lint/rules.h"
#include "registers/fields/bdma.h"
#include "registers/fields/cdp.h"
#include "registers/fields/groups.h"
#include "registers/fields/pdp.h"
#include "registers/fields/sdp.h"
#include "registers/interrupts.h"
#include "workload/operations.h"

namespace dlasim::lint {
namespace {

using namespace reg::groups;

/// An address, or the bytes between two lines, surfaces, planes or batches.
bool holds_bytes(std::string_view unit, std::string_view name)
{
    if (name.find("ADDR_LOW") != std::string_view::npos || name.ends_with("_ADDR")) return true;
    if (unit == "BDMA") return name == "CFG_SRC_LINE" || name == "CFG_DST_LINE" || name == "CFG_SRC_SURF" || name == "CFG_DST_SURF";
    return name.ends_with("LINE_STRIDE") || name.ends_with("UV_STRIDE") || name.ends_with("SURF_STRIDE") ||
           name.ends_with("SURFACE_STRIDE") || name.ends_with("BATCH_STRIDE") || name.ends_with("PLANAR_STRIDE");
}

/// Counters, and operands that only some layers use: recorded programs leave anything in them.
bool unused_often(std::string_view name) { return name == "D_PERF_ENABLE" || name.starts_with("D_DP_"); }

/// The upper half of an address that every operation of its unit uses.
bool always_used(std::string_view name)
{
    return name == "D_DAIN_ADDR_HIGH_0" || name == "D_WEIGHT_ADDR_HIGH" || name == "D_DST_BASE_ADDR_HIGH";
}

/// A unit, and what the program has done to it.
struct Unit {
    Unit(Launched unit, const UnitRegisters& table) : which(unit), registers(&table), groups{RegisterGroup(table), RegisterGroup(table)} {}

    Launched which;
    const UnitRegisters* registers;
    std::array<RegisterGroup, 2> groups;
    unsigned producer = 0;
    std::size_t launches = 0;
    struct Running {
        std::size_t entry = 0;              // of the launch
        std::uint64_t waits = 0;            // of the program before it
        std::optional<std::size_t> breach;  // of writes into the group
    };
    std::array<std::optional<Running>, 2> running;
    std::optional<std::size_t> last_launch;  // entry
    unsigned last_group = 0;
};

class Checker {
public:
    Checker(const Hardware& hardware, const Program& program) : hw_(hardware), program_(program), operations_(hardware, program)
    {
        for (std::size_t i = 0; i + 1 < kLaunched; ++i)
            if (const UnitRegisters* registers = find_unit(hardware, kLaunchedNames[i]))
                units_.emplace_back(static_cast<Launched>(i), *registers);
    }

    RuleReport check()
    {
        for (std::size_t i = 0; i < program_.size(); ++i) {
            if (const auto* write = std::get_if<RegisterWrite>(&program_[i])) take(*write, i);
            else if (!std::holds_alternative<MarkT0>(program_[i]) && !std::holds_alternative<Stamp>(program_[i])) wait(program_[i], i);
        }
        check_end();
        check_early_ends();
        RuleReport report{.entries = program_.size(), .operations = operations_.size(), .found = breaches_.size(), .list = {}};
        std::stable_sort(breaches_.begin(), breaches_.end(), [](const RuleBreach& a, const RuleBreach& b) { return a.entry < b.entry; });
        if (breaches_.size() > kMaxBreaches) breaches_.resize(kMaxBreaches);
        report.list = std::move(breaches_);
        return report;
    }

private:
    void report(Rule rule, std::size_t entry, std::string problem, std::uint32_t operation = 0)
    {
        const auto& write = std::get<RegisterWrite>(program_[entry]);
        breaches_.push_back({rule, entry, write.name, write.value, std::move(problem), operation, 0});
    }

    void take(const RegisterWrite& write, std::size_t entry)
    {
        for (Unit& unit : units_) {
            if (!unit.registers->has(write.address)) continue;
            const std::uint32_t offset = write.address % UnitRegisters::kWindow;
            const RegisterRow* row = unit.registers->find(offset);
            if (!row) return;
            check_value(unit, *row, write.value, entry);
            if (!unit.registers->has_groups()) return take_bdma(unit, offset, write.value, entry);
            if (offset == S_POINTER) unit.producer = S_POINTER::PRODUCER.get(write.value);
            else if (!unit.registers->grouped(offset)) take_single(unit, *row, write.value, entry);
            else if (is_running(unit, entry)) note_dropped(unit, offset, write.value, entry);
            else if (offset != unit.registers->group_start) unit.groups[unit.producer].set(offset, write.value & row->write_mask, entry);
            else if (D_OP_ENABLE::OP_EN.get(write.value)) launch(unit, entry, false);
            return;
        }
    }

    void check_value(const Unit& unit, const RegisterRow& row, std::uint32_t value, std::size_t entry)
    {
        const std::uint32_t atom = hw_.memory.atom_bytes;
        if (holds_bytes(unit.registers->name, row.name) && value % atom != 0)
            return report(Rule::Alignment, entry, fmt::format("no multiple of {} bytes, the memory atom of {}", atom, hw_.name));
        const bool setup = unit.registers->grouped(row.offset) || row.name.starts_with("CFG_");
        const std::uint32_t lost = value & ~row.write_mask;
        // A negative number may be written with its sign in all bits.
        const bool sign = std::countl_one(lost) == std::countl_zero(row.write_mask) && (value & row.write_mask) > row.write_mask / 2;
        if (always_used(row.name) && value != 0 && hw_.memory.address_bits <= 32)
            return report(Rule::Width, entry, fmt::format("{} has {} address bits, expected 0", hw_.name, hw_.memory.address_bits));
        if (setup && row.write_mask != 0 && lost != 0 && !sign && !unused_often(row.name))
            report(Rule::Width, entry, fmt::format("the register stores only {:#x} of it, expected no other bits", value & row.write_mask));
    }

    void take_single(Unit& unit, const RegisterRow& row, std::uint32_t value, std::size_t entry)
    {
        for (RegisterGroup& group : unit.groups) group.set(row.offset, value & row.write_mask, entry);
        if (!row.name.starts_with("S_LUT_")) return;
        for (unsigned group = 0; group < 2; ++group)
            if (unit.running[group] && unit.running[group]->waits == waits_ && reads_table(unit, group)) {
                report(Rule::LiveTable, entry,
                       fmt::format("the operation launched by entry {} may still read the table, expected a wait between them",
                                   unit.running[group]->entry));
                unit.running[group]->waits = UINT64_MAX;  // once
            }
    }

    static bool reads_table(const Unit& unit, unsigned group)
    {
        if (unit.which == Launched::Cdp) return true;
        using namespace reg::sdp;
        return unit.which == Launched::Sdp && !unit.groups[group].get(D_DP_EW_CFG::EW_BYPASS) &&
               !unit.groups[group].get(D_DP_EW_CFG::EW_LUT_BYPASS);
    }

    /// The group that the program writes was launched, and nothing was waited for since.
    bool is_running(Unit& unit, std::size_t entry) const
    {
        const auto& running = unit.running[unit.producer];
        return running && running->waits == waits_ && running->entry != entry;
    }

    void note_dropped(Unit& unit, std::uint32_t offset, std::uint32_t value, std::size_t entry)
    {
        Unit::Running& running = *unit.running[unit.producer];
        if (running.breach) ++breaches_[*running.breach].more;
        else {
            running.breach = breaches_.size();
            report(Rule::EnabledGroup, entry,
                   fmt::format("group {} of {} is enabled since entry {}, so the machine drops the write; expected a wait for its end, or "
                               "S_POINTER = {}",
                               unit.producer, unit.registers->name, running.entry, 1 - unit.producer));
        }
        if (offset == unit.registers->group_start && D_OP_ENABLE::OP_EN.get(value)) launch(unit, entry, true);
    }

    void launch(Unit& unit, std::size_t entry, bool dropped)
    {
        const std::size_t number = unit.launches++;
        unit.last_launch = entry;
        unit.last_group = unit.producer;
        const std::uint32_t operation = operations_.of(unit.which, number);
        if (!dropped && unit.producer != number % 2)
            report(Rule::GroupTurn, entry,
                   fmt::format("launch {} of {} uses group {}, expected {}: a unit takes its two groups in turn, beginning with 0, and "
                               "waits for the other one",
                               number + 1, unit.registers->name, unit.producer, number % 2),
                   operation);
        if (!dropped) unit.running[unit.producer] = Unit::Running{entry, waits_, std::nullopt};
        if (!dropped) raised_ |= raises(unit);
        collect(unit, operation, entry, dropped);
    }

    /// Interrupt bits that its launch will raise.
    static std::uint32_t raises(const Unit& unit) { return interrupts_of(unit.which, unit.last_group); }

    void take_bdma(Unit& unit, std::uint32_t offset, std::uint32_t value, std::size_t entry)
    {
        using namespace reg::bdma;
        unit.groups[0].set(offset, value, entry);
        if (offset == CFG_OP && CFG_OP::EN.get(value)) ++descriptors_;
        if ((offset != CFG_LAUNCH0 && offset != CFG_LAUNCH1) || !CFG_LAUNCH0::GRP0_LAUNCH.get(value)) return;
        constexpr std::size_t kMostDescriptors = 20;  // [spec] bdma.md
        if (descriptors_ > kMostDescriptors)
            report(Rule::Size, entry, fmt::format("launches {} descriptors, expected at most {}", descriptors_, kMostDescriptors));
        descriptors_ = 0;
        unit.last_launch = entry;
        unit.last_group = offset == CFG_LAUNCH0 ? 0 : 1;
        ++unit.launches;
        raised_ |= raises(unit);
    }

    /// Keeps the registers of a launch until the operation has all of its own, and checks it then.
    void collect(const Unit& unit, std::uint32_t number, std::size_t entry, bool dropped)
    {
        if (number == Operations::kNobody) return;
        OperationRegisters& operation = open_[number];
        operation.number = number;
        operation.entry = std::max(operation.entry, entry);
        operation.units[static_cast<std::size_t>(unit.which)] = LaunchedUnit{unit.groups[unit.producer], entry};
        if (dropped) dropped_.insert(number);
        std::uint32_t launched = 0;
        for (std::size_t i = 0; i < kLaunched; ++i) launched |= operation.units[i] ? 1u << i : 0;
        if (launched != operations_[number].units) return;
        if (!dropped_.contains(number)) OperationRules(hw_, operation, left_, breaches_).check();
        open_.erase(number);
    }

    void wait(const ProgramEntry& program_entry, std::size_t entry)
    {
        ++waits_;
        const auto* status = std::get_if<WaitStatus>(&program_entry);
        waited_ = status ? status->bits : UINT32_MAX;
        if (const std::uint32_t never = status ? status->bits & ~raised_ : 0; never != 0)
            breaches_.push_back(
                {Rule::NeverRaised, entry, "WAIT_STATUS", status->bits,
                 fmt::format("no operation launched since the last wait raises {:#x} of it, so the wait does not end", never), 0, 0});
        if (status) raised_ &= ~waited_;
        for (Unit& unit : units_)
            if (unit.last_launch && (waited_for(unit) & waited_)) unit.last_launch.reset();
    }

    /// Interrupt bits of which one says that its last launch has ended; none: it ends before another unit of its operation.
    std::uint32_t waited_for(const Unit& unit) const
    {
        const bool ends = unit.which > Launched::Cacc && raises(unit) != 0 && !(unit.which == Launched::Sdp && hands_over(unit));
        return ends ? raises(unit) : UINT32_MAX;
    }
    /// SDP passes its results to PDP.
    static bool hands_over(const Unit& unit) { return unit.groups[unit.last_group].get(reg::sdp::D_FEATURE_MODE_CFG::OUTPUT_DST); }

    /// The launches that nothing waits for: those that end an operation, or others if the program has started no more.
    void check_end()
    {
        bool found = false;
        for (const bool ending : {true, false})
            for (const Unit& unit : units_) {
                if (!unit.last_launch || (waited_for(unit) != UINT32_MAX) != ending || (!ending && found)) continue;
                report(Rule::EndsWhileWorking, *unit.last_launch,
                       fmt::format("the program ends without waiting for this launch of {}, expected a wait for its interrupt",
                                   unit.registers->name));
                found = true;
            }
    }

    void check_early_ends()
    {
        for (const EarlyLayer& layer : early_layers(hw_, program_))
            report(Rule::EarlyEnd, layer.entry,
                   fmt::format("a convolution of {}, fewer than the {} that CACC holds, before the end of the previous convolution: if "
                               "both end together, the silicon hangs; expected a wait for its SDP interrupt",
                               layer.results == 1 ? "1 result" : std::to_string(layer.results) + " results", layer.entries),
                   operations_.of(Launched::Csc, layer.convolution));
    }

    const Hardware& hw_;
    const Program& program_;
    const Operations operations_;
    std::vector<Unit> units_;
    std::map<std::uint32_t, OperationRegisters> open_;
    std::set<std::uint32_t> dropped_;
    LeftBehind left_;
    std::uint64_t waits_ = 0;
    std::uint32_t waited_ = 0;  // interrupt bits of the last wait
    std::uint32_t raised_ = 0;  // of the launches since
    std::size_t descriptors_ = 0;
    std::vector<RuleBreach> breaches_;
};

std::string_view unit_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

RuleReport check(const Hardware& hardware, const Program& program) { return Checker(hardware, program).check(); }

RuleReport check(const Hardware& hardware, const Program& program, const RunResult& run)
{
    RuleReport report = check(hardware, program);
    const auto has = [&](Rule rule, std::string_view unit) {
        return std::ranges::any_of(report.list, [&](const RuleBreach& b) { return b.rule == rule && unit_of(b.name) == unit; });
    };
    std::set<std::string, std::less<>> dropped;  // units: the first write of each is the cause of the others
    for (const DroppedWrite& write : run.dropped) {
        const std::string unit(unit_of(write.name));
        if (has(Rule::EnabledGroup, unit) && !dropped.contains(unit)) continue;
        if (!dropped.insert(unit).second) {
            ++std::ranges::find_if(report.list, [&](const RuleBreach& b) {
                  return b.rule == Rule::EnabledGroup && unit_of(b.name) == unit;
              })->more;
            continue;
        }
        report.list.push_back(
            {Rule::EnabledGroup, write.entry, write.name, write.value,
             fmt::format("{} dropped the write in cycle {}, because its group {} was enabled; expected a wait for its end", unit,
                         write.cycle, write.group),
             0, 0});
        ++report.found;
    }
    std::string working;
    for (const std::string& unit : run.working)
        if (!run.hung && !has(Rule::EndsWhileWorking, unit) && !has(Rule::GroupTurn, unit)) working += (working.empty() ? "" : ", ") + unit;
    if (!working.empty()) {
        report.list.push_back({Rule::EndsWhileWorking, program.size() - 1, working.substr(0, working.find(',')) + ".D_OP_ENABLE", 1,
                               fmt::format("still enabled when the program ends: {}; expected a wait for their end", working), 0, 0});
        ++report.found;
    }
    std::ranges::stable_sort(report.list, {}, &RuleBreach::entry);
    return report;
}

}  // namespace dlasim::lint
