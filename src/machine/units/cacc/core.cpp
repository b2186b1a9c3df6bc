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

class CaccCore final : public DirectCore<CaccCore> {
public:
    CaccCore(const Hardware& hardware, const CaccPorts& ports, bool values)
        : hardware_(hardware),
          silicon_(facts::cacc::of(hardware)),
          ports_(ports),
          values_(values),
          registers_(*find_unit(hardware, "CACC"), ports.csb),
          accumulator_(hardware),
          delivery_(silicon_.entries, silicon_.entry_lanes, silicon_.available, silicon_.clears_end_first),
          results_(std::size_t{5} * hardware.kernel_group(Precision::Int8) + 16, 0)
    {
        registers_.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) { return read_status(offset, group, at); };
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::string stuck() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { log_ = &all[WaitPoint::Cacc]; }

private:
    /// Why the next beat does not leave earlier: from `from` on, after the one before.
    [[gnu::always_inline]] void note_beat(Cycle from, bool paced)
    {
        if (paced) log_->works(from, Cause::AccumulatorFull);
        else log_->waits(from, WaitPoint::Csc, Cause::Pipeline, array_way_);
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

    // ---- what never changes
    const Hardware& hardware_;
    const facts::cacc::Facts silicon_;
    const CaccPorts ports_;
    const bool values_;
    const Cycle array_way_ = facts::csc::kDataToMac + facts::cmac::of(hardware_).to_cacc + silicon_.delivery[0] + silicon_.available + 1;

    // ---- what a layer sets
    RegisterFile registers_;
    struct Layer {
        Precision precision = Precision::Int8;
        std::uint32_t entries_per_atom = 1;
    } layer_;

    // ---- what moves
    Accumulator accumulator_;            // (1)
    Delivery delivery_;                  // (2)
    std::vector<std::int32_t> results_;  // of one atom
    Cycle now_ = 0;
    struct Input {
        bool running = false;
        Cycle done_at = kNever;
        std::uint64_t saturated = 0;  // of the layer under way
        bool delivered_last = true;   // the last atom delivered was the last of its layer
    } input_;
    struct Saturated {
        std::uint64_t layers = 0, sums = 0;  // of the group so far, of the last one
        Cycle from = 0;
    };
    std::array<Saturated, 2> group_saturated_{};
    /// (3): an entry at a time, whose beats leave as SDP is ready; when it will be valid follows from the one before.
    struct Output {
        bool offered = false;          // the channel holds one
        Cycle beat_at = kNever;        // ... whose next beat is valid from here on; or will be offered for then
        std::uint32_t beat = 0;        // of the entry
        Cycle read_at = 0;             // when its entry is read
        Cycle stage2 = 0, stage3 = 0;  // when the entry before entered the elastic stages, nv_full
        Cycle free_at = 0;             // cycle after the last beat was taken
        unsigned interrupt_group = 0;
    } output_;

    // ---- what is counted
    BusyPlan phases_;
    GatedClocks<CaccCounters> clocks_;
    CaccCounters counted_;
    WaitLog* log_ = nullptr;
    StripeLog* stripes_ = nullptr;
};

}  // namespace

void CaccCore::start_layer(Cycle at)
{
    input_.running = true;
    clocks_.on(at, &CaccCounters::op0, &CaccCounters::op1, &CaccCounters::op2);
    clocks_.on(at + facts::cacc::kCellGate, &CaccCounters::cell0);
    using namespace reg::cacc;
    const auto odd = [&](std::uint32_t offset) { return registers_.get(offset) / facts::cacc::kGranuleBytes % 2 != 0; };
    const std::uint32_t code = silicon_.words ? registers_.get(D_MISC_CFG::PROC_PRECISION) : 0;
    layer_.precision = code == 0 ? Precision::Int8 : code == 2 ? Precision::Fp16 : Precision::Int16;
    AccumulatorMode mode{layer_.precision, hardware_.winograd && registers_.get(D_MISC_CFG::CONV_MODE), registers_.get(D_CLIP_CFG)};
    accumulator_.start_layer(mode);
    layer_.entries_per_atom = silicon_.entries_per_atom(hardware_.kernel_group(layer_.precision)) * mode.outputs();

    DeliveryOrder order;
    if (hardware_.batch && !mode.winograd) order.last_batch = registers_.get(D_BATCH_NUMBER);
    order.last_column = registers_.get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH);
    order.last_row = registers_.get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT);
    order.last_group = registers_.get(D_DATAOUT_SIZE_1) / (layer_.precision == Precision::Int8 ? 32 : 16);
    order.address_odd = odd(D_DATAOUT_ADDR);
    order.line_odd = odd(D_LINE_STRIDE);
    order.surface_odd = odd(D_SURF_STRIDE);
    delivery_.start_layer(order);
    phases_.enter(Phase::Starved, at);
}

