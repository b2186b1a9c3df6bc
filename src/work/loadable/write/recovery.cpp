#include "loadable/write/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "loadable/write/recovered_units.h"
#include "loadable/write/table_state.h"
#include "registers/fields/bdma.h"
#include "registers/fields/pdp.h"

namespace dlasim::loadable {
namespace {

/// The units of an operation, each as it was when it was launched.
struct LaunchedUnits {
    std::size_t launched = 0;
    std::array<std::optional<RegisterGroup>, kLaunched> units;
    std::array<std::optional<LookupTable>, 2> tables;  // of SDP and CDP
    RecoveredOperation bdma;                           // its transfers

    const RegisterGroup* of(Launched unit) const
    {
        const auto& found = units[static_cast<std::size_t>(unit)];
        return found ? &*found : nullptr;
    }
    bool has(Launched unit) const { return of(unit) != nullptr; }
};

/// Why no driver runs such an operation: the unit that it lacks. Empty if it lacks none.
std::string lacking(const LaunchedUnits& from)
{
    const bool convolves = from.has(Launched::Cdma) || from.has(Launched::Csc) || from.has(Launched::CmacA) || from.has(Launched::CmacB) ||
                           from.has(Launched::Cacc);
    if (convolves)
        for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::CmacA, Launched::CmacB, Launched::Cacc, Launched::Sdp})
            if (!from.has(unit)) return fmt::format("launches a convolution without {}", kLaunchedNames[static_cast<std::size_t>(unit)]);
    if (const RegisterGroup* sdp = from.of(Launched::Sdp)) {
        using namespace reg::sdp;
        const bool flying = sdp->get(D_FEATURE_MODE_CFG::FLYING_MODE) != 0;
        if (flying && !convolves) return "launches SDP without the convolution that feeds it";
        if (!flying && !from.has(Launched::SdpRdma)) return "launches SDP from memory without SDP_RDMA";
        if (sdp->get(D_FEATURE_MODE_CFG::OUTPUT_DST) != 0 && !from.has(Launched::Pdp)) return "launches SDP that feeds PDP without PDP";
    }
    if (const RegisterGroup* pdp = from.of(Launched::Pdp)) {
        const bool flying = pdp->get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) == 0;
        if (flying && !from.has(Launched::Sdp)) return "launches PDP without the SDP that feeds it";
        if (!flying && !from.has(Launched::PdpRdma)) return "launches PDP from memory without PDP_RDMA";
    }
    if (from.has(Launched::Cdp) && !from.has(Launched::CdpRdma)) return "launches CDP without CDP_RDMA";
    return "";
}

/// Follows a program and recovers each of its operations where its last unit is launched.
class RecoveryRun {
public:
    RecoveryRun(const Hardware& hardware, std::span<const ProgramEntry> program)
        : hw_(hardware), program_(program), operations_(hardware, program)
    {
        for (std::size_t i = 0; i + 1 < kLaunched; ++i)
            if (const UnitRegisters* unit = find_unit(hardware, kLaunchedNames[i])) units_.emplace_back(static_cast<Launched>(i), *unit);
        launches_.assign(kLaunched, 0);
    }

    /// `recovered` gets the chain of every operation, with its number from 1; `step` every step of the host.
    void follow(const std::function<void(Operations::Number, std::vector<RecoveredOperation>)>& recovered,
                const std::function<void(std::size_t step)>& step)
    {
        for (std::size_t i = 0; i < program_.size(); ++i) {
            if (const auto* host = std::get_if<HostStep>(&program_[i])) step(host->number);
            const auto* write = std::get_if<RegisterWrite>(&program_[i]);
            if (!write) continue;
            const Operations::Number number = take(*write, i);
            if (number == Operations::kNobody || open_[number].launched != operations_[number].launches.size()) continue;
            recovered(number, chain_of(open_[number]));
            open_.erase(number);
        }
    }
    const Operations& operations() const { return operations_; }
    bool any_open() const { return !open_.empty(); }
    /// Why its last one is no operation.
    const std::string& problem() const { return problem_; }
    const LookupTable& table(Launched unit) const { return *last_.tables[unit == Launched::Cdp ? 1 : 0]; }

private:
    /// The operation that the write launches a unit of.
    Operations::Number take(const RegisterWrite& write, std::size_t entry)
    {
        for (auto& [which, unit] : units_) {
            const ProgrammedUnit::Effect effect = unit.take(write, entry);
            if (effect == ProgrammedUnit::Effect::None) continue;
            const std::uint32_t offset = write.address % UnitRegisters::kWindow;
            if (which == Launched::Sdp && !unit.registers().grouped(offset)) sdp_table_.write(offset, write.value);
            if (which == Launched::Cdp && !unit.registers().grouped(offset)) cdp_table_.write(offset, write.value);
            if (which == Launched::Bdma && offset == reg::bdma::CFG_OP && reg::bdma::CFG_OP::EN.get(write.value))
                recover_transfer(unit.group(), bdma_);
            return effect == ProgrammedUnit::Effect::Launch ? launch(which, unit.group()) : Operations::kNobody;
        }
        return Operations::kNobody;
    }
    Operations::Number launch(Launched which, const RegisterGroup& group)
    {
        const std::size_t unit = static_cast<std::size_t>(which);
        const Operations::Number number = operations_.of(which, launches_[unit]++);
        LaunchedUnits& operation = open_[number];
        ++operation.launched;
        operation.units[unit] = group;
        if (which == Launched::Sdp) operation.tables[0] = sdp_table_.table(group, reg::sdp::kLutTables);
        if (which == Launched::Cdp) operation.tables[1] = cdp_table_.table(group, reg::cdp::kLutTables);
        if (which == Launched::Bdma) operation.bdma = std::exchange(bdma_, {});
        return number;
    }

