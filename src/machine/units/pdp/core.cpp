#include "units/pdp/core.h"

#include <algorithm>
#include <optional>

#include "base/bits.h"
#include "facts/pdp.h"
#include "links/direct_core.h"
#include "links/dma_shim.h"
#include "registers/fields/pdp.h"
#include "registers/interrupts.h"
#include "registers/register_file.h"
#include "units/pdp/completion.h"
#include "units/pdp/counters.h"
#include "units/pdp/input.h"
#include "units/pdp/pooling.h"
#include "units/pdp/read_dma.h"
#include "units/pdp/write_dma.h"

namespace dlasim {
namespace {

constexpr Cycle kMaxAtOnce = 31;  // cycles of a step: what flows is held in the bits of a word

struct PdpCore final : DirectCore<PdpCore> {
    /// A boundary between two stages: its handshake as probes see it.
    struct Boundary {
        Probe* valid = nullptr;
        Probe* ready = nullptr;
        void show(Cycle at, bool is_valid, bool is_ready)
        {
            if (!valid) return;
            valid->level(at, is_valid);
            ready->level(at, is_ready);
        }
    };

    PdpCore(const Hardware& hw, const PdpPorts& ports, bool computes)
        : silicon(facts::pdp::of(hw)),
          links(ports),
          registers(*find_unit(hw, "PDP"), ports.csb),
          read_registers(*find_unit(hw, "PDP_RDMA"), ports.csb_rdma),
          acks(ports.write_mc.complete, ports.write_cv ? ports.write_cv->complete : no_secondary)
    {
        reader.connect(ports.read_mc, ports.read_cv);
        writer.connect(ports.write_mc, ports.write_cv);
        values.compute(computes);
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return due; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return writer.atoms_written() * silicon.atom_bytes; }
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { logs = &all; }
    void note_waits(Cycle at, bool entered);
    void note_interrupt(Cycle at, bool acknowledged)
    {
        const WaitPoint place = acknowledged ? of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Pdp)) : WaitPoint::Pdp;
        if (logs) (*logs)[WaitPoint::PdpDone].event(at, place, Cause::Interrupt, WriteAcks::kLatency + 1);
    }
    void catch_up(Cycle to) override;
    Cycle decides() const;
    /// Evaluates a cycle; `late`: afterwards, a cycle in which nothing arrived and nothing leaves.
    void cycle(Cycle at, bool late);
    unsigned flows(Cycle most) const;
    bool beats_flow() const;
    void flow(unsigned cycles);
    void schedule_credits(Cycle now);
    bool only_words(Cycle at) const;
    void skip_look()
    {
        reader.skip_look();
        writer.skip_look();
    }
    Cycle quiet() const;
    void start(Cycle at);
    void start_reading(Cycle at);
    void finish(Cycle at);
    void account(Cycle slept);
    void note_phase(Cycle at, bool entered);
    void select() { flying = registers.get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) == 0; }
    bool acknowledged(Cycle at);

    const facts::pdp::Facts silicon;
    PdpPorts links;
    Pulse<bool> no_secondary;
    RegisterFile registers, read_registers;
    pdp::Values values{silicon};
    pdp::ReadDma reader{silicon, values};
    pdp::Input input{silicon};
    pdp::Horizontal horizontal{silicon};
    pdp::Vertical vertical{silicon};
    pdp::WriteDma writer{silicon, values};
    pdp::Completion completion;
    WriteAcks acks;
    Cycle late_acknowledge = kNever;

    Cycle next = 0;       // the first cycle not evaluated yet
    Cycle due = 0;        // the horizon of the evaluation before
    bool active = false;  // the cycle evaluated last changed something
    bool running = false, reading = false, flying = true;
    bool offered = false;  // SDP offers a beat; until something new is known it still does
    pdp::LayerConfig layer;
    // The running totals of the stall counters go to the group of the layer's parity, whatever group it used.
    unsigned read_parity = 0, write_parity = 0;

    Boundary to_input, to_vertical, to_writer;
    PhaseLog phases;
    WaitLogs* logs = nullptr;
    std::uint64_t reads_begun = 0, reads_used = 0;  // layers of the reader, and those of them that the unit is done with
    GatedClocks<PdpCounters> clocks{silicon.formats};
    std::uint64_t layers = 0, beats = 0;
};

}  // namespace

