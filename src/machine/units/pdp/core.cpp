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

class PdpCore final : public DirectCore<PdpCore> {
public:
    PdpCore(const Hardware& hardware, const PdpPorts& ports, bool values)
        : silicon_(facts::pdp::of(hardware)),
          ports_(ports),
          registers_(*find_unit(hardware, "PDP"), ports.csb),
          read_registers_(*find_unit(hardware, "PDP_RDMA"), ports.csb_rdma),
          acks_(ports.write_mc.complete, ports.write_cv ? ports.write_cv->complete : no_secondary_)
    {
        reader_.connect(ports.read_mc, ports.read_cv);
        writer_.connect(ports.write_mc, ports.write_cv);
        values_.compute(values);
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return progress_.due; }
    void catch_up(Cycle to) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return writer_.atoms_written() * silicon_.atom_bytes; }
    void attach(ProbeSet& probes) override;
    void follow(WaitLogs& all) override { logs_ = &all; }

private:
    void note_waits(Cycle at, bool entered);
    void note_interrupt(Cycle at, bool acknowledged)
    {
        const WaitPoint place = acknowledged ? of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Pdp)) : WaitPoint::Pdp;
        if (logs_) (*logs_)[WaitPoint::PdpDone].event(at, place, Cause::Interrupt, WriteAcks::kLatency + 1);
    }
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
        reader_.skip_look();
        writer_.skip_look();
    }
    Cycle quiet() const;
    void start(Cycle at);
    void start_reading(Cycle at);
    void finish(Cycle at);
    void account(Cycle slept);
    void note_phase(Cycle at, bool entered);
    void select() { flying_ = registers_.get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) == 0; }
    bool acknowledged(Cycle at);

    // ---- what never changes
    const facts::pdp::Facts silicon_;
    PdpPorts ports_;
    Pulse<bool> no_secondary_;

    // ---- what a layer sets
    RegisterFile registers_, read_registers_;
    pdp::LayerConfig layer_;
    bool flying_ = true;

    // ---- what moves
    pdp::Values values_{silicon_};
    pdp::ReadDma reader_{silicon_, values_};
    pdp::Input input_{silicon_};
    pdp::Horizontal horizontal_{silicon_};
    pdp::Vertical vertical_{silicon_};
    pdp::WriteDma writer_{silicon_, values_};
    pdp::Completion completion_;
    WriteAcks acks_;
    Cycle late_acknowledge_ = kNever;
    bool running_ = false, reading_ = false;
    bool offered_ = false;  // SDP offers a beat; until something new is known it still does
    struct Progress {
        Cycle next = 0;       // the first cycle not evaluated yet
        Cycle due = 0;        // the horizon of the evaluation before
        bool active = false;  // the cycle evaluated last changed something
    } progress_;
    /// The running totals of the stall counters go to the group of the layer's parity, whatever group it used.
    struct Parity {
        unsigned read = 0, write = 0;
    } parity_;

    // ---- what is counted
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
    Boundary to_input_, to_vertical_, to_writer_;
    PhaseLog phases_;
    WaitLogs* logs_ = nullptr;
    std::uint64_t reads_begun_ = 0, reads_used_ = 0;  // layers of the reader, and those of them that the unit is done with
    GatedClocks<PdpCounters> clocks_{silicon_.formats};
    std::uint64_t layers_ = 0, beats_ = 0;
};

}  // namespace

/// Evaluates the cycles before `to` in which nothing arrived and nothing left, and accounts those that were slept through.
void PdpCore::catch_up(Cycle to)
{
    if (progress_.next < to && progress_.active) skip_look();
    while (progress_.next < to && progress_.active) {
        if (const unsigned cycles = flows(to - progress_.next); cycles != 0) {
            flow(cycles);
            progress_.next += cycles;
        } else {
            cycle(progress_.next++, true);
        }
    }
    if (progress_.next < to) account(to - progress_.next);
    progress_.next = std::max(progress_.next, to);
}

