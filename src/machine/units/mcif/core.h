// MCIF, the interface between the memory clients and the primary memory port; CVIF, the same for the
// secondary one.
//
//   read requests  ─► ingress: split, arbitrate, limit ─► AR ┐
//   read responses ◄─ egress: by client, in order      ◄─ R  │ memory port
//   write requests ─► write path: split, arbitrate ─► AW, W  │ (bridge.h)
//   completions    ◄─                              ◄─ B      ┘
//
// Shapes    requests in memory atoms; a port beat is 64 bytes (two atoms) in nv_full, one atom else.
// Source    fabric.md; models/cdma_fabric.py (reads), models/sdp_out.py (writes).
// Not modelled: response errors and quality of service: the port has neither.
// Error     0 cycles in every measured case (tests/rtl) and figure of fabric.md (tests/unit/mcif_test.cpp).
//           No case measures two write clients at once, or reads that a client refuses for long.
#pragma once
#include "facts/hardware.h"
#include "links/core.h"
#include "registers/register_file.h"
#include "units/mcif/dbb_port.h"
#include "units/mcif/links.h"
#include "units/mcif/read_egress.h"
#include "units/mcif/read_ingress.h"
#include "units/mcif/write_path.h"

namespace dlasim {

class McifCore final : public Core {
public:
    McifCore(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, bool values = true, bool stepping = false);

    /// Once the channels are connected: hangs a doorbell in front of each client's, so that channels
    /// that are empty need not be polled.
    void connect_doorbells();

    void follow(BurstLogs* burst_logs)
    {
        ingress_.follow(burst_logs);
        writes_.follow(burst_logs);
    }
    /// The burst logs get what is on its way to the arbiters.
    void note_pending()
    {
        ingress_.note_pending();
        writes_.note_pending();
    }

    void advance(Cycle to) override;
    Cycle horizon() const override;
    void catch_up(Cycle end) override { ingress_.catch_up(end); }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    void attach(ProbeSet& probes) override { phases_.record(probes.phases(name_)); }
    /// Nothing is held and nothing is on its way.
    bool idle() const
    {
        return egress_.empty() && ingress_.empty() && writes_.empty() && ingress_.outstanding() == 0 && writes_.outstanding() == 0;
    }

private:
    McifCore(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode);
    void load_settings();
    Phase phase(Cycle at, bool reads, bool changed) const;

    std::string name_;
    RegisterFile registers_;
    std::array<reg::Field, kClients> read_weights_;
    std::array<reg::Field, kWriteClients> write_weights_;
    FabricSettings settings_;
    DbbPort& port_;
    fabric::ReadEgress egress_;
    fabric::ReadIngress ingress_;
    fabric::WritePath writes_;
    PhaseLog phases_;
    Cycle now_ = 0;
    bool again_ = true, settings_stale_ = false;
};

}  // namespace dlasim
