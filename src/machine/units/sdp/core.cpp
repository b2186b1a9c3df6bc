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

struct SdpCore final : DirectCore<SdpCore> {
    SdpCore(const Hardware& hw, const SdpPorts& ports, bool computes);

    void advance(Cycle to) override;
    void catch_up(Cycle to) override;
    Cycle horizon() const override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override
    {
        clocks.attach(probes, "sdp");
        phases.record(probes.phases("sdp"));
    }
    void follow(WaitLogs& all) override
    {
        logs = &all;
        acknowledge.log = &all[WaitPoint::SdpDone];
    }
    void note_waits(Cycle at, const Machine::Answer& now);
    void note_reader(WaitLog& log, Cycle at, ReadEngine engine, Cause cause);
    /// Cycles that need not be evaluated in time, because nothing can leave.
    Cycle quiet() const { return refused ? 0 : machine->quiet(); }
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

    const facts::sdp::Facts silicon;
    const SdpPorts links;
    RegisterFile registers, read_registers;
    Values values;
    LutWindow window;
    std::unique_ptr<Machine> machine;
    Acknowledge acknowledge;
    CoreStatus status;
    ReadStatus read_status;

    Cycle next = 0;                         // the first cycle not evaluated yet
    bool active = false;                    // the cycle evaluated last changed something
    bool running = false, reading = false;  // a layer of SDP, of SDP_RDMA
    bool refused = false;                   // CACC offers a beat that was not taken
    std::uint32_t beat_of_item = 0;         // the next one of those that CACC offers
    unsigned pending = 0;                   // read engines that have not finished, by ReadEngine

    PhaseLog phases;
    WaitLogs* logs = nullptr;
    bool reads = false;                             // the layer has a part of the reader
    std::uint64_t reads_begun = 0, reads_used = 0;  // layers of the reader, and those of them that SDP is done with
    GatedClocks<SdpCounters> clocks;
    /// The last cycles of a gate, in which its domains follow the group that is current: those not yet decided.
    struct Closing {
        Cycle next = 0, end = 0;
    };
    Closing closing, read_closing;
    bool tables_written = false;  // their clock runs until the gate opens the next time
    bool count_stall = false, count_reads = false;
    std::uint64_t layers = 0, beats = 0, write_stall = 0;
    std::array<std::uint64_t, kReadEngines> read_stalls{};
    // Of all layers that ended, as their registers held it.
    std::uint64_t write_stalls = 0;
    ValueCounters counted;
};

}  // namespace

SdpCore::SdpCore(const Hardware& hw, const SdpPorts& ports, bool computes)
    : silicon(facts::sdp::of(hw)),
      links(ports),
      registers(*find_unit(hw, "SDP"), ports.csb),
      read_registers(*find_unit(hw, "SDP_RDMA"), ports.csb_rdma),
      values(silicon),
      window(values.tables().le, values.tables().lo, {}),
      machine(Machine::make(silicon, values, ports)),
      acknowledge(silicon.complete_to_interrupt, ports.interrupt)
{
    registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) -> std::optional<std::uint32_t> {
        if (offset == reg::sdp::S_LUT_ACCESS_DATA) return window.read(at);
        return status.read(offset, group, registers.enabled(group, at));
    };
    registers.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
        if (offset == reg::sdp::S_LUT_ACCESS_CFG) {
            window.configure(data, decode);
            tables_written = silicon.lut;  // they are clocked while they are written
            if (tables_written) clocks.on(decode + 1, &SdpCounters::ew);
        }
        if (offset == reg::sdp::S_LUT_ACCESS_DATA) window.write(data);
    };
    read_registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) {
        return read_status.read(offset, group, read_registers.enabled(group, at));
    };
    values.compute(computes);
}

/// Evaluates the cycles before `to` in which nothing arrived and nothing left, and accounts those that were slept
/// through.
void SdpCore::catch_up(Cycle to)
{
    // Arrivals would have woken the unit; a beat that was refused is still there, and still refused.
    for (; next < to && active; ++next) settle(next, machine->cycle(next, refused, false, true));
    if (next < to) count(to - next);
    next = std::max(next, to);
}