/// Evaluates the cycles before `to` in which nothing arrived and nothing left, and accounts those that were slept through.
void PdpCore::catch_up(Cycle to)
{
    if (next < to && active) skip_look();
    while (next < to && active) {
        if (const unsigned cycles = flows(to - next); cycles != 0) {
            flow(cycles);
            next += cycles;
        } else {
            cycle(next++, true);
        }
    }
    if (next < to) account(to - next);
    next = std::max(next, to);
}

/// Nothing is due in cycle `at` and nothing comes but read data, which will queue: evaluated afterwards.
bool PdpCore::only_words(Cycle at) const
{
    const bool decides = at >= due || registers.horizon() <= at || read_registers.horizon() <= at || acks.next(at - 1) <= at;
    return !decides && !offered && !links.sdp.valid(at) && !reader.hands_over(at) && !writer.hands_over(at);
}

void PdpCore::advance(Cycle to)
{
    const bool behind = reader.words_wait();
    if (reader.receive(to) && behind && only_words(to)) return;
    catch_up(to);
    if (registers.horizon() <= to) {
        registers.advance(to);
        if (!running) select();
    }
    read_registers.advance(to);
    cycle(to, false);
    next = to + 1;
    schedule_credits(to);
    due = decides();
}

/// Credits of read data are put ahead as far as beats flow, whatever is handed over meanwhile; more of them when the last ones are due.
void PdpCore::schedule_credits(Cycle now)
{
    if (reader.scheduled_credits() > 1) return;
    const pdp::ReadDma::Prediction prediction = reader.prediction();
    if (prediction.words == 0 || !running || !beats_flow()) return;
    const Cycle cycles = std::min({reader.beats_in_a_row(), horizontal.flows(), vertical.flows(), writer.takes()});
    if (cycles < prediction.cycles) return;
    reader.schedule_credits(now, prediction, std::min<Cycle>(prediction.words, (cycles - prediction.cycles) / silicon.beats + 1));
}

/// The first cycle in which something is decided without anything new.
Cycle PdpCore::decides() const
{
    Cycle first = active ? next + std::min(quiet(), kNever - next) : kNever;
    if (first == next) return next;
    first = std::min({first, registers.horizon(), read_registers.horizon(), acks.next(next - 1), late_acknowledge});
    if (!running) first = std::min(first, registers.start_cycle());
    if (!reading) first = std::min(first, read_registers.start_cycle());
    return std::max(first, next);
}

/// As many of the next `most` cycles as are one step: a beat enters in every one of them, everything moves, and neither is
/// anything handed over nor does anything end. 0 if the next one has to be evaluated by itself.
unsigned PdpCore::flows(Cycle most) const
{
    if (!running || completion.pending() || !beats_flow()) return 0;
    return static_cast<unsigned>(
        std::min({most, kMaxAtOnce, reader.flows(), horizontal.flows(), vertical.flows(), writer.flows(vertical.distance())}));
}

/// Of the stages between the DMAs, for a cycle.
bool PdpCore::beats_flow() const { return !offered && input.flows() && !reader.last() && horizontal.flows() != 0 && vertical.flows() != 0; }

void PdpCore::flow(unsigned cycles)
{
    const std::uint32_t at_vertical = horizontal.flow(cycles), at_writer = vertical.flow(cycles, at_vertical);
    writer.flow(cycles, at_writer);
    reader.flow(next, cycles);
    for (unsigned i = 0; to_input.valid && i < cycles; ++i) {
        to_input.show(next + i, true, true);
        to_vertical.show(next + i, at_vertical >> i & 1, true);
        to_writer.show(next + i, at_writer >> i & 1, true);
    }
    beats += cycles;
    note_phase(next, true);
}

/// Cycles that need not be evaluated in time, because nothing can leave.
Cycle PdpCore::quiet() const
{
    if (flying || completion.pending()) return 0;
    return std::min(reader.quiet(next), writer.quiet(vertical.distance()));
}

