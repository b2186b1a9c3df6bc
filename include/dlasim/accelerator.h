// The accelerator as a SystemC module for your own TLM-2.0 platform.
//
//   csb        target, b_transport (nb_transport works too), 32-bit words, byte addresses of the register
//              map; the delay is annotated: time until a write is accepted or read data are back. Callers may be
//              between clock edges and ahead of time; they are served in the order of their calls.
//              Refused with a TLM response: see below. No DMI. transport_dbg reads a register in no time and without
//              side effects; it answers 0 bytes to writes, under reset, and for registers whose read changes something.
//              A high word of an address that the machine cuts (nv_small has 32 address bits) is SC_REPORT_WARNING, once a register.
//   dbb        initiator, nb_transport, base protocol: one generic payload a burst with its client (burst.h), docs/LIBRARY.md.
//                BEGIN_REQ   the command, a cycle ahead: the delay leads to its cycle. END_REQ, with the delay as it was, accepts it there
//                BEGIN_RESP  the first data beat or the write response: status and data are in the payload. At least a cycle ahead
//                END_RESP    in the cycle of the last beat; the port takes one a cycle
//              There is one burst at a time at a memory that gives no END_REQ before its response. Memories may answer in any order: a
//              response that overtakes an older burst of the same client is taken at once, TLM_COMPLETED, and waits here for its turn
//   cvsram     the same for the secondary port; null where the hardware has none
//   interrupt  the level of the interrupt pin
//   reset_n    the reset pin, active low; may stay unbound: then reset ends at time 0
//
// Reset is asynchronous and ends at the first clock edge from its release on, which is cycle 0: whatever runs then takes the cycles that
// it takes after power-on. Under reset all units and registers are as after power-on and the interrupt is low; csb, callers who wait there
// for the data of a read included, answers TLM_GENERIC_ERROR_RESPONSE, and writes for which no cycle has come are lost. No burst begins.
// Bursts in flight at the memories are completed, released or not: a response that has begun gets its END_RESP, one that
// comes later is taken at once with TLM_COMPLETED, and read data are dropped. A memory that has seen the start of a write sees all of it.
// A failure (below) ends with a reset.
//
// A target that annotates its responses with at least one clock period of delay is sampled in exactly
// that cycle; one that answers without a delay is sampled at the next clock edge. Either way the order
// in which SystemC runs processes cannot change a result.
//
// Errors. What cannot be built throws ConfigError from the constructor, before anything runs. On csb: an
// address that is unaligned or beyond 18 bits is TLM_ADDRESS_ERROR_RESPONSE, anything but one word
// TLM_BURST_ERROR_RESPONSE, disabled bytes TLM_BYTE_ENABLE_ERROR_RESPONSE, no data pointer
// TLM_GENERIC_ERROR_RESPONSE; an ignored command does nothing. Where a memory answers with an error, throws or
// breaks the base protocol, or an expectation of the library does not hold, the accelerator stops
// from then on, csb answers TLM_GENERIC_ERROR_RESPONSE, and the failure is reported once: to `on_error`, or
// without it by SC_REPORT_ERROR of type "/dlasim/accelerator" from a process of the accelerator. Nothing
// else is thrown through SystemC's kernel - a report that a memory throws goes on as it is -, and the host
// process is never aborted. A failure under reset is reported when it ends, but for what a memory throws at the
// responses that the reset ends.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "dlasim/burst.h"
#include "dlasim/error.h"
#include "dlasim/hardware_config.h"

namespace dlasim {

struct AcceleratorOptions {
    std::string hardware = "nv_full";   // a preset, or a hardware file; the default is that of the commands
    std::vector<std::string> settings;  // "cbuf.banks=16": laid over it
    sc_core::sc_time clock_period{1, sc_core::SC_NS};
    bool values = true;                                   // compute data; without it only time is simulated
    std::function<void(const MachineError&)> on_error{};  // called once, inside the simulation; empty: SC_REPORT_ERROR
    bool causes = false;  // find what the cycles go to, of a Driver's run or up to any moment: costs time and memory, no cycle changes
};

/// What an accelerator did in some cycles. Names are those of result.json: docs/REFERENCE.md.
struct AcceleratorReport {
    struct Unit {
        std::string name;                                                              // "csc"
        std::uint64_t issuing = 0, starved = 0, blocked = 0, draining = 0, gated = 0;  // cycles; together they are all
        std::vector<std::pair<std::string, std::uint64_t>> counters;
    };
    struct Port {
        std::uint64_t read_bytes = 0, write_bytes = 0;  // since counting began, whole beats and strobed bytes
    };
    std::uint64_t cycles = 0;
    std::vector<Unit> units;
    Port dbb, cvsram;
    std::vector<std::pair<std::string, std::uint64_t>>
        causes;        // "memory/latency/CDMA_WT": cycles, which together are all; with causes only
    std::string json;  // the same with clocks, traffic by client, area and energy

    /// Null if there is no such unit.
    const Unit* unit(const std::string& name) const;
    /// "csc", "atoms"; 0 if it is not counted.
    std::uint64_t counter(const std::string& unit, const std::string& name) const;
};

class Accelerator final : public sc_core::sc_module {
public:
    /// Throws ConfigError if this hardware cannot exist, naming the rule.
    Accelerator(const sc_core::sc_module_name& name, const AcceleratorOptions& options);
    /// The hardware as a value; `hardware` and `settings` of the options are not looked at.
    Accelerator(const sc_core::sc_module_name& name, const HardwareConfig& hardware, const AcceleratorOptions& options = {});
    ~Accelerator() override;

    tlm::tlm_target_socket<32> csb{"csb"};
    tlm::tlm_initiator_socket<512> dbb{"dbb"};
    std::unique_ptr<tlm::tlm_initiator_socket<512>> cvsram;
    sc_core::sc_out<bool> interrupt{"interrupt"};
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> reset_n{"reset_n"};

    const HardwareConfig& hardware() const;
    /// Counting restarts with the next cycle. Every reset restarts it, after cycle 0.
    void reset_counters();
    /// What was counted so far. Not from inside a call of the accelerator's. Empty under reset and after a failure. Asking changes no
    /// cycle.
    AcceleratorReport counters();
    /// Boundary signals, from now on; before the simulation starts: interrupt, reset_n, the last access on csb, the last burst read and
    /// written at each port with address, bytes and client, each in its cycle.
    void trace(sc_core::sc_trace_file* file);
    /// The registers of all units, both groups, with their pointers: between operations. The content of the buffer and of lookup tables is
    /// not kept: the next operation brings its data, weights and tables. Throws ConfigError while anything runs or waits to be cleared.
    void save(std::ostream& out) const;
    /// Into an accelerator of the same hardware in which nothing has been enabled. Throws ConfigError if that cannot be.
    void restore(std::istream& in);
    /// Byte address of a register, "CDMA.D_OP_ENABLE"; throws ConfigError if there is none.
    std::uint32_t address(const std::string& register_name) const;
    /// Why the accelerator stopped; empty while it works.
    std::string failure() const;
    /// What every unit does and waits for, a line each: for the diagnosis of a hang.
    std::string diagnosis();

    struct Parts;
    Parts& parts() { return *parts_; }

private:
    void start_of_simulation() override;
    void warn_of_cut_addresses();
    void follow_reset();
    void release();
    std::unique_ptr<Parts> parts_;
};

}  // namespace dlasim
