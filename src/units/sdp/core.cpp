#include "units/sdp/core.h"

#include <algorithm>

#include "base/bits.h"
#include "base/gated_clock.h"
#include "registers/offsets.h"
#include "registers/register_file.h"
#include "units/sdp/acknowledge.h"
#include "units/sdp/counters.h"
#include "units/sdp/lut_window.h"
#include "units/sdp/machine.h"
#include "units/sdp/status.h"

namespace dlasim {

using namespace sdp;

namespace {

constexpr std::array<std::uint32_t, 11> kSdpStatus{reg::sdp::D_STATUS,
                                                   reg::sdp::D_STATUS_NAN_INPUT_NUM,
                                                   reg::sdp::D_STATUS_INF_INPUT_NUM,
                                                   reg::sdp::D_STATUS_NAN_OUTPUT_NUM,
                                                   reg::sdp::D_PERF_WDMA_WRITE_STALL,
                                                   reg::sdp::D_PERF_LUT_UFLOW,
                                                   reg::sdp::D_PERF_LUT_OFLOW,
                                                   reg::sdp::D_PERF_OUT_SATURATION,
                                                   reg::sdp::D_PERF_LUT_HYBRID,
                                                   reg::sdp::D_PERF_LUT_LE_HIT,
                                                   reg::sdp::D_PERF_LUT_LO_HIT};
constexpr std::array<std::uint32_t, 6> kRdmaStatus{reg::sdp_rdma::D_STATUS_NAN_INPUT_NUM,  reg::sdp_rdma::D_STATUS_INF_INPUT_NUM,
                                                   reg::sdp_rdma::D_PERF_MRDMA_READ_STALL, reg::sdp_rdma::D_PERF_BRDMA_READ_STALL,
                                                   reg::sdp_rdma::D_PERF_NRDMA_READ_STALL, reg::sdp_rdma::D_PERF_ERDMA_READ_STALL};

std::uint32_t saturated(std::uint64_t count) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX)); }

constexpr std::array<std::uint64_t SdpCounters::*, 8> kDomains{&SdpCounters::wdma,  &SdpCounters::bcore, &SdpCounters::ncore,
                                                               &SdpCounters::ecore, &SdpCounters::mrdma, &SdpCounters::brdma,
                                                               &SdpCounters::nrdma, &SdpCounters::erdma};
constexpr unsigned kEwDomain = 3, kReadDomain = 4;

}  // namespace

