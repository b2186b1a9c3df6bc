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

class CscCore final : public DirectCore<CscCore>, public csc::PackageSink {
public:
    CscCore(const Hardware& hardware, const CscPorts& ports, bool values)
        : hardware_(hardware),
          ports_(ports),
          values_(values),
          registers_(*find_unit(hardware, "CSC"), ports.csb),
          sequencer_(facts::csc::of(hardware).minimum_issue, facts::csc::of(hardware).credit),
          weights_(hardware, ports.cbuf, values),
          data_(hardware, ports.cbuf, values)
    {
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { log_ = &all[WaitPoint::Csc]; }

    void pop_weights(const Package& package, unsigned slot, Cycle at) override;
    void pop_data(const Package& package, unsigned slot, Cycle at) override;

private:
    void start_layer(Cycle at);
    void start_busy(Cycle first);
    void advance_pending(Cycle to);
    void advance_busy(Cycle to);
    Cycle next_event(Cycle to);
    /// Somebody wants every package in its cycle.
    bool seen() const { return values_ || ports_.cbuf.watch || layer_.compressed; }
    void absorb(Cycle at);
    void finish_layer();
    void account_gap(Cycle at);
    void choose_wakes();
    void record_stall();
    void flush_stall();

    // ---- what never changes
    const Hardware& hardware_;
    const CscPorts ports_;
    const bool values_;

    // ---- what a layer sets
    RegisterFile registers_;
    LayerConfig layer_;
    /// What must be remembered of the layer before.
    struct Previous {
        LayerConfig layer;
        bool any = false;
        Slices slices;  // lines left in the buffer
    } previous_;

    // ---- what moves
    Sequencer sequencer_;   // SG
    WeightLoader weights_;  // (1)
    DataLoader data_;       // (2)
    // Operands of a package, from its weight pop to the cycle after its data pop.
    std::array<WeightSet, Sequencer::kSlots> weight_sets_;
    std::array<PackageAtoms, Sequencer::kSlots> atom_sets_;
    std::array<Operands, Sequencer::kSlots> operands_;
    enum class Life { Idle, Pending, Busy, Done };
    Life life_ = Life::Idle;
    Cycle now_ = 0;
    struct Pending {
        bool data = false, weights = false;            // requests to CDMA
        Cycle data_ack = kNever, weight_ack = kNever;  // first cycle of the acknowledgement
        Cycle busy_at = kNever;
    } pending_;
    Cycle issued_until_ = 0;
    Cycle done_at_ = kNever;
    Sleeper* credit_reader_ = nullptr;

    // ---- what is counted
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
    /// With a log: why no atoms leave after the last package, from which cycle on. Most packages come before that, and is not recorded.
    struct PendingStall {
        enum class Why : std::uint8_t { Told, Load, LoadAndCredit, Credit, Lines, Kernels };
        Why why = Why::Told;
        Cycle from = 0, loaded = 0;
    };
    BusyPlan phases_;
    GatedClocks<CscCounters> clocks_{hardware_.winograd};
    CscCounters counted_;  // without the reads of the loaders
    Gap package_gap_{counted_.package_gap_cycles}, load_gap_{counted_.load_gap_cycles}, credit_gap_{counted_.credit_gap_cycles};
    struct NextPackage {
        bool credit_short = false;
        Cycle loaded_at = 0, weights_at = 0;  // the weights of the next package: complete, popped
    } next_package_;
    PendingStall stall_;
    struct Probes {
        Probe *data = nullptr, *weights = nullptr;
        Level *credits = nullptr, *data_entries = nullptr, *weight_entries = nullptr;
    } probes_;
    WaitLog* log_ = nullptr;
    StripeLog* stripes_ = nullptr;
};

}  // namespace

void CscCore::pop_weights(const Package& p, unsigned slot, Cycle at)
{
    const WeightLoader::Released released = weights_.load(p, at, weight_sets_[slot]);
    next_package_.weights_at = at;
    next_package_.loaded_at = std::max(next_package_.loaded_at, at + std::max<Cycle>(p.loads, facts::csc::kMinimumLoad));
    if (probes_.weights) probes_.weights->run(at + facts::csc::kWeightToMac, std::min(p.loads, hardware_.mac.atomic_k / 2));
    if (p.group_end && !layer_.skip_weight_release)
        ports_.cdma.weight_released.put(at + facts::csc::kWeightRelease + p.loads - 1,
                                        {Kernels{0}, released.entries, released.mask_entries});
}