/// Nothing is due in cycle `at` and nothing comes but read data, which will queue: evaluated afterwards.
bool PdpCore::only_words(Cycle at) const
{
    const bool decides = at >= progress_.due || registers_.horizon() <= at || read_registers_.horizon() <= at || acks_.next(at - 1) <= at;
    return !decides && !offered_ && !ports_.sdp.valid(at) && !reader_.hands_over(at) && !writer_.hands_over(at);
}

void PdpCore::advance(Cycle to)
{
    const bool behind = reader_.words_wait();
    if (reader_.receive(to) && behind && only_words(to)) return;
    catch_up(to);
    if (registers_.horizon() <= to) {
        registers_.advance(to);
        if (!running_) select();
    }
    read_registers_.advance(to);
    cycle(to, false);
    progress_.next = to + 1;
    schedule_credits(to);
    progress_.due = decides();
}

/// Credits of read data are put ahead as far as beats flow, whatever is handed over meanwhile; more of them when the last ones are due.
void PdpCore::schedule_credits(Cycle now)
{
    if (reader_.scheduled_credits() > 1) return;
    const pdp::ReadDma::Prediction prediction = reader_.prediction();
    if (prediction.words == 0 || !running_ || !beats_flow()) return;
    const Cycle cycles = std::min({reader_.beats_in_a_row(), horizontal_.flows(), vertical_.flows(), writer_.takes()});
    if (cycles < prediction.cycles) return;
    reader_.schedule_credits(now, prediction, std::min<Cycle>(prediction.words, (cycles - prediction.cycles) / silicon_.beats + 1));
}

/// The first cycle in which something is decided without anything new.
Cycle PdpCore::decides() const
{
    Cycle first = progress_.active ? progress_.next + std::min(quiet(), kNever - progress_.next) : kNever;
    if (first == progress_.next) return progress_.next;
    first = std::min({first, registers_.horizon(), read_registers_.horizon(), acks_.next(progress_.next - 1), late_acknowledge_});
    if (!running_) first = std::min(first, registers_.start_cycle());
    if (!reading_) first = std::min(first, read_registers_.start_cycle());
    return std::max(first, progress_.next);
}

/// As many of the next `most` cycles as are one step: a beat enters in every one of them, everything moves, and neither is
/// anything handed over nor does anything end. 0 if the next one has to be evaluated by itself.
unsigned PdpCore::flows(Cycle most) const
{
    if (!running_ || completion_.pending() || !beats_flow()) return 0;
    return static_cast<unsigned>(
        std::min({most, kMaxAtOnce, reader_.flows(), horizontal_.flows(), vertical_.flows(), writer_.flows(vertical_.distance())}));
}

/// Of the stages between the DMAs, for a cycle.
bool PdpCore::beats_flow() const
{
    return !offered_ && input_.flows() && !reader_.last() && horizontal_.flows() != 0 && vertical_.flows() != 0;
}

void PdpCore::flow(unsigned cycles)
{
    const std::uint32_t at_vertical = horizontal_.flow(cycles), at_writer = vertical_.flow(cycles, at_vertical);
    writer_.flow(cycles, at_writer);
    reader_.flow(progress_.next, cycles);
    for (unsigned i = 0; to_input_.valid && i < cycles; ++i) {
        to_input_.show(progress_.next + i, true, true);
        to_vertical_.show(progress_.next + i, at_vertical >> i & 1, true);
        to_writer_.show(progress_.next + i, at_writer >> i & 1, true);
    }
    beats_ += cycles;
    note_phase(progress_.next, true);
}

/// Cycles that need not be evaluated in time, because nothing can leave.
Cycle PdpCore::quiet() const
{
    if (flying_ || completion_.pending()) return 0;
    return std::min(reader_.quiet(progress_.next), writer_.quiet(vertical_.distance()));
}

bool PdpCore::acknowledged(Cycle at)
{
    if (!acks_.outstanding() && late_acknowledge_ != at) return false;
    const bool now = acks_.take(at);
    if (!silicon_.late_acknowledge) return now;
    const bool late = late_acknowledge_ == at;
    late_acknowledge_ = now ? at + 1 : kNever;
    return late;
}

