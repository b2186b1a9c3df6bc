#include "loadable/write/recovery.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>

#include "base/bits.h"
#include "base/error.h"
#include "loadable/write/recovered_units.h"
#include "loadable/write/register_state.h"

namespace dlasim::loadable {
namespace {

/// Follows a program and collects its operations.
class RecoveryRun {
public:
    RecoveryRun(const Hardware& hardware, std::string where) : hw_(hardware), where_(std::move(where))
    {
        for (const UnitRegisters& unit : register_units(hardware)) units_.emplace(std::string(unit.name), UnitState(unit));
    }

    void write(const RegisterWrite& write)
    {
        for (const UnitRegisters& unit : register_units(hw_)) {
            if (!unit.has(write.address)) continue;
            const std::uint32_t offset = write.address - unit.base;
            const bool enable = units_.at(std::string(unit.name)).write(offset, write.value);
            if (unit.name == "SDP" && !unit.grouped(offset)) sdp_table_.write(offset, write.value);
            if (unit.name == "CDP" && !unit.grouped(offset)) cdp_table_.write(offset, write.value);
            if (unit.name == "BDMA") bdma_write(offset, write.value);
            else if (enable && (write.value & 1) != 0) enabled(unit.name);
            return;
        }
    }
    void end_task(std::optional<std::size_t> step)
    {
        if (!flying_sdp_.empty() || !flying_pdp_.empty()) throw ConfigError(where_, "enables SDP or PDP without the unit that feeds it");
        task_.host_step = step;
        tasks_.push_back(std::move(task_));
        task_ = {};
    }
    std::vector<RecoveredTask> take() { return std::move(tasks_); }

private:
    const UnitState& unit(const char* name) const { return units_.at(name); }

    void enabled(std::string_view name)
    {
        if (name == "SDP_RDMA") sdp_reads_ = true;
        if (name == "PDP_RDMA") pdp_reads_ = true;
        if (name == "SDP") sdp();
        if (name == "PDP") pdp();
        if (name == "CDMA") conv();
        if (name == "RBK") add_chain({recover_rubik(unit("RBK"), hw_)});
        if (name == "CDP" || name == "CDP_RDMA") cdp(name == "CDP");
    }

    void conv()
    {
        const ConvUnits from{unit("CDMA"), unit("CSC"), unit("CMAC_A"), unit("CMAC_B"), unit("CACC")};
        std::vector<RecoveredOperation> chain{recover_conv(from, hw_)};
        if (flying_sdp_.empty()) throw ConfigError(where_, "enables a convolution before its SDP, expected SDP first");
        add_fused(chain, std::move(flying_sdp_.front()));
        flying_sdp_.pop_front();
        add_chain(std::move(chain));
    }
    /// SDP, and PDP where it feeds it.
    void add_fused(std::vector<RecoveredOperation>& chain, RecoveredOperation sdp)
    {
        const bool pools = sdp.operation.sdp.destination.on_the_fly();
        chain.push_back(std::move(sdp));
        if (!pools) return;
        if (flying_pdp_.empty()) throw ConfigError(where_, "enables SDP that feeds PDP before PDP, expected PDP first");
        chain.push_back(std::move(flying_pdp_.front()));
        flying_pdp_.pop_front();
    }
    void sdp()
    {
        RecoveredOperation o = recover_sdp(unit("SDP"), unit("SDP_RDMA"), sdp_reads_, hw_);
        sdp_reads_ = false;
        if (looks_up(o.operation.sdp)) o.operation.sdp.table = table(sdp_table_.table(unit("SDP"), reg::sdp::kLutTables));
        if (o.operation.sdp.source.on_the_fly()) return flying_sdp_.push_back(std::move(o));
        std::vector<RecoveredOperation> chain;
        add_fused(chain, std::move(o));
        add_chain(std::move(chain));
    }
    static bool looks_up(const SdpOperation& sdp) { return sdp.stages[2].enable != 0 && sdp.stages[2].activation == 2; }
    void pdp()
    {
        RecoveredOperation o = recover_pdp(unit("PDP"), unit("PDP_RDMA"), hw_);
        if (o.operation.pdp.source.on_the_fly()) return flying_pdp_.push_back(std::move(o));
        if (!pdp_reads_) throw ConfigError(where_, "enables PDP from memory before PDP_RDMA, expected PDP_RDMA first");
        pdp_reads_ = false;
        add_chain({std::move(o)});
    }
    /// Both of its units are enabled, in any order.
    void cdp(bool core)
    {
        (core ? cdp_core_ : cdp_reads_) = true;
        if (!cdp_core_ || !cdp_reads_) return;
        cdp_core_ = cdp_reads_ = false;
        RecoveredOperation o = recover_cdp(unit("CDP"), unit("CDP_RDMA"), hw_);
        o.operation.cdp.table = table(cdp_table_.table(unit("CDP"), reg::cdp::kLutTables));
        add_chain({std::move(o)});
    }
    void bdma_write(std::uint32_t offset, std::uint32_t value)
    {
        using namespace reg::bdma;
        if (offset == CFG_OP && (value & 1) != 0) recover_transfer(unit("BDMA"), bdma_);
        if ((offset != CFG_LAUNCH0 && offset != CFG_LAUNCH1) || (value & 1) == 0) return;
        bdma_.operation.kind = Kind::Bdma;
        add_chain({std::move(bdma_)});
        bdma_ = {};
    }

