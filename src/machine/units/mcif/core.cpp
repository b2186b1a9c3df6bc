#include "units/mcif/core.h"

#include <algorithm>

#include "registers/fields/mcif.h"
#include "units/mcif/counters.h"

namespace dlasim {
namespace {

const UnitRegisters& registers_of(const Hardware& hardware, MemorySide side)
{
    const UnitRegisters* unit = find_unit(hardware, side == MemorySide::Primary ? "MCIF" : "CVIF");
    DLASIM_EXPECTS(unit);
    return *unit;
}

/// Of every client, in the order of Client.
template <std::size_t kCount>
std::array<reg::Field, kCount> weights_of(const UnitRegisters& unit, const char* access)
{
    std::array<reg::Field, kCount> fields{};
    for (std::size_t id = 0; id < kCount; ++id) {
        const auto row = std::ranges::find(unit.fields, std::string(access) + "_WEIGHT_" + kClientFacts[id].weight, &FieldRow::name);
        DLASIM_EXPECTS(row != unit.fields.end());
        fields[id] = row->field;
    }
    return fields;
}

}  // namespace

McifCore::McifCore(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, bool values, bool stepping)
    : McifCore(hardware, side, links, port, FabricMode{values, !stepping && !facts::fabric::of(hardware).pairs})
{
}

McifCore::McifCore(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode)
    : name_(side == MemorySide::Primary ? "mcif" : "cvif"),
      registers_(registers_of(hardware, side), links.csb),
      read_weights_(weights_of<kClients>(registers_of(hardware, side), "RD")),
      write_weights_(weights_of<kWriteClients>(registers_of(hardware, side), "WR")),
      port_(port),
      egress_(hardware, links, port, mode),
      ingress_(hardware, side, links, port, mode),
      writes_(hardware, side, links, port, mode)
{
    registers_.on_write = [this](std::uint32_t, std::uint32_t, Cycle) { settings_stale_ = true; };
    load_settings();
}

void McifCore::connect_doorbells()
{
    ingress_.connect_doorbells();
    writes_.connect_doorbells();
}

/// [spec] fabric.md 1.5: the registers' bytes.
void McifCore::load_settings()
{
    namespace r = reg::mcif;  // CVIF's window is laid out alike
    const auto value = [this](reg::Field field) { return static_cast<std::uint8_t>(registers_.get(field)); };
    std::ranges::transform(read_weights_, settings_.read_weight.begin(), value);
    std::ranges::transform(write_weights_, settings_.write_weight.begin(), value);
    settings_.read_limit = registers_.get(r::CFG_OUTSTANDING_CNT::RD_OS_CNT) + 1;
    settings_.write_limit = registers_.get(r::CFG_OUTSTANDING_CNT::WR_OS_CNT) + 1;
    settings_stale_ = false;
    ingress_.apply(settings_);
    writes_.apply(settings_);
}

void McifCore::advance(Cycle to)
{
    now_ = to;
    registers_.advance(to);

    // every part only where something can happen in it
    ingress_.returned(egress_.returned_ahead(to));
    if (egress_.due(to)) egress_.step(to);
    else egress_.rest();
    ingress_.returned(egress_.returned());
    const fabric::ReadCommand* issued = nullptr;
    if (ingress_.due(to)) issued = ingress_.step(to, egress_.contexts_full(), !settings_stale_);
    else ingress_.rest();
    egress_.issued(issued);
    if (writes_.due(to)) writes_.step(to);
    else writes_.rest();
    again_ = egress_.again() || ingress_.again() || writes_.again() || settings_stale_;
    const bool changed = egress_.changed() || ingress_.changed() || writes_.changed() || settings_stale_;

    // a register holds what was written to it from the next cycle on
    if (settings_stale_) load_settings();

    const bool moved = egress_.moved() || ingress_.accepted() || writes_.moved(), reads = !egress_.empty() || !ingress_.empty();
    const Cycle transit = std::max({egress_.in_transit_until(), ingress_.in_transit_until(), writes_.in_transit_until()});
    phases_.enter(moved ? Phase::Issuing : phase(to, reads, changed || transit > to), to);
    if (again_) return;
    // so it stays until the next evaluation, but where data on their way become visible
    const Phase rest = phase(to + 1, reads, transit > to + 1);
    phases_.enter(rest, to + 1);
    again_ = rest == Phase::Starved && transit > to + 1;
}

/// Of a cycle in which nothing comes or leaves. `reads`: some are held here.
Phase McifCore::phase(Cycle at, bool reads, bool changed) const
{
    if (!reads && writes_.waits_for_data(at)) return Phase::Starved;
    if (reads || !writes_.empty()) return changed ? Phase::Draining : Phase::Blocked;
    return ingress_.outstanding() != 0 || writes_.outstanding() != 0 ? Phase::Starved : Phase::Gated;
}

Cycle McifCore::horizon() const
{
    if (again_) return now_ + 1;
    // what has returned matters in its cycle to commands only
    const Cycle returns = ingress_.ordered(now_) ? std::max(egress_.next_return(), now_ + 1) : kNever;
    return std::min({port_.next(now_), ingress_.horizon(now_), egress_.horizon(now_), writes_.horizon(), returns, registers_.horizon()});
}

UnitReport McifCore::report(Cycle end)
{
    phases_.account_until(end);
    return {name_, phases_,
            McifCounters{.read_commands = ingress_.issued(),
                         .read_beats = egress_.taken(),
                         .write_commands = writes_.commands(),
                         .write_beats = writes_.beats()}};
}

std::string McifCore::waiting_for() const
{
    const std::string reads = std::to_string(ingress_.outstanding()), writes = std::to_string(writes_.outstanding());
    if (ingress_.outstanding() != 0 || writes_.outstanding() != 0)
        return name_ + ": " + reads + " read and " + writes + " write beats in flight";
    if (ingress_.blocked_by_limit()) return name_ + ": reads wait for CFG_OUTSTANDING_CNT";
    if (!ingress_.empty()) return name_ + ": read requests wait for credits or for a weight that is not 0";
    if (!writes_.empty()) return name_ + ": a write request waits for its data or for a weight that is not 0";
    return name_ + ": idle";
}

}  // namespace dlasim
