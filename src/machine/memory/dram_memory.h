// A DRAM with TLM-2.0 target sockets, one per initiator: any platform's memory, in its own clock. A port of dlasim that is alone and on
// the same clock reaches it as a MemoryModel.
//
//   BEGIN_REQ ──► split into bursts ──► channel queues      responses in the order of the requests of a port
//   END_REQ  ◄── when all parts are in a queue              BEGIN_RESP ◄── first beat, such that all
//                (withheld while the queues are full)                      beats follow one a cycle
//   a write is answered when all of it is in the write queues
//
// Every port has answers of its own. The channels and their queues are shared: ports whose requests found them full are
// served by priority, equal ones in turn. A port may be limited to a number of bursts that have not been answered.
//
// The channels are advanced to the time of a call or of an evaluation and no further; between them they
// cost nothing. It is evaluated one cycle of the initiator before the earliest answer that the
// channels could give, so every answer carries at least one cycle of delay, and for a port by itself the order in
// which modules are evaluated decides nothing.
//
// Values    in the MemoryStore, written and read when a request is taken, in order.
// Source    dram.md 12; links/dbb_socket.h.
// Not supported: DMI, which would bypass time. Two ports that request in the same cycle while slots are free are served in the order of
// their calls,
//           and a request in the cycle in which another port gets its slot before or after it, as SystemC runs the two.
// Error     unmeasured against silicon; the commands are checked (checker.h).
#pragma once
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>

#include "base/divisor.h"
#include "base/quantity.h"
#include "base/ring.h"
#include "dram/channel.h"
#include "dram/check/checker.h"
#include "links/dbb_socket.h"
#include "links/module.h"
#include "memory/memory_store.h"

namespace dlasim {

/// What has crossed a port.
struct PortCounts {
    std::uint64_t reads = 0, read_bytes = 0, writes = 0, write_bytes = 0;  // bursts, and their bytes
    Cycle held_back = 0;                                                   // cycles from BEGIN_REQ to END_REQ
    std::uint64_t answered_reads = 0;
    Cycle read_cycles = 0;  // of these, sum from BEGIN_REQ to BEGIN_RESP
};

class DramMemory final : public ClockedModule, private Clocked {
public:
    /// `clock` is the initiators'; where one is on the same Clock nobody else runs between it and the memory. With `check`, every command
    /// goes through the checker. `policy`: outlives the memory.
    DramMemory(const sc_core::sc_module_name& name, Clock& clock, const dram::Config& config, MemoryStore& store, bool check = false,
               unsigned ports = 1, const DramPolicy* policy = nullptr);

    tlm::tlm_target_socket<512>& socket(unsigned port = 0) { return ports_[port]->socket; }
    /// Ports with more are served first; 0 in the beginning.
    void set_priority(unsigned port, unsigned priority) { ports_[port]->priority = priority; }
    /// Limit of unanswered bursts; 0: none.
    void set_limit(unsigned port, unsigned bursts);
    /// Added to the addresses of this port.
    void set_offset(unsigned port, std::uint64_t bytes) { ports_[port]->offset = bytes; }
    unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
    const PortCounts& counts(unsigned port) const { return ports_[port]->counts; }
    void reset_counts();

    /// Sees every command of every channel; before the run.
    void observe(dram::CommandObserver observer);
    const dram::Config& config() const { return config_; }
    /// Of each channel, up to `end` in cycles of the initiator, which must not be later than now.
    std::vector<dram::Statistics> statistics(Cycle end);
    /// The same at the end of the run. Ends the check.
    std::vector<dram::Statistics> finish(Cycle end);
    /// Why it cannot hold these bytes, with what would do; empty if it can.
    std::string refusal(Address address, std::uint64_t bytes) const;
    /// Of the first request that was refused; empty if none was.
    const std::string& refused() const { return refused_; }
    /// Cycles of the initiator in a number of DRAM cycles.
    Cycle whole_cycles(Cycle dram_cycles) const { return by_period_(dram_cycles * by_tck_.by()); }
    /// Null without `check`.
    const dram::Checker* checker() const { return checker_.get(); }

private:
    using Payload = tlm::tlm_generic_payload;

    /// When a part came into its queue, and what the channel had spent till then.
    struct Pushed {
        Cycle at = 0;
        DramCycles spent{};
    };
    /// Of one initiator.
    struct Port final : MemoryModel, tlm::tlm_fw_transport_if<> {
        Port(DramMemory& m, const char* name) : memory(m), socket(name) { socket.bind(*this); }
        Taken offer(MemoryBurst& burst, Cycle from) override { return memory.take(*this, burst, from); }
        void end(MemoryBurst&, Cycle at) override { memory.end_response(*this, at); }
        tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override
        {
            return memory.take(*this, payload, phase, delay);
        }
        void b_transport(Payload& payload, sc_core::sc_time& delay) override { memory.estimate(*this, payload, delay); }
        unsigned transport_dbg(Payload& payload) override { return memory.debug(*this, payload); }
        bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override
        {
            payload.set_dmi_allowed(false);
            dmi.init();
            return false;
        }
        std::size_t outstanding() const { return reads.size() + writes.size() + (responding >= 0 ? 1 : 0); }