    /// Its number in the task; equal tables are one.
    std::int16_t table(const LookupTable& table)
    {
        for (std::size_t i = 0; i < task_.tables.size(); ++i)
            if (task_.tables[i] == table) return static_cast<std::int16_t>(i);
        task_.tables.push_back(table);
        return static_cast<std::int16_t>(task_.tables.size() - 1);
    }
    void add_chain(std::vector<RecoveredOperation> chain)
    {
        const std::size_t number = task_.chain.empty() ? 0 : task_.chain.back() + 1;
        for (RecoveredOperation& operation : chain) {
            task_.operations.push_back(std::move(operation));
            task_.chain.push_back(number);
        }
    }

    const Hardware& hw_;
    const std::string where_;
    std::map<std::string, UnitState, std::less<>> units_;
    TableState sdp_table_, cdp_table_;
    bool sdp_reads_ = false, pdp_reads_ = false, cdp_core_ = false, cdp_reads_ = false;
    std::deque<RecoveredOperation> flying_sdp_, flying_pdp_;
    RecoveredOperation bdma_;
    RecoveredTask task_;
    std::vector<RecoveredTask> tasks_;
};

}  // namespace

std::vector<Cube*> cubes_of(Operation& o)
{
    switch (o.kind) {
        case Kind::Conv:
            return {&o.conv.weights, &o.conv.mask, &o.conv.groups, &o.conv.source, &o.conv.destination};
        case Kind::Sdp:
            return {&o.sdp.source, &o.sdp.operands[0], &o.sdp.operands[1], &o.sdp.operands[2], &o.sdp.destination};
        case Kind::Pdp:
            return {&o.pdp.source, &o.pdp.destination};
        case Kind::Cdp:
            return {&o.cdp.source, &o.cdp.destination};
        case Kind::Rubik:
            return {&o.rubik.source, &o.rubik.destination};
        case Kind::Bdma:
            break;
    }
    return {};
}

std::vector<RecoveredTask> recover_operations(std::span<const ProgramEntry> program, const Hardware& hardware, const std::string& where,
                                              const std::function<bool(std::size_t step)>& ends_task)
{
    RecoveryRun run(hardware, where);
    for (const ProgramEntry& entry : program) {
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) run.write(*write);
        if (const auto* step = std::get_if<HostStep>(&entry); step && ends_task(step->number)) run.end_task(step->number);
    }
    run.end_task({});
    return run.take();
}

}  // namespace dlasim::loadable
