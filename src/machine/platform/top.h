// The accelerator as one SystemC module, for any TLM-2.0 platform.
//
//            csb (blocking, timed)                                  interrupt
//                 │                                                     ▲
//   ┌─────────────▼─────────────────────────────────────────────────────┴──┐
//   │ CSB master ─► registers of every unit                  pulses ─► GLB  │
//   │                                                                       │
//   │  MCIF ◄─► CDMA ─► CBUF ─► CSC ─► CMAC_A/B ─► CACC ─► SDP ◄─► MCIF     │
//   │  CVIF ◄─┘   ▲── releases ──┘▲───── credits ───┘       └────► CVIF     │
//   │  PDP: from SDP or MCIF and CVIF to memory                             │
//   │  CDP: memory to memory through MCIF and CVIF                          │
//   │  other units: memory to memory through MCIF and CVIF (nv_full)        │
//   └────┬──────────────────────────────────────────────────────────┬──────┘
//      dbb (four-phase non-blocking)                              cvsram
//
// Source  interfaces.md, hardware/README.md.
#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "causes/burst_log.h"
#include "facts/hardware.h"
#include "links/unit_adapter.h"
#include "traffic/convolution.h"
#include "traffic/csb.h"
#include "traffic/memory.h"
#include "traffic/watch.h"
#include "units/cbuf/cbuf.h"
#include "units/csb/master.h"
#include "units/csb/module.h"
#include "units/mcif/module.h"
#include "workload/run_result.h"

namespace dlasim {

struct TopOptions {
    bool stepping = false;      // evaluate every unit in every cycle
    bool values = true;         // compute data
    bool events = false;        // record bus logs
    bool all_commands = false;  // of these, not only the first
    bool flushed = false;       // CBUF needs no flush after reset
};

class Top final : public sc_core::sc_module {
public:
    tlm::tlm_target_socket<32> csb{"csb"};
    tlm::tlm_initiator_socket<512> dbb{"dbb"};
    std::unique_ptr<tlm::tlm_initiator_socket<512>> cvsram;  // where the hardware has a secondary memory
    sc_core::sc_out<bool> interrupt{"interrupt"};

    Top(const sc_core::sc_module_name& name, const Hardware& hardware, Clock& clock, const TopOptions& options);
    ~Top() override;

    /// Reset. From hold() on every unit and register is as after power-on, the interrupt pin is low, the register bus answers with an
    /// error. What the memories still owe is taken at the ports and dropped. release() begins cycle 0 at the next clock edge, which may be
    /// now. Probes and watches hang on one life of the machine.
    void hold();
    void release();
    bool held() const { return held_; }
    /// Asked at every access to the register bus, beside held().
    std::function<bool()> in_reset;

    /// Hangs all probes of interfaces.md 3 on the machine.
    void attach(ProbeSet& probes);
    /// They see every access from now on; `secondary` if there is such a port.
    void watch(MemoryWatch* primary, MemoryWatch* secondary, CbufWatch* cbuf);
    /// Every unit and port records from now on what it waits for; `secondary` where there is such a port.
    void follow(WaitLogs& logs, BurstLogs& primary, BurstLogs& secondary);
    /// The logs of the ports get the requests that no arbiter has granted yet, until they drop them.
    void note_pending();
    /// Units do what they have put off of the cycles before `end`: all of them have been evaluated and no later one.
    void catch_up(Cycle end);
    /// Layers that a unit's data path has done; null for a unit that is not there.
    const std::uint32_t* finished(std::string_view unit) const;
    /// Of every unit with a window on the register bus, by name.
    std::vector<std::pair<std::string_view, RegisterFile*>> register_files() const;
    CsbMaster& bus() { return *csb_master_; }
    /// Traffic is counted from this cycle on.
    void count_from(Cycle first);

    Mcif& mcif() { return *mcif_; }
    Mcif* cvif() { return cvif_.get(); }
    const Cbuf& cbuf() const;
    GlbCore& glb() { return glb_->core(); }
    /// Of all units so far.
    std::uint64_t evaluations() const;
    /// Every unit, in the order of the data flow.
    const std::vector<UnitModule*>& units() const { return units_; }
    /// The first exception inside the machine, which then stops.
    Failures& failures() { return failures_; }

private:
    struct Clients;  // the links of the memory clients to one memory interface
    struct Links;    // all links between units, and the buffer
    class Builder;
    void build();
    void connect(Clients& clients, UnitModule& interface);
    /// By the name of its window; null if the machine has no such unit.
    UnitAdapter* adapter(std::string_view unit) const;

    const Hardware hardware_;
    Clock& clock_;
    const TopOptions options_;
    Failures failures_;
    bool held_ = false;

    // Rebuilt by every reset, as are the cores of the units.
    std::unique_ptr<Links> links_;

    // Units.
    std::unique_ptr<CsbMaster> csb_master_;
    std::unique_ptr<Glb> glb_;
    std::unique_ptr<Mcif> mcif_, cvif_;
    std::unique_ptr<UnitAdapter> cfgrom_;
    std::vector<std::unique_ptr<UnitAdapter>> adapters_;  // in the order in which they are built
    std::vector<UnitModule*> units_;
};

}  // namespace dlasim