void PdpCore::cycle(Cycle at, bool late)
{
    if (!late) {
        reader_.look(at);
        writer_.look(at);
        offered_ = ports_.sdp.valid(at);
    }
    input_.select(flying_);
    // The old state, for probes.
    const bool at_input = reader_.valid(), at_vertical = horizontal_.valid(), at_writer = vertical_.valid(), writer_ready = writer_.ready();

    // From the sink to the source.
    elements::Flow flow;
    const bool last_data = writer_.sweep(at, at_writer, flow);
    bool entered = flow.ready && at_input && beats_flow();
    pdp::Input::Answer taken{entered, false};
    if (entered) {
        vertical_.flow(1, at_vertical);
        horizontal_.flow(1);
        flow.changed = true;
    } else {
        vertical_.sweep(at_vertical, flow);
        entered = horizontal_.sweep(input_.valid(), flow);
        taken = input_.sweep(at_input, at_input && reader_.last(), offered_, flow);
    }
    to_vertical_.show(at, at_vertical, vertical_.was_ready());
    to_writer_.show(at, at_writer, writer_ready);
    to_input_.show(at, at_input, taken.memory_ready);
    if (taken.sdp_taken) {
        const PoolBeat& beat = ports_.sdp.item(at);
        values_.feed(true, beat.bytes.data(), beat.count);
        offered_ = false;
    }
    flow.ready = taken.memory_ready;
    const pdp::ReadDma::Answer read = reader_.sweep(at, flow);

    beats_ += entered;
    if (late && !flying_ && !last_data && !read.all_asked_for && !read.finished && !completion_.pending()) {
        progress_.active = flow.changed;
        ports_.sdp.set_ready(at + 1, input_.sdp_ready());
        note_phase(at, entered);
        return;
    }

    // Ends and beginnings.
    if (last_data) {
        acks_.expect(layer_.to_primary ? 0 : 1);
        registers_.set(reg::pdp::D_PERF_WRITE_STALL, parity_.write, static_cast<std::uint32_t>(writer_.stall()));
        parity_.write ^= 1;
    }
    if (read.all_asked_for) {
        read_registers_.set(reg::pdp_rdma::D_PERF_READ_STALL, parity_.read, static_cast<std::uint32_t>(reader_.stall()));
        parity_.read ^= 1;
    }
    pdp::Completion::Inputs events{false, flying_, last_data, read.finished, !late && acknowledged(at), registers_.consumer()};
    const bool done = completion_.done();
    events.start = !running_ && registers_.start_cycle() == at;
    const bool happens = events.start || last_data || read.finished || events.acknowledged || completion_.pending();
    if (const auto group = happens ? completion_.clock(events) : std::nullopt)
        note_interrupt(at + 1, events.acknowledged), ports_.interrupt.put(at + 1, reg::glb::kPdp.bit(*group));

    progress_.active = flow.changed || completion_.pending() || done || last_data || events.start || events.acknowledged;
    if (events.start) start(at);
    if (!reading_ && read_registers_.start_cycle() == at) start_reading(at);
    if (read.finished) {
        read_registers_.finish(at);
        reading_ = false;
        if (logs_) read_registers_.note_idle((*logs_)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Pdp))], at + 1);
        clocks_.off(at + facts::pdp::kDoneToGate, &PdpCounters::rdma);
    }
    if (done) finish(at);
    ports_.sdp.set_ready(at + 1, input_.sdp_ready());
    note_phase(at, entered);
}

void PdpCore::start(Cycle at)
{
    layer_ = pdp::LayerConfig::decode(silicon_, registers_);
    const bool count = registers_.get(reg::pdp::D_PERF_ENABLE);
    values_.start(layer_);
    input_.start(layer_);
    horizontal_.start(layer_);
    vertical_.start(layer_);
    writer_.start(layer_, count);
    running_ = progress_.active = true;
    clocks_.on(at, &PdpCounters::core, &PdpCounters::wdma);
    if (layer_.fp16_average) clocks_.on(at, &PdpCounters::fp16);
}

void PdpCore::start_reading(Cycle at)
{
    const bool count = read_registers_.get(reg::pdp_rdma::D_PERF_ENABLE);
    reader_.start(pdp::ReadLayer::decode(silicon_, read_registers_), count);
    reading_ = progress_.active = true;
    ++reads_begun_;
    if (logs_) (*logs_)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Pdp))].works(at, Cause::StartUp);
    clocks_.on(at, &PdpCounters::rdma);
}