void SdpCore::advance(Cycle to)
{
    catch_up(to);
    close_gates(to);
    registers.advance(to);
    read_registers.advance(to);
    take_answers(to);
    cycle(to);
    acknowledge.send(to);
    next = to + 1;
}

void SdpCore::take_answers(Cycle to)
{
    for (const bool primary : {true, false}) {
        WriteLink* link = primary ? &links.write_mc : links.write_cv;
        while (link && link->complete.available(to)) {
            const Cycle at = link->complete.next();
            link->complete.take();
            acknowledge.complete(at, primary);
        }
    }
}

/// Evaluates a cycle in which something may arrive or leave.
void SdpCore::cycle(Cycle at)
{
    if (reading) machine->receive(at);
    const bool offered = links.cacc.valid(at);
    const SumBeat& item = links.cacc.item(at);
    const bool last = beat_of_item + 1 == item.beats;
    const Machine::Answer& now = machine->cycle(at, offered, last && item.layer_end, false);
    if (now.accepted) {
        values.feed(item, beat_of_item);
        beat_of_item = last ? 0 : beat_of_item + 1;
    }
    refused = offered && !now.accepted;
    links.cacc.set_ready(at + 1, now.ready);

    settle(at, now);
    if (!running && registers.start_cycle() == at) start(at);
    if (!reading && read_registers.start_cycle() == at) start_reading(at);
}

Cycle SdpCore::horizon() const
{
    if (beat_of_item != 0 && !refused) return next;
    Cycle first = active ? next + std::min(quiet(), kNever - next) : kNever;
    if (first == next) return next;
    first = std::min({first, registers.horizon(), read_registers.horizon(), acknowledge.horizon(), links.write_mc.complete.next()});
    if (links.write_cv) first = std::min(first, links.write_cv->complete.next());
    if (!running) first = std::min(first, registers.start_cycle());
    if (!reading) first = std::min(first, read_registers.start_cycle());
    return std::max(first, next);
}

void SdpCore::settle(Cycle at, const Machine::Answer& now)
{
    active = now.changed;
    count(1);
    note_phase(at, now);
    if (logs) note_waits(at, now);
    if (now.looked_up) values.look_up();
    if (now.readers_finished) {
        pending &= ~now.readers_finished;
        if (!pending) end_reading(at + 1);
    }
    if (now.last) finish(at);
}

/// Counts cycles that are as the one evaluated last.
void SdpCore::count(Cycle cycles)
{
    if (count_stall && machine->wdma().blocked()) write_stall += cycles;
    if (running) values.count_lut(cycles);
    if (!count_reads) return;
    for (unsigned i = 0; i < kReadEngines; ++i)
        if (machine->read_blocked(i)) read_stalls[i] += cycles;
}

void SdpCore::note_phase(Cycle at, const Machine::Answer& now)
{
    beats += now.taken;
    const Wdma& wdma = machine->wdma();
    if (!running && !wdma.offers() && !wdma.blocked()) phases.enter(Phase::Gated, at);
    else if (now.taken || now.worked) phases.enter(Phase::Issuing, at);
    else if (wdma.blocked()) phases.enter(Phase::Blocked, at);
    else phases.enter(machine->mux_open() ? Phase::Starved : Phase::Draining, at);
}

/// Why cycle `at` takes no beat, or that it does at SDP's own pace.
void SdpCore::note_waits(Cycle at, const Machine::Answer& now)
{
    WaitLog& log = (*logs)[WaitPoint::Sdp];
    const Wdma& wdma = machine->wdma();
    const bool flying = machine->flying(), open = machine->mux_open();
    if (!running) registers.note_idle(log, at);
    else if (wdma.blocked() && (refused || !flying || !open)) log.waits(at, kRoom, Cause::SdpPace);
    else if (!open) log.works(at, Cause::Drain);
    else if (flying && !refused) log.waits(at, WaitPoint::Cacc, Cause::SdpPace);
    else if (!flying && now.taken) log.works(at, Cause::SdpPace);
    else if (machine->pdp_refuses()) log.waits(at, WaitPoint::Pdp, Cause::SdpPace);
    else if (const auto engine = machine->missing_operand()) note_reader(log, at, *engine, Cause::OperandLate);
    else if (!flying) note_reader(log, at, ReadEngine::Mrdma, Cause::SdpPace);
    else log.works(at, Cause::SdpPace);
}

