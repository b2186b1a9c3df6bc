#include "units/cacc/core.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/busy_plan.h"
#include "facts/cacc.h"
#include "facts/cmac.h"
#include "facts/csc.h"
#include "links/direct_core.h"
#include "registers/fields/cacc.h"
#include "registers/interrupts.h"
#include "registers/register_file.h"
#include "units/cacc/accumulator.h"
#include "units/cacc/counters.h"
#include "units/cacc/delivery.h"

namespace dlasim {

using cacc::Accumulator;
using cacc::AccumulatorMode;
using cacc::Delivery;
using cacc::DeliveryOrder;

namespace {

struct CaccCore final : DirectCore<CaccCore> {
    CaccCore(const Hardware& hw, const CaccPorts& p, bool with_values)
        : hardware(hw),
          silicon(facts::cacc::of(hw)),
          ports(p),
          values(with_values),
          registers(*find_unit(hw, "CACC"), p.csb),
          accumulator(hw),
          delivery(silicon.entries, silicon.entry_lanes, silicon.available, silicon.clears_end_first),
          results(std::size_t{5} * hw.kernel_group(Precision::Int8) + 16, 0)
    {
        registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) { return read_status(offset, group, at); };
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::string stuck() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { log = &all[WaitPoint::Cacc]; }
    /// Why the next beat does not leave earlier: from `from` on, after the one before.
    [[gnu::always_inline]] void note_beat(Cycle from, bool paced)
    {
        if (paced) log->works(from, Cause::AccumulatorFull);
        else log->waits(from, WaitPoint::Csc, Cause::Pipeline, array_way);
    }
    void start_layer(Cycle at);
    void finish_layer();
    void take_sums(Cycle to);
    void drop_sums(Cycle to);
    void change_layers(Cycle to);
    void take(const Sums& a, const Sums& b);
    void deliver(const Sums& a, Cycle first);
    void advance_output(Cycle to);
    void pass_beats(Cycle to);
    void schedule_beat();
    void offer_beat(Cycle at);
    std::optional<std::uint32_t> read_status(std::uint32_t offset, unsigned group, Cycle at) const;

    const Hardware& hardware;
    const facts::cacc::Facts silicon;
    const CaccPorts ports;
    const bool values;
    RegisterFile registers;
    Accumulator accumulator;
    Delivery delivery;
    std::vector<std::int32_t> results;  // of one atom

    // ---- input side
    Cycle now = 0;
    bool running = false;
    Cycle done_at = kNever;
    Precision precision = Precision::Int8;
    std::uint32_t entries_per_atom = 1;
    std::uint64_t saturated = 0;  // of the layer under way
    bool delivered_last = true;   // the last atom delivered was the last of its layer
    struct Saturated {
        std::uint64_t layers = 0, sums = 0;  // of the group so far, of the last one
        Cycle from = 0;
    };
    std::array<Saturated, 2> group_saturated{};

    // ---- output side: an entry at a time, whose beats leave as SDP is ready; when it will be valid follows from the one before
    bool offered = false;          // the channel holds one
    Cycle beat_at = kNever;        // ... whose next beat is valid from here on; or will be offered for then
    std::uint32_t beat = 0;        // of the entry
    Cycle read_at = 0;             // when its entry is read
    Cycle stage2 = 0, stage3 = 0;  // when the entry before entered the elastic stages, nv_full
    Cycle free_at = 0;             // cycle after the last beat was taken
    unsigned interrupt_group = 0;

    BusyPlan phases;
    GatedClocks<CaccCounters> clocks;
    CaccCounters counted;
    WaitLog* log = nullptr;
    StripeLog* stripes = nullptr;
    const Cycle array_way = facts::csc::kDataToMac + facts::cmac::of(hardware).to_cacc + silicon.delivery[0] + silicon.available + 1;
};

}  // namespace

void CaccCore::start_layer(Cycle at)
{
    running = true;
    clocks.on(at, &CaccCounters::op0, &CaccCounters::op1, &CaccCounters::op2);
    clocks.on(at + facts::cacc::kCellGate, &CaccCounters::cell0);
    using namespace reg::cacc;
    const auto odd = [&](std::uint32_t offset) { return registers.get(offset) / facts::cacc::kGranuleBytes % 2 != 0; };
    const std::uint32_t code = silicon.words ? registers.get(D_MISC_CFG::PROC_PRECISION) : 0;
    precision = code == 0 ? Precision::Int8 : code == 2 ? Precision::Fp16 : Precision::Int16;
    AccumulatorMode mode{precision, hardware.winograd && registers.get(D_MISC_CFG::CONV_MODE), registers.get(D_CLIP_CFG)};
    accumulator.start_layer(mode);
    entries_per_atom = silicon.entries_per_atom(hardware.kernel_group(precision)) * mode.outputs();

    DeliveryOrder order;
    if (hardware.batch && !mode.winograd) order.last_batch = registers.get(D_BATCH_NUMBER);
    order.last_column = registers.get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH);
    order.last_row = registers.get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT);
    order.last_group = registers.get(D_DATAOUT_SIZE_1) / (precision == Precision::Int8 ? 32 : 16);
    order.address_odd = odd(D_DATAOUT_ADDR);
    order.line_odd = odd(D_LINE_STRIDE);
    order.surface_odd = odd(D_SURF_STRIDE);
    delivery.start_layer(order);
    phases.enter(Phase::Starved, at);
}