    /// The producer first.
    std::vector<RecoveredOperation> chain_of(LaunchedUnits& from)
    {
        std::vector<RecoveredOperation> chain;
        problem_ = lacking(from);
        if (!problem_.empty()) return chain;
        const auto of = [&](Launched unit) -> const RegisterGroup& {
            if (const RegisterGroup* group = from.of(unit)) return *group;
            return std::ranges::find(units_, unit, &std::pair<Launched, ProgrammedUnit>::first)->second.group();  // it is not looked at
        };
        if (from.has(Launched::Cdma))
            chain.push_back(
                recover_conv({of(Launched::Cdma), of(Launched::Csc), of(Launched::CmacA), of(Launched::CmacB), of(Launched::Cacc)}, hw_));
        if (from.has(Launched::Sdp))
            chain.push_back(recover_sdp(of(Launched::Sdp), of(Launched::SdpRdma), from.has(Launched::SdpRdma), hw_));
        for (const auto& [unit, engine, recover] : kRecoveredUnits)
            if (from.has(unit)) chain.push_back(recover(of(unit), of(engine), hw_));
        if (from.has(Launched::Bdma)) {
            from.bdma.operation.kind = Kind::Bdma;
            chain.push_back(std::move(from.bdma));
        }
        last_.tables = from.tables;
        return chain;
    }

    const Hardware& hw_;
    const std::span<const ProgramEntry> program_;
    const Operations operations_;
    std::vector<std::pair<Launched, ProgrammedUnit>> units_;
    std::vector<std::size_t> launches_;  // so far, by unit
    TableState sdp_table_, cdp_table_;
    RecoveredOperation bdma_;  // transfers that wait for their launch
    std::map<Operations::Number, LaunchedUnits> open_;
    LaunchedUnits last_;
    std::string problem_;
};

bool looks_up(const SdpOperation& sdp) { return sdp.stages[2].enable != 0 && sdp.stages[2].activation == 2; }

/// Its number in the task; equal tables are one.
std::int16_t table_number(RecoveredTask& task, const LookupTable& table)
{
    for (std::size_t i = 0; i < task.tables.size(); ++i)
        if (task.tables[i] == table) return static_cast<std::int16_t>(i);
    task.tables.push_back(table);
    return static_cast<std::int16_t>(task.tables.size() - 1);
}

}  // namespace

std::vector<Cube*> cubes_of(Operation& operation)
{
    using Cubes = std::vector<Cube*>;
    return visit(Cases{[](ConvOperation& o) -> Cubes {
                           return {&o.weights, &o.mask, &o.groups, &o.source, &o.destination};
                       },
                       [](SdpOperation& o) -> Cubes {
                           return {&o.source, &o.operands[0], &o.operands[1], &o.operands[2], &o.destination};
                       },
                       [](BdmaOperation&) -> Cubes { return {}; },
                       [](auto& o) -> Cubes {
                           return {&o.source, &o.destination};
                       }},
                 operation);
}

std::vector<RecoveredTask> recover_operations(std::span<const ProgramEntry> program, const Hardware& hardware, const std::string& where,
                                              const std::function<bool(std::size_t step)>& ends_task)
{
    std::vector<RecoveredTask> tasks;
    RecoveredTask task;
    RecoveryRun run(hardware, program);
    const auto end_task = [&](std::optional<std::size_t> step) {
        if (run.any_open()) throw ConfigError(where, "launches only some units of an operation");
        task.host_step = step;
        tasks.push_back(std::exchange(task, {}));
    };
    run.follow(
        [&](Operations::Number, std::vector<RecoveredOperation> chain) {
            if (chain.empty()) throw ConfigError(where, run.problem());
            const std::size_t number = task.chain.empty() ? 0 : task.chain.back() + 1;
            for (RecoveredOperation& o : chain) {
                if (o.operation.kind == Kind::Sdp && looks_up(o.operation.sdp))
                    o.operation.sdp.table = table_number(task, run.table(Launched::Sdp));
                if (o.operation.kind == Kind::Cdp) o.operation.cdp.table = table_number(task, run.table(Launched::Cdp));
                task.operations.push_back(std::move(o));
                task.chain.push_back(number);
            }
        },
        [&](std::size_t step) {
            if (ends_task(step)) end_task(step);
        });
    end_task({});
    return tasks;
}

std::vector<ProgramOperation> program_operations(const Program& program, const Hardware& hardware)
{
    RecoveryRun run(hardware, program);
    const Operations& operations = run.operations();
    std::vector<ProgramOperation> list(operations.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        list[i] = {.launches = operations[static_cast<Operations::Number>(i + 1)].launches,
                   .units = operations.units(static_cast<Operations::Number>(i + 1)),
                   .chain = {}};
    run.follow([&](Operations::Number number, std::vector<RecoveredOperation> chain) { list[number - 1].chain = std::move(chain); },
               [](std::size_t) {});
    return list;
}

}  // namespace dlasim::loadable
