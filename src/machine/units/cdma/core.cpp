#include "units/cdma/core.h"

#include <algorithm>

#include "facts/client.h"
#include "links/direct_core.h"
#include "registers/fields/cdma.h"
#include "registers/register_file.h"
#include "units/cdma/counters.h"
#include "units/cdma/data/data_side.h"
#include "units/cdma/life_cycle.h"
#include "units/cdma/weight/weight_side.h"

namespace dlasim {

using cdma::DataSide;
using cdma::Fetcher;
using cdma::Half;
using cdma::LayerConfig;
using cdma::LayerState;
using cdma::Results;
using cdma::WeightSide;

namespace {

class CdmaCore final : public DirectCore<CdmaCore> {
public:
    CdmaCore(const Hardware& hardware, const CdmaPorts& ports, bool values, bool flushed)
        : hardware_(hardware),
          ports_(ports),
          silicon_(facts::cdma::of(hardware)),
          flush_done_(flushed ? 0 : silicon_.flush),
          registers_(*find_unit(hardware, "CDMA"), ports.csb),
          data_(hardware_, ports.data_mc, ports.data_cv, ports.csc, ports.cbuf, values),
          weights_(hardware_, ports.weight_mc, ports.weight_cv, ports.csc, ports.cbuf, values)
    {
        registers_.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) { return read(offset, group, at); };
        registers_.on_write = [this](std::uint32_t, std::uint32_t, Cycle) { arbiter_written_ = true; };
        weights_.set_arbiter(registers_.get(reg::cdma::S_ARBITER));
        previous_.bank_code = 1u << silicon_.bank_bits;
        previous_.bank_code |= previous_.bank_code << 16;
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { logs_ = &all; }

private:
    void note_waits(Cycle at);
    template <class Side>
    void note_side(const Half& half, const Side& side, WaitPoint place, Client client, Cause pace, Cycle at);
    /// What the life cycle does in a cycle.
    struct Control {
        bool changed = false, clear_data = false, clear_weights = false;
    };
    Control control(Cycle to, Cycle gap);
    void start_layer(Cycle at);
    void start_clocks(Cycle at);
    void finish_layer(Cycle at);
    std::optional<std::uint32_t> read(std::uint32_t offset, unsigned group, Cycle at) const;
    void account(Cycle at);

    // ---- what never changes
    const Hardware hardware_;
    const CdmaPorts ports_;
    const facts::cdma::Facts silicon_;
    const Cycle flush_done_;

    // ---- what a layer sets
    RegisterFile registers_;
    LayerConfig layer_;
    /// What must be remembered of the layer before.
    struct Previous {
        std::uint32_t bank_code = 0;
        Fetcher fetcher = Fetcher::None;
        bool skip_data = false, skip_weight = false;
    } previous_;

    // ---- what moves
    DataSide data_;
    WeightSide weights_;
    Half data_half_, weight_half_;
    struct Life {
        bool running = false;  // op
        Cycle started = kNever, data_done = kNever, weight_done = kNever, switch_at = kNever, capacity_at = kNever;
    } life_;
    struct Progress {
        Cycle next = 0;        // first cycle not yet evaluated
        bool awake = false;    // the next cycle must be evaluated
        Cycle control_at = 0;  // before it control() does nothing while the handshakes rest
    } progress_;
    bool arbiter_written_ = false;
    Cycle gate_off_ = kNever;
    std::array<Results, 2> results_;