/// The unit without its generation.
struct SdpCore::Parts {
    Parts(const Hardware& hw, const SdpPorts& ports)
        : hardware(hw),
          silicon(facts::sdp::of(hw)),
          links(ports),
          registers(*find_unit(hw.generation, "SDP"), ports.csb),
          read_registers(*find_unit(hw.generation, "SDP_RDMA"), ports.csb_rdma),
          values(silicon),
          window(values.tables()),
          acknowledge(silicon.answer_to_interrupt, ports.interrupt)
    {
        registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) -> std::optional<std::uint32_t> {
            if (offset == reg::sdp::S_LUT_ACCESS_DATA) return window.read();
            return status.read(offset, group, registers.enabled(group, at));
        };
        registers.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
            if (offset == reg::sdp::S_LUT_ACCESS_CFG) {
                window.configure(data);
                if (silicon.lut) clocks[kEwDomain].on(decode + 1);  // the tables are clocked while they are written
            }
            if (offset == reg::sdp::S_LUT_ACCESS_DATA) window.write(data);
        };
        read_registers.read_status = [this](std::uint32_t offset, unsigned group, Cycle at) {
            return read_status.read(offset, group, read_registers.enabled(group, at));
        };
    }
    virtual ~Parts() = default;
    /// Evaluates a cycle in which something may arrive.
    virtual void cycle(Cycle at) = 0;
    /// Evaluates a cycle in which nothing arrived and nothing leaves, afterwards.
    virtual void quiet_cycle(Cycle at) = 0;
    virtual void account(Cycle cycles) = 0;
    /// Cycles that need not be evaluated in time, because nothing can leave.
    virtual Cycle quiet() const = 0;
    virtual bool operands_stuck() const = 0;
    /// Atoms written, and atoms asked for by the read engines.
    virtual std::pair<std::uint64_t, std::uint64_t> traffic() const = 0;

    /// Evaluates the cycles before `to` that were put off, and accounts those that were slept through.
    void catch_up(Cycle to)
    {
        for (; next < to && active; ++next) quiet_cycle(next);
        if (next < to) account(to - next);
        next = std::max(next, to);
    }
    void advance(Cycle to)
    {
        catch_up(to);
        if (registers.horizon() <= to) registers.advance(to);
        if (read_registers.horizon() <= to) read_registers.advance(to);
        for (const bool primary : {true, false}) {
            WriteLink* link = primary ? &links.write_mc : links.write_cv;
            while (link && link->complete.available(to)) {
                const Cycle at = link->complete.next();
                link->complete.take();
                acknowledge.complete(at, primary);
            }
        }
        cycle(to);
        acknowledge.send(to);
        next = to + 1;
    }
    Cycle horizon() const
    {
        Cycle first = active ? next + std::min(quiet(), kNever - next) : kNever;
        if (first == next) return next;
        first = std::min({first, registers.horizon(), read_registers.horizon(), acknowledge.horizon(), links.write_mc.complete.next()});
        if (links.write_cv) first = std::min(first, links.write_cv->complete.next());
        if (!running) first = std::min(first, registers.start_cycle());
        if (!reading) first = std::min(first, read_registers.start_cycle());
        return std::max(first, next);
    }

    const Hardware hardware;
    const facts::sdp::Facts silicon;
    SdpPorts links;
    RegisterFile registers, read_registers;
    Values values;
    LutWindow window;
    Acknowledge acknowledge;
    GroupStatus<11> status{kSdpStatus};
    GroupStatus<6> read_status{kRdmaStatus};
    PhaseLog phases;
    std::array<GatedClock, 8> clocks;
    Cycle next = 0;                         // the first cycle not evaluated yet
    bool active = false;                    // the cycle evaluated last changed something
    bool running = false, reading = false;  // a layer of SDP, of SDP_RDMA
    bool count_stall = false, count_reads = false;
    std::uint64_t layers = 0, beats = 0, write_stall = 0;
    // Of all layers that ended, as their registers held it.
    std::uint64_t write_stalls = 0;
    ValueCounters counted;
};

namespace {

template <bool kFull>
struct SdpUnit final : SdpCore::Parts {
    SdpUnit(const Hardware& hw, const SdpPorts& ports) : Parts(hw, ports), machine(hw, values)
    {
        for (unsigned i = 0; i < kReadEngines; ++i) machine.front(i).connect(ports.read_mc[i], ports.read_cv[i]);
    }

    void cycle(Cycle at) override
    {
        // What arrives.
        if (reading)
            for (unsigned i = 0; i < kReadEngines; ++i) machine.front(i).receive(at);
        const bool offered = links.cacc.valid(at);
        unsigned ports_ready = 0;
        for (unsigned port = 0; port < 2; ++port)
            if (shown[port] && link(port)->request.ready(at)) ports_ready |= 1u << port;
        const bool pdp_ready = !links.pdp || links.pdp->ready(at), at_pdp = machine.to_pdp().valid();
        const SdpCycle& now = machine.cycle(at, offered, offered && links.cacc.item(at).layer_end, ports_ready, pdp_ready);
        if (now.accepted) values.feed(links.cacc.item(at));
        refused = offered && !now.accepted;

        // What leaves.
        links.cacc.set_ready(at + 1, machine.ready());
        for (unsigned port = 0; port < 2; ++port)
            if (!shown[port] || (ports_ready >> port & 1)) show(port, at + 1);
        if (links.pdp && (pdp_ready || !at_pdp)) show_to_pdp(at + 1);

        settle(at, now);
        if (!running && registers.start_cycle() == at) start(at);
        if (!reading && read_registers.start_cycle() == at) start_reading(at);
    }

    void quiet_cycle(Cycle at) override
    {
        // Arrivals would have woken the unit; a beat that was refused is still there, and still refused.
        settle(at, machine.cycle(at, refused, false, 0, false));
    }
    Cycle quiet() const override { return refused ? 0 : machine.quiet(); }

    void settle(Cycle at, const SdpCycle& now)
    {
        active = now.changed;
        count(1);
        note_phase(at, now);
        if (now.looked_up) values.look_up();
        if (now.readers_finished) finish_readers(at, now.readers_finished);
        if (now.last) finish(at);
    }