void CscCore::pop_data(const Package& p, unsigned slot, Cycle at)
{
    PackageAtoms& set = atom_sets_[slot];
    data_.load(p, at, set);
    const std::uint32_t count = p.length * layer_.loaded_batches;
    Stripe stripe{.first_atom = at + facts::csc::kDataToMac,
                  .atoms = count,
                  .kernels = Kernels{p.kernels},
                  .channel_end = p.channel_end,
                  .layer_end = p.layer_end,
                  .precision = layer_.precision,
                  .lanes = set.lanes};
    if (values_) {
        Operands& o = operands_[slot];
        o = {layer_.precision, layer_.mode == ConvMode::Winograd, set.lanes,
             set.atoms.data(), weight_sets_[slot].bytes.data(),   weight_sets_[slot].pitch};
        stripe.operands = &o;
    }
    const bool wakes = values_ || p.channel_end;  // until sums are complete nobody sees when they were added
    ports_.cmac_a.put(at + 1, stripe, wakes);
    ports_.cmac_b.put(at + 1, stripe, wakes);
    if (probes_.data) probes_.data->run(stripe.first_atom, count);
    if (stripes_) {
        StripeTimes& times = stripes_->add();
        times.weights = next_package_.weights_at;
        times.data = at;
        times.array = stripe.first_atom;
        times.atoms = count;
        times.kernels = p.kernels;
        times.layer_end = p.layer_end;
        if (p.channel_end) probes_.credits->set(at, sequencer_.credit());
    }
    if (p.layer_end && !layer_.skip_data_release) {
        const Cycle delay = layer_.mode == ConvMode::Winograd ? facts::csc::kDataReleaseWinograd : facts::csc::kDataRelease;
        const Slices slices{layer_.release_slices};
        ports_.cdma.data_released.put(at + delay + count - 1, {data_.release(layer_, slices), slices});
    }
    account_gap(at);
    if (log_) {
        if (issued_until_ < at) flush_stall();
        log_->works(at, Cause::Computing);
        if (p.layer_end) log_->works(at + p.size, Cause::Drain);
        stall_ = p.layer_end ? PendingStall{} : PendingStall{PendingStall::Why::Load, at + p.size, 0};
    }
    phases_.busy(at, at + p.size, p.layer_end ? Phase::Draining : Phase::Starved);
    issued_until_ = at + p.size;
    next_package_.loaded_at = at + std::max(facts::csc::of(hardware_).minimum_issue, p.execution);
    next_package_.credit_short = false;
    counted_.shortest_stripe = counted_.packages == 0 ? count : std::min<std::uint64_t>(counted_.shortest_stripe, count);
    counted_.longest_stripe = std::max<std::uint64_t>(counted_.longest_stripe, count);
    ++counted_.packages;
    counted_.atoms += count;
    if (p.layer_end) done_at_ = at + p.size + facts::csc::kFlush;
}

/// The cycles since the last package whose data leave in `at`: first its weights were not there, then
/// they were on their way into the array, then CACC was full. A gap with a wait for credits is blocked.
void CscCore::account_gap(Cycle at)
{
    if (issued_until_ >= at) return;
    phases_.enter(next_package_.credit_short ? Phase::Blocked : Phase::Starved, issued_until_);
    const Cycle popped = std::clamp(next_package_.weights_at, issued_until_, at), loaded = std::clamp(next_package_.loaded_at, popped, at);
    (next_package_.credit_short ? credit_gap_ : package_gap_).add(issued_until_, popped);
    load_gap_.add(popped, loaded);
    (next_package_.credit_short ? credit_gap_ : package_gap_).add(loaded, at);
}

/// What holds from the next cycle of the sequencer on, after the package whose atoms leave.
void CscCore::record_stall()
{
    using Why = PendingStall::Why;
    const Cycle from = std::max(sequencer_.clock(), issued_until_);
    if (sequencer_.finished()) return;
    if (stall_.from < from) flush_stall();
    if (sequencer_.loads())
        stall_ = {sequencer_.waits_for_credit() ? Why::LoadAndCredit : Why::Load, from,
                  std::max(sequencer_.clock() + sequencer_.pop_left(), from)};
    else if (sequencer_.waits_for_credit()) stall_ = {Why::Credit, from, 0};
    else if (sequencer_.empty() && sequencer_.waits_for_lines()) stall_ = {Why::Lines, from, 0};
    else if (sequencer_.empty() && sequencer_.waits_for_kernels()) stall_ = {Why::Kernels, from, 0};
}

