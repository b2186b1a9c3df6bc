// The ideal memory: commands and write data are taken as they come or at fixed intervals, reads
// return in command order after a fixed latency, writes are answered after a fixed latency.
//
//   a read command taken in c       first beat at c + latency at the earliest
//   a beat taken in t               the next one, of any burst, at t + beat interval at the earliest
//   the last write beat taken in t  response at t + write latency
//
// For a port that knows PortPace everything is known when a burst arrives, so it is answered in one
// call, and the memory is never scheduled; one on the same clock calls it as a MemoryModel. Other initiators get the four phases.
//
// Source    interfaces.md 4.
// Error     0 cycles by construction: it is what the measured cases were taken with.
#pragma once
#include <systemc>
#include <tlm>

#include "base/ring.h"
#include "facts/memory_spec.h"
#include "links/memory_model.h"
#include "links/module.h"
#include "memory/memory_store.h"

namespace dlasim {

class IdealMemory final : public sc_core::sc_module, private MemoryModel, private tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_target_socket<512> socket{"socket"};

    IdealMemory(const sc_core::sc_module_name& name, Clock& clock, const MemorySpec& spec, MemoryStore& store);
    /// Where an exception goes; null: SC_REPORT_ERROR.
    Failures* failures = nullptr;
    /// Added to all addresses.
    void set_offset(std::uint64_t bytes) { offset_ = bytes; }

private:
    using Payload = tlm::tlm_generic_payload;

    Taken offer(MemoryBurst& burst, Cycle from) override;
    void end(MemoryBurst&, Cycle) override {}
    tlm::tlm_sync_enum nb_transport_fw(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void b_transport(Payload& burst, sc_core::sc_time& delay) override;
    unsigned transport_dbg(Payload& burst) override;
    bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }

    bool perform(Payload& burst);
    tlm::tlm_sync_enum begin_request(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void respond();
    void answer();
    void end_response(const sc_core::sc_time& delay);
    void schedule();
    Cycle next_response() const;

    Clock& clock_;
    MemorySpec spec_;
    MemoryStore& store_;
    std::uint64_t offset_ = 0;
    sc_core::sc_time read_latency_, write_latency_;

    // Four phases, for initiators that do not know PortPace.
    struct Waiting {
        Payload* burst = nullptr;
        Cycle due = 0;
    };
    bool paced_ = false;  // the port keeps the intervals itself
    Ring<Waiting> reads_, writes_;
    Payload* responding_ = nullptr;  // BEGIN_RESP sent, END_RESP not received
    Cycle next_read_ = 0, next_write_ = 0, next_beat_ = 0;
    sc_core::sc_event response_due_{"response_due"};
};

}  // namespace dlasim
