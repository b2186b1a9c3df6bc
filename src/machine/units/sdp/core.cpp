#include "units/sdp/core.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/bits.h"
#include "facts/sdp.h"
#include "links/direct_core.h"
#include "registers/fields/sdp.h"
#include "registers/lut_window.h"
#include "registers/register_file.h"
#include "units/sdp/acknowledge.h"
#include "units/sdp/counters.h"
#include "units/sdp/machine.h"
#include "units/sdp/status.h"

namespace dlasim {

using namespace sdp;

namespace {

constexpr std::array<std::uint64_t SdpCounters::*, kReadEngines> kReadDomains{&SdpCounters::mrdma, &SdpCounters::brdma, &SdpCounters::nrdma,
                                                                              &SdpCounters::erdma};

constexpr std::array<Client, kReadEngines> kReadClients{Client::Sdp, Client::SdpBs, Client::SdpBn, Client::SdpEw};
constexpr WaitPoint kRoom = of_client(WaitPoint::Room, static_cast<unsigned>(Client::Sdp));

/// What the counters of a layer add to those of the run; `lut`, `saturation`: these were on.
void add(ValueCounters& sum, const ValueCounters& layer, bool lut, bool saturation)
{
    if (saturation) sum.saturated += layer.saturated;
    sum.nan_output += layer.nan_output;
    if (lut) sum.look_ups.add(layer.look_ups, 1);
}

class SdpCore final : public DirectCore<SdpCore> {
public:
    SdpCore(const Hardware& hardware, const SdpPorts& ports, bool values);

    void advance(Cycle to) override;
    void catch_up(Cycle to) override;
    Cycle horizon() const override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override
    {
        clocks_.attach(probes, "sdp");
        phases_.record(probes.phases("sdp"));
    }
    void follow(WaitLogs& all) override
    {
        logs_ = &all;
        acknowledge_.log = &all[WaitPoint::SdpDone];
    }

private:
    void note_waits(Cycle at, const Machine::Answer& now);
    void note_reader(WaitLog& log, Cycle at, ReadEngine engine, Cause cause);
    /// Cycles that need not be evaluated in time, because nothing can leave.
    Cycle quiet() const { return input_.refused ? 0 : machine_->quiet(); }
    void take_answers(Cycle to);
    void cycle(Cycle at);
    void settle(Cycle at, const Machine::Answer& now);
    void count(Cycle cycles);
    void note_phase(Cycle at, const Machine::Answer& now);
    void start(Cycle at);
    void finish(Cycle at);
    void start_reading(Cycle at);
    void note_start(Cycle at);
    void end_reading(Cycle done);
    template <class... Domains>
    void gate(Cycle at, bool open, Domains... domains);
    void gate_engines(Cycle at, const LayerConfig* layer);
    void gate_readers(Cycle at, bool open);
    void close_gates(Cycle known);

    // ---- what never changes
    const facts::sdp::Facts silicon_;
    const SdpPorts ports_;

    // ---- what a layer sets
    RegisterFile registers_, read_registers_;
    struct Layer {
        bool reads = false;  // the layer has a part of the reader
        bool count_stall = false, count_reads = false;
    } layer_;

    // ---- what moves
    Values values_;
    LutWindow window_;
    std::unique_ptr<Machine> machine_;
    Acknowledge acknowledge_;
    CoreStatus status_;
    ReadStatus read_status_;
    struct Progress {
        Cycle next = 0;       // the first cycle not evaluated yet
        bool active = false;  // the cycle evaluated last changed something
    } progress_;
    bool running_ = false, reading_ = false;  // a layer of SDP, of SDP_RDMA
    struct Input {
        bool refused = false;    // CACC offers a beat that was not taken
        std::uint32_t beat = 0;  // the next one of those that CACC offers
    } input_;
    struct Reader {
        unsigned pending = 0;               // read engines that have not finished, by ReadEngine
        std::uint64_t begun = 0, used = 0;  // layers of the reader, and those of them that SDP is done with
    } reader_;
    /// The last cycles of a gate, in which its domains follow the group that is current: those not yet decided.
    struct Closing {
        Cycle next = 0, end = 0;
    };
    struct Gates {
        Closing closing, read_closing;
        bool tables_written = false;  // their clock runs until the gate opens the next time
    } gates_;