void CaccCore::finish_layer()
{
    const unsigned group = registers_.consumer();
    group_saturated_[group] = {group_saturated_[group].layers + 1, input_.saturated, input_.done_at + 1};
    registers_.finish(input_.done_at);
    clocks_.off(input_.done_at + facts::cacc::kGateOff + 1);
    input_.running = false;
    input_.done_at = kNever;
}

std::optional<std::uint32_t> CaccCore::read_status(std::uint32_t offset, unsigned group, Cycle at) const
{
    if (offset != reg::cacc::D_OUT_SATURATION) return std::nullopt;
    if (registers_.enabled(group, at) || at < group_saturated_[group].from) return 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(group_saturated_[group].sums, UINT32_MAX));
}

[[gnu::flatten]] void CaccCore::advance(Cycle to)
{
    now_ = to;
    registers_.advance(to);
    take_sums(to);
    change_layers(to);
    advance_output(to);
    phases_.account_until(to);
}

/// Those of cycles up to `to`, each in its cycle.
void CaccCore::take_sums(Cycle to)
{
    while (ports_.sums_a.available(to)) {
        const Cycle at = ports_.sums_a.next();
        change_layers(at);
        const Sums a = ports_.sums_a.take();
        Sums b;
        while (ports_.sums_b.available(at)) {
            b = ports_.sums_b.take();
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
    while (ports_.sums_b.available(to)) ports_.sums_b.take();
}

void CaccCore::change_layers(Cycle to)
{
    for (;;) {
        if (input_.running && input_.done_at <= to) finish_layer();
        if (input_.running || registers_.start_cycle() > to) return;
        start_layer(registers_.start_cycle());
    }
}

void CaccCore::take(const Sums& a, const Sums& b)
{
    if (stripes_)
        if (StripeTimes* const times = stripes_->next_sums()) times->sums = a.first_atom;
    if (!input_.running) {
        // Atoms that arrive before the layer has started are lost.
        if (registers_.start_cycle() > a.first_atom) {
            ++counted_.lost_stripes;
            return;
        }
        start_layer(registers_.start_cycle());
    }
    ++counted_.stripes;
    counted_.atoms += a.atoms;
    const Cycle first = a.first_atom;
    if (values_) accumulator_.begin_stripe(a, b);
    if (a.channel_end) deliver(a, first + silicon_.delivery[static_cast<std::size_t>(layer_.precision)]);
    else if (values_) accumulator_.add();
    accumulator_.end_stripe(a.channel_end);
    phases_.busy(first, first + a.atoms, a.layer_end ? Phase::Draining : Phase::Starved);
}

/// `first`: the cycle in which the first atom is delivered.
void CaccCore::deliver(const Sums& a, Cycle first)
{
    if (stripes_) stripes_->delivers(first, std::uint64_t{a.atoms} * layer_.entries_per_atom);
    if (!values_ && delivery_.in_order()) {
        delivery_.append_run(a.atoms, layer_.entries_per_atom, first + silicon_.available, a.layer_end);
    } else {
        for (std::uint32_t i = 0; i < a.atoms; ++i) {
            const bool last = a.layer_end && i + 1 == a.atoms;
            if (values_) {
                const std::uint32_t count = accumulator_.finish(i, results_.data());
                // A layer of a single atom does not clear the count of the layer before.
                input_.saturated = input_.delivered_last && !last ? count : input_.saturated + count;
                counted_.saturated += count;
            }
            input_.delivered_last = last;
            delivery_.append(results_.data(), layer_.entries_per_atom, first + i + silicon_.available, last);
        }
    }
    if (a.layer_end) input_.done_at = first + a.atoms - 1 + facts::cacc::kDone;
}

/// When the next entry will be valid, given that the one before has been taken.
void CaccCore::schedule_beat()
{
    if (!delivery_.any()) {
        output_.beat_at = kNever;
        if (log_) note_beat(output_.free_at, false);
        return;
    }
    const Cycle available = delivery_.available_at();
    if (log_) note_beat(output_.free_at, available < output_.free_at);
    if (silicon_.elastic_output) {
        const Cycle stage1 = std::max(available + 1, output_.stage2);
        output_.read_at = stage1 - 1;
        output_.stage2 = std::max(stage1 + 1, output_.stage3);
        output_.stage3 = std::max(output_.stage2 + 1, output_.free_at);
        output_.beat_at = output_.stage3;
    } else {
        output_.read_at = std::max(available, output_.free_at);
        output_.beat_at = output_.read_at + 1;
    }
}

void CaccCore::offer_beat(Cycle at)
{
    delivery_.read(output_.read_at);
    SumBeat& item = ports_.sdp.offer_in_place(at);
    if (values_) std::copy_n(delivery_.entry(), std::min<std::size_t>(silicon_.beat_lanes, item.lanes.size()), item.lanes.begin());
    item.layer_end = delivery_.ends_layer();
    item.beats = silicon_.beats_per_entry;
    item.more = delivery_.entry() + silicon_.beat_lanes;
    output_.offered = true;
}

/// Those that left before cycle `to` without being looked at: SDP was ready all the time, and the last one of the entry is not among them.
void CaccCore::pass_beats(Cycle to)
{
    if (!output_.offered || output_.beat_at >= to || !ports_.sdp.ready(to - 1)) return;
    if (log_) note_beat(output_.beat_at + 1, true);
    const Cycle beats = to - std::exchange(output_.beat_at, to);
    counted_.beats += beats;
    output_.beat += static_cast<std::uint32_t>(beats);
    DLASIM_EXPECTS(output_.beat < silicon_.beats_per_entry);
}

void CaccCore::advance_output(Cycle to)
{
    bool taken = false;
    pass_beats(to);
    if (output_.offered && output_.beat_at <= to && ports_.sdp.ready(to)) {
        if (log_ && to > output_.beat_at) log_->waits(output_.beat_at + 1, WaitPoint::Sdp, Cause::SdpPace);
        counted_.beat_waits += to - output_.beat_at;
        ++counted_.beats;
        output_.beat_at = output_.free_at = to + 1;
        if (++output_.beat != silicon_.beats_per_entry) {
            if (log_) note_beat(output_.free_at, true);
        } else {
            output_.beat = 0;
            taken = true;
            output_.offered = false;
            output_.beat_at = kNever;
            ports_.credit.put(to + facts::cacc::kCredit, 1);
            if (delivery_.ends_layer()) {
                ports_.interrupt.put(to + silicon_.end_to_interrupt, reg::glb::kCacc.bit(output_.interrupt_group));
                output_.interrupt_group ^= 1;
                if (!input_.running) phases_.enter(Phase::Gated, to + 1);
            }
            delivery_.pop();
            if (stripes_) stripes_->entry_sent(to);
        }
    }
    if (!output_.offered && output_.beat_at == kNever) schedule_beat();
    if (!output_.offered && output_.beat_at == to + 1) offer_beat(to + 1);
    else if (taken) ports_.sdp.withdraw(to + 1);
}

Cycle CaccCore::horizon() const
{
    Cycle next = std::min({registers_.horizon(), ports_.sums_a.next(), ports_.sums_b.next()});
    next = std::min(next, input_.running ? input_.done_at : registers_.start_cycle());
    if (output_.offered) {
        // The link wakes CACC when SDP's ready changes.
        const Cycle at = std::max(output_.beat_at, now_ + 1);
        if (ports_.sdp.ready(at)) next = std::min(next, at + (silicon_.beats_per_entry - 1 - output_.beat));
    } else if (output_.beat_at != kNever) {
        next = std::min(next, output_.beat_at - 1);
    }
    return std::max(next, now_ + 1);
}

void CaccCore::catch_up(Cycle end)
{
    if (end == 0) return;
    take_sums(end - 1);
    pass_beats(end);
    if (log_ && output_.offered && output_.beat_at + 1 < end) log_->waits(output_.beat_at + 1, WaitPoint::Sdp, Cause::SdpPace);
}

UnitReport CaccCore::report(Cycle end)
{
    catch_up(end);
    return {"cacc", phases_.log(end), counted_, clocks_, end};
}

std::string CaccCore::waiting_for() const
{
    if (output_.offered) return "SDP to take a beat";
    if (delivery_.any()) return "nothing: beats are in flight";
    return input_.running ? "sums from CMAC" : "idle, not enabled";
}

std::string CaccCore::stuck() const
{
    const Cycle met = delivery_.tags().met_at();
    if (met == kNever) return "";
    return "CACC signalled the end of a layer to SDP too early. In cycle " + std::to_string(met) +
           " a layer wrote its last result while the last one of the previous layer left, and the two end markers overwrote each other,"
           " a defect of the silicon (docs/hardware/cacc.md 3.7). A layer of fewer than " +
           std::to_string(silicon_.entries) + " results must be enabled after the interrupt of the previous one";
}

void CaccCore::attach(ProbeSet& probes)
{
    clocks_.attach(probes, "cacc");
    phases_.record(probes.phases("cacc"));
    probes.also("clock_on_cacc", "clock_on_cacc_op0");
    probes.also("clock_on_cacc_cell", "clock_on_cacc_cell0");
    stripes_ = probes.stripes();
}

std::unique_ptr<Core> make_cacc(const Hardware& hardware, const CaccPorts& ports, bool values)
{
    return std::make_unique<CaccCore>(hardware, ports, values);
}

}  // namespace dlasim