/// The done pulse.
void PdpCore::finish(Cycle at)
{
    registers_.set(reg::pdp::D_NAN_OUTPUT_NUM, registers_.consumer(), values_.nan_outputs());
    registers_.finish(at);
    running_ = false;
    progress_.active = true;
    if (!flying_) ++reads_used_;
    select();
    ++layers_;
    clocks_.off(at + facts::pdp::kDoneToGate, &PdpCounters::core, &PdpCounters::wdma, &PdpCounters::fp16);
}

/// Cycles that were slept through are as the one evaluated last.
void PdpCore::account(Cycle slept)
{
    if (writer_.blocked() && writer_.counting()) writer_.stall() += slept;
    if (reader_.blocked() && reader_.counting()) reader_.stall() += slept;
}

/// Why cycle `at` takes no beat, or that it does.
void PdpCore::note_waits(Cycle at, bool entered)
{
    WaitLog& log = (*logs_)[WaitPoint::Pdp];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Pdp)); };
    if (!running_) registers_.note_idle(log, at);
    else if (entered) log.works(at, Cause::PdpPace);
    else if (writer_.blocked()) log.waits(at, of(WaitPoint::Room), Cause::PdpPace);
    else if (horizontal_.empty()) log.works(at, Cause::Drain);
    else if (flying_ && !offered_) log.waits(at, WaitPoint::Sdp, Cause::PdpPace);
    else if (flying_ || reader_.valid() || reader_.holds_words(at)) log.works(at, Cause::PdpPace);
    else if (!reading_ && reads_begun_ > reads_used_) log.works(at, Cause::Drain);
    else if (!reading_) log.waits(at, of(WaitPoint::Ask), Cause::StartUp);
    else log.waits(at, of(WaitPoint::Read), Cause::PdpPace);
}

void PdpCore::note_phase(Cycle at, bool entered)
{
    if (logs_) note_waits(at, entered);
    if (!running_ && !completion_.waits() && !reading_) phases_.enter(Phase::Gated, at);
    else if (entered) phases_.enter(Phase::Issuing, at);
    else if (writer_.blocked()) phases_.enter(Phase::Blocked, at);
    else
        phases_.enter(running_ && !horizontal_.empty()  ? Phase::Starved
                      : running_ || completion_.waits() ? Phase::Draining
                                                        : Phase::Starved,
                      at);
}

void PdpCore::attach(ProbeSet& probes)
{
    phases_.record(probes.phases("pdp"));
    const auto hang = [&](Boundary& boundary, const std::string& name) {
        boundary.valid = probes.get(name + "_valid");
        boundary.ready = probes.get(name + "_ready");
    };
    clocks_.attach(probes, "pdp");
    hang(to_input_, "pdp_rdma2dp");
    hang(to_vertical_, "pdp_1d2d");
    hang(to_writer_, "pdp_dp2wdma");
}

UnitReport PdpCore::report(Cycle end)
{
    catch_up(end);
    phases_.account_until(end);
    PdpCounters totals{.layers = layers_,
                       .beats = beats_,
                       .atoms_read = reader_.atoms_read(),
                       .atoms_written = writer_.atoms_written(),
                       .read_stall = reader_.stall(),
                       .write_stall = writer_.stall(),
                       .fp16 = {}};
    return {"PDP", phases_, totals, clocks_, end};
}

std::string PdpCore::waiting_for() const
{
    if (!running_) {
        if (completion_.waits()) return "waits for the answer of memory";
        return reading_ ? "PDP_RDMA waits for PDP to be enabled" : "idle";
    }
    if (writer_.blocked()) return "blocked by the write port";
    if (!horizontal_.empty()) return flying_ ? "waits for SDP" : "waits for PDP_RDMA";
    return "all input is taken, the write DMA waits for data or for PDP_RDMA to end";
}

std::unique_ptr<Core> make_pdp(const Hardware& hardware, const PdpPorts& ports, bool values)
{
    return std::make_unique<PdpCore>(hardware, ports, values);
}

}  // namespace dlasim