bool PdpCore::acknowledged(Cycle at)
{
    if (!acks.outstanding() && late_acknowledge != at) return false;
    const bool now = acks.take(at);
    if (!silicon.late_acknowledge) return now;
    const bool late = late_acknowledge == at;
    late_acknowledge = now ? at + 1 : kNever;
    return late;
}

void PdpCore::cycle(Cycle at, bool late)
{
    if (!late) {
        reader.look(at);
        writer.look(at);
        offered = links.sdp.valid(at);
    }
    input.select(flying);
    // The old state, for probes.
    const bool at_input = reader.valid(), at_vertical = horizontal.valid(), at_writer = vertical.valid(), writer_ready = writer.ready();

    // From the sink to the source.
    elements::Flow flow;
    const bool last_data = writer.sweep(at, at_writer, flow);
    bool entered = flow.ready && at_input && beats_flow();
    pdp::Input::Answer taken{entered, false};
    if (entered) {
        vertical.flow(1, at_vertical);
        horizontal.flow(1);
        flow.changed = true;
    } else {
        vertical.sweep(at_vertical, flow);
        entered = horizontal.sweep(input.valid(), flow);
        taken = input.sweep(at_input, at_input && reader.last(), offered, flow);
    }
    to_vertical.show(at, at_vertical, vertical.was_ready());
    to_writer.show(at, at_writer, writer_ready);
    to_input.show(at, at_input, taken.memory_ready);
    if (taken.sdp_taken) {
        const PoolBeat& beat = links.sdp.item(at);
        values.feed(true, beat.bytes.data(), beat.count);
        offered = false;
    }
    flow.ready = taken.memory_ready;
    const pdp::ReadDma::Answer read = reader.sweep(at, flow);

    beats += entered;
    if (late && !flying && !last_data && !read.all_asked_for && !read.finished && !completion.pending()) {
        active = flow.changed;
        links.sdp.set_ready(at + 1, input.sdp_ready());
        note_phase(at, entered);
        return;
    }

    // Ends and beginnings.
    if (last_data) {
        acks.expect(layer.to_primary ? 0 : 1);
        registers.set(reg::pdp::D_PERF_WRITE_STALL, write_parity, static_cast<std::uint32_t>(writer.stall()));
        write_parity ^= 1;
    }
    if (read.all_asked_for) {
        read_registers.set(reg::pdp_rdma::D_PERF_READ_STALL, read_parity, static_cast<std::uint32_t>(reader.stall()));
        read_parity ^= 1;
    }
    pdp::Completion::Inputs events{false, flying, last_data, read.finished, !late && acknowledged(at), registers.consumer()};
    const bool done = completion.done();
    events.start = !running && registers.start_cycle() == at;
    const bool happens = events.start || last_data || read.finished || events.acknowledged || completion.pending();
    if (const auto group = happens ? completion.clock(events) : std::nullopt)
        note_interrupt(at + 1, events.acknowledged), links.interrupt.put(at + 1, reg::glb::kPdp.bit(*group));

    active = flow.changed || completion.pending() || done || last_data || events.start || events.acknowledged;
    if (events.start) start(at);
    if (!reading && read_registers.start_cycle() == at) start_reading(at);
    if (read.finished) {
        read_registers.finish(at);
        reading = false;
        if (logs) read_registers.note_idle((*logs)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Pdp))], at + 1);
        clocks.off(at + facts::pdp::kDoneToGate, &PdpCounters::rdma);
    }
    if (done) finish(at);
    links.sdp.set_ready(at + 1, input.sdp_ready());
    note_phase(at, entered);
}

void PdpCore::start(Cycle at)
{
    layer = pdp::LayerConfig::decode(silicon, registers);
    const bool count = registers.get(reg::pdp::D_PERF_ENABLE);
    values.start(layer);
    input.start(layer);
    horizontal.start(layer);
    vertical.start(layer);
    writer.start(layer, count);
    running = active = true;
    clocks.on(at, &PdpCounters::core, &PdpCounters::wdma);
    if (layer.fp16_average) clocks.on(at, &PdpCounters::fp16);
}