    void account(Cycle cycles) override { count(cycles); }
    bool operands_stuck() const override { return machine.operands_stuck(); }
    std::pair<std::uint64_t, std::uint64_t> traffic() const override { return {machine.wdma().atoms_written(), machine.atoms_read()}; }

    WriteLink* link(unsigned port) { return port == 1 ? &links.write_mc : links.write_cv; }
    /// Offers the packet at the end of that port's stages.
    void show(unsigned port, Cycle from)
    {
        WriteLink* const to = link(port);
        const WritePacket* packet = to ? machine.wdma().leaving(port) : nullptr;
        if (packet) to->request.offer(from, *packet);
        else if (shown[port]) to->request.withdraw(from);
        shown[port] = packet;
    }

    void show_to_pdp(Cycle from)
    {
        if (machine.to_pdp().valid()) links.pdp->offer(from, machine.to_pdp().head());
        else links.pdp->withdraw(from);
    }

    void count(Cycle cycles)
    {
        if (count_stall && machine.wdma().blocked()) write_stall += cycles;
        if (running) values.count_lut(cycles);
        if (!count_reads) return;
        for (unsigned i = 0; i < kReadEngines; ++i)
            if (machine.read_blocked(i)) machine.stall(i) += cycles;
    }

    void start(Cycle at)
    {
        const Layer layer = Layer::decode(silicon, registers);
        values.start(registers, layer);
        machine.start(layer);
        running = active = true;
        count_stall = bits(registers.get(reg::sdp::D_PERF_ENABLE), 0, 1);
        if (count_stall) write_stall = 0;  // a layer that does not count reports what the last one counted
        clocks[0].on(at);
        const bool engines[] = {layer.bs.on, layer.bn.on, layer.ew.on};
        for (unsigned i = 0; i < 3; ++i)
            if (engines[i]) clocks[1 + i].on(at);
        if (!layer.ew.on) clocks[kEwDomain].off(at);
        phases.enter(Phase::Starved, at + 1);
    }

    /// Cycle L.
    void finish(Cycle at)
    {
        const auto& wdma = machine.wdma();
        const unsigned group = registers.consumer();
        if (wdma.quiet()) acknowledge.raise(at + 1, group);
        else acknowledge.expect(group, wdma.to_primary());
        const ValueCounters& layer = values.counters();
        const std::uint32_t enable = registers.get(reg::sdp::D_PERF_ENABLE);
        const bool lut = bits(enable, 1, 1);
        status.latch(group,
                     {wdma.unequal(), 0, 0, saturated(layer.nan_output), static_cast<std::uint32_t>(write_stall),
                      lut ? saturated(layer.lut_underflow) : 0, lut ? saturated(layer.lut_overflow) : 0, saturated(layer.saturated),
                      lut ? saturated(layer.lut_hybrid) : 0, lut ? saturated(layer.lut_le_hit) : 0, lut ? saturated(layer.lut_lo_hit) : 0});
        sum_up(layer, lut, bits(enable, 2, 1));
        values.finish();
        registers.finish(at + facts::sdp::kDoneToRelease);
        if (count_stall) write_stalls += static_cast<std::uint32_t>(write_stall);
        running = count_stall = false;
        ++layers;
        for (unsigned i = 0; i < kReadDomain; ++i) clocks[i].off(at + facts::sdp::kDoneToRelease + facts::sdp::kDoneToGateOff);
    }

    void sum_up(const ValueCounters& layer, bool lut, bool saturation)
    {
        if (saturation) counted.saturated += layer.saturated;
        counted.nan_output += layer.nan_output;
        if (!lut) return;
        counted.lut_underflow += layer.lut_underflow;
        counted.lut_overflow += layer.lut_overflow;
        counted.lut_hybrid += layer.lut_hybrid;
        counted.lut_le_hit += layer.lut_le_hit;
        counted.lut_lo_hit += layer.lut_lo_hit;
    }

    void start_reading(Cycle at)
    {
        pending = 0;
        for (unsigned i = 0; i < kReadEngines; ++i) {
            const ReadEngine engine = static_cast<ReadEngine>(i);
            const ReadLayer layer = ReadLayer::decode(silicon, read_registers, engine);
            if (!layer.on) continue;
            machine.start(engine, layer);
            machine.stall(i) = 0;
            clocks[kReadDomain + i].on(at);
            pending |= 1u << i;
        }
        values.counters().nan_input = values.counters().infinite_input = 0;
        count_reads = bits(read_registers.get(reg::sdp_rdma::D_PERF_ENABLE), 0, 1);
        reading = active = true;
        if (!pending) end_reading(at);  // no engine is on: there is nothing to wait for
    }

