// The CSB master: the register bus of the machine as a TLM-2.0 target. A request waits in the
// asynchronous FIFO, is decoded and reaches its unit; read data come back the same way.
// b_transport annotates the cycles until a write is accepted, or until read data are at the port.
//
// Shapes  one 32-bit word a transaction, aligned; address = byte address on the bus.
// Source  csb.md 1.1, 1.2, 2. Left out: two responses in one cycle (OR of the data, csb.md 9, point 2).
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "links/module.h"
#include "registers/tables.h"
#include "traffic/csb.h"
#include "units/csb/request_queue.h"

namespace dlasim {

class CsbMaster final : public sc_core::sc_module, public Sleeper {
public:
    /// A unit's window on the bus.
    struct Window {
        const UnitRegisters* unit;
        CsbLink* link;   // null: GEC, reads are 0
        Cycle retiming;  // registers between master and unit, each way
    };
    CsbMaster(const sc_core::sc_module_name& name, const Clock& clock, std::vector<Window> windows);

    tlm_utils::simple_target_socket<CsbMaster> socket{"socket"};

    void wake_at(Cycle at) override;

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    const Window* find(std::uint32_t address) const;

    const Clock& clock_;
    std::vector<Window> windows_;
    RequestQueue queue_;
    Cycle free_from_ = 0;  // the port takes one request a cycle
    sc_core::sc_event response_{"response"};
};

}  // namespace dlasim