        DramMemory& memory;
        tlm::tlm_target_socket<512> socket;
        Ring<std::uint32_t> reads{256}, writes{64};  // to be answered, in order
        std::int64_t blocked = -1;                   // the request whose END_REQ is withheld
        std::int64_t responding = -1;                // BEGIN_RESP sent, END_RESP not received
        Cycle next_beat = 0;
        bool paced = false;              // it knows PortPace: it takes answers in one call
        MemoryClient* client = nullptr;  // the only one, and evaluated by the same clock: no phases
        unsigned priority = 0, limit = 0;
        std::uint64_t offset = 0;
        PortCounts counts;
    };
    static constexpr std::uint32_t kBeatBytes = 64;  // of an initiator that does not say
    /// A request of an initiator on its way.
    struct Transfer {                  // begin_request() sets every member
        Payload* payload = nullptr;    // null where the port is a client
        MemoryBurst* burst = nullptr;  // of a client
        MemoryWaits* waits = nullptr;  // null: nobody asks
        std::uint64_t first = 0;       // address
        std::vector<Pushed> parts;     // where somebody asks
        Pushed refused;                // by a full queue, and what its channel had spent; at 0: by none
        std::uint64_t next_part = 0;   // address of the first part not yet in a queue
        std::uint64_t end = 0;
        std::uint32_t beat_bytes = kBeatBytes;
        std::uint32_t unknown = 0;  // parts in a queue whose answer is not known yet
        Cycle respond = 0;          // earliest cycle of the first beat or of the response
        Cycle from = 0;             // it is asked for
        bool write = false, accepted = false;
        bool tried = false;  // a queue has refused it: held back by nothing else
    };

    tlm::tlm_sync_enum take(Port& port, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    MemoryModel::Taken take(Port& port, MemoryBurst& burst, Cycle from);
    void estimate(Port& port, Payload& payload, sc_core::sc_time& delay);
    unsigned debug(Port& port, Payload& payload);

    bool inside(Address address, std::uint64_t bytes) const;
    dram::Location place_of(std::uint64_t address) const;
    bool has_places(std::uint64_t address, std::uint64_t bytes) const;
    bool perform(Port& port, Payload& payload);
    bool move_bytes(const Port& port, MemoryBurst& burst);
    MemoryModel::Taken begin_request(Port& port, MemoryBurst& burst, Payload* payload, Cycle called);
    void end_response(Port& port, Cycle at);
    Clocked& clocked() override { return *this; }
    Cycle evaluate(Cycle now) override;
    /// Requests that are held back, by priority.
    void serve_blocked(Cycle now, Cycle at);
    bool others_blocked(const Port& port) const;
    /// Puts as many parts as the queues take in DRAM cycle `at`; true when all are.
    bool feed(std::uint32_t slot, Cycle at);
    void advance(Cycle dram_cycle);
    void collect(dram::Channel& channel);
    DramCycles in_cycles(const DramCycles& now, const Pushed& since, Cycle at) const;
    void respond(Port& port, Cycle by);
    Cycle next_wake(Cycle now) const;
    void changed(const Port& port);
    bool knows_next_read(const Port& port) const;
    Cycle answer_due(const Port& port, Cycle now) const;
    Cycle unknown_due(const Port& port, Cycle now) const;
    Cycle room_due(const Port& port, Cycle now) const;
    std::uint32_t make_transfer();

    Cycle dram_cycle_from(Cycle cycle) const { return by_tck_(cycle * by_period_.by() + by_tck_.by() - 1); }  // at or after
    Cycle dram_cycle_by(Cycle cycle) const { return by_tck_(cycle * by_period_.by()); }                       // at or before
    Cycle cycle_from(Cycle dram_cycle) const { return by_period_(dram_cycle * by_tck_.by() + by_period_.by() - 1); }

    const dram::Config config_;
    const DramPolicy* const policy_;
    MemoryStore& store_;
    const std::uint64_t resolution_fs_;
    const Divisor by_period_, by_tck_;  // of the initiator's clock and the DRAM's: both in the same unit, the largest there is
    const Divisor by_part_;             // bytes of a request to a channel
    const Cycle read_cycles_;           // DRAM cycles from the column command to the last data
    const Cycle slow_clock_cycle_;      // 1 where a cycle of the initiator is longer than that

    std::vector<std::unique_ptr<dram::Channel>> channels_;
    std::unique_ptr<dram::Checker> checker_;
    dram::CommandObserver observer_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> idle_;
    std::vector<std::unique_ptr<Port>> ports_;
    unsigned blocked_ = 0, served_ = 0;  // ports held back; the one served last of these
    struct {
        Cycle at = 0;  // of the DRAM
        const Port* by = nullptr;
    } pushed_;  // the last request taken in its call
    Cycle last_request_ = 0;
    std::uint64_t located_ = ~std::uint64_t{0};  // the part of memory located last: the next one is often the same
    dram::Location place_;
    std::string refused_;
    Cycle wake_ = kNever;  // nothing is done before this cycle but what is asked for
};

}  // namespace dlasim
