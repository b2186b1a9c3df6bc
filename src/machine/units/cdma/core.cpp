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

struct CdmaCore final : DirectCore<CdmaCore> {
    CdmaCore(const Hardware& hardware, const CdmaPorts& p, bool values, bool flushed)
        : hw(hardware),
          ports(p),
          silicon(facts::cdma::of(hardware)),
          registers(*find_unit(hardware, "CDMA"), p.csb),
          data(hw, p.data_mc, p.data_cv, p.csc, p.cbuf, values),
          weights(hw, p.weight_mc, p.weight_cv, p.csc, p.cbuf, values)
    {
        registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) { return read(offset, group, at); };
        registers.on_write = [this](std::uint32_t, std::uint32_t, Cycle) { arbiter_written = true; };
        weights.set_arbiter(registers.get(reg::cdma::S_ARBITER));
        last_bank_code = 1u << silicon.bank_bits;
        last_bank_code |= last_bank_code << 16;
        flush_done = flushed ? 0 : silicon.flush;
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { logs = &all; }
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

    const Hardware hw;
    const CdmaPorts ports;
    const facts::cdma::Facts silicon;
    RegisterFile registers;
    DataSide data;
    WeightSide weights;

    bool running = false;  // op
    bool arbiter_written = false;
    Cycle started = kNever, data_done = kNever, weight_done = kNever, switch_at = kNever, capacity_at = kNever;
    Cycle control_at = 0;  // before it control() does nothing while the handshakes rest
    LayerConfig layer;
    Half data_half, weight_half;
    std::uint32_t last_bank_code;
    Fetcher last_fetcher = Fetcher::None;
    bool last_skip_data = false, last_skip_weight = false;

    std::array<Results, 2> results;
    CdmaCounters counted;  // layers, and what the performance registers held at the end of each, summed
    Cycle flush_done = 0;

    Cycle next = 0;      // first cycle not yet evaluated
    bool awake = false;  // the next cycle must be evaluated
    Cycle gate_off = kNever;
    GatedClocks<CdmaCounters> clocks{hw.winograd};
    PhaseLog phases;
    WaitLogs* logs = nullptr;
    bool tell_data = false, tell_weights = false;  // to the logs: what they say may have changed
};

}  // namespace

void CdmaCore::start_layer(Cycle at)
{
    layer = cdma::LayerConfig::decode(hw, registers, registers.consumer());
    running = true;
    started = at;
    data_done = weight_done = switch_at = kNever;
    capacity_at = at + facts::cdma::kBusy;
    ++counted.layers;
    gate_off = kNever;
    start_clocks(at);

    data.start(layer);
    weights.start(layer);

    const bool data_banks_change = (layer.bank_code() ^ last_bank_code) & 0xffff;
    const bool banks_change = layer.bank_code() != last_bank_code;
    const auto begin = [&](Half& half, bool used, bool pending, bool keep) {
        half.life = used && pending ? LayerState::Pending : LayerState::Idle;
        half.busy_at = used && !pending && !keep ? at + facts::cdma::kBusy : kNever;
        half.done_at = used && !pending && keep ? at + facts::cdma::kBusy : kNever;
    };
    const bool keep_data = layer.data_reuse && last_skip_data && last_fetcher == layer.fetcher;
    begin(data_half, layer.fetcher != Fetcher::None, data_banks_change, keep_data);
    begin(weight_half, true, banks_change, layer.weight_reuse && last_skip_weight);

    // [spec] cdma.md 2.2: the data units capture at the start, the weight unit at the end of a layer, to the same effect
    last_bank_code = layer.bank_code();
    last_skip_weight = layer.skip_weight;
    last_fetcher = layer.fetcher;
    last_skip_data = layer.skip_data;
}

/// All fetchers run until the activity of one reaches the gates of the others.
void CdmaCore::start_clocks(Cycle at)
{
    using C = CdmaCounters;
    clocks.on(at, &C::weights, &C::feature, &C::image, &C::winograd, &C::port_mux, &C::shared_buffer, &C::converter);
    if (layer.convert) clocks.on(at + facts::cdma::kGateDelay, &C::converter_cells);
    if (layer.fetcher == Fetcher::None) return;
    const Cycle others = at + facts::cdma::kBusy + facts::cdma::kGateDelay;
    if (layer.fetcher != Fetcher::Feature) clocks.off(others, &C::feature);
    if (layer.fetcher != Fetcher::Image) clocks.off(others, &C::image);
    if (layer.fetcher != Fetcher::Winograd) clocks.off(others, &C::winograd);
}