    // ---- what is counted
    PhaseLog phases_;
    GatedClocks<SdpCounters> clocks_;
    struct Counted {
        std::uint64_t layers = 0, beats = 0, write_stall = 0;
        std::array<std::uint64_t, kReadEngines> read_stalls{};
        // Of all layers that ended, as their registers held it.
        std::uint64_t write_stalls = 0;
        ValueCounters values;
    } counted_;
    WaitLogs* logs_ = nullptr;
};

}  // namespace

SdpCore::SdpCore(const Hardware& hardware, const SdpPorts& ports, bool values)
    : silicon_(facts::sdp::of(hardware)),
      ports_(ports),
      registers_(*find_unit(hardware, "SDP"), ports.csb),
      read_registers_(*find_unit(hardware, "SDP_RDMA"), ports.csb_rdma),
      values_(silicon_),
      window_(values_.tables().le, values_.tables().lo, {}),
      machine_(Machine::make(silicon_, values_, ports)),
      acknowledge_(silicon_.complete_to_interrupt, ports.interrupt)
{
    registers_.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) -> std::optional<std::uint32_t> {
        if (offset == reg::sdp::S_LUT_ACCESS_DATA) return window_.read(at);
        return status_.read(offset, group, registers_.enabled(group, at));
    };
    registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
        if (offset == reg::sdp::S_LUT_ACCESS_CFG) {
            window_.configure(data, decode);
            gates_.tables_written = silicon_.lut;  // they are clocked while they are written
            if (gates_.tables_written) clocks_.on(decode + 1, &SdpCounters::ew);
        }
        if (offset == reg::sdp::S_LUT_ACCESS_DATA) window_.write(data);
    };
    read_registers_.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) {
        return read_status_.read(offset, group, read_registers_.enabled(group, at));
    };
    values_.compute(values);
}

/// Evaluates the cycles before `to` in which nothing arrived and nothing left, and accounts those that were slept
/// through.
void SdpCore::catch_up(Cycle to)
{
    // Arrivals would have woken the unit; a beat that was refused is still there, and still refused.
    for (; progress_.next < to && progress_.active; ++progress_.next)
        settle(progress_.next, machine_->cycle(progress_.next, input_.refused, false, true));
    if (progress_.next < to) count(to - progress_.next);
    progress_.next = std::max(progress_.next, to);
}

void SdpCore::advance(Cycle to)
{
    catch_up(to);
    close_gates(to);
    registers_.advance(to);
    read_registers_.advance(to);
    take_answers(to);
    cycle(to);
    acknowledge_.send(to);
    progress_.next = to + 1;
}

void SdpCore::take_answers(Cycle to)
{
    for (const bool primary : {true, false}) {
        WriteLink* link = primary ? &ports_.write_mc : ports_.write_cv;
        while (link && link->complete.available(to)) {
            const Cycle at = link->complete.next();
            link->complete.take();
            acknowledge_.complete(at, primary);
        }
    }
}

/// Evaluates a cycle in which something may arrive or leave.
void SdpCore::cycle(Cycle at)
{
    if (reading_) machine_->receive(at);
    const bool offered = ports_.cacc.valid(at);
    const SumBeat& item = ports_.cacc.item(at);
    const bool last = input_.beat + 1 == item.beats;
    const Machine::Answer& now = machine_->cycle(at, offered, last && item.layer_end, false);
    if (now.accepted) {
        values_.feed(item, input_.beat);
        input_.beat = last ? 0 : input_.beat + 1;
    }
    input_.refused = offered && !now.accepted;
    ports_.cacc.set_ready(at + 1, now.ready);

    settle(at, now);
    if (!running_ && registers_.start_cycle() == at) start(at);
    if (!reading_ && read_registers_.start_cycle() == at) start_reading(at);
}

