// From the fabric's memory port to a memory: puts bursts together, sends them, keeps the pace of the
// channels and hands read beats and responses back in their cycles. The memory is a TLM-2.0 target, or a MemoryModel on the
// same clock, which the answer to PortPace names; stepping, it is always the target.
//
//   AR ──► BEGIN_REQ for the cycle in which the command is first at the port
//          answered at once or later by END_REQ: the cycle in which it is accepted
//   R  ◄── BEGIN_RESP for the cycle of the first beat; the others follow at the beat interval;
//          END_RESP in the cycle in which the fabric takes the last one
//   AW, W ─► taken at the pace of the memory; BEGIN_REQ when command and data are complete
//   B  ◄── BEGIN_RESP, or the delay of an answer in one call
//
// Calls are made one cycle ahead, with a delay, so the answer is there before it acts. What a memory
// sends without a delay acts in the next cycle.
//
// Source    dbb_socket.h; interfaces.md 4.
//           A response that is an error, and an answer that the base protocol does not allow, end the
//           run: the next advance() throws MachineError. Answers to bursts that are not ours are not taken.
//           Answers to bursts from before a reset are taken at once, TLM_COMPLETED, and so are those that come before
//           the answer to an older burst of the same id, which they wait for here.
// Error     0 cycles: tests/wiring compares it with the interface on the bench, tests/rtl with the reference.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/ring.h"
#include "causes/burst_log.h"
#include "facts/hardware.h"
#include "links/dbb_socket.h"
#include "links/module.h"
#include "traffic/watch.h"
#include "units/mcif/dbb_port.h"
#include "units/mcif/links.h"
#include "units/mcif/traffic_log.h"

namespace dlasim {

class Bridge final : public tlm::tlm_bw_transport_if<>, private MemoryClient {
public:
    Bridge(const Hardware& hardware, MemorySide side, Clock& clock, DbbPort& port, Sleeper& process, tlm::tlm_initiator_socket<512>& socket,
           bool stepping, bool values);
    ~Bridge() override;

    /// Asks the memory for its pace; once, before the run.
    void start();
    /// Reset. Bursts that the memory has not seen are dropped; others are completed, and its data are dropped.
    void renew();
    /// Ends the responses that had begun: once the machine is as after reset. Throws the first exception of the memory, after the last one.
    void end_dropped();
    /// Cycle 0 is the next one.
    void restart();
    /// What the fabric decided in cycle `now`; in the same evaluation, after it.
    void advance(Cycle now);

    /// Of the bursts that the memory owes an answer the first one, in words; empty: none.
    std::string oldest() const;

    TrafficLog& traffic() { return log_; }
    /// From now on it sees every burst when the memory gets it.
    void watch(MemoryWatch* watch) { watch_ = watch; }
    /// Records what every burst waits for from now on. Null: off.
    void follow(BurstLogs* burst_logs);
    const TrafficLog& traffic() const { return log_; }

private:
    using Payload = tlm::tlm_generic_payload;

    struct Burst;
    /// Leads back to its burst, whatever a memory does with the extensions.
    struct BurstPayload final : Payload {
        BurstPayload(Burst& of, const Bridge& by) : burst(&of), owner(&by) {}
        Burst* burst;
        const Bridge* owner;
    };
    /// Members of the burst: a memory that frees extensions takes them off the payload, no more.
    struct Tag final : BurstClient {
        void free() override {}
    };
    struct Waits final : PortWaits {
        void free() override {}
    };
    /// A burst with its payload, from a pool.
    struct Burst : MemoryBurst {
        explicit Burst(const Bridge& owner) : payload(*this, owner) {}
        ~Burst() { put_extensions(nullptr, nullptr); }
        /// For the next burst, again: other users of the payload may have removed them.
        void put_extensions(Tag* client, PortWaits* port_waits)
        {
            payload.set_extension<BurstClient>(client);
            payload.set_extension<PortWaits>(port_waits);
        }
        BurstPayload payload;
        Tag tag;
        // in the order in which a burst needs them: few lines of the processor's cache for those that are on their way
        std::uint32_t beats = 0, filled = 0;
        Cycle from = 0;                 // write: command and data have been taken; then: its response begins
        BurstLog::Number number = 0;    // in the burst log, and
        BurstRecord* record = nullptr;  // its notes there
        bool ours = false;              // from its making until it is given back
        bool sent = false;              // BEGIN_REQ
        bool dropped = false;           // sent before a reset: nobody waits for it but the base protocol
        bool answered = false;          // its response has begun
        bool completed = false;         // no END_RESP is left to send
        bool all_enabled = true;
        std::vector<std::uint8_t> data_bytes, enable_each;
        Cycle asked = 0;  // BEGIN_REQ
        PortCommand command;
        Waits asked_for;  // where the memory explains itself
    };
    /// Gives finished payloads back to the pool.
    struct Pool final : tlm::tlm_mm_interface {
        void free(Payload* payload) override;
        std::vector<std::unique_ptr<Burst>> all;
        std::vector<Burst*> idle;
    };
    struct ReleasedBursts;
    struct Due {
        Burst* burst = nullptr;
        Cycle from = 0;
    };
    /// Bursts of one kind and id are answered in their order.
    struct Turn {
        Ring<Burst*> waiting;  // sent, and not at the port yet
        Cycle last = 0;        // the last answer begins
    };
    struct Early {
        PortWriteBeat beat;
        Cycle at = 0;
    };
    static constexpr std::size_t kWaitingWrites = 2;  // complete ones, before AW is no longer ready