void CdmaCore::finish_layer(Cycle at)
{
    registers.finish(at);
    results[layer.group] = {results[layer.group].layers + 1,
                            data.nans(),
                            weights.nans(),
                            data.infs(),
                            weights.infs(),
                            data.performance().stalls(),
                            weights.performance().stalls(),
                            data.performance().latency(),
                            silicon.weight_latency ? weights.performance().latency() : 0};
    const Results& r = results[layer.group];
    counted.data_read_stall += r.data_stall;
    counted.weight_read_stall += r.weight_stall;
    counted.data_read_latency += r.data_latency;
    counted.weight_read_latency += r.weight_latency;
    data.stop();
    weights.stop();
    data_half.life = weight_half.life = LayerState::Idle;
    gate_off = at + facts::cdma::kGateTail + 1;
    clocks.off(gate_off);
    running = false;
    switch_at = kNever;
    control_at = next;
}

std::optional<std::uint32_t> CdmaCore::read(std::uint32_t offset, unsigned group, Cycle at) const
{
    // [spec] cdma.md 11: cleared when the group is enabled, loaded when its layer ends
    const Results r = registers.enabled(group, at) ? Results{} : results[group];
    switch (offset) {
        case reg::cdma::S_CBUF_FLUSH_STATUS:
            return at >= flush_done ? 1 : 0;
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
    if (!running && registers.start_cycle() == to) {
        start_layer(to);
        tell_data = tell_weights = true;
    }
    data_half.sample(ports.csc.data_pending_request, to, gap);
    weight_half.sample(ports.csc.weight_pending_request, to, gap);
    Control did{.clear_data = running && data_half.cleared(), .clear_weights = running && weight_half.cleared()};
    if (to == capacity_at) {
        data.partition(layer.data_banks * hw.cbuf.bank_depth);
        capacity_at = kNever;
        tell_data = true;
    }
    if (data_half.busy_at == to) {
        data_half.life = LayerState::Busy;
        data_half.busy_at = kNever;
        data.busy(to);
    }
    if (weight_half.busy_at == to) {
        weight_half.life = LayerState::Busy;
        weight_half.busy_at = kNever;
        weights.busy(to);
    }
    const bool pends = running && to > started;  // PEND is entered one cycle after T0
    did.changed = data_half.handshake(ports.csc.data_pending_ack, to, pends);
    did.changed |= weight_half.handshake(ports.csc.weight_pending_ack, to, pends);
    control_at = did.changed || (running && !pends)
                     ? to + 1
                     : std::min({capacity_at, data_half.busy_at, weight_half.busy_at, running ? kNever : registers.start_cycle()});
    return did;
}

void CdmaCore::advance(Cycle to)
{
    if (to < next) return;
    const Cycle gap = next == 0 && to == 0 ? 1 : to + 1 - next;
    if (gap > 1) {
        data.idle(gap - 1);
        weights.idle(gap - 1);
    }
    next = to + 1;
    if (registers.horizon() <= to) control_at = to;
    registers.advance(to);

    if (to == gate_off) gate_off = kNever;
    const LayerState data_was = data_half.life, weights_were = weight_half.life;
    tell_data = tell_weights = false;
    const bool rests = data_half.rests(ports.csc.data_pending_request, to) && weight_half.rests(ports.csc.weight_pending_request, to);
    auto [changed, clear_data, clear_weights] = rests && to < control_at ? Control{} : control(to, gap);

    if (clear_data || data.due(to)) {
        changed |= data.step(to, clear_data);
        tell_data = true;
    } else {
        data.idle(1);
    }
    if (clear_weights || weights.due(to)) {
        changed |= weights.step(to, clear_weights);
        tell_weights |= weights.tells();
    } else {
        weights.idle(1);
    }

    // Done, interrupts, switch.
    if (running) {
        const Cycle data_at = std::min(data_half.done_at, data.done_at());
        const Cycle weight_at = std::min(weight_half.done_at, weights.done_at());
        if (data_at != kNever) data_done = data_at;
        if (weight_at != kNever) weight_done = weight_at;
        std::uint32_t interrupts = 0;
        if (data_done == to) {
            data_half.life = LayerState::Done;
            interrupts |= facts::cdma::kDataInterrupt;
        }
        if (weight_done == to) {
            weight_half.life = LayerState::Done;
            interrupts |= facts::cdma::kWeightInterrupt;
        }
        if (interrupts) {
            ports.interrupt.put(to + 1, interrupts << layer.group);
            control_at = next;
        }
        if (data_done != kNever && weight_done != kNever) switch_at = std::max(data_done, weight_done) + 1;
        if (switch_at == to) finish_layer(to);
    }
    awake = changed || !data_half.settled() || !weight_half.settled();
    // a register holds what was written to it from the next cycle on
    if (arbiter_written) weights.set_arbiter(registers.get(reg::cdma::S_ARBITER));
    arbiter_written = false;
    tell_data |= data_half.life != data_was;
    tell_weights |= weight_half.life != weights_were;
    account(to);
}

/// What holds from the next cycle on.
void CdmaCore::note_waits(Cycle at)
{
    if (!running) {
        registers.note_idle((*logs)[WaitPoint::CdmaData], at + 1);
        registers.note_idle((*logs)[WaitPoint::CdmaWeight], at + 1);
        return;
    }
    if (tell_data && layer.fetcher != Fetcher::None)
        note_side(data_half, data, WaitPoint::CdmaData, Client::CdmaData, Cause::DataLate, at + 1);
    if (tell_weights) note_side(weight_half, weights, WaitPoint::CdmaWeight, Client::CdmaWeight, Cause::WeightsLate, at + 1);
}

template <class Side>
void CdmaCore::note_side(const Half& half, const Side& side, WaitPoint place, Client client, Cause pace, Cycle at)
{
    const WaitPoint asks = of_client(WaitPoint::Ask, static_cast<unsigned>(client));
    WaitLog &log = (*logs)[place], &ask = (*logs)[asks];
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
    if (logs) note_waits(at);
    if (!running) {
        phases.enter(gate_off != kNever ? Phase::Draining : Phase::Gated, at);
    } else if (data.moved() || weights.moved()) {
        phases.enter(Phase::Issuing, at);
    } else if (data_half.life == LayerState::Done && weight_half.life == LayerState::Done) {
        phases.enter(Phase::Draining, at);
    } else if (data.blocked() || weights.blocked()) {
        phases.enter(Phase::Blocked, at);
    } else {
        phases.enter(Phase::Starved, at);
    }
}

Cycle CdmaCore::horizon() const
{
    if (awake) return next;
    Cycle at = std::min(
        {registers.horizon(), data.horizon(), weights.horizon(), gate_off, capacity_at, switch_at, data_half.busy_at, weight_half.busy_at});
    const auto later = [&](Cycle cycle) {
        if (cycle >= next) at = std::min(at, cycle);
    };
    if (running) {
        later(started + facts::cdma::kBusy);
        later(data_done);
        later(weight_done);
    } else {
        later(registers.start_cycle());
    }
    return std::max(at, next);
}

UnitReport CdmaCore::report(Cycle end)
{
    phases.account_until(end);
    CdmaCounters totals = counted;
    totals.data_atoms_read = data.atoms_read;
    totals.weight_atoms_read = weights.atoms_read();
    totals.cbuf_data_writes = ports.cbuf.data_writes;
    totals.cbuf_weight_writes = ports.cbuf.weight_writes;
    return {"cdma", phases, totals, clocks, end};
}

std::string CdmaCore::waiting_for() const
{
    if (!running) return "no layer enabled";
    if (layer.fetcher == Fetcher::None) return "Winograd with pixel input: no fetcher supports this";
    if (data_half.life == LayerState::Pending || weight_half.life == LayerState::Pending)
        return "CSC to end the pending handshake of a new bank partition";
    const std::string of_data = data_half.life == LayerState::Done ? "data: done" : data.waiting_for();
    return of_data + "; " + (weight_half.life == LayerState::Done ? "weights: done" : weights.waiting_for());
}

void CdmaCore::attach(ProbeSet& probes)
{
    clocks.attach(probes, "cdma");
    phases.record(probes.phases("cdma"));
    probes.also("clock_on_cdma", "clock_on_cdma_weights");
    data.write_probe = probes.get("cdma2buf_dat_wr");
    weights.attach(probes.get("cdma2buf_wt_wr"));
}

std::unique_ptr<Core> make_cdma(const Hardware& hardware, const CdmaPorts& ports, bool values, bool flushed)
{
    return std::make_unique<CdmaCore>(hardware, ports, values, flushed);
}

}  // namespace dlasim
