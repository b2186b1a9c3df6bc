// A memory for a platform: ideal, or any DRAM of dlasim, as plain TLM-2.0 targets.
//
//   master 0 ──► port(0) ─┐
//   master 1 ──► port(1) ─┼─► queues, controller, channels of a DRAM          every port has answers of its own;
//   master 2 ──► port(2) ─┘                                                   they share one DRAM
//
// Of an ideal memory every port is ideal: what another one does costs nothing. The bytes are shared in both.
//
//   port       target, nb_transport, base protocol: a generic payload of any length a burst, at any address; END_REQ is withheld while
//              the queues are full, responses of a port come in the order of its requests. b_transport takes the time of a
//              memory that has nothing else to do, and competes with nobody. transport_dbg takes no time. No DMI: it says no.
//              A payload of nb_transport must have a memory manager (set_mm), as the base protocol has it: checked at BEGIN_REQ.
//
// Sharing a DRAM. Requests that find the queues full wait, one a port. A free slot goes to the one of the highest priority, of
// equal ones the next in turn. A limit holds a port back by itself. All of it may be changed while the simulation runs. A port
// that is alone takes the cycles that it takes in `dlasim run` with this memory. Two that request in the same moment while there are slots
// are served in the order of their calls: the same in every run of a platform.
//
// Errors  what cannot be built throws ConfigError from the constructor. A burst beyond a DRAM that does not wrap is
//         TLM_ADDRESS_ERROR_RESPONSE, other impossible ones TLM responses as well. What an initiator throws when it is answered goes to
//         `on_error`, or without it to SC_REPORT_ERROR of type "/dlasim/memory"; the memory then stops.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "dlasim/dram_policy.h"
#include "dlasim/error.h"

namespace dlasim {

struct MemoryOptions {
    /// As --memory: "ideal:latency=32,interval=1", "ddr4-3200:channels=2,timing.tRCD=18", the path of a file. `dlasim presets` has the
    /// names.
    std::string memory = "ideal";
    sc_core::sc_time clock_period{1, sc_core::SC_NS};  // of the ports: latencies of the ideal memory count in it, a beat a port takes one
    unsigned ports = 1;                                // 1..32
    std::shared_ptr<const DramPolicy> policy{};        // of a DRAM with the default controller; null: as configured
    std::function<void(const MachineError&)> on_error{};
};

/// What has crossed a port since the beginning or reset_statistics().
struct PortStatistics {
    std::uint64_t reads = 0, read_bytes = 0, writes = 0, write_bytes = 0;  // bursts and bytes; of a DRAM only
    double mean_read_cycles = 0;                                           // from BEGIN_REQ to BEGIN_RESP, in clock periods
    std::uint64_t held_back_cycles = 0;                                    // from BEGIN_REQ to END_REQ, of all bursts
};

class Memory final : public sc_core::sc_module {
public:
    Memory(const sc_core::sc_module_name& name, const MemoryOptions& options);
    ~Memory() override;

    tlm::tlm_target_socket<512>& port(unsigned i = 0);
    unsigned ports() const;

    /// Of a DRAM. More is served first; all are 0 in the beginning.
    void set_priority(unsigned port, unsigned priority);
    /// Of a DRAM: limit of unanswered bursts of this port; 0: none. A write counts until it is in a queue.
    void set_limit(unsigned port, unsigned bursts);
    /// Added to the addresses of this port, so that masters have address spaces of their own. A DRAM that wraps takes addresses modulo its
    /// size: reads of the same burst are then one read.
    void set_offset(unsigned port, std::uint64_t bytes);

    /// Bytes in no time, at addresses without an offset. What nobody has written is 0.
    std::vector<std::uint8_t> read(std::uint64_t address, std::uint64_t bytes) const;
    void read(std::uint64_t address, std::span<std::uint8_t> bytes) const;
    void write(std::uint64_t address, std::span<const std::uint8_t> bytes);

    PortStatistics statistics(unsigned port) const;
    /// Of a DRAM since the beginning or reset_statistics(), as `memory_report` of result.json has it: commands, bandwidth, energy. "null"
    /// of an ideal memory.
    std::string report();
    void reset_statistics();

    /// All bytes that were written. restore() takes the place of what is there; no burst should be on its way.
    void save(std::ostream& out) const;
    /// Throws ConfigError if this is not what save() has written, and changes nothing then.
    void restore(std::istream& in);

private:
    struct Parts;
    void check_port(unsigned port) const;
    std::unique_ptr<Parts> parts_;
};

}  // namespace dlasim
