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

class CdpCore final : public DirectCore<CdpCore> {
public:
    CdpCore(const Hardware& hardware, const CdpPorts& ports, bool values)
        : hardware_(hardware),
          silicon_(facts::cdp::of(hardware)),
          interrupt_(ports.interrupt),
          registers_(*find_unit(hardware, "CDP"), ports.csb),
          read_registers_(*find_unit(hardware, "CDP_RDMA"), ports.csb_rdma),
          window_(tables_.le, tables_.lo, {.stays_at_end = true, .read_settles = facts::cdp::kTableReadSettles}),
          values_(silicon_),
          reader_(silicon_, ports.read_mc, ports.read_cv ? *ports.read_cv : no_port_.read),
          pipeline_(cdp::Pipeline::make(silicon_)),
          writer_(silicon_, ports.write_mc, ports.write_cv ? *ports.write_cv : no_port_.write, values_),
          acks_(ports.write_cv ? ports.write_cv->complete : no_port_.write.complete, ports.write_mc.complete)
    {
        registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
            if (offset == reg::cdp::S_LUT_ACCESS_CFG) window_.configure(data, decode);
            if (offset == reg::cdp::S_LUT_ACCESS_DATA) window_.write(data);
        };
        registers_.read_status = [this](std::uint32_t offset, unsigned, Cycle at) -> std::optional<std::uint32_t> {
            if (offset == reg::cdp::S_LUT_ACCESS_DATA) return window_.read(at);
            if (offset == reg::cdp::S_LUT_ACCESS_CFG) return window_.configuration();
            return std::nullopt;
        };
        values_.compute(values);
    }

    void advance(Cycle to) override;
    Cycle horizon() const override { return next_; }
    void catch_up(Cycle to) override;
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return writer_.atoms() * silicon_.atom_bytes; }  // bytes written
    void attach(ProbeSet& all) override;
    void follow(WaitLogs& all) override { logs_ = &all; }

private:
    void note_waits(Cycle now, const cdp::Pipeline::Answer& core, bool offered);
    void start(Cycle now);
    void start_reading(Cycle now);
    void begin_layer();
    void finish(Cycle now);
    bool step_completion(Cycle now);
    void latch_counts(unsigned group);
    void note_phase(Cycle now, bool moved);
    Cycle timers(Cycle now) const;

    // ---- what never changes
    const Hardware hardware_;
    const facts::cdp::Facts silicon_;
    Pulse<std::uint32_t>& interrupt_;
    /// Replaces a secondary port that does not exist: nothing is ever accepted.
    struct NoPort {
        NoPort()
        {
            read.request.set_ready(0, false);
            write.request.set_ready(0, false);
        }
        ReadLink read;
        WriteLink write;
    } no_port_;

    // ---- what a layer sets
    RegisterFile registers_, read_registers_;
    numerics::LutTables tables_;
    LutWindow window_;
    cdp::LayerConfig layer_;

    // ---- what moves
    cdp::Values values_;
    cdp::ReadDma reader_;                      // (1)
    std::unique_ptr<cdp::Pipeline> pipeline_;  // (2)
    cdp::WriteDma writer_;                     // (3)
    WriteAcks acks_;
    Ring<unsigned> done_groups_{4};           // whose last command was sent
    bool running_ = false, reading_ = false;  // a layer of CDP, of CDP_RDMA
    bool begun_ = false;                      // its first beat has come
    Cycle evaluated_ = 0, next_ = 0;

    // ---- what is counted
    PhaseLog phases_;
    WaitLogs* logs_ = nullptr;
    std::uint64_t reads_begun_ = 0;  // layers of the reader
    struct Probes {
        Probe *in_valid, *in_ready, *out_valid, *out_ready;
    };
    std::unique_ptr<Probes> probes_;
    GatedClocks<CdpCounters> clocks_{silicon_.floating};
    CdpCounters counted_;  // layers, beats and look-ups
};

}  // namespace

// ---- one cycle