void SdpCore::note_reader(WaitLog& log, Cycle at, ReadEngine engine, Cause cause)
{
    const ReadFront& front = machine->front(engine);
    const auto client = static_cast<unsigned>(kReadClients[static_cast<unsigned>(engine)]);
    if (front.holds_words()) log.works(at, cause);
    else if (front.expects()) log.waits(at, of_client(WaitPoint::Read, client), cause);
    else if (reads_begun > reads_used && front.idle()) log.works(at, cause);  // all has come
    else log.waits(at, of_client(WaitPoint::Ask, client), cause);
}

void SdpCore::start(Cycle at)
{
    const LayerConfig layer = LayerConfig::decode(silicon, registers);
    values.start(registers, layer);
    machine->start(layer);
    reads = !layer.flying || layer.bs.streams() || layer.bn.streams() || layer.ew.streams();
    running = active = true;
    if (logs) (*logs)[WaitPoint::Sdp].works(at + 1, Cause::StartUp);
    count_stall = registers.get(reg::sdp::D_PERF_ENABLE::PERF_DMA_EN);
    if (count_stall) write_stall = 0;  // a layer that does not count reports what the last one counted
    if (at != closing.end) tables_written = false;
    gate_engines(at, &layer);
    phases.enter(Phase::Starved, at + 1);
}

/// Cycle L.
void SdpCore::finish(Cycle at)
{
    const Wdma& wdma = machine->wdma();
    const unsigned group = registers.consumer();
    if (wdma.quiet()) acknowledge.raise(at + 1, group);
    else acknowledge.expect(group, wdma.to_primary());
    const bool lut = registers.get(reg::sdp::D_PERF_ENABLE::PERF_LUT_EN), saturation = registers.get(reg::sdp::D_PERF_ENABLE::PERF_SAT_EN);
    status.latch(group, wdma.unequal(), values.counters(), write_stall);
    add(counted, values.counters(), lut, saturation);
    if (count_stall) write_stalls += static_cast<std::uint32_t>(write_stall);
    values.count_lut(1);  // the counters go on for one cycle more than what was copied
    values.finish();
    registers.finish(at + facts::sdp::kDoneToRelease);
    running = count_stall = false;
    ++layers;
    if (reads) ++reads_used;
    const Cycle done = at + facts::sdp::kDoneToRelease;
    closing = {done + facts::sdp::kDoneToFlags, done + facts::sdp::kDoneToGateOff};
}

void SdpCore::start_reading(Cycle at)
{
    pending = 0;
    count_reads = read_registers.get(reg::sdp_rdma::D_PERF_ENABLE::PERF_DMA_EN);
    for (unsigned i = 0; i < kReadEngines; ++i) {
        const ReadEngine engine = static_cast<ReadEngine>(i);
        const ReadLayer layer = ReadLayer::decode(silicon, read_registers, engine);
        if (!layer.on) continue;
        machine->start(engine, layer);
        // Operand engines that do not count, and all engines without a layer, report the last count.
        if (count_reads || engine == ReadEngine::Mrdma) read_stalls[i] = 0;
        pending |= 1u << i;
    }
    values.counters().nan_input = values.counters().infinite_input = 0;
    gate_readers(at, true);
    reading = active = true;
    ++reads_begun;
    if (logs && pending) note_start(at);
    if (!pending) end_reading(at);  // no engine is on: there is nothing to wait for
}

/// An engine without work in this layer begins the next one when those that have some are done.
void SdpCore::note_start(Cycle at)
{
    const auto asks = [](unsigned engine) { return of_client(WaitPoint::Ask, static_cast<unsigned>(kReadClients[engine])); };
    for (unsigned engine = 0; engine < kReadEngines; ++engine) {
        WaitLog& log = (*logs)[asks(engine)];
        if (pending >> engine & 1) log.works(at, Cause::StartUp);
        else log.waits(at, asks(static_cast<unsigned>(std::countr_zero(pending))), Cause::StartUp);
    }
}

