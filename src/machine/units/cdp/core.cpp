#include "units/cdp/core.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ring.h"
#include "facts/cdp.h"
#include "links/direct_core.h"
#include "links/dma_shim.h"
#include "registers/fields/cdp.h"
#include "registers/interrupts.h"
#include "registers/lut_window.h"
#include "registers/register_file.h"
#include "units/cdp/counters.h"
#include "units/cdp/layer.h"
#include "units/cdp/pipeline.h"
#include "units/cdp/read_dma.h"
#include "units/cdp/values.h"
#include "units/cdp/write_dma.h"

namespace dlasim {
namespace {

using numerics::CdpOutcome;

constexpr std::array<std::uint32_t, numerics::kCdpOutcomes> kLutCounters{reg::cdp::D_PERF_LUT_UFLOW, reg::cdp::D_PERF_LUT_OFLOW,
                                                                         reg::cdp::D_PERF_LUT_HYBRID, reg::cdp::D_PERF_LUT_LE_HIT,
                                                                         reg::cdp::D_PERF_LUT_LO_HIT};
constexpr std::array<std::uint64_t CdpCounters::*, numerics::kCdpOutcomes> kLookedUp{
    &CdpCounters::lut_uflow, &CdpCounters::lut_oflow, &CdpCounters::lut_hybrid, &CdpCounters::lut_le_hit, &CdpCounters::lut_lo_hit};

struct CdpCore final : DirectCore<CdpCore> {
    CdpCore(const Hardware& hw, const CdpPorts& ports, bool computes)
        : hardware(hw),
          silicon(facts::cdp::of(hw)),
          registers(*find_unit(hw, "CDP"), ports.csb),
          read_registers(*find_unit(hw, "CDP_RDMA"), ports.csb_rdma),
          interrupt(ports.interrupt),
          window(tables.le, tables.lo, {.stays_at_end = true, .read_settles = facts::cdp::kTableReadSettles}),
          values(silicon),
          reader(silicon, ports.read_mc, ports.read_cv ? *ports.read_cv : no_port.read),
          pipeline(cdp::Pipeline::make(silicon)),
          writer(silicon, ports.write_mc, ports.write_cv ? *ports.write_cv : no_port.write, values),
          acks(ports.write_cv ? ports.write_cv->complete : no_port.write.complete, ports.write_mc.complete)
    {
        registers.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
            if (offset == reg::cdp::S_LUT_ACCESS_CFG) window.configure(data, decode);
            if (offset == reg::cdp::S_LUT_ACCESS_DATA) window.write(data);
        };
        registers.read_status = [this](std::uint32_t offset, unsigned, Cycle at) -> std::optional<std::uint32_t> {
            if (offset == reg::cdp::S_LUT_ACCESS_DATA) return window.read(at);
            if (offset == reg::cdp::S_LUT_ACCESS_CFG) return window.configuration();
            return std::nullopt;
        };
        values.compute(computes);
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return writer.atoms() * silicon.atom_bytes; }  // bytes written
    void attach(ProbeSet& all) override;
    void follow(WaitLogs& all) override { logs = &all; }
    void note_waits(Cycle now, const cdp::Pipeline::Answer& core, bool offered);

    /// Replaces a secondary port that does not exist: nothing is ever accepted.
    struct NoPort {
        NoPort()
        {
            read.request.set_ready(0, false);
            write.request.set_ready(0, false);
        }
        ReadLink read;
        WriteLink write;
    };
    struct Probes {
        Probe *in_valid, *in_ready, *out_valid, *out_ready;
    };

    void catch_up(Cycle to) override;
    void start(Cycle now);
    void start_reading(Cycle now);
    void begin_layer();
    void finish(Cycle now);
    bool step_completion(Cycle now);
    void latch_counts(unsigned group);
    void note_phase(Cycle now, bool moved);
    Cycle timers(Cycle now) const;

    const Hardware hardware;
    const facts::cdp::Facts silicon;
    RegisterFile registers, read_registers;
    Pulse<std::uint32_t>& interrupt;
    NoPort no_port;
    numerics::LutTables tables;
    LutWindow window;

    cdp::Values values;
    cdp::ReadDma reader;                      // (1)
    std::unique_ptr<cdp::Pipeline> pipeline;  // (2)
    cdp::WriteDma writer;                     // (3)
    WriteAcks acks;
    Ring<unsigned> done_groups{4};  // whose last command was sent

