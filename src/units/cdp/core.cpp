#include "units/cdp/core.h"

#include <algorithm>

#include "registers/offsets.h"

namespace dlasim {
namespace {

using numerics::CdpOutcome;

constexpr std::array<std::uint32_t, numerics::kCdpOutcomes> kLutCounters{reg::cdp::D_PERF_LUT_UFLOW, reg::cdp::D_PERF_LUT_OFLOW,
                                                                         reg::cdp::D_PERF_LUT_HYBRID, reg::cdp::D_PERF_LUT_LE_HIT,
                                                                         reg::cdp::D_PERF_LUT_LO_HIT};
constexpr std::array<std::uint64_t CdpCounters::*, numerics::kCdpOutcomes> kLookedUp{
    &CdpCounters::lut_uflow, &CdpCounters::lut_oflow, &CdpCounters::lut_hybrid, &CdpCounters::lut_le_hit, &CdpCounters::lut_lo_hit};

}  // namespace

CdpCore::NoPort::NoPort()
{
    read.request.set_ready(0, false);
    write.request.set_ready(0, false);
}

CdpCore::CdpCore(const Hardware& hardware, const CdpPorts& ports)
    : hardware_(hardware),
      facts_(facts::cdp(hardware)),
      registers_(*find_unit(hardware.generation, "CDP"), ports.csb),
      read_registers_(*find_unit(hardware.generation, "CDP_RDMA"), ports.csb_rdma),
      interrupt_(ports.interrupt),
      window_(tables_),
      values_(hardware.memory.atom_bytes),
      rdma_(facts_, hardware.memory.atom_bytes, ports.read_mc, ports.read_cv ? *ports.read_cv : no_port_.read),
      pipeline_(cdp::Pipeline::make(facts_)),
      wdma_(facts_, hardware.memory.atom_bytes, ports.write_mc, ports.write_cv ? *ports.write_cv : no_port_.write, values_),
      acks_(ports.write_cv ? ports.write_cv->complete : no_port_.write.complete, ports.write_mc.complete)
{
    registers_.on_write = [this](std::uint32_t offset, std::uint32_t data, Cycle decode) {
        if (offset == reg::cdp::S_LUT_ACCESS_CFG) window_.configure(data, decode);
        if (offset == reg::cdp::S_LUT_ACCESS_DATA) window_.write(data);
    };
    registers_.read_status = [this](std::uint32_t offset, unsigned, Cycle at) -> std::optional<std::uint32_t> {
        if (offset == reg::cdp::S_LUT_ACCESS_DATA) return window_.read(at);
        return std::nullopt;
    };
}

// ---- one cycle

void CdpCore::advance(Cycle to)
{
    account(to);
    registers_.advance(to);
    read_registers_.advance(to);
    bool moved = step_completion(to);

    rdma_.begin(to);
    wdma_.begin(to);
    if (const ReadBeat* word = rdma_.arriving()) values_.arrive(*word);
    if (rdma_.valid() && pipeline_->open() && !begun_) begin_layer();

    const bool offered = rdma_.valid(), write_ready = wdma_.ready();
    const cdp::Pipeline::Answer core = pipeline_->cycle(offered, rdma_.last(), write_ready);
    const cdp::Rdma::Answer read = rdma_.cycle(to, core.accepted);
    const cdp::Wdma::Answer written = wdma_.cycle(to, core.offers);
    counted_.beats += core.accepted;
    if (probes_) {
        probes_->in_valid->level(to, offered);
        probes_->in_ready->level(to, core.ready);
        probes_->out_valid->level(to, core.offers);
        probes_->out_ready->level(to, write_ready);
    }

    if (read.asked_all) read_registers_.set(reg::cdp_rdma::D_PERF_READ_STALL, read_registers_.consumer(), rdma_.stalls());
    if (read.finished) {
        read_registers_.finish(to);
        reading_ = false;
        clocks_[kRead].off(to + facts::kCdpDoneToGateOff);
    }
    if (written.last_command) {
        acks_.expect(wdma_.primary());
        done_groups_.push_back(registers_.consumer());
    }
    if (written.finished) finish(to);
    if (!running_ && registers_.start_cycle() <= to) start(to), moved = true;
    if (!reading_ && read_registers_.start_cycle() <= to) start_reading(to), moved = true;

    note_phase(to, core.accepted || core.delivered || written.sent);
    now_ = to;
    moved |= core.changed || read.changed || written.changed;
    horizon_ = moved ? to + 1 : timers(to);
}

/// Cycles before `to` that were slept through stalled as the last one did.
void CdpCore::account(Cycle to)
{
    if (to <= now_ + 1) return;
    rdma_.account(to - now_ - 1);
    wdma_.account(to - now_ - 1);
    now_ = to - 1;
}

void CdpCore::start(Cycle now)
{
    layer_ = cdp::Layer::decode(hardware_, registers_);
    pipeline_->start(layer_.values);
    running_ = true;
    begun_ = false;
    clocks_[kCore].on(now);
    clocks_[kWrite].on(now);
    if (facts_.floating) clocks_[layer_.values.precision == Precision::Fp16 ? kFloat : kInteger].on(now);
}

void CdpCore::start_reading(Cycle now)
{
    rdma_.start(cdp::ReadLayer::decode(hardware_, read_registers_));
    reading_ = true;
    clocks_[kRead].on(now);
}

/// The first beat of the layer meets the open gate: the size of the cube travels with the data. The tables
/// are live, so they are those of this cycle.
void CdpCore::begin_layer()
{
    begun_ = true;
    layer_ = cdp::Layer::decode(hardware_, registers_);
    pipeline_->begin(rdma_.cube());
    wdma_.start(rdma_.cube(), layer_);
    values_.start(rdma_.cube(), layer_.values, tables_);
}

/// The last data of the layer were handed over.
void CdpCore::finish(Cycle now)
{
    latch_counts(registers_.consumer());
    registers_.finish(now);
    running_ = false;
    ++counted_.layers;
    for (unsigned domain = kCore; domain < kRead; ++domain) clocks_[domain].off(now + facts::kCdpDoneToGateOff);
}

void CdpCore::latch_counts(unsigned group)
{
    registers_.set(reg::cdp::D_PERF_WRITE_STALL, group, wdma_.stalls());
    numerics::CdpCounts counts = values_.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) counted_.*kLookedUp[i] += counts[i];
    if (facts_.hybrid_counts_idle_lanes && layer_.values.precision != Precision::Int8)
        counts[static_cast<std::size_t>(CdpOutcome::Hybrid)] += values_.elements();
    for (std::size_t i = 0; i < counts.size(); ++i) registers_.set(kLutCounters[i], group, static_cast<std::uint32_t>(counts[i]));
}