/// The done pulse of SDP_RDMA is in cycle `done`.
void SdpCore::end_reading(Cycle done)
{
    const bool nan = read_registers.get(reg::sdp_rdma::D_PERF_ENABLE::PERF_NAN_INF_COUNT_EN);
    read_status.latch(read_registers.consumer(), values.counters(), nan, read_stalls);
    read_registers.finish(done);
    reading = count_reads = false;
    if (logs)
        for (const Client client : kReadClients)
            read_registers.note_idle((*logs)[of_client(WaitPoint::Ask, static_cast<unsigned>(client))], done + 1);
    read_closing = {done + facts::sdp::kDoneToFlags, done + facts::sdp::kDoneToGateOff};
}

template <class... Domains>
void SdpCore::gate(Cycle at, bool open, Domains... domains)
{
    if (open) clocks.on(at, domains...);
    else clocks.off(at, domains...);
}

/// Null: the gate falls.
void SdpCore::gate_engines(Cycle at, const LayerConfig* layer)
{
    gate(at, layer, &SdpCounters::wdma);
    gate(at, layer && layer->bs.on, &SdpCounters::bs);
    gate(at, layer && layer->bn.on, &SdpCounters::bn);
    gate(at, (layer && layer->ew.on) || tables_written, &SdpCounters::ew);
}

void SdpCore::gate_readers(Cycle at, bool open)
{
    for (unsigned i = 0; i < kReadEngines; ++i)
        gate(at, open && ReadLayer::decode(silicon, read_registers, static_cast<ReadEngine>(i)).on, kReadDomains[i]);
}

/// What was written to registers before cycle `known` is in them.
void SdpCore::close_gates(Cycle known)
{
    if (closing.next == closing.end && read_closing.next == read_closing.end) return;
    const Cycle decided = known + facts::sdp::kWriteToFlag;
    for (Closing& c = closing; c.next < std::min(c.end, decided); ++c.next) {
        const LayerConfig layer = LayerConfig::decode(silicon, registers);
        gate_engines(c.next, &layer);
        if (c.next + 1 == c.end) gate_engines(c.end, nullptr);
    }
    for (Closing& c = read_closing; c.next < std::min(c.end, decided); ++c.next) {
        gate_readers(c.next, true);
        if (c.next + 1 == c.end) gate_readers(c.end, false);
    }
}

UnitReport SdpCore::report(Cycle end)
{
    catch_up(end);
    phases.account_until(end);
    SdpCounters totals;
    totals.layers = layers;
    totals.beats = beats;
    totals.atoms_written = machine->wdma().atoms_written();
    totals.atoms_read = machine->atoms_read();
    totals.wdma_write_stall = write_stalls;
    totals.out_saturation = counted.saturated;
    totals.nan_output_num = counted.nan_output;
    const LookUps& look_ups = counted.look_ups;
    if (look_ups.underflow + look_ups.overflow + look_ups.hybrid != 0) {
        totals.lut_uflow = look_ups.underflow;
        totals.lut_oflow = look_ups.overflow;
        totals.lut_hybrid = look_ups.hybrid;
        totals.lut_le_hit = look_ups.le_hit;
        totals.lut_lo_hit = look_ups.lo_hit;
    }
    close_gates(end);
    return {"sdp", phases, totals, clocks, end};
}

std::string SdpCore::waiting_for() const
{
    if (!running) return acknowledge.waiting() ? "idle, waits for the answer of memory" : "idle";
    if (machine->operands_stuck())
        return "waits for operands of the second surface: of a single pixel in several batches operands per element "
               "exist for one surface only";
    if (phases.phase() == Phase::Blocked) return "blocked by the write port";
    if (phases.phase() == Phase::Draining) return "all beats taken, the write DMA waits for data";
    return reading ? "waits for features or operands, the read engines are running" : "waits for beats or operands";
}

std::unique_ptr<Core> make_sdp(const Hardware& hardware, const SdpPorts& ports, bool values)
{
    return std::make_unique<SdpCore>(hardware, ports, values);
}

}  // namespace dlasim