    bool running = false, reading = false;  // a layer of CDP, of CDP_RDMA
    bool begun = false;                     // its first beat has come
    cdp::LayerConfig layer;

    // Accounting.
    Cycle evaluated = 0, next = 0;
    PhaseLog phases;
    WaitLogs* logs = nullptr;
    std::uint64_t reads_begun = 0;  // layers of the reader
    std::unique_ptr<Probes> probes;
    GatedClocks<CdpCounters> clocks{silicon.floating};
    CdpCounters counted;  // layers, beats and look-ups
};

}  // namespace

// ---- one cycle

void CdpCore::advance(Cycle to)
{
    catch_up(to);
    registers.advance(to);
    read_registers.advance(to);
    bool moved = step_completion(to);

    reader.begin(to);
    writer.begin(to);
    if (const ReadBeat* word = reader.arriving()) values.arrive(*word);
    if (reader.valid() && pipeline->open() && !begun) begin_layer();

    const bool offered = reader.valid(), write_ready = writer.ready();
    const cdp::Pipeline::Answer core = pipeline->cycle(offered, reader.last(), write_ready);
    const cdp::ReadDma::Answer read = reader.cycle(to, core.accepted);
    const cdp::WriteDma::Answer written = writer.cycle(to, core.offers);
    counted.beats += core.accepted;
    if (probes) {
        probes->in_valid->level(to, offered);
        probes->in_ready->level(to, core.ready);
        probes->out_valid->level(to, core.offers);
        probes->out_ready->level(to, write_ready);
    }

    if (read.asked_all) read_registers.set(reg::cdp_rdma::D_PERF_READ_STALL, read_registers.consumer(), reader.stalls());
    if (read.finished) {
        read_registers.finish(to);
        reading = false;
        if (logs) read_registers.note_idle((*logs)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Cdp))], to + 1);
        clocks.off(to + facts::cdp::kDoneToGateOff, &CdpCounters::rdma);
    }
    if (written.last_command) {
        acks.expect(writer.primary());
        done_groups.push_back(registers.consumer());
    }
    if (written.finished) finish(to);
    if (!running && registers.start_cycle() <= to) start(to), moved = true;
    if (!reading && read_registers.start_cycle() <= to) start_reading(to), moved = true;

    note_phase(to, core.accepted || core.delivered || written.sent);
    if (logs) note_waits(to, core, offered);
    evaluated = to;
    moved |= core.changed || read.changed || written.changed;
    next = moved ? to + 1 : timers(to);
}

/// Cycles before `to` that were slept through stalled as the last one did.
void CdpCore::catch_up(Cycle to)
{
    if (to <= evaluated + 1) return;
    reader.account(to - evaluated - 1);
    writer.account(to - evaluated - 1);
    evaluated = to - 1;
}

void CdpCore::start(Cycle now)
{
    layer = cdp::LayerConfig::decode(hardware, registers);
    pipeline->start(layer.values);
    running = true;
    begun = false;
    clocks.on(now, &CdpCounters::core, &CdpCounters::wdma,
              layer.values.precision == Precision::Fp16 ? &CdpCounters::fp : &CdpCounters::integer);
}

void CdpCore::start_reading(Cycle now)
{
    reader.start(cdp::ReadLayer::decode(hardware, read_registers));
    reading = true;
    ++reads_begun;
    if (logs) (*logs)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Cdp))].works(now, Cause::StartUp);
    clocks.on(now, &CdpCounters::rdma);
}

/// The first beat of the layer meets the open gate: the size of the cube travels with the data. The tables
/// are live, so they are those of this cycle.
void CdpCore::begin_layer()
{
    begun = true;
    layer = cdp::LayerConfig::decode(hardware, registers);
    pipeline->begin(reader.cube());
    writer.start(reader.cube(), layer);
    values.start(reader.cube(), layer.values, tables);
}

/// The last data of the layer were handed over.
void CdpCore::finish(Cycle now)
{
    latch_counts(registers.consumer());
    registers.finish(now);
    running = false;
    ++counted.layers;
    clocks.off(now + facts::cdp::kDoneToGateOff, &CdpCounters::core, &CdpCounters::wdma, &CdpCounters::fp, &CdpCounters::integer);
}