    static void insert(Ring<Due>& queue, Due due);

    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    Burst* burst_of(Payload& payload) const;
    Turn& turn_of(const Burst& burst);
    /// A MemoryModel answers reads in the order of its port.
    bool in_order(const Burst& burst) const { return model_ && !burst.write && !burst.dropped; }
    void arrive(Burst* burst);
    void note_pace();
    /// From when on its answer might have come.
    Cycle due(const Burst& burst) const { return pace_.explains ? std::min(burst.from, burst.asked_for.ready) : burst.from; }
    Burst* make(bool write, const PortCommand& from);
    void load_payload(Burst* burst);
    /// CVIF addresses a write of nv_full by its first atom (fabric.md 1.6); a burst is made of whole beats.
    std::uint64_t burst_address(const PortCommand& command) const { return command.address / beat_bytes_ * beat_bytes_; }
    /// The cycle that `delay` from now points at, rounded up, not before `earliest`.
    Cycle cycle_at(const sc_core::sc_time& delay, Cycle earliest) const;
    void take_read_beat(Cycle now);
    void take_response(Cycle now);
    void offer_read(Cycle now);
    void offer_write(Cycle now);
    void offer_write_data(Cycle now);
    void fill(Burst* burst, const PortWriteBeat& beat, Cycle at);
    bool may_request(Cycle now) const { return !requesting_ && free_from_ <= now; }
    void send_writes(Cycle now);
    void send(Burst* burst, Cycle from);
    [[gnu::noinline]] void send_payload(Burst* burst, Cycle from);
    void request_ends(Burst* burst, Cycle at);
    void accepted(MemoryBurst& burst, Cycle at) override;
    void answered(MemoryBurst& burst, Cycle from) override;
    void notify_watch(const Burst& burst, Cycle at) const;
    void command_accepted(Burst* burst, Cycle at);
    bool respond(Burst* burst, Cycle from);
    void end_early(Burst* burst);
    void end_response(Burst* burst, Cycle at);
    void give_back(Burst* burst);
    tlm::tlm_sync_enum take_dropped(Burst* burst, const tlm::tlm_phase& phase, const sc_core::sc_time& delay);
    void fail(const std::string& what);
    [[gnu::cold, gnu::noinline]] void fail_refused(Burst& burst);
    void fail_unexpected(const std::string& answer, const Payload& payload);
    void show();

    Clock& clock_;
    DbbPort& port_;
    Sleeper& process_;
    tlm::tlm_initiator_socket<512>& socket_;
    const std::uint32_t beat_bytes_, atom_bytes_;
    const std::uint32_t whole_beat_;  // strobes of a beat with all its atoms
    const bool stepping_, values_;    // without values a MemoryModel moves no data
    MemoryModel* model_ = nullptr;    // in place of the socket
    Pool pool_;
    PortPace pace_;
    TrafficLog log_;
    MemoryWatch* watch_ = nullptr;
    BurstLogs* burst_logs_ = nullptr;

    std::string fault_;                                // what the memory did wrong; empty if nothing
    Burst* requesting_ = nullptr;                      // BEGIN_REQ sent, END_REQ not received
    Cycle free_from_ = 0;                              // cycle of the last END_REQ that came later: the next request not before it
    sc_core::sc_time free_at_;                         // reset: the same in time
    bool held_ = false;                                // reset
    bool advancing_ = false;                           // the process asks for the port's next cycle itself
    Ring<Burst*> write_commands_;                      // taken at AW; the oldest is filled first
    Ring<Early> early_data_;                           // taken at W before their command
    Ring<Burst*> complete_writes_;                     // to be sent
    std::array<std::array<Turn, kClients>, 2> turns_;  // by kind and id
    Ring<Due> reads_, responses_;                      // in the order of their cycles
    Cycle next_read_command_ = 0, next_write_command_ = 0, next_write_beat_ = 0;  // channel ready again
    Cycle next_read_beat_ = 0, next_response_ = 0;
};

}  // namespace dlasim
