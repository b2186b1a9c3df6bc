#include "units/csc/core.h"

#include <algorithm>
#include <array>

#include "base/busy_plan.h"
#include "facts/cacc.h"
#include "facts/cdma.h"
#include "facts/csc.h"
#include "links/direct_core.h"
#include "registers/register_file.h"
#include "units/csc/counters.h"
#include "units/csc/data_loader.h"
#include "units/csc/layer.h"
#include "units/csc/sequencer.h"
#include "units/csc/weight_loader.h"

namespace dlasim {

using csc::ConvMode;
using csc::DataLoader;
using csc::LayerConfig;
using csc::Package;
using csc::PackageAtoms;
using csc::Sequencer;
using csc::WeightLoader;
using csc::WeightSet;

namespace {

// From what happens in the unit to what the sequencer knows of it: csc.md 1.6.1, cdma.md 3.4, 7.5, 10.
constexpr Cycle kCreditWay = facts::cacc::kCredit + facts::csc::kCreditToCounter;
constexpr Cycle kLinesWay = facts::cdma::kReadToConverter + facts::cdma::kUpdate + 1;
constexpr Cycle kKernelsWay = facts::cdma::kWeightMessage + 1;

struct CscCore final : DirectCore<CscCore>, csc::PackageSink {
    enum class Life { Idle, Pending, Busy, Done };

    /// Cycles without an atom at the port, of one cause.
    struct Gap {
        std::uint64_t& cycles;
        Probe* probe = nullptr;
        void add(Cycle start, Cycle end)
        {
            if (start >= end) return;
            cycles += end - start;
            if (probe) probe->run(start + facts::csc::kDataToMac, end - start);
        }
    };

    /// What must be remembered of the layer before.
    struct Previous {
        LayerConfig layer;
        bool any = false;
        Slices slices;  // lines left in the buffer
    };

    CscCore(const Hardware& hw, const CscPorts& p, bool with_values)
        : hardware(hw),
          ports(p),
          values(with_values),
          registers(*find_unit(hw, "CSC"), p.csb),
          sequencer(facts::csc::of(hw).minimum_issue, facts::csc::of(hw).credit),
          weights(hw, p.cbuf, with_values),
          data(hw, p.cbuf, with_values)
    {
    }

    void advance(Cycle to) override;
    void start_layer(Cycle at);
    void start_busy(Cycle first);
    void advance_pending(Cycle to);
    void advance_busy(Cycle to);
    Cycle next_event(Cycle to);
    /// Somebody wants every package in its cycle.
    bool seen() const { return values || ports.cbuf.watch || layer.compressed; }
    void absorb(Cycle at);
    void finish_layer();
    void account_gap(Cycle at);
    void choose_wakes();
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { log = &all[WaitPoint::Csc]; }
    void record_stall();
    void flush_stall();

    void pop_weights(const Package& package, unsigned slot, Cycle at) override;
    void pop_data(const Package& package, unsigned slot, Cycle at) override;

    const Hardware& hardware;
    const CscPorts ports;
    const bool values;
    RegisterFile registers;
    Sequencer sequencer;
    WeightLoader weights;
    DataLoader data;

    Life life = Life::Idle;
    Cycle now = 0;
    LayerConfig layer;
    Previous previous;
    bool data_pending = false, weight_pending = false;  // requests to CDMA
    Cycle data_ack = kNever, weight_ack = kNever;       // first cycle of the acknowledgement
    Cycle busy_at = kNever, done_at = kNever;

    // Operands of a package, from its weight pop to the cycle after its data pop.
    std::array<WeightSet, Sequencer::kSlots> weight_sets;
    std::array<PackageAtoms, Sequencer::kSlots> atom_sets;
    std::array<Operands, Sequencer::kSlots> operands;

