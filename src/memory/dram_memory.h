// A DRAM behind a TLM-2.0 target socket: any platform's memory, in its own clock.
//
//   BEGIN_REQ ──► split into bursts ──► channel queues      responses in the order of the requests
//   END_REQ  ◄── when all parts are in a queue              BEGIN_RESP ◄── first beat, such that all
//                (withheld while the queues are full)                      beats follow one a cycle
//   a write is answered when all of it is in the write queues
//
// The channels are advanced to the time of a call or of a wake-up and no further; between them they
// cost nothing. A wake-up comes one cycle of the initiator before the earliest answer that the
// channels could give, so every answer carries at least one cycle of delay and the order in which
// SystemC runs processes decides nothing.
//
// Values    in the MemoryStore, written and read when a request is taken, in order.
// Source    dram.md 12; links/dbb_socket.h.
// Left out  DMI, which would bypass time; QoS.
// Error     unmeasured against silicon; the commands are checked (checker.h).
#pragma once
#include <memory>
#include <systemc>
#include <tlm>

#include "base/quantity.h"
#include "base/ring.h"
#include "dram/channel.h"
#include "dram/checker.h"
#include "links/dbb_socket.h"
#include "links/module.h"
#include "memory/memory_store.h"

namespace dlasim {

class DramMemory final : public sc_core::sc_module, private tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_target_socket<512> socket{"socket"};

    /// `clock` is the initiator's. With `check`, every command goes through the checker.
    DramMemory(const sc_core::sc_module_name& name, Clock& clock, const dram::Config& config, MemoryStore& store, bool check = false);

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
    /// Evaluations so far: whether anything still moves.
    std::uint64_t wakes() const { return wakes_; }
    /// Where an exception goes; null: SC_REPORT_ERROR.
    Failures* failures = nullptr;
    /// Cycles of the initiator in so many of the DRAM.
    Cycle whole_cycles(Cycle dram_cycles) const { return dram_cycles * tck_fs_ / period_fs_; }
    /// Null without `check`.
    const dram::Checker* checker() const { return checker_.get(); }

private:
    using Payload = tlm::tlm_generic_payload;

    /// When a part came into its queue, and what the channel had spent till then.
    struct Pushed {
        Cycle at = 0;
        DramCycles spent{};
    };
    /// A request of the initiator on its way.
    struct Transfer {
        Payload* payload = nullptr;
        PortWaits* waits = nullptr;   // null: nobody asks
        std::uint64_t first = 0;      // address
        std::vector<Pushed> parts;    // where somebody asks
        Pushed refused;               // by a full queue, and what its channel had spent
        std::uint64_t next_part = 0;  // address of the first part not yet in a queue
        std::uint64_t end = 0;
        std::uint32_t beat_bytes = 64;
        std::uint32_t unknown = 0;  // parts in a queue whose answer is not known yet
        Cycle respond = 0;          // earliest cycle of the first beat or of the response
        bool write = false, accepted = false;
    };

    tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void b_transport(Payload& payload, sc_core::sc_time& delay) override;
    unsigned transport_dbg(Payload& payload) override;
    bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }

    bool inside(Address address, std::uint64_t bytes) const;
    bool perform(Payload& payload);
    tlm::tlm_sync_enum begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void end_response(const sc_core::sc_time& delay);
    void run();
    void evaluate();
    /// Puts as many parts as the queues take in DRAM cycle `at`; true when all are.
    bool feed(std::uint32_t slot, Cycle at);
    void advance(Cycle dram_cycle);
    void collect(dram::Channel& channel);
    DramCycles in_cycles(const DramCycles& now, const Pushed& since, Cycle at) const;
    void respond();
    void schedule();
    std::uint32_t make_transfer();

    Cycle dram_cycle_from(Cycle cycle) const { return (cycle * period_fs_ + tck_fs_ - 1) / tck_fs_; }  // at or after
    Cycle dram_cycle_by(Cycle cycle) const { return cycle * period_fs_ / tck_fs_; }                    // at or before
    Cycle cycle_from(Cycle dram_cycle) const { return (dram_cycle * tck_fs_ + period_fs_ - 1) / period_fs_; }

    Clock& clock_;
    const dram::Config config_;
    MemoryStore& store_;
    const std::uint64_t resolution_fs_, period_fs_, tck_fs_;
    const Cycle read_cycles_;       // DRAM cycles from the column command to the last data
    const Cycle slow_clock_cycle_;  // 1 where a cycle of the initiator is longer than that

    std::vector<std::unique_ptr<dram::Channel>> channels_;
    std::unique_ptr<dram::Checker> checker_;
    dram::CommandObserver observer_;
    std::vector<Transfer> transfers_;
    std::vector<std::uint32_t> idle_;
    Ring<std::uint32_t> reads_{256}, writes_{64};  // to be answered, in order
    std::int64_t blocked_ = -1;                    // the request whose END_REQ is withheld
    std::int64_t responding_ = -1;                 // BEGIN_RESP sent, END_RESP not received
    Cycle last_request_ = 0, next_beat_ = 0;
    std::string refused_;
    std::uint64_t wakes_ = 0;
    bool paced_ = false;  // the port knows PortPace: it takes answers in one call
    sc_core::sc_event wake_{"wake"};
};

}  // namespace dlasim