void CscCore::flush_stall()
{
    using Why = PendingStall::Why;
    switch (stall_.why) {
        case Why::Told:
            break;
        case Why::Load:
            log_->works(stall_.from, Cause::WeightLoad);
            break;
        case Why::LoadAndCredit:
            log_->works(stall_.from, Cause::WeightLoad);
            log_->waits(stall_.loaded, WaitPoint::Cacc, Cause::AccumulatorFull, kCreditWay);
            break;
        case Why::Credit:
            log_->waits(stall_.from, WaitPoint::Cacc, Cause::AccumulatorFull, kCreditWay);
            break;
        case Why::Lines:
            log_->waits(stall_.from, WaitPoint::CdmaData, Cause::DataLate, kLinesWay);
            break;
        case Why::Kernels:
            log_->waits(stall_.from, WaitPoint::CdmaWeight, Cause::WeightsLate, kKernelsWay);
            break;
    }
    stall_ = {};
}

/// The first cycle up to `to` in which more than the pop counter can move.
Cycle CscCore::next_event(Cycle to)
{
    Cycle next = to;
    if (ports_.cdma.data_filled.next() != kNever) next = std::min(next, ports_.cdma.data_filled.next() + 1);
    if (ports_.cdma.weight_filled.next() != kNever) next = std::min(next, ports_.cdma.weight_filled.next() + 1);
    Cycle shown = 0;
    // Credits matter only to a head that waits for them, and only the last one it needs.
    while (sequencer_.waits_for_credit()) {
        const Cycle credit = ports_.credit.next();
        if (credit == kNever || credit + facts::csc::kCreditToCounter > next) return next;
        sequencer_.add_credit(ports_.credit.take());
        shown = credit + facts::csc::kCreditToCounter;
    }
    return std::min(next, std::max(sequencer_.next_pop(), shown));
}

/// Takes the updates that the counters show in cycle `at`.
void CscCore::absorb(Cycle at)
{
    while (at != 0 && ports_.cdma.data_filled.available(at - 1)) sequencer_.slices += ports_.cdma.data_filled.take().slices.count();
    while (at != 0 && ports_.cdma.weight_filled.available(at - 1)) sequencer_.kernels += ports_.cdma.weight_filled.take().kernels.count();
    while (at >= facts::csc::kCreditToCounter && ports_.credit.available(at - facts::csc::kCreditToCounter))
        sequencer_.add_credit(ports_.credit.take());
}

void CscCore::start_layer(Cycle at)
{
    now_ = at;
    layer_ = LayerConfig::decode(hardware_, registers_);
    absorb(at + 1);
    const bool mode_changed = !previous_.any || previous_.layer.mode != layer_.mode;
    if ((!layer_.data_reuse || mode_changed) && previous_.slices.any()) {
        sequencer_.slices -= previous_.slices.count();
        ports_.cdma.data_released.put(at + facts::csc::kReuseRelease, {data_.release(previous_.layer, previous_.slices), previous_.slices});
    }
    if (!layer_.weight_reuse && previous_.any && previous_.layer.skip_weight_release) {
        sequencer_.kernels -= previous_.layer.last_kernel + 1;
        const WeightUpdate kept{Kernels{0}, Entries{previous_.layer.weight_entries}, MaskEntries{previous_.layer.mask_entries}};
        weights_.release_kept(kept.entries, kept.mask_entries);
        ports_.cdma.weight_released.put(at + facts::csc::kReuseRelease, kept);
    }
    pending_.data = !previous_.any || layer_.data_banks != previous_.layer.data_banks;
    pending_.weights = pending_.data || layer_.weight_banks != previous_.layer.weight_banks;
    done_at_ = kNever;
    clocks_.on(at, &CscCounters::op0, &CscCounters::op1, &CscCounters::op2);
    if (layer_.mode == ConvMode::Winograd) clocks_.on(at + facts::csc::kWinogradGate, &CscCounters::winograd);
    phases_.enter(Phase::Starved, at);
    issued_until_ = at;
    if (log_ && pending_.weights) log_->waits(at, pending_.data ? WaitPoint::CdmaData : WaitPoint::CdmaWeight, Cause::BankChange);
    else if (log_) log_->works(at, Cause::StartUp);
    if (!pending_.weights) {
        start_busy(at + 1);
        return;
    }
    life_ = Life::Pending;
    pending_.busy_at = pending_.data_ack = pending_.weight_ack = kNever;
    ports_.cdma.weight_pending_request.set(at + 1, true);
    if (pending_.data) ports_.cdma.data_pending_request.set(at + 1, true);
}