void CaccCore::finish_layer()
{
    const unsigned group = registers.consumer();
    group_saturated[group] = {group_saturated[group].layers + 1, saturated, done_at + 1};
    registers.finish(done_at);
    clocks.off(done_at + facts::cacc::kGateOff + 1);
    running = false;
    done_at = kNever;
}

std::optional<std::uint32_t> CaccCore::read_status(std::uint32_t offset, unsigned group, Cycle at) const
{
    if (offset != reg::cacc::D_OUT_SATURATION) return std::nullopt;
    if (registers.enabled(group, at) || at < group_saturated[group].from) return 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(group_saturated[group].sums, UINT32_MAX));
}

[[gnu::flatten]] void CaccCore::advance(Cycle to)
{
    now = to;
    registers.advance(to);
    take_sums(to);
    change_layers(to);
    advance_output(to);
    phases.account_until(to);
}

/// Those of cycles up to `to`, each in its cycle.
void CaccCore::take_sums(Cycle to)
{
    while (ports.sums_a.available(to)) {
        const Cycle at = ports.sums_a.next();
        change_layers(at);
        const Sums a = ports.sums_a.take();
        Sums b;
        while (ports.sums_b.available(at)) {
            b = ports.sums_b.take();
            if (b.first_atom >= a.first_atom) break;
        }
        if (b.first_atom != a.first_atom) b = Sums{.outputs = 0};
        take(a, b);
        drop_sums(at);
    }
    drop_sums(to);
}

/// Sums of the second half without any of the first.
void CaccCore::drop_sums(Cycle to)
{
    while (ports.sums_b.available(to)) ports.sums_b.take();
}

void CaccCore::change_layers(Cycle to)
{
    for (;;) {
        if (running && done_at <= to) finish_layer();
        if (running || registers.start_cycle() > to) return;
        start_layer(registers.start_cycle());
    }
}

void CaccCore::take(const Sums& a, const Sums& b)
{
    if (stripes)
        if (StripeTimes* const times = stripes->next_sums()) times->sums = a.first_atom;
    if (!running) {
        // Atoms that arrive before the layer has started are lost.
        if (registers.start_cycle() > a.first_atom) {
            ++counted.lost_stripes;
            return;
        }
        start_layer(registers.start_cycle());
    }
    ++counted.stripes;
    counted.atoms += a.atoms;
    const Cycle first = a.first_atom;
    if (values) accumulator.begin_stripe(a, b);
    if (a.channel_end) deliver(a, first + silicon.delivery[static_cast<std::size_t>(precision)]);
    else if (values) accumulator.add();
    accumulator.end_stripe(a.channel_end);
    phases.busy(first, first + a.atoms, a.layer_end ? Phase::Draining : Phase::Starved);
}

/// `first`: the cycle in which the first atom is delivered.
void CaccCore::deliver(const Sums& a, Cycle first)
{
    if (stripes) stripes->delivers(first, std::uint64_t{a.atoms} * entries_per_atom);
    if (!values && delivery.in_order()) {
        delivery.append_run(a.atoms, entries_per_atom, first + silicon.available, a.layer_end);
    } else {
        for (std::uint32_t i = 0; i < a.atoms; ++i) {
            const bool last = a.layer_end && i + 1 == a.atoms;
            if (values) {
                const std::uint32_t count = accumulator.finish(i, results.data());
                // A layer of a single atom does not clear the count of the layer before.
                saturated = delivered_last && !last ? count : saturated + count;
                counted.saturated += count;
            }
            delivered_last = last;
            delivery.append(results.data(), entries_per_atom, first + i + silicon.available, last);
        }
    }
    if (a.layer_end) done_at = first + a.atoms - 1 + facts::cacc::kDone;
}

/// When the next entry will be valid, given that the one before has been taken.
void CaccCore::schedule_beat()
{
    if (!delivery.any()) {
        beat_at = kNever;
        if (log) note_beat(free_at, false);
        return;
    }
    const Cycle available = delivery.available_at();
    if (log) note_beat(free_at, available < free_at);
    if (silicon.elastic_output) {
        const Cycle stage1 = std::max(available + 1, stage2);
        read_at = stage1 - 1;
        stage2 = std::max(stage1 + 1, stage3);
        stage3 = std::max(stage2 + 1, free_at);
        beat_at = stage3;
    } else {
        read_at = std::max(available, free_at);
        beat_at = read_at + 1;
    }
}