    BusyPlan phases;
    GatedClocks<CscCounters> clocks{hardware.winograd};
    Cycle issued_until = 0;
    bool credit_short = false;
    Cycle loaded_at = 0, weights_at = 0;  // the weights of the next package: complete, popped
    CscCounters counted;                  // without the reads of the loaders
    Gap package_gap{counted.package_gap_cycles}, load_gap{counted.load_gap_cycles}, credit_gap{counted.credit_gap_cycles};
    Probe *data_probe = nullptr, *weight_probe = nullptr;
    Level *credits = nullptr, *data_entries = nullptr, *weight_entries = nullptr;
    StripeLog* stripes = nullptr;
    Sleeper* credit_reader = nullptr;
    WaitLog* log = nullptr;
    /// With a log: why no atoms leave after the last package, from which cycle on. Most packages come before that, and is not recorded.
    struct PendingStall {
        enum class Why : std::uint8_t { Told, Load, LoadAndCredit, Credit, Lines, Kernels };
        Why why = Why::Told;
        Cycle from = 0, loaded = 0;
    } gap;
};

}  // namespace

void CscCore::pop_weights(const Package& p, unsigned slot, Cycle at)
{
    const WeightLoader::Released released = weights.load(p, at, weight_sets[slot]);
    weights_at = at;
    loaded_at = std::max(loaded_at, at + std::max<Cycle>(p.loads, facts::csc::kMinimumLoad));
    if (weight_probe) weight_probe->run(at + facts::csc::kWeightToMac, std::min(p.loads, hardware.mac.atomic_k / 2));
    if (p.group_end && !layer.skip_weight_release)
        ports.cdma.weight_released.put(at + facts::csc::kWeightRelease + p.loads - 1,
                                       {Kernels{0}, released.entries, released.mask_entries});
}

void CscCore::pop_data(const Package& p, unsigned slot, Cycle at)
{
    PackageAtoms& set = atom_sets[slot];
    data.load(p, at, set);
    const std::uint32_t count = p.length * layer.loaded_batches;
    Stripe stripe{.first_atom = at + facts::csc::kDataToMac,
                  .atoms = count,
                  .kernels = Kernels{p.kernels},
                  .channel_end = p.channel_end,
                  .layer_end = p.layer_end,
                  .precision = layer.precision,
                  .lanes = set.lanes};
    if (values) {
        Operands& o = operands[slot];
        o = {layer.precision,  layer.mode == ConvMode::Winograd, set.lanes,
             set.atoms.data(), weight_sets[slot].bytes.data(),   weight_sets[slot].pitch};
        stripe.operands = &o;
    }
    const bool wakes = values || p.channel_end;  // until sums are complete nobody sees when they were added
    ports.cmac_a.put(at + 1, stripe, wakes);
    ports.cmac_b.put(at + 1, stripe, wakes);
    if (data_probe) data_probe->run(stripe.first_atom, count);
    if (stripes) {
        StripeTimes& times = stripes->add();
        times.weights = weights_at;
        times.data = at;
        times.array = stripe.first_atom;
        times.atoms = count;
        times.kernels = p.kernels;
        times.layer_end = p.layer_end;
        if (p.channel_end) credits->set(at, sequencer.credit());
    }
    if (p.layer_end && !layer.skip_data_release) {
        const Cycle delay = layer.mode == ConvMode::Winograd ? facts::csc::kDataReleaseWinograd : facts::csc::kDataRelease;
        const Slices slices{layer.release_slices};
        ports.cdma.data_released.put(at + delay + count - 1, {data.release(layer, slices), slices});
    }
    account_gap(at);
    if (log) {
        if (issued_until < at) flush_stall();
        log->works(at, Cause::Computing);
        if (p.layer_end) log->works(at + p.size, Cause::Drain);
        gap = p.layer_end ? PendingStall{} : PendingStall{PendingStall::Why::Load, at + p.size, 0};
    }
    phases.busy(at, at + p.size, p.layer_end ? Phase::Draining : Phase::Starved);
    issued_until = at + p.size;
    loaded_at = at + std::max(facts::csc::of(hardware).minimum_issue, p.execution);
    credit_short = false;
    counted.shortest_stripe = counted.packages == 0 ? count : std::min<std::uint64_t>(counted.shortest_stripe, count);
    counted.longest_stripe = std::max<std::uint64_t>(counted.longest_stripe, count);
    ++counted.packages;
    counted.atoms += count;
    if (p.layer_end) done_at = at + p.size + facts::csc::kFlush;
}

/// The cycles since the last package whose data leave in `at`: first its weights were not there, then
/// they were on their way into the array, then CACC was full. A gap with a wait for credits is blocked.
void CscCore::account_gap(Cycle at)
{
    if (issued_until >= at) return;
    phases.enter(credit_short ? Phase::Blocked : Phase::Starved, issued_until);
    const Cycle popped = std::clamp(weights_at, issued_until, at), loaded = std::clamp(loaded_at, popped, at);
    (credit_short ? credit_gap : package_gap).add(issued_until, popped);
    load_gap.add(popped, loaded);
    (credit_short ? credit_gap : package_gap).add(loaded, at);
}

/// What holds from the next cycle of the sequencer on, after the package whose atoms leave.
void CscCore::record_stall()
{
    using Why = PendingStall::Why;
    const Cycle from = std::max(sequencer.clock(), issued_until);
    if (sequencer.finished()) return;
    if (gap.from < from) flush_stall();
    if (sequencer.loads())
        gap = {sequencer.waits_for_credit() ? Why::LoadAndCredit : Why::Load, from,
               std::max(sequencer.clock() + sequencer.pop_left(), from)};
    else if (sequencer.waits_for_credit()) gap = {Why::Credit, from, 0};
    else if (sequencer.empty() && sequencer.waits_for_lines()) gap = {Why::Lines, from, 0};
    else if (sequencer.empty() && sequencer.waits_for_kernels()) gap = {Why::Kernels, from, 0};
}

void CscCore::flush_stall()
{
    using Why = PendingStall::Why;
    switch (gap.why) {
        case Why::Told:
            break;
        case Why::Load:
            log->works(gap.from, Cause::WeightLoad);
            break;
        case Why::LoadAndCredit:
            log->works(gap.from, Cause::WeightLoad);
            log->waits(gap.loaded, WaitPoint::Cacc, Cause::AccumulatorFull, kCreditWay);
            break;
        case Why::Credit:
            log->waits(gap.from, WaitPoint::Cacc, Cause::AccumulatorFull, kCreditWay);
            break;
        case Why::Lines:
            log->waits(gap.from, WaitPoint::CdmaData, Cause::DataLate, kLinesWay);
            break;
        case Why::Kernels:
            log->waits(gap.from, WaitPoint::CdmaWeight, Cause::WeightsLate, kKernelsWay);
            break;
    }
    gap = {};
}

/// The first cycle up to `to` in which more than the pop counter can move.
Cycle CscCore::next_event(Cycle to)
{
    Cycle next = to;
    if (ports.cdma.data_filled.next() != kNever) next = std::min(next, ports.cdma.data_filled.next() + 1);
    if (ports.cdma.weight_filled.next() != kNever) next = std::min(next, ports.cdma.weight_filled.next() + 1);
    Cycle shown = 0;
    // Credits matter only to a head that waits for them, and only the last one it needs.
    while (sequencer.waits_for_credit()) {
        const Cycle credit = ports.credit.next();
        if (credit == kNever || credit + facts::csc::kCreditToCounter > next) return next;
        sequencer.add_credit(ports.credit.take());
        shown = credit + facts::csc::kCreditToCounter;
    }
    return std::min(next, std::max(sequencer.next_pop(), shown));
}

/// Takes the updates that the counters show in cycle `at`.
void CscCore::absorb(Cycle at)
{
    while (at != 0 && ports.cdma.data_filled.available(at - 1)) sequencer.slices += ports.cdma.data_filled.take().slices.count();
    while (at != 0 && ports.cdma.weight_filled.available(at - 1)) sequencer.kernels += ports.cdma.weight_filled.take().kernels.count();
    while (at >= facts::csc::kCreditToCounter && ports.credit.available(at - facts::csc::kCreditToCounter))
        sequencer.add_credit(ports.credit.take());
}

void CscCore::start_layer(Cycle at)
{
    now = at;
    layer = LayerConfig::decode(hardware, registers);
    absorb(at + 1);
    const bool mode_changed = !previous.any || previous.layer.mode != layer.mode;
    if ((!layer.data_reuse || mode_changed) && previous.slices.any()) {
        sequencer.slices -= previous.slices.count();
        ports.cdma.data_released.put(at + facts::csc::kReuseRelease, {data.release(previous.layer, previous.slices), previous.slices});
    }
    if (!layer.weight_reuse && previous.any && previous.layer.skip_weight_release) {
        sequencer.kernels -= previous.layer.last_kernel + 1;
        const WeightUpdate kept{Kernels{0}, Entries{previous.layer.weight_entries}, MaskEntries{previous.layer.mask_entries}};
        weights.release_kept(kept.entries, kept.mask_entries);
        ports.cdma.weight_released.put(at + facts::csc::kReuseRelease, kept);
    }
    data_pending = !previous.any || layer.data_banks != previous.layer.data_banks;
    weight_pending = data_pending || layer.weight_banks != previous.layer.weight_banks;
    done_at = kNever;
    clocks.on(at, &CscCounters::op0, &CscCounters::op1, &CscCounters::op2);
    if (layer.mode == ConvMode::Winograd) clocks.on(at + facts::csc::kWinogradGate, &CscCounters::winograd);
    phases.enter(Phase::Starved, at);
    issued_until = at;
    if (log && weight_pending) log->waits(at, data_pending ? WaitPoint::CdmaData : WaitPoint::CdmaWeight, Cause::BankChange);
    else if (log) log->works(at, Cause::StartUp);
    if (!weight_pending) {
        start_busy(at + 1);
        return;
    }
    life = Life::Pending;
    busy_at = data_ack = weight_ack = kNever;
    ports.cdma.weight_pending_request.set(at + 1, true);
    if (data_pending) ports.cdma.data_pending_request.set(at + 1, true);
}

void CscCore::start_busy(Cycle first)
{
    if (weight_pending) {
        // Counters and rings were held at zero; what was announced meanwhile is lost.
        sequencer.kernels = 0;
        weights.reset_ring();
        if (weight_entries) weight_entries->set(first, 0);
        while (ports.cdma.weight_filled.available(first - 1)) ports.cdma.weight_filled.take();
    }
    if (data_pending) {
        sequencer.slices = 0;
        data.reset_ring();
        if (data_entries) data_entries->set(first, 0);
        while (ports.cdma.data_filled.available(first - 1)) ports.cdma.data_filled.take();
    }
    weights.start_layer(layer);
    data.start_layer(layer);
    sequencer.start(layer, first);
    life = Life::Busy;
}

void CscCore::advance_pending(Cycle to)
{
    if (busy_at == kNever) {
        if (weight_ack == kNever && ports.cdma.weight_pending_ack.read(to)) weight_ack = to;
        if (data_pending && data_ack == kNever && ports.cdma.data_pending_ack.read(to)) data_ack = to;
        if (weight_ack == kNever || (data_pending && data_ack == kNever)) return;
        busy_at = (data_pending ? std::max(weight_ack, data_ack) : weight_ack) + facts::csc::kAckToBusy;
        ports.cdma.weight_pending_request.set(busy_at, false);
        if (data_pending) ports.cdma.data_pending_request.set(busy_at, false);
    }
    if (to >= busy_at) start_busy(busy_at);
}

void CscCore::advance_busy(Cycle to)
{
    while (sequencer.clock() <= to && !sequencer.finished()) {
        const Cycle at = sequencer.clock(), known = sequencer.popped() ? sequencer.refill_cycles() : 0;
        if (known != 0 && at + known <= std::min(to + 1, issued_until)) {  // while atoms leave: no gap begins
            absorb(at + known - 1);
            sequencer.refill();
        } else {
            absorb(at);
            sequencer.step(at, *this);
        }
        if (log) record_stall();
        if (!credit_short && sequencer.waits_for_credit()) {
            credit_short = true;
            ++counted.credit_waits;
        }
        if (sequencer.quiet() && sequencer.clock() <= to) sequencer.skip(std::max(sequencer.clock(), next_event(to)));
    }
    if (sequencer.finished()) life = Life::Done;
}

void CscCore::finish_layer()
{
    registers.finish(done_at);
    previous.layer = layer;
    previous.any = true;
    previous.slices = Slices{layer.kept_slices()};
    clocks.off(done_at + facts::csc::kGateOff);
    phases.enter(Phase::Gated, done_at + 1);
    if (log) registers.note_idle(*log, done_at + 1);
    life = Life::Idle;
}

void CscCore::advance(Cycle to)
{
    now = to;
    registers.advance(to);
    for (;;) {
        switch (life) {
            case Life::Idle: {
                const Cycle start = registers.start_cycle();
                if (start > to) return choose_wakes();
                start_layer(start);
                break;
            }
            case Life::Pending:
                advance_pending(to);
                if (life == Life::Pending) return choose_wakes();
                break;
            case Life::Busy:
                advance_busy(to);
                if (life == Life::Busy) return choose_wakes();
                break;
            case Life::Done:
                if (done_at > to) return choose_wakes();
                finish_layer();
                break;
        }
    }
}

/// Credits come one a cycle while CACC drains: they wake CSC only when it waits for them and none is on its way.
void CscCore::choose_wakes()
{
    phases.account_until(now);
    if (ports.credit.reader) credit_reader = ports.credit.reader;
    const bool next_credit = life == Life::Busy && sequencer.waits_for_credit() && ports.credit.next() == kNever;
    ports.credit.reader = next_credit ? credit_reader : nullptr;
}

Cycle CscCore::horizon() const
{
    Cycle next = registers.horizon();
    switch (life) {
        case Life::Idle:
            next = std::min(next, registers.start_cycle());
            break;
        case Life::Pending:
            next = std::min(next, busy_at);
            break;
        case Life::Done:
            next = std::min(next, done_at);
            break;
        case Life::Busy:
            next = std::min(next, seen() ? sequencer.next_pop() : sequencer.next_end());
            if (sequencer.waits_for_credit()) {
                // At most one credit a cycle: the last one missing cannot be here earlier.
                if (ports.credit.next() != kNever)
                    next = std::min(
                        next, ports.credit.next() + facts::csc::kCreditToCounter + static_cast<Cycle>(sequencer.credits_missing() - 1));
            } else if (sequencer.next_pop() == kNever) {
                if (ports.cdma.data_filled.next() != kNever) next = std::min(next, ports.cdma.data_filled.next() + 1);
                if (ports.cdma.weight_filled.next() != kNever) next = std::min(next, ports.cdma.weight_filled.next() + 1);
            }
            break;
    }
    return std::max(next, now + 1);
}

void CscCore::catch_up(Cycle end)
{
    if (life == Life::Busy && end != 0) advance_busy(end - 1);
    if (log && issued_until < end) flush_stall();
    if (life != Life::Idle) return;
    while (end > facts::csc::kCreditToCounter && ports.credit.available(end - 1 - facts::csc::kCreditToCounter))
        sequencer.add_credit(ports.credit.take());
}

UnitReport CscCore::report(Cycle end)
{
    catch_up(end);
    CscCounters totals = counted;
    totals.data_reads = data.reads();
    totals.weight_reads = weights.reads();
    return {"csc", phases.log(end), totals, clocks, end};
}

std::string CscCore::waiting_for() const
{
    switch (life) {
        case Life::Idle:
            return "idle, not enabled";
        case Life::Pending:
            return "CDMA to acknowledge the new bank layout";
        case Life::Done:
            return "its pipeline to drain";
        case Life::Busy:
            break;
    }
    if (sequencer.waits_for_credit()) return "credits from CACC";
    if (sequencer.waits_for_lines())
        return "input lines from CDMA: has " + std::to_string(sequencer.slices) + " of " + std::to_string(layer.input_rows());
    if (sequencer.waits_for_kernels()) return "kernels from CDMA: has " + std::to_string(sequencer.kernels);
    return "nothing: packages are in flight";
}

void CscCore::attach(ProbeSet& probes)
{
    phases.record(probes.phases("csc"));
    data.attach(probes.get("sc2buf_dat_rd"));
    weights.read_probe = probes.get("sc2buf_wt_rd");
    weights.mask_probe = probes.get("sc2buf_wmb_rd");
    data_probe = probes.get("sc2mac_dat_a");
    weight_probe = probes.get("sc2mac_wt_a");
    clocks.attach(probes, "csc");
    probes.also("clock_on_csc", "clock_on_csc_op0");
    package_gap.probe = probes.get("csc_package_gap");
    load_gap.probe = probes.get("csc_load_gap");
    credit_gap.probe = probes.get("csc_credit_gap");
    stripes = probes.stripes();
    credits = probes.level("CACC credits");
    ports.cdma.data_filled.level = ports.cdma.data_released.level = data_entries = probes.level("CBUF data");
    ports.cdma.weight_filled.level = ports.cdma.weight_released.level = weight_entries = probes.level("CBUF weights");
    ports.cdma.data_released.takes = ports.cdma.weight_released.takes = true;
}

std::unique_ptr<Core> make_csc(const Hardware& hardware, const CscPorts& ports, bool values)
{
    return std::make_unique<CscCore>(hardware, ports, values);
}

}  // namespace dlasim