void CscCore::start_busy(Cycle first)
{
    if (pending_.weights) {
        // Counters and rings were held at zero; what was announced meanwhile is lost.
        sequencer_.kernels = 0;
        weights_.reset_ring();
        if (probes_.weight_entries) probes_.weight_entries->set(first, 0);
        while (ports_.cdma.weight_filled.available(first - 1)) ports_.cdma.weight_filled.take();
    }
    if (pending_.data) {
        sequencer_.slices = 0;
        data_.reset_ring();
        if (probes_.data_entries) probes_.data_entries->set(first, 0);
        while (ports_.cdma.data_filled.available(first - 1)) ports_.cdma.data_filled.take();
    }
    weights_.start_layer(layer_);
    data_.start_layer(layer_);
    sequencer_.start(layer_, first);
    life_ = Life::Busy;
}

void CscCore::advance_pending(Cycle to)
{
    if (pending_.busy_at == kNever) {
        if (pending_.weight_ack == kNever && ports_.cdma.weight_pending_ack.read(to)) pending_.weight_ack = to;
        if (pending_.data && pending_.data_ack == kNever && ports_.cdma.data_pending_ack.read(to)) pending_.data_ack = to;
        if (pending_.weight_ack == kNever || (pending_.data && pending_.data_ack == kNever)) return;
        pending_.busy_at =
            (pending_.data ? std::max(pending_.weight_ack, pending_.data_ack) : pending_.weight_ack) + facts::csc::kAckToBusy;
        ports_.cdma.weight_pending_request.set(pending_.busy_at, false);
        if (pending_.data) ports_.cdma.data_pending_request.set(pending_.busy_at, false);
    }
    if (to >= pending_.busy_at) start_busy(pending_.busy_at);
}

void CscCore::advance_busy(Cycle to)
{
    while (sequencer_.clock() <= to && !sequencer_.finished()) {
        const Cycle at = sequencer_.clock(), known = sequencer_.popped() ? sequencer_.refill_cycles() : 0;
        if (known != 0 && at + known <= std::min(to + 1, issued_until_)) {  // while atoms leave: no gap begins
            absorb(at + known - 1);
            sequencer_.refill();
        } else {
            absorb(at);
            sequencer_.step(at, *this);
        }
        if (log_) record_stall();
        if (!next_package_.credit_short && sequencer_.waits_for_credit()) {
            next_package_.credit_short = true;
            ++counted_.credit_waits;
        }
        if (sequencer_.quiet() && sequencer_.clock() <= to) sequencer_.skip(std::max(sequencer_.clock(), next_event(to)));
    }
    if (sequencer_.finished()) life_ = Life::Done;
}

void CscCore::finish_layer()
{
    registers_.finish(done_at_);
    previous_.layer = layer_;
    previous_.any = true;
    previous_.slices = Slices{layer_.kept_slices()};
    clocks_.off(done_at_ + facts::csc::kGateOff);
    phases_.enter(Phase::Gated, done_at_ + 1);
    if (log_) registers_.note_idle(*log_, done_at_ + 1);
    life_ = Life::Idle;
}

void CscCore::advance(Cycle to)
{
    now_ = to;
    registers_.advance(to);
    for (;;) {
        switch (life_) {
            case Life::Idle: {
                const Cycle start = registers_.start_cycle();
                if (start > to) return choose_wakes();
                start_layer(start);
                break;
            }
            case Life::Pending:
                advance_pending(to);
                if (life_ == Life::Pending) return choose_wakes();
                break;
            case Life::Busy:
                advance_busy(to);
                if (life_ == Life::Busy) return choose_wakes();
                break;
            case Life::Done:
                if (done_at_ > to) return choose_wakes();
                finish_layer();
                break;
        }
    }
}