    void finish_readers(Cycle at, unsigned finished)
    {
        pending &= ~finished;
        if (!pending) end_reading(at + 1);
    }
    /// The done pulse of the group is in cycle `done`.
    void end_reading(Cycle done)
    {
        const std::uint32_t enable = read_registers.get(reg::sdp_rdma::D_PERF_ENABLE);
        const bool nan = bits(enable, 1, 1);
        const auto stall = [&](unsigned i) { return count_reads ? static_cast<std::uint32_t>(machine.stall(i)) : 0; };
        read_status.latch(read_registers.consumer(),
                          {nan ? saturated(values.counters().nan_input) : 0, nan ? saturated(values.counters().infinite_input) : 0,
                           stall(0), stall(1), stall(2), stall(3)});
        read_registers.finish(done);
        reading = count_reads = false;
        for (unsigned i = kReadDomain; i < clocks.size(); ++i) clocks[i].off(done + facts::sdp::kDoneToGateOff);
    }

    void note_phase(Cycle at, const SdpCycle& now)
    {
        beats += now.taken;
        if (!running && !machine.wdma().leaving() && !machine.wdma().blocked()) {
            phases.enter(Phase::Gated, at);
            return;
        }
        if (now.taken || now.worked) phases.enter(Phase::Issuing, at);
        else if (machine.wdma().blocked()) phases.enter(Phase::Blocked, at);
        else phases.enter(machine.mux_open() ? Phase::Starved : Phase::Draining, at);
    }

    SdpMachine<kFull> machine;
    bool refused = false;         // CACC offers a beat that was not taken
    std::array<bool, 2> shown{};  // a packet is offered at CVIF, MCIF
    unsigned pending = 0;         // read engines that have not finished
};

}  // namespace

SdpCore::SdpCore(const Hardware& hardware, const SdpPorts& ports)
{
    if (hardware.full()) parts_ = std::make_unique<SdpUnit<true>>(hardware, ports);
    else parts_ = std::make_unique<SdpUnit<false>>(hardware, ports);
}

SdpCore::~SdpCore() = default;

void SdpCore::advance(Cycle to) { parts_->advance(to); }
Cycle SdpCore::horizon() const { return parts_->horizon(); }
void SdpCore::compute_values(bool on) { parts_->values.compute(on); }

UnitReport SdpCore::report(Cycle end)
{
    parts_->catch_up(end);
    parts_->phases.settle(end);
    const auto [written, read] = parts_->traffic();
    const ValueCounters& values = parts_->counted;
    SdpCounters counted;
    counted.layers = parts_->layers;
    counted.beats = parts_->beats;
    counted.atoms_written = written;
    counted.atoms_read = read;
    counted.wdma_write_stall = parts_->write_stalls;
    counted.out_saturation = values.saturated;
    counted.nan_output_num = values.nan_output;
    if (values.lut_underflow + values.lut_overflow + values.lut_hybrid != 0) {
        counted.lut_uflow = values.lut_underflow;
        counted.lut_oflow = values.lut_overflow;
        counted.lut_hybrid = values.lut_hybrid;
        counted.lut_le_hit = values.lut_le_hit;
        counted.lut_lo_hit = values.lut_lo_hit;
    }
    for (unsigned i = 0; i < kDomains.size(); ++i) counted.*kDomains[i] = parts_->clocks[i].cycles(end);
    return {"sdp", parts_->phases, counted};
}

std::string SdpCore::waiting_for() const
{
    if (!parts_->running) return parts_->acknowledge.waiting() ? "idle, waits for the answer of memory" : "idle";
    if (parts_->operands_stuck())
        return "waits for operands of the second surface: of a single pixel in several batches operands per element "
               "come for one surface only";
    if (parts_->phases.phase() == Phase::Blocked) return "blocked by the write port";
    if (parts_->phases.phase() == Phase::Draining) return "all beats taken, the write DMA waits for data";
    return parts_->reading ? "waits for features or operands, the read engines are running" : "waits for beats or operands";
}

}  // namespace dlasim
