// What the memory ports add to TLM-2.0's base protocol, beside the client of a burst (dlasim/burst.h). All are ignorable extensions: a
// memory that does not know them works all the same, at one command, one word and one beat a cycle.
//
// A port sends one generic payload a burst, in four-phase non-blocking transport:
//   BEGIN_REQ  read: the command is offered; write: command and data have been taken by the port
//   END_REQ    the memory has taken the command
//   BEGIN_RESP read: the first beat is on the port; write: the response is
//   END_RESP   the last beat, or the response, has been accepted
// or in one call, answered TLM_COMPLETED with the delay of the first beat or of the response. Delays
// count from the call to the cycle of the event. Answers of the backward path that come without a
// delay are seen in the cycle after, so the order in which SystemC runs processes decides nothing.
#pragma once
#include <cstdint>
#include <tlm>

#include "dlasim/burst.h"
#include "links/memory_model.h"

namespace dlasim {

/// Asked for once, before the run, on a TLM_IGNORE_COMMAND through transport_dbg: the intervals, in
/// cycles, at which the memory takes and returns things. The port keeps them.
struct PortPace final : tlm::tlm_extension<PortPace> {
    std::uint32_t command_interval = 1;  // between read commands, and between write commands
    std::uint32_t write_interval = 1;    // between write data beats
    std::uint32_t beat_interval = 1;     // between read data beats
    bool explains = false;               // the memory fills in PortWaits
    const void* clock = nullptr;         // of the port; null: it asks for phases
    MemoryClient* client = nullptr;      // the port,
    MemoryModel* model = nullptr;        // and a memory on the same clock, which needs no payloads

    tlm_extension_base* clone() const override { return new PortPace(*this); }
    void copy_from(const tlm_extension_base& from) override { *this = static_cast<const PortPace&>(from); }
};

/// On the bursts of a port that asks a memory what it does with them.
struct PortWaits : tlm::tlm_extension<PortWaits>, MemoryWaits {
    tlm_extension_base* clone() const override { return new PortWaits(*this); }
    void copy_from(const tlm_extension_base& from) override { *this = static_cast<const PortWaits&>(from); }
};

}  // namespace dlasim