/// Credits come one a cycle while CACC drains: they wake CSC only when it waits for them and none is on its way.
void CscCore::choose_wakes()
{
    phases_.account_until(now_);
    if (ports_.credit.reader) credit_reader_ = ports_.credit.reader;
    const bool next_credit = life_ == Life::Busy && sequencer_.waits_for_credit() && ports_.credit.next() == kNever;
    ports_.credit.reader = next_credit ? credit_reader_ : nullptr;
}

Cycle CscCore::horizon() const
{
    Cycle next = registers_.horizon();
    switch (life_) {
        case Life::Idle:
            next = std::min(next, registers_.start_cycle());
            break;
        case Life::Pending:
            next = std::min(next, pending_.busy_at);
            break;
        case Life::Done:
            next = std::min(next, done_at_);
            break;
        case Life::Busy:
            next = std::min(next, seen() ? sequencer_.next_pop() : sequencer_.next_end());
            if (sequencer_.waits_for_credit()) {
                // At most one credit a cycle: the last one missing cannot be here earlier.
                if (ports_.credit.next() != kNever)
                    next = std::min(
                        next, ports_.credit.next() + facts::csc::kCreditToCounter + static_cast<Cycle>(sequencer_.credits_missing() - 1));
            } else if (sequencer_.next_pop() == kNever) {
                if (ports_.cdma.data_filled.next() != kNever) next = std::min(next, ports_.cdma.data_filled.next() + 1);
                if (ports_.cdma.weight_filled.next() != kNever) next = std::min(next, ports_.cdma.weight_filled.next() + 1);
            }
            break;
    }
    return std::max(next, now_ + 1);
}

void CscCore::catch_up(Cycle end)
{
    if (life_ == Life::Busy && end != 0) advance_busy(end - 1);
    if (log_ && issued_until_ < end) flush_stall();
    if (life_ != Life::Idle) return;
    while (end > facts::csc::kCreditToCounter && ports_.credit.available(end - 1 - facts::csc::kCreditToCounter))
        sequencer_.add_credit(ports_.credit.take());
}

UnitReport CscCore::report(Cycle end)
{
    catch_up(end);
    CscCounters totals = counted_;
    totals.data_reads = data_.reads();
    totals.weight_reads = weights_.reads();
    return {"csc", phases_.log(end), totals, clocks_, end};
}

std::string CscCore::waiting_for() const
{
    switch (life_) {
        case Life::Idle:
            return "idle, not enabled";
        case Life::Pending:
            return "CDMA to acknowledge the new bank layout";
        case Life::Done:
            return "its pipeline to drain";
        case Life::Busy:
            break;
    }
    if (sequencer_.waits_for_credit()) return "credits from CACC";
    if (sequencer_.waits_for_lines())
        return "input lines from CDMA: has " + std::to_string(sequencer_.slices) + " of " + std::to_string(layer_.input_rows());
    if (sequencer_.waits_for_kernels()) return "kernels from CDMA: has " + std::to_string(sequencer_.kernels);
    return "nothing: packages are in flight";
}

void CscCore::attach(ProbeSet& probes)
{
    phases_.record(probes.phases("csc"));
    data_.attach(probes.get("sc2buf_dat_rd"));
    weights_.read_probe = probes.get("sc2buf_wt_rd");
    weights_.mask_probe = probes.get("sc2buf_wmb_rd");
    probes_.data = probes.get("sc2mac_dat_a");
    probes_.weights = probes.get("sc2mac_wt_a");
    clocks_.attach(probes, "csc");
    probes.also("clock_on_csc", "clock_on_csc_op0");
    package_gap_.probe = probes.get("csc_package_gap");
    load_gap_.probe = probes.get("csc_load_gap");
    credit_gap_.probe = probes.get("csc_credit_gap");
    stripes_ = probes.stripes();
    probes_.credits = probes.level("CACC credits");
    ports_.cdma.data_filled.level = ports_.cdma.data_released.level = probes_.data_entries = probes.level("CBUF data");
    ports_.cdma.weight_filled.level = ports_.cdma.weight_released.level = probes_.weight_entries = probes.level("CBUF weights");
    ports_.cdma.data_released.takes = ports_.cdma.weight_released.takes = true;
}

std::unique_ptr<Core> make_csc(const Hardware& hardware, const CscPorts& ports, bool values)
{
    return std::make_unique<CscCore>(hardware, ports, values);
}

}  // namespace dlasim