void CaccCore::offer_beat(Cycle at)
{
    delivery.read(read_at);
    SumBeat& item = ports.sdp.offer_in_place(at);
    if (values) std::copy_n(delivery.entry(), std::min<std::size_t>(silicon.beat_lanes, item.lanes.size()), item.lanes.begin());
    item.layer_end = delivery.ends_layer();
    item.beats = silicon.beats_per_entry;
    item.more = delivery.entry() + silicon.beat_lanes;
    offered = true;
}

/// Those that left before cycle `to` without being looked at: SDP was ready all the time, and the last one of the entry is not among them.
void CaccCore::pass_beats(Cycle to)
{
    if (!offered || beat_at >= to || !ports.sdp.ready(to - 1)) return;
    if (log) note_beat(beat_at + 1, true);
    const Cycle beats = to - std::exchange(beat_at, to);
    counted.beats += beats;
    beat += static_cast<std::uint32_t>(beats);
    DLASIM_EXPECTS(beat < silicon.beats_per_entry);
}

void CaccCore::advance_output(Cycle to)
{
    bool taken = false;
    pass_beats(to);
    if (offered && beat_at <= to && ports.sdp.ready(to)) {
        if (log && to > beat_at) log->waits(beat_at + 1, WaitPoint::Sdp, Cause::SdpPace);
        counted.beat_waits += to - beat_at;
        ++counted.beats;
        beat_at = free_at = to + 1;
        if (++beat != silicon.beats_per_entry) {
            if (log) note_beat(free_at, true);
        } else {
            beat = 0;
            taken = true;
            offered = false;
            beat_at = kNever;
            ports.credit.put(to + facts::cacc::kCredit, 1);
            if (delivery.ends_layer()) {
                ports.interrupt.put(to + silicon.end_to_interrupt, reg::glb::kCacc.bit(interrupt_group));
                interrupt_group ^= 1;
                if (!running) phases.enter(Phase::Gated, to + 1);
            }
            delivery.pop();
            if (stripes) stripes->entry_sent(to);
        }
    }
    if (!offered && beat_at == kNever) schedule_beat();
    if (!offered && beat_at == to + 1) offer_beat(to + 1);
    else if (taken) ports.sdp.withdraw(to + 1);
}

Cycle CaccCore::horizon() const
{
    Cycle next = std::min({registers.horizon(), ports.sums_a.next(), ports.sums_b.next()});
    next = std::min(next, running ? done_at : registers.start_cycle());
    if (offered) {
        // The link wakes CACC when SDP's ready changes.
        const Cycle at = std::max(beat_at, now + 1);
        if (ports.sdp.ready(at)) next = std::min(next, at + (silicon.beats_per_entry - 1 - beat));
    } else if (beat_at != kNever) {
        next = std::min(next, beat_at - 1);
    }
    return std::max(next, now + 1);
}

void CaccCore::catch_up(Cycle end)
{
    if (end == 0) return;
    take_sums(end - 1);
    pass_beats(end);
    if (log && offered && beat_at + 1 < end) log->waits(beat_at + 1, WaitPoint::Sdp, Cause::SdpPace);
}

UnitReport CaccCore::report(Cycle end)
{
    catch_up(end);
    return {"cacc", phases.log(end), counted, clocks, end};
}

std::string CaccCore::waiting_for() const
{
    if (offered) return "SDP to take a beat";
    if (delivery.any()) return "nothing: beats are in flight";
    return running ? "sums from CMAC" : "idle, not enabled";
}

std::string CaccCore::stuck() const
{
    const Cycle met = delivery.tags().met_at();
    if (met == kNever) return "";
    return "CACC signalled the end of a layer to SDP too early. In cycle " + std::to_string(met) +
           " a layer wrote its last result while the last one of the previous layer left, and the two end markers overwrote each other,"
           " a defect of the silicon (docs/hardware/cacc.md 3.7). A layer of fewer than " +
           std::to_string(silicon.entries) + " results must be enabled after the interrupt of the previous one";
}

void CaccCore::attach(ProbeSet& probes)
{
    clocks.attach(probes, "cacc");
    phases.record(probes.phases("cacc"));
    probes.also("clock_on_cacc", "clock_on_cacc_op0");
    probes.also("clock_on_cacc_cell", "clock_on_cacc_cell0");
    stripes = probes.stripes();
}

std::unique_ptr<Core> make_cacc(const Hardware& hardware, const CaccPorts& ports, bool values)
{
    return std::make_unique<CaccCore>(hardware, ports, values);
}

}  // namespace dlasim