void CdpCore::advance(Cycle to)
{
    catch_up(to);
    registers_.advance(to);
    read_registers_.advance(to);
    bool moved = step_completion(to);

    reader_.begin(to);
    writer_.begin(to);
    if (const ReadBeat* word = reader_.arriving()) values_.arrive(*word);
    if (reader_.valid() && pipeline_->open() && !begun_) begin_layer();

    const bool offered = reader_.valid(), write_ready = writer_.ready();
    const cdp::Pipeline::Answer core = pipeline_->cycle(offered, reader_.last(), write_ready);
    const cdp::ReadDma::Answer read = reader_.cycle(to, core.accepted);
    const cdp::WriteDma::Answer written = writer_.cycle(to, core.offers);
    counted_.beats += core.accepted;
    if (probes_) {
        probes_->in_valid->level(to, offered);
        probes_->in_ready->level(to, core.ready);
        probes_->out_valid->level(to, core.offers);
        probes_->out_ready->level(to, write_ready);
    }

    if (read.asked_all) read_registers_.set(reg::cdp_rdma::D_PERF_READ_STALL, read_registers_.consumer(), reader_.stalls());
    if (read.finished) {
        read_registers_.finish(to);
        reading_ = false;
        if (logs_) read_registers_.note_idle((*logs_)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Cdp))], to + 1);
        clocks_.off(to + facts::cdp::kDoneToGateOff, &CdpCounters::rdma);
    }
    if (written.last_command) {
        acks_.expect(writer_.primary());
        done_groups_.push_back(registers_.consumer());
    }
    if (written.finished) finish(to);
    if (!running_ && registers_.start_cycle() <= to) start(to), moved = true;
    if (!reading_ && read_registers_.start_cycle() <= to) start_reading(to), moved = true;

    note_phase(to, core.accepted || core.delivered || written.sent);
    if (logs_) note_waits(to, core, offered);
    evaluated_ = to;
    moved |= core.changed || read.changed || written.changed;
    next_ = moved ? to + 1 : timers(to);
}

/// Cycles before `to` that were slept through stalled as the last one did.
void CdpCore::catch_up(Cycle to)
{
    if (to <= evaluated_ + 1) return;
    reader_.account(to - evaluated_ - 1);
    writer_.account(to - evaluated_ - 1);
    evaluated_ = to - 1;
}

void CdpCore::start(Cycle now)
{
    layer_ = cdp::LayerConfig::decode(hardware_, registers_);
    pipeline_->start(layer_.values);
    running_ = true;
    begun_ = false;
    clocks_.on(now, &CdpCounters::core, &CdpCounters::wdma,
               layer_.values.precision == Precision::Fp16 ? &CdpCounters::fp : &CdpCounters::integer);
}

void CdpCore::start_reading(Cycle now)
{
    reader_.start(cdp::ReadLayer::decode(hardware_, read_registers_));
    reading_ = true;
    ++reads_begun_;
    if (logs_) (*logs_)[of_client(WaitPoint::Ask, static_cast<unsigned>(Client::Cdp))].works(now, Cause::StartUp);
    clocks_.on(now, &CdpCounters::rdma);
}

/// The first beat of the layer meets the open gate: the size of the cube travels with the data. The tables
/// are live, so they are those of this cycle.
void CdpCore::begin_layer()
{
    begun_ = true;
    layer_ = cdp::LayerConfig::decode(hardware_, registers_);
    pipeline_->begin(reader_.cube());
    writer_.start(reader_.cube(), layer_);
    values_.start(reader_.cube(), layer_.values, tables_);
}

/// The last data of the layer were handed over.
void CdpCore::finish(Cycle now)
{
    latch_counts(registers_.consumer());
    registers_.finish(now);
    running_ = false;
    ++counted_.layers;
    clocks_.off(now + facts::cdp::kDoneToGateOff, &CdpCounters::core, &CdpCounters::wdma, &CdpCounters::fp, &CdpCounters::integer);
}

void CdpCore::latch_counts(unsigned group)
{
    registers_.set(reg::cdp::D_PERF_WRITE_STALL, group, writer_.stalls());
    numerics::CdpCounts counts = values_.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) counted_.*kLookedUp[i] += counts[i];
    if (silicon_.hybrid_counts_idle_lanes && layer_.values.precision != Precision::Int8)
        counts[static_cast<std::size_t>(CdpOutcome::Hybrid)] += values_.elements();
    for (std::size_t i = 0; i < counts.size(); ++i) registers_.set(kLutCounters[i], group, static_cast<std::uint32_t>(counts[i]));
}