Cycle SdpCore::horizon() const
{
    if (input_.beat != 0 && !input_.refused) return progress_.next;
    Cycle first = progress_.active ? progress_.next + std::min(quiet(), kNever - progress_.next) : kNever;
    if (first == progress_.next) return progress_.next;
    first = std::min({first, registers_.horizon(), read_registers_.horizon(), acknowledge_.horizon(), ports_.write_mc.complete.next()});
    if (ports_.write_cv) first = std::min(first, ports_.write_cv->complete.next());
    if (!running_) first = std::min(first, registers_.start_cycle());
    if (!reading_) first = std::min(first, read_registers_.start_cycle());
    return std::max(first, progress_.next);
}

void SdpCore::settle(Cycle at, const Machine::Answer& now)
{
    progress_.active = now.changed;
    count(1);
    note_phase(at, now);
    if (logs_) note_waits(at, now);
    if (now.looked_up) values_.look_up();
    if (now.readers_finished) {
        reader_.pending &= ~now.readers_finished;
        if (!reader_.pending) end_reading(at + 1);
    }
    if (now.last) finish(at);
}

/// Counts cycles that are as the one evaluated last.
void SdpCore::count(Cycle cycles)
{
    if (layer_.count_stall && machine_->wdma().blocked()) counted_.write_stall += cycles;
    if (running_) values_.count_lut(cycles);
    if (!layer_.count_reads) return;
    for (unsigned i = 0; i < kReadEngines; ++i)
        if (machine_->read_blocked(i)) counted_.read_stalls[i] += cycles;
}

void SdpCore::note_phase(Cycle at, const Machine::Answer& now)
{
    counted_.beats += now.taken;
    const Wdma& wdma = machine_->wdma();
    if (!running_ && !wdma.offers() && !wdma.blocked()) phases_.enter(Phase::Gated, at);
    else if (now.taken || now.worked) phases_.enter(Phase::Issuing, at);
    else if (wdma.blocked()) phases_.enter(Phase::Blocked, at);
    else phases_.enter(machine_->mux_open() ? Phase::Starved : Phase::Draining, at);
}

/// Why cycle `at` takes no beat, or that it does at SDP's own pace.
void SdpCore::note_waits(Cycle at, const Machine::Answer& now)
{
    WaitLog& log = (*logs_)[WaitPoint::Sdp];
    const Wdma& wdma = machine_->wdma();
    const bool flying = machine_->flying(), open = machine_->mux_open();
    if (!running_) registers_.note_idle(log, at);
    else if (wdma.blocked() && (input_.refused || !flying || !open)) log.waits(at, kRoom, Cause::SdpPace);
    else if (!open) log.works(at, Cause::Drain);
    else if (flying && !input_.refused) log.waits(at, WaitPoint::Cacc, Cause::SdpPace);
    else if (!flying && now.taken) log.works(at, Cause::SdpPace);
    else if (machine_->pdp_refuses()) log.waits(at, WaitPoint::Pdp, Cause::SdpPace);
    else if (const auto engine = machine_->missing_operand()) note_reader(log, at, *engine, Cause::OperandLate);
    else if (!flying) note_reader(log, at, ReadEngine::Mrdma, Cause::SdpPace);
    else log.works(at, Cause::SdpPace);
}

void SdpCore::note_reader(WaitLog& log, Cycle at, ReadEngine engine, Cause cause)
{
    const ReadFront& front = machine_->front(engine);
    const auto client = static_cast<unsigned>(kReadClients[static_cast<unsigned>(engine)]);
    if (front.holds_words()) log.works(at, cause);
    else if (front.expects()) log.waits(at, of_client(WaitPoint::Read, client), cause);
    else if (reader_.begun > reader_.used && front.idle()) log.works(at, cause);  // all has come
    else log.waits(at, of_client(WaitPoint::Ask, client), cause);
}

