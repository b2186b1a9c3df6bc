// The CSB master: the register bus of the machine as a TLM-2.0 target. A request waits in the
// asynchronous FIFO, is decoded and reaches its unit; read data come back the same way.
// b_transport annotates the time until a write is accepted, or until read data are at the port.
//
// A caller may be between two clock edges or ahead of time by its delay: its request is offered at the
// first edge at or after that time. Callers are served in the order of their calls, one a cycle.
//
// Shapes  one 32-bit word a transaction, aligned; address = byte address on the bus, 18 bits.
// Errors  a TLM response: address beyond the bus or unaligned, not one word, bytes disabled; generic
//         where there is no data, the machine has failed or it is in reset. An ignored command does nothing.
// Debug   reads of one word, in no time and without a side effect: a register whose read has one answers 0 bytes, and so do writes.
// Source  csb.md 1.1, 1.2, 2. Not modelled: two responses in one cycle (OR of the data, csb.md 9, point 2).
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <systemc>
#include <tlm>
#include <vector>

#include "links/module.h"
#include "registers/tables.h"
#include "traffic/csb.h"
#include "units/csb/request_queue.h"

namespace dlasim {

class CsbMaster final : public sc_core::sc_module {
public:
    /// A unit's window on the bus.
    struct Window {
        const UnitRegisters* unit;
        CsbLink* link;   // null: GEC, reads are 0
        Cycle retiming;  // registers between master and unit, each way
    };
    CsbMaster(const sc_core::sc_module_name& name, Clock& clock, const std::vector<Window>& windows);

    tlm::tlm_target_socket<32> socket{"socket"};

    /// Registers an exception here; a machine that has failed answers nothing more.
    void fail_with(Failures& failures);
    /// Everything as after reset. Whoever waits for the data of a read comes back without.
    void renew(const std::vector<Window>& windows);
    /// Asked at every access: the machine is in reset, and answers nothing.
    std::function<bool()> in_reset;
    /// Called for every write that is accepted, and of every read in the cycle in which its data are at the port.
    std::function<void(Cycle at, std::uint32_t address, std::uint32_t data, bool write)> on_access;

private:
    /// In front of the converter of TLM's utilities, which makes blocking calls of the four phases: phases that the base protocol says to
    /// ignore are an error there.
    struct Front final : tlm::tlm_fw_transport_if<> {
        tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override
        {
            return phase > tlm::END_RESP ? tlm::TLM_ACCEPTED : converter->nb_transport_fw(payload, phase, delay);
        }
        void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override { converter->b_transport(payload, delay); }
        bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override
        {
            return converter->get_direct_mem_ptr(payload, dmi);
        }
        unsigned int transport_dbg(tlm::tlm_generic_payload& payload) override { return converter->transport_dbg(payload); }
        tlm::tlm_fw_transport_if<>* converter = nullptr;
    };
    struct Answer {
        std::uint32_t data = 0;
        Cycle at = 0;
    };
    /// Reads of a window that wait for their data, in their order.
    struct Reads final : Sleeper {
        explicit Reads(Clock& c) : clock(c) {}
        void wake_at(Cycle at) override
        {
            clock.expect_activity();
            changed.notify(clock.until(at));
        }
        Clock& clock;
        sc_core::sc_event changed;
        std::uint64_t asked = 0, answered = 0;
        std::set<std::uint64_t> abandoned;      // their callers were reset while they waited
        std::map<std::uint64_t, Answer> early;  // taken by another caller, for one that does not run
    };
    struct Port {
        Window window;
        std::unique_ptr<Reads> reads;
    };
    static tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload);
    bool transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::optional<Answer> await_answer(Port& port);
    bool failed() const { return failures_ && failures_->any(); }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug(tlm::tlm_generic_payload& payload);
    Port* find(std::uint64_t address);

    tlm_utils::simple_target_socket<CsbMaster> converter_{"converter"};
    Front front_;
    Clock& clock_;
    std::vector<Port> ports_;
    unsigned life_ = 0;  // resets so far
    RequestQueue queue_;
    Cycle free_from_ = 0;  // the port takes one request a cycle
    Failures* failures_ = nullptr;
};

}  // namespace dlasim