bool CdpCore::step_completion(Cycle now)
{
    if (!acks_.take(now) || done_groups_.empty()) return false;
    interrupt_.put(now + facts::kCdpCompleteToGlb, 1u << (facts::kCdpInterruptBit + done_groups_.front()));
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
    else if (!running_ && !reading_) phase = acks_.outstanding() || !wdma_.empty() ? Phase::Draining : Phase::Gated;
    else if (wdma_.blocked() || rdma_.blocked()) phase = Phase::Blocked;
    else if (begun_ && !pipeline_->open()) phase = Phase::Draining;
    phases_.enter(phase, now);
}

void CdpCore::attach(ProbeSet& probes)
{
    probes_ = std::make_unique<Probes>(Probes{probes.get("cdp_rdma2dp_valid"), probes.get("cdp_rdma2dp_ready"),
                                              probes.get("cdp_dp2wdma_valid"), probes.get("cdp_dp2wdma_ready")});
}

UnitReport CdpCore::report(Cycle end)
{
    account(end);
    phases_.settle(end);
    CdpCounters counted = counted_;
    counted.atoms_read = rdma_.atoms();
    counted.atoms_written = wdma_.atoms();
    counted.rdma_read_stall = rdma_.stalls();
    counted.wdma_write_stall = wdma_.stalls();
    counted.core = clocks_[kCore].cycles(end);
    counted.wdma = clocks_[kWrite].cycles(end);
    counted.rdma = clocks_[kRead].cycles(end);
    if (facts_.floating) {
        counted.fp = clocks_[kFloat].cycles(end);
        counted.integer = clocks_[kInteger].cycles(end);
    }
    return {"cdp", phases_, counted};
}

std::string CdpCore::waiting_for() const
{
    if (!running_ && !reading_) return acks_.outstanding() ? "waits for the acknowledgement of the last write" : "idle";
    if (!running_) return "CDP_RDMA runs, CDP was not enabled";
    if (wdma_.blocked()) return "the write DMA waits for the memory interface";
    if (rdma_.blocked()) return "CDP_RDMA waits for the memory interface";
    if (!reading_ && pipeline_->open()) return "CDP runs, CDP_RDMA was not enabled";
    return rdma_.waits_for_memory() ? "CDP_RDMA waits for read data" : "beats wait in the core";
}

}  // namespace dlasim