void PdpCore::start_reading(Cycle at)
{
    const bool count = read_registers.get(reg::pdp_rdma::D_PERF_ENABLE);
    reader.start(pdp::ReadLayer::decode(silicon, read_registers), count);
    reading = active = true;
    ++reads_begun;
    if (logs) (*logs)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Pdp))].works(at, Cause::StartUp);
    clocks.on(at, &PdpCounters::rdma);
}

/// The done pulse.
void PdpCore::finish(Cycle at)
{
    registers.set(reg::pdp::D_NAN_OUTPUT_NUM, registers.consumer(), values.nan_outputs());
    registers.finish(at);
    running = false;
    active = true;
    if (!flying) ++reads_used;
    select();
    ++layers;
    clocks.off(at + facts::pdp::kDoneToGate, &PdpCounters::core, &PdpCounters::wdma, &PdpCounters::fp16);
}

/// Cycles that were slept through are as the one evaluated last.
void PdpCore::account(Cycle slept)
{
    if (writer.blocked() && writer.counting()) writer.stall() += slept;
    if (reader.blocked() && reader.counting()) reader.stall() += slept;
}

/// Why cycle `at` takes no beat, or that it does.
void PdpCore::note_waits(Cycle at, bool entered)
{
    WaitLog& log = (*logs)[WaitPoint::Pdp];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Pdp)); };
    if (!running) registers.note_idle(log, at);
    else if (entered) log.works(at, Cause::PdpPace);
    else if (writer.blocked()) log.waits(at, of(WaitPoint::Room), Cause::PdpPace);
    else if (horizontal.empty()) log.works(at, Cause::Drain);
    else if (flying && !offered) log.waits(at, WaitPoint::Sdp, Cause::PdpPace);
    else if (flying || reader.valid() || reader.holds_words(at)) log.works(at, Cause::PdpPace);
    else if (!reading && reads_begun > reads_used) log.works(at, Cause::Drain);
    else if (!reading) log.waits(at, of(WaitPoint::Ask), Cause::StartUp);
    else log.waits(at, of(WaitPoint::Read), Cause::PdpPace);
}

void PdpCore::note_phase(Cycle at, bool entered)
{
    if (logs) note_waits(at, entered);
    if (!running && !completion.waits() && !reading) phases.enter(Phase::Gated, at);
    else if (entered) phases.enter(Phase::Issuing, at);
    else if (writer.blocked()) phases.enter(Phase::Blocked, at);
    else
        phases.enter(running && !horizontal.empty()  ? Phase::Starved
                     : running || completion.waits() ? Phase::Draining
                                                     : Phase::Starved,
                     at);
}

void PdpCore::attach(ProbeSet& probes)
{
    phases.record(probes.phases("pdp"));
    const auto hang = [&](Boundary& boundary, const std::string& name) {
        boundary.valid = probes.get(name + "_valid");
        boundary.ready = probes.get(name + "_ready");
    };
    clocks.attach(probes, "pdp");
    hang(to_input, "pdp_rdma2dp");
    hang(to_vertical, "pdp_1d2d");
    hang(to_writer, "pdp_dp2wdma");
}

UnitReport PdpCore::report(Cycle end)
{
    catch_up(end);
    phases.account_until(end);
    PdpCounters totals{.layers = layers,
                       .beats = beats,
                       .atoms_read = reader.atoms_read(),
                       .atoms_written = writer.atoms_written(),
                       .read_stall = reader.stall(),
                       .write_stall = writer.stall(),
                       .fp16 = {}};
    return {"PDP", phases, totals, clocks, end};
}

std::string PdpCore::waiting_for() const
{
    if (!running) {
        if (completion.waits()) return "waits for the answer of memory";
        return reading ? "PDP_RDMA waits for PDP to be enabled" : "idle";
    }
    if (writer.blocked()) return "blocked by the write port";
    if (!horizontal.empty()) return flying ? "waits for SDP" : "waits for PDP_RDMA";
    return "all input is taken, the write DMA waits for data or for PDP_RDMA to end";
}

std::unique_ptr<Core> make_pdp(const Hardware& hardware, const PdpPorts& ports, bool values)
{
    return std::make_unique<PdpCore>(hardware, ports, values);
}

}  // namespace dlasim