void SdpCore::start(Cycle at)
{
    const LayerConfig layer = LayerConfig::decode(silicon_, registers_);
    values_.start(registers_, layer);
    machine_->start(layer);
    layer_.reads = !layer.flying || layer.bs.streams() || layer.bn.streams() || layer.ew.streams();
    running_ = progress_.active = true;
    if (logs_) (*logs_)[WaitPoint::Sdp].works(at + 1, Cause::StartUp);
    layer_.count_stall = registers_.get(reg::sdp::D_PERF_ENABLE::PERF_DMA_EN);
    if (layer_.count_stall) counted_.write_stall = 0;  // a layer that does not count reports what the last one counted
    if (at != gates_.closing.end) gates_.tables_written = false;
    gate_engines(at, &layer);
    phases_.enter(Phase::Starved, at + 1);
}

/// Cycle L.
void SdpCore::finish(Cycle at)
{
    const Wdma& wdma = machine_->wdma();
    const unsigned group = registers_.consumer();
    if (wdma.quiet()) acknowledge_.raise(at + 1, group);
    else acknowledge_.expect(group, wdma.to_primary());
    const bool lut = registers_.get(reg::sdp::D_PERF_ENABLE::PERF_LUT_EN),
               saturation = registers_.get(reg::sdp::D_PERF_ENABLE::PERF_SAT_EN);
    status_.latch(group, wdma.unequal(), values_.counters(), counted_.write_stall);
    add(counted_.values, values_.counters(), lut, saturation);
    if (layer_.count_stall) counted_.write_stalls += static_cast<std::uint32_t>(counted_.write_stall);
    values_.count_lut(1);  // the counters go on for one cycle more than what was copied
    values_.finish();
    registers_.finish(at + facts::sdp::kDoneToRelease);
    running_ = layer_.count_stall = false;
    ++counted_.layers;
    if (layer_.reads) ++reader_.used;
    const Cycle done = at + facts::sdp::kDoneToRelease;
    gates_.closing = {done + facts::sdp::kDoneToFlags, done + facts::sdp::kDoneToGateOff};
}

void SdpCore::start_reading(Cycle at)
{
    reader_.pending = 0;
    layer_.count_reads = read_registers_.get(reg::sdp_rdma::D_PERF_ENABLE::PERF_DMA_EN);
    for (unsigned i = 0; i < kReadEngines; ++i) {
        const ReadEngine engine = static_cast<ReadEngine>(i);
        const ReadLayer layer = ReadLayer::decode(silicon_, read_registers_, engine);
        if (!layer.on) continue;
        machine_->start(engine, layer);
        // Operand engines that do not count, and all engines without a layer, report the last count.
        if (layer_.count_reads || engine == ReadEngine::Mrdma) counted_.read_stalls[i] = 0;
        reader_.pending |= 1u << i;
    }
    values_.counters().nan_input = values_.counters().infinite_input = 0;
    gate_readers(at, true);
    reading_ = progress_.active = true;
    ++reader_.begun;
    if (logs_ && reader_.pending) note_start(at);
    if (!reader_.pending) end_reading(at);  // no engine is on: there is nothing to wait for
}

/// An engine without work in this layer begins the next one when those that have some are done.
void SdpCore::note_start(Cycle at)
{
    const auto asks = [](unsigned engine) { return of_client(WaitPoint::Ask, static_cast<unsigned>(kReadClients[engine])); };
    for (unsigned engine = 0; engine < kReadEngines; ++engine) {
        WaitLog& log = (*logs_)[asks(engine)];
        if (reader_.pending >> engine & 1) log.works(at, Cause::StartUp);
        else log.waits(at, asks(static_cast<unsigned>(std::countr_zero(reader_.pending))), Cause::StartUp);
    }
}