    // ---- what is counted
    CdmaCounters counted_;  // layers, and what the performance registers held at the end of each, summed
    GatedClocks<CdmaCounters> clocks_{hardware_.winograd};
    PhaseLog phases_;
    WaitLogs* logs_ = nullptr;
    struct Tell {
        bool data = false, weights = false;  // to the logs: what they say may have changed
    } tell_;
};

}  // namespace

void CdmaCore::start_layer(Cycle at)
{
    layer_ = cdma::LayerConfig::decode(hardware_, registers_, registers_.consumer());
    life_.running = true;
    life_.started = at;
    life_.data_done = life_.weight_done = life_.switch_at = kNever;
    life_.capacity_at = at + facts::cdma::kBusy;
    ++counted_.layers;
    gate_off_ = kNever;
    start_clocks(at);

    data_.start(layer_);
    weights_.start(layer_);

    const bool data_banks_change = (layer_.bank_code() ^ previous_.bank_code) & 0xffff;
    const bool banks_change = layer_.bank_code() != previous_.bank_code;
    const auto begin = [&](Half& half, bool used, bool pending, bool keep) {
        half.life = used && pending ? LayerState::Pending : LayerState::Idle;
        half.busy_at = used && !pending && !keep ? at + facts::cdma::kBusy : kNever;
        half.done_at = used && !pending && keep ? at + facts::cdma::kBusy : kNever;
    };
    const bool keep_data = layer_.data_reuse && previous_.skip_data && previous_.fetcher == layer_.fetcher;
    begin(data_half_, layer_.fetcher != Fetcher::None, data_banks_change, keep_data);
    begin(weight_half_, true, banks_change, layer_.weight_reuse && previous_.skip_weight);

    // [spec] cdma.md 2.2: the data units capture at the start, the weight unit at the end of a layer, to the same effect
    previous_.bank_code = layer_.bank_code();
    previous_.skip_weight = layer_.skip_weight;
    previous_.fetcher = layer_.fetcher;
    previous_.skip_data = layer_.skip_data;
}

/// All fetchers run until the activity of one reaches the gates of the others.
void CdmaCore::start_clocks(Cycle at)
{
    using C = CdmaCounters;
    clocks_.on(at, &C::weights, &C::feature, &C::image, &C::winograd, &C::port_mux, &C::shared_buffer, &C::converter);
    if (layer_.convert) clocks_.on(at + facts::cdma::kGateDelay, &C::converter_cells);
    if (layer_.fetcher == Fetcher::None) return;
    const Cycle others = at + facts::cdma::kBusy + facts::cdma::kGateDelay;
    if (layer_.fetcher != Fetcher::Feature) clocks_.off(others, &C::feature);
    if (layer_.fetcher != Fetcher::Image) clocks_.off(others, &C::image);
    if (layer_.fetcher != Fetcher::Winograd) clocks_.off(others, &C::winograd);
}

void CdmaCore::finish_layer(Cycle at)
{
    registers_.finish(at);
    results_[layer_.group] = {results_[layer_.group].layers + 1,
                              data_.nans(),
                              weights_.nans(),
                              data_.infs(),
                              weights_.infs(),
                              data_.performance().stalls(),
                              weights_.performance().stalls(),
                              data_.performance().latency(),
                              silicon_.weight_latency ? weights_.performance().latency() : 0};
    const Results& r = results_[layer_.group];
    counted_.data_read_stall += r.data_stall;
    counted_.weight_read_stall += r.weight_stall;
    counted_.data_read_latency += r.data_latency;
    counted_.weight_read_latency += r.weight_latency;
    data_.stop();
    weights_.stop();
    data_half_.life = weight_half_.life = LayerState::Idle;
    gate_off_ = at + facts::cdma::kGateTail + 1;
    clocks_.off(gate_off_);
    life_.running = false;
    life_.switch_at = kNever;
    progress_.control_at = progress_.next;
}

std::optional<std::uint32_t> CdmaCore::read(std::uint32_t offset, unsigned group, Cycle at) const
{
    // [spec] cdma.md 11: cleared when the group is enabled, loaded when its layer ends
    const Results r = registers_.enabled(group, at) ? Results{} : results_[group];
    switch (offset) {
        case reg::cdma::S_CBUF_FLUSH_STATUS:
            return at >= flush_done_ ? 1 : 0;
        case reg::cdma::D_NAN_INPUT_DATA_NUM:
            return r.nan_data;
        case reg::cdma::D_NAN_INPUT_WEIGHT_NUM:
            return r.nan_weight;
        case reg::cdma::D_INF_INPUT_DATA_NUM:
            return r.inf_data;
        case reg::cdma::D_INF_INPUT_WEIGHT_NUM:
            return r.inf_weight;
        case reg::cdma::D_PERF_DAT_READ_STALL:
            return r.data_stall;
        case reg::cdma::D_PERF_WT_READ_STALL:
            return r.weight_stall;
        case reg::cdma::D_PERF_DAT_READ_LATENCY:
            return r.data_latency;
        case reg::cdma::D_PERF_WT_READ_LATENCY:
            return r.weight_latency;
        default:
            return std::nullopt;
    }
}

/// The start of a layer, its bank partition and the handshakes; `gap`: cycles since the last evaluation.
CdmaCore::Control CdmaCore::control(Cycle to, Cycle gap)
{
    if (!life_.running && registers_.start_cycle() == to) {
        start_layer(to);
        tell_.data = tell_.weights = true;
    }
    data_half_.sample(ports_.csc.data_pending_request, to, gap);
    weight_half_.sample(ports_.csc.weight_pending_request, to, gap);
    Control did{.clear_data = life_.running && data_half_.cleared(), .clear_weights = life_.running && weight_half_.cleared()};
    if (to == life_.capacity_at) {
        data_.partition(layer_.data_banks * hardware_.cbuf.bank_depth);
        life_.capacity_at = kNever;
        tell_.data = true;
    }
    if (data_half_.busy_at == to) {
        data_half_.life = LayerState::Busy;
        data_half_.busy_at = kNever;
        data_.busy(to);
    }
    if (weight_half_.busy_at == to) {
        weight_half_.life = LayerState::Busy;
        weight_half_.busy_at = kNever;
        weights_.busy(to);
    }
    const bool pends = life_.running && to > life_.started;  // PEND is entered one cycle after T0
    did.changed = data_half_.handshake(ports_.csc.data_pending_ack, to, pends);
    did.changed |= weight_half_.handshake(ports_.csc.weight_pending_ack, to, pends);
    progress_.control_at =
        did.changed || (life_.running && !pends)
            ? to + 1
            : std::min({life_.capacity_at, data_half_.busy_at, weight_half_.busy_at, life_.running ? kNever : registers_.start_cycle()});
    return did;
}

void CdmaCore::advance(Cycle to)
{
    if (to < progress_.next) return;
    const Cycle gap = progress_.next == 0 && to == 0 ? 1 : to + 1 - progress_.next;
    if (gap > 1) {
        data_.idle(gap - 1);
        weights_.idle(gap - 1);
    }
    progress_.next = to + 1;
    if (registers_.horizon() <= to) progress_.control_at = to;
    registers_.advance(to);

    if (to == gate_off_) gate_off_ = kNever;
    const LayerState data_was = data_half_.life, weights_were = weight_half_.life;
    tell_.data = tell_.weights = false;
    const bool rests = data_half_.rests(ports_.csc.data_pending_request, to) && weight_half_.rests(ports_.csc.weight_pending_request, to);
    auto [changed, clear_data, clear_weights] = rests && to < progress_.control_at ? Control{} : control(to, gap);

    if (clear_data || data_.due(to)) {
        changed |= data_.step(to, clear_data);
        tell_.data = true;
    } else {
        data_.idle(1);
    }
    if (clear_weights || weights_.due(to)) {
        changed |= weights_.step(to, clear_weights);
        tell_.weights |= weights_.tells();
    } else {
        weights_.idle(1);
    }

    // Done, interrupts, switch.
    if (life_.running) {
        const Cycle data_at = std::min(data_half_.done_at, data_.done_at());
        const Cycle weight_at = std::min(weight_half_.done_at, weights_.done_at());
        if (data_at != kNever) life_.data_done = data_at;
        if (weight_at != kNever) life_.weight_done = weight_at;
        std::uint32_t interrupts = 0;
        if (life_.data_done == to) {
            data_half_.life = LayerState::Done;
            interrupts |= facts::cdma::kDataInterrupt;
        }
        if (life_.weight_done == to) {
            weight_half_.life = LayerState::Done;
            interrupts |= facts::cdma::kWeightInterrupt;
        }
        if (interrupts) {
            ports_.interrupt.put(to + 1, interrupts << layer_.group);
            progress_.control_at = progress_.next;
        }
        if (life_.data_done != kNever && life_.weight_done != kNever) life_.switch_at = std::max(life_.data_done, life_.weight_done) + 1;
        if (life_.switch_at == to) finish_layer(to);
    }
    progress_.awake = changed || !data_half_.settled() || !weight_half_.settled();
    // a register holds what was written to it from the next cycle on
    if (arbiter_written_) weights_.set_arbiter(registers_.get(reg::cdma::S_ARBITER));
    arbiter_written_ = false;
    tell_.data |= data_half_.life != data_was;
    tell_.weights |= weight_half_.life != weights_were;
    account(to);
}

/// What holds from the next cycle on.
void CdmaCore::note_waits(Cycle at)
{
    if (!life_.running) {
        registers_.note_idle((*logs_)[WaitPoint::CdmaData], at + 1);
        registers_.note_idle((*logs_)[WaitPoint::CdmaWeight], at + 1);
        return;
    }
    if (tell_.data && layer_.fetcher != Fetcher::None)
        note_side(data_half_, data_, WaitPoint::CdmaData, Client::CdmaData, Cause::DataLate, at + 1);
    if (tell_.weights) note_side(weight_half_, weights_, WaitPoint::CdmaWeight, Client::CdmaWeight, Cause::WeightsLate, at + 1);
}

template <class Side>
void CdmaCore::note_side(const Half& half, const Side& side, WaitPoint place, Client client, Cause pace, Cycle at)
{
    const WaitPoint asks = of_client(WaitPoint::Ask, static_cast<unsigned>(client));
    WaitLog &log = (*logs_)[place], &ask = (*logs_)[asks];
    if (half.life == LayerState::Pending) log.waits(at, WaitPoint::Csc, Cause::BankChange);
    else if (half.life == LayerState::Done) return;
    else if (half.life != LayerState::Busy) log.works(at, Cause::StartUp);
    else if (side.response_waits()) log.works(at, pace);
    else if (side.in_flight()) log.waits(at, of_client(WaitPoint::Read, static_cast<unsigned>(client)), pace);
    else if (side.asks_more()) log.waits(at, asks, pace);

    if (half.life != LayerState::Busy) ask.waits(at, place, Cause::StartUp);
    else if (side.asks_in_vain())
        ask.waits(at, side.queue_full() ? place : of_client(WaitPoint::Turn, static_cast<unsigned>(client)), pace);
    else if (side.lacks_space()) ask.waits(at, WaitPoint::Csc, Cause::BufferFull, 1);
    else if (!ask.works_on(Cause::Requests) && side.asks_more()) ask.works(at, Cause::Requests);
}

void CdmaCore::account(Cycle at)
{
    if (logs_) note_waits(at);
    if (!life_.running) {
        phases_.enter(gate_off_ != kNever ? Phase::Draining : Phase::Gated, at);
    } else if (data_.moved() || weights_.moved()) {
        phases_.enter(Phase::Issuing, at);
    } else if (data_half_.life == LayerState::Done && weight_half_.life == LayerState::Done) {
        phases_.enter(Phase::Draining, at);
    } else if (data_.blocked() || weights_.blocked()) {
        phases_.enter(Phase::Blocked, at);
    } else {
        phases_.enter(Phase::Starved, at);
    }
}

Cycle CdmaCore::horizon() const
{
    if (progress_.awake) return progress_.next;
    Cycle at = std::min({registers_.horizon(), data_.horizon(), weights_.horizon(), gate_off_, life_.capacity_at, life_.switch_at,
                         data_half_.busy_at, weight_half_.busy_at});
    const auto later = [&](Cycle cycle) {
        if (cycle >= progress_.next) at = std::min(at, cycle);
    };
    if (life_.running) {
        later(life_.started + facts::cdma::kBusy);
        later(life_.data_done);
        later(life_.weight_done);
    } else {
        later(registers_.start_cycle());
    }
    return std::max(at, progress_.next);
}

UnitReport CdmaCore::report(Cycle end)
{
    phases_.account_until(end);
    CdmaCounters totals = counted_;
    totals.data_atoms_read = data_.atoms_read;
    totals.weight_atoms_read = weights_.atoms_read();
    totals.cbuf_data_writes = ports_.cbuf.data_writes;
    totals.cbuf_weight_writes = ports_.cbuf.weight_writes;
    return {"cdma", phases_, totals, clocks_, end};
}

std::string CdmaCore::waiting_for() const
{
    if (!life_.running) return "no layer enabled";
    if (layer_.fetcher == Fetcher::None) return "Winograd with pixel input: no fetcher supports this";
    if (data_half_.life == LayerState::Pending || weight_half_.life == LayerState::Pending)
        return "CSC to end the pending handshake of a new bank partition";
    const std::string of_data = data_half_.life == LayerState::Done ? "data: done" : data_.waiting_for();
    return of_data + "; " + (weight_half_.life == LayerState::Done ? "weights: done" : weights_.waiting_for());
}

void CdmaCore::attach(ProbeSet& probes)
{
    clocks_.attach(probes, "cdma");
    phases_.record(probes.phases("cdma"));
    probes.also("clock_on_cdma", "clock_on_cdma_weights");
    data_.write_probe = probes.get("cdma2buf_dat_wr");
    weights_.attach(probes.get("cdma2buf_wt_wr"));
}

std::unique_ptr<Core> make_cdma(const Hardware& hardware, const CdmaPorts& ports, bool values, bool flushed)
{
    return std::make_unique<CdmaCore>(hardware, ports, values, flushed);
}

}  // namespace dlasim
