// CDP with CDP_RDMA: local response normalisation, memory to memory, cycle by cycle.
//
//   registers CDP_RDMA ─► (1) rdma ── requests ──► MCIF, CVIF ── words ──┐
//                               ▲────────────────────────────────────────┘
//                               └── beats ──► (2) pipeline ── beats ──► (3) wdma ── writes ──► MCIF, CVIF
//   registers CDP, tables ──────────────────────┴──────────────────────────┘   ◄── complete ── done, GLB
//
// CDP_RDMA and CDP have register groups of their own and start on their own; the gate of the pipeline and
// the requests of CDP_RDMA wait for each other. A layer of CDP is done with its last data, its interrupt
// comes when they are acknowledged. Values are computed beside, a pass at a time.
//
// Shapes    a beat is `throughput` bytes of an atom (8 in nv_full); blocks of up to 8 pixels of a line.
// Source    cdp.md; models/cdp.py, models/numerics_cdp.py; facts in facts/cdp.h.
// Left out  D_OUT_SATURATION of nv_full counts idle cycles, too: it reads 0 here.
// Error     0 cycles on every measured cdp_ case (tests/rtl).
#pragma once
#include <array>
#include <memory>
#include <string>

#include "base/gated_clock.h"
#include "base/ring.h"
#include "facts/cdp.h"
#include "links/core.h"
#include "links/dma_shim.h"
#include "registers/register_file.h"
#include "units/cdp/counters.h"
#include "units/cdp/layer.h"
#include "units/cdp/lut_window.h"
#include "units/cdp/pipeline.h"
#include "units/cdp/ports.h"
#include "units/cdp/rdma.h"
#include "units/cdp/values.h"
#include "units/cdp/wdma.h"

namespace dlasim {

class CdpCore final : public Core {
public:
    CdpCore(const Hardware& hardware, const CdpPorts& ports);

    void advance(Cycle to) override;
    Cycle horizon() const override { return horizon_; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    /// Bytes written.
    std::uint64_t work() const override { return wdma_.atoms() * hardware_.memory.atom_bytes; }
    void attach(ProbeSet& probes) override;

    /// Without values nothing but time is computed.
    void compute_values(bool on) { values_.compute(on); }

private:
    /// Stands where there is no secondary port: nothing is ever accepted.
    struct NoPort {
        NoPort();
        ReadLink read;
        WriteLink write;
    };
    struct Probes {
        Probe *in_valid, *in_ready, *out_valid, *out_ready;
    };

    void account(Cycle to);
    void start(Cycle now);
    void start_reading(Cycle now);
    void begin_layer();
    void finish(Cycle now);
    bool step_completion(Cycle now);
    void latch_counts(unsigned group);
    void note_phase(Cycle now, bool moved);
    Cycle timers(Cycle now) const;

    const Hardware hardware_;
    const facts::CdpFacts facts_;
    RegisterFile registers_, read_registers_;
    Pulse<std::uint32_t>& interrupt_;
    NoPort no_port_;
    numerics::LutTables tables_;
    cdp::LutWindow window_;

    cdp::Values values_;
    cdp::Rdma rdma_;                           // (1)
    std::unique_ptr<cdp::Pipeline> pipeline_;  // (2)
    cdp::Wdma wdma_;                           // (3)
    WriteAcks acks_;
    Ring<unsigned> done_groups_{4};  // whose last command was sent

    bool running_ = false, reading_ = false;  // a layer of CDP, of CDP_RDMA
    bool begun_ = false;                      // its first beat has come
    cdp::Layer layer_;

    // Accounting.
    Cycle now_ = 0, horizon_ = 0;
    PhaseLog phases_;
    std::unique_ptr<Probes> probes_;
    enum Domain : unsigned { kCore, kWrite, kFloat, kInteger, kRead, kDomains };
    std::array<GatedClock, kDomains> clocks_;
    CdpCounters counted_;  // layers, beats and look-ups
};

}  // namespace dlasim