/// The done pulse of SDP_RDMA is in cycle `done`.
void SdpCore::end_reading(Cycle done)
{
    const bool nan = read_registers_.get(reg::sdp_rdma::D_PERF_ENABLE::PERF_NAN_INF_COUNT_EN);
    read_status_.latch(read_registers_.consumer(), values_.counters(), nan, counted_.read_stalls);
    read_registers_.finish(done);
    reading_ = layer_.count_reads = false;
    if (logs_)
        for (const Client client : kReadClients)
            read_registers_.note_idle((*logs_)[of_client(WaitPoint::Ask, static_cast<unsigned>(client))], done + 1);
    gates_.read_closing = {done + facts::sdp::kDoneToFlags, done + facts::sdp::kDoneToGateOff};
}

template <class... Domains>
void SdpCore::gate(Cycle at, bool open, Domains... domains)
{
    if (open) clocks_.on(at, domains...);
    else clocks_.off(at, domains...);
}

/// Null: the gate falls.
void SdpCore::gate_engines(Cycle at, const LayerConfig* layer)
{
    gate(at, layer, &SdpCounters::wdma);
    gate(at, layer && layer->bs.on, &SdpCounters::bs);
    gate(at, layer && layer->bn.on, &SdpCounters::bn);
    gate(at, (layer && layer->ew.on) || gates_.tables_written, &SdpCounters::ew);
}

void SdpCore::gate_readers(Cycle at, bool open)
{
    for (unsigned i = 0; i < kReadEngines; ++i)
        gate(at, open && ReadLayer::decode(silicon_, read_registers_, static_cast<ReadEngine>(i)).on, kReadDomains[i]);
}

/// What was written to registers before cycle `known` is in them.
void SdpCore::close_gates(Cycle known)
{
    if (gates_.closing.next == gates_.closing.end && gates_.read_closing.next == gates_.read_closing.end) return;
    const Cycle decided = known + facts::sdp::kWriteToFlag;
    for (Closing& c = gates_.closing; c.next < std::min(c.end, decided); ++c.next) {
        const LayerConfig layer = LayerConfig::decode(silicon_, registers_);
        gate_engines(c.next, &layer);
        if (c.next + 1 == c.end) gate_engines(c.end, nullptr);
    }
    for (Closing& c = gates_.read_closing; c.next < std::min(c.end, decided); ++c.next) {
        gate_readers(c.next, true);
        if (c.next + 1 == c.end) gate_readers(c.end, false);
    }
}

UnitReport SdpCore::report(Cycle end)
{
    catch_up(end);
    phases_.account_until(end);
    SdpCounters totals;
    totals.layers = counted_.layers;
    totals.beats = counted_.beats;
    totals.atoms_written = machine_->wdma().atoms_written();
    totals.atoms_read = machine_->atoms_read();
    totals.wdma_write_stall = counted_.write_stalls;
    totals.out_saturation = counted_.values.saturated;
    totals.nan_output_num = counted_.values.nan_output;
    const LookUps& look_ups = counted_.values.look_ups;
    if (look_ups.underflow + look_ups.overflow + look_ups.hybrid != 0) {
        totals.lut_uflow = look_ups.underflow;
        totals.lut_oflow = look_ups.overflow;
        totals.lut_hybrid = look_ups.hybrid;
        totals.lut_le_hit = look_ups.le_hit;
        totals.lut_lo_hit = look_ups.lo_hit;
    }
    close_gates(end);
    return {"sdp", phases_, totals, clocks_, end};
}

std::string SdpCore::waiting_for() const
{
    if (!running_) return acknowledge_.waiting() ? "idle, waits for the answer of memory" : "idle";
    if (machine_->operands_stuck())
        return "waits for operands of the second surface: of a single pixel in several batches operands per element "
               "exist for one surface only";
    if (phases_.phase() == Phase::Blocked) return "blocked by the write port";
    if (phases_.phase() == Phase::Draining) return "all beats taken, the write DMA waits for data";
    return reading_ ? "waits for features or operands, the read engines are running" : "waits for beats or operands";
}

std::unique_ptr<Core> make_sdp(const Hardware& hardware, const SdpPorts& ports, bool values)
{
    return std::make_unique<SdpCore>(hardware, ports, values);
}

}  // namespace dlasim