void CdpCore::latch_counts(unsigned group)
{
    registers.set(reg::cdp::D_PERF_WRITE_STALL, group, writer.stalls());
    numerics::CdpCounts counts = values.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) counted.*kLookedUp[i] += counts[i];
    if (silicon.hybrid_counts_idle_lanes && layer.values.precision != Precision::Int8)
        counts[static_cast<std::size_t>(CdpOutcome::Hybrid)] += values.elements();
    for (std::size_t i = 0; i < counts.size(); ++i) registers.set(kLutCounters[i], group, static_cast<std::uint32_t>(counts[i]));
}

bool CdpCore::step_completion(Cycle now)
{
    if (!acks.take(now) || done_groups.empty()) return false;
    interrupt.put(now + facts::cdp::kCompleteToInterrupt, reg::glb::kCdp.bit(done_groups.front()));
    if (logs)
        (*logs)[WaitPoint::CdpDone].event(now + facts::cdp::kCompleteToInterrupt,
                                          of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Cdp)), Cause::Interrupt,
                                          facts::cdp::kCompleteToInterrupt + WriteAcks::kLatency);
    done_groups.pop_front();
    return true;
}

// ---- sleep and report

Cycle CdpCore::timers(Cycle now) const
{
    Cycle at = std::min({registers.horizon(), read_registers.horizon(), acks.next(now)});
    if (!running) at = std::min(at, registers.start_cycle());
    if (!reading) at = std::min(at, read_registers.start_cycle());
    return std::max(at, now + 1);
}

void CdpCore::note_phase(Cycle now, bool moved)
{
    Phase phase = Phase::Starved;
    if (moved) phase = Phase::Issuing;
    else if (!running && !reading) phase = acks.outstanding() || !writer.empty() ? Phase::Draining : Phase::Gated;
    else if (writer.blocked() || reader.blocked()) phase = Phase::Blocked;
    else if (begun && !pipeline->open()) phase = Phase::Draining;
    phases.enter(phase, now);
}

/// Why cycle `now` takes no beat, or that it does.
void CdpCore::note_waits(Cycle now, const cdp::Pipeline::Answer& core, bool offered)
{
    WaitLog& log = (*logs)[WaitPoint::Cdp];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Cdp)); };
    if (!running) registers.note_idle(log, now);
    else if (core.accepted) log.works(now, Cause::CdpPace);
    else if (writer.blocked()) log.waits(now, of(WaitPoint::Room), Cause::CdpPace);
    else if (begun && !pipeline->open()) log.works(now, Cause::Drain);
    else if (offered || !reader.waits_for_memory()) log.works(now, Cause::CdpPace);
    else if (!reading && reads_begun > counted.layers) log.works(now, Cause::Drain);
    else if (!reading) log.waits(now, of(WaitPoint::Ask), Cause::StartUp);
    else log.waits(now, of(WaitPoint::Read), Cause::CdpPace);
}

void CdpCore::attach(ProbeSet& all)
{
    clocks.attach(all, "cdp");
    phases.record(all.phases("cdp"));
    probes = std::make_unique<Probes>(
        Probes{all.get("cdp_rdma2dp_valid"), all.get("cdp_rdma2dp_ready"), all.get("cdp_dp2wdma_valid"), all.get("cdp_dp2wdma_ready")});
}

UnitReport CdpCore::report(Cycle end)
{
    catch_up(end);
    phases.account_until(end);
    CdpCounters totals = counted;
    totals.atoms_read = reader.atoms();
    totals.atoms_written = writer.atoms();
    totals.rdma_read_stall = reader.stalls();
    totals.wdma_write_stall = writer.stalls();
    return {"cdp", phases, totals, clocks, end};
}

std::string CdpCore::waiting_for() const
{
    if (!running && !reading) return acks.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (!running) return "CDP_RDMA runs, CDP was not enabled";
    if (writer.blocked()) return "the write DMA waits for the memory interface";
    if (reader.blocked()) return "CDP_RDMA waits for the memory interface";
    if (!reading && pipeline->open()) return "CDP runs, CDP_RDMA was not enabled";
    return reader.waits_for_memory() ? "CDP_RDMA waits for read data" : "beats wait in the core";
}

std::unique_ptr<Core> make_cdp(const Hardware& hardware, const CdpPorts& ports, bool values)
{
    return std::make_unique<CdpCore>(hardware, ports, values);
}

}  // namespace dlasim