bool CdpCore::step_completion(Cycle now)
{
    if (!acks_.take(now) || done_groups_.empty()) return false;
    interrupt_.put(now + facts::cdp::kCompleteToInterrupt, reg::glb::kCdp.bit(done_groups_.front()));
    if (logs_)
        (*logs_)[WaitPoint::CdpDone].event(now + facts::cdp::kCompleteToInterrupt,
                                           of_client(WaitPoint::Answer, static_cast<unsigned>(Client::Cdp)), Cause::Interrupt,
                                           facts::cdp::kCompleteToInterrupt + WriteAcks::kLatency);
    done_groups_.pop_front();
    return true;
}

// ---- sleep and report

Cycle CdpCore::timers(Cycle now) const
{
    Cycle at = std::min({registers_.horizon(), read_registers_.horizon(), acks_.next(now)});
    if (!running_) at = std::min(at, registers_.start_cycle());
    if (!reading_) at = std::min(at, read_registers_.start_cycle());
    return std::max(at, now + 1);
}

void CdpCore::note_phase(Cycle now, bool moved)
{
    Phase phase = Phase::Starved;
    if (moved) phase = Phase::Issuing;
    else if (!running_ && !reading_) phase = acks_.outstanding() || !writer_.empty() ? Phase::Draining : Phase::Gated;
    else if (writer_.blocked() || reader_.blocked()) phase = Phase::Blocked;
    else if (begun_ && !pipeline_->open()) phase = Phase::Draining;
    phases_.enter(phase, now);
}

/// Why cycle `now` takes no beat, or that it does.
void CdpCore::note_waits(Cycle now, const cdp::Pipeline::Answer& core, bool offered)
{
    WaitLog& log = (*logs_)[WaitPoint::Cdp];
    const auto of = [](WaitPoint family) { return of_client(family, static_cast<unsigned>(Client::Cdp)); };
    if (!running_) registers_.note_idle(log, now);
    else if (core.accepted) log.works(now, Cause::CdpPace);
    else if (writer_.blocked()) log.waits(now, of(WaitPoint::Room), Cause::CdpPace);
    else if (begun_ && !pipeline_->open()) log.works(now, Cause::Drain);
    else if (offered || !reader_.waits_for_memory()) log.works(now, Cause::CdpPace);
    else if (!reading_ && reads_begun_ > counted_.layers) log.works(now, Cause::Drain);
    else if (!reading_) log.waits(now, of(WaitPoint::Ask), Cause::StartUp);
    else log.waits(now, of(WaitPoint::Read), Cause::CdpPace);
}

void CdpCore::attach(ProbeSet& all)
{
    clocks_.attach(all, "cdp");
    phases_.record(all.phases("cdp"));
    probes_ = std::make_unique<Probes>(
        Probes{all.get("cdp_rdma2dp_valid"), all.get("cdp_rdma2dp_ready"), all.get("cdp_dp2wdma_valid"), all.get("cdp_dp2wdma_ready")});
}

UnitReport CdpCore::report(Cycle end)
{
    catch_up(end);
    phases_.account_until(end);
    CdpCounters totals = counted_;
    totals.atoms_read = reader_.atoms();
    totals.atoms_written = writer_.atoms();
    totals.rdma_read_stall = reader_.stalls();
    totals.wdma_write_stall = writer_.stalls();
    return {"cdp", phases_, totals, clocks_, end};
}

std::string CdpCore::waiting_for() const
{
    if (!running_ && !reading_) return acks_.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (!running_) return "CDP_RDMA runs, CDP was not enabled";
    if (writer_.blocked()) return "the write DMA waits for the memory interface";
    if (reader_.blocked()) return "CDP_RDMA waits for the memory interface";
    if (!reading_ && pipeline_->open()) return "CDP runs, CDP_RDMA was not enabled";
    return reader_.waits_for_memory() ? "CDP_RDMA waits for read data" : "beats wait in the core";
}

std::unique_ptr<Core> make_cdp(const Hardware& hardware, const CdpPorts& ports, bool values)
{
    return std::make_unique<CdpCore>(hardware, ports, values);
}

}  // namespace dlasim
