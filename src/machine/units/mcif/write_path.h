// From write requests to write commands and data, and back to completions.
//
//   client (write_client.h) ─┐        (1)              (2)                         (3)
//   client ──────────────────┼─► arbiter ─► [splitter] ─► command PIPE1 ─┐     ┌─► AW PIPE2 ─► port
//   client ──────────────────┘                        ─► data PIPE1 ─────┴─────┴─► W PIPE2  ─► port
//     ▲                                                                   context │
//     └──────────────── complete ◄─(4)─ B register, nv_full 1, else PIPE2 ◄────────────── port
//
// (1) Weighted round robin among clients with a whole chunk. A grant moves command and first beat, and holds until the
//     chunk's last beat has moved, one a cycle.
// (2) nv_full only. MCIF: every beat gets a command of its own. CVIF: the chunk's command goes when there is space for it,
//     and its beats when there is room for them; a burst.
// (3) A command leaves together with its first beat, into both stages and the context queue at once, and only as the
//     limit on outstanding beats allows.
// (4) The context says whether the request is to be acknowledged, and how many beats are no longer outstanding.
//
// Shapes    command: up to 4 beats, nv_full MCIF 1. Beat: 64 bytes in nv_full, else an atom. Outstanding: beats.
// Latency   command at the channel in 0, n data packets from 1 on: AW and W in 6 + n, nv_full 8 + n. B taken in b:
//           complete in b + 2. fabric.md 2.3, 2.4.
// Source    fabric.md 1.6, 1.7; models/sdp_out.py.
// Error     0 cycles (core.h).
#pragma once
#include <array>
#include <vector>

#include "base/ring.h"
#include "causes/burst_log.h"
#include "elements/round_robin.h"
#include "elements/stage.h"
#include "facts/fabric.h"
#include "facts/hardware.h"
#include "traffic/memory.h"
#include "units/mcif/context_queue.h"
#include "units/mcif/dbb_port.h"
#include "units/mcif/links.h"
#include "units/mcif/write_client.h"

namespace dlasim::fabric {

class WritePath {
public:
    WritePath(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode);

    /// Something can happen in this cycle.
    bool due(Cycle at) const
    {
        return again_ || (rung_ & open_) != 0 || transit_ends_ <= at || (port_.b.valid && port_.b.from <= at) || port_.aw.fires(at) ||
               port_.w.fires(at);
    }
    /// One cycle in which something can.
    void step(Cycle at);
    /// None in which nothing can.
    void rest() { moved_ = changed_ = false; }
    void apply(const FabricSettings& settings);
    void connect_doorbells();
    /// Records what every command waits for from now on.
    void follow(BurstLogs* burst_logs) { burst_logs_ = burst_logs; }
    /// The burst logs get what has come and not been granted.
    void note_pending() const;

    bool changed() const { return changed_; }  // something did in this cycle
    bool again() const { return again_; }      // something may in the next one, without anything new
    /// Data go on from stage to stage in this cycle, and nothing else can.
    Cycle in_transit_until() const { return last_transit_ends_; }
    Cycle horizon() const { return transit_ends_; }
    bool moved() const { return moved_; }  // something went through the channels or the port
    bool empty() const { return holding_ == 0 && !splitting_ && split_beats_.empty() && converter_empty() && responses_empty(); }
    /// All that is here are commands whose data the clients have not offered yet.
    bool waits_for_data(Cycle at) const;
    std::uint32_t outstanding() const { return outstanding_; }  // beats
    std::uint64_t commands() const { return commands_; }        // so far
    std::uint64_t beats() const { return beats_; }

private:
    struct Beat {
        std::uint8_t client = 0;   // index
        std::uint8_t strobes = 0;  // a bit an atom
        bool first = false, last = false;
    };
    struct Command {
        std::uint64_t address = 0;
        std::uint8_t client = 0;  // index
        std::uint8_t beats = 0;
        bool ack = false;
    };
    struct Context {
        std::uint8_t beats = 0;
        bool ack = false;
    };
    struct Converted {
        bool beat = false, command = false;  // moved into the stages of the port
    };
    static constexpr std::uint8_t kNobody = 0xff;

    bool converter_empty() const { return !command_valid_ && !data_valid_ && !aw_.valid() && !w_.valid(); }
    bool responses_empty() const { return !b_valid_ && !b_pipe_.valid(); }

    Converted convert();
    bool may_send(const Command& command) const;
    void serve_port(Cycle at, Converted converted);
    void offer_command(Cycle from);
    void offer_data(Cycle from);
    bool match_response(Cycle at, int pushed);
    void accept_response(bool answered, bool matched);
    void split(bool command_room, bool data_room);
    void to_converter(const Command& command);
    void to_converter(const Beat& beat);
    std::uint8_t arbitrate(bool room, bool data_room) const;
    void move(unsigned index);
    void step_clients(Cycle at, std::uint32_t granted);
    std::uint32_t arrivals(Cycle at);
    std::uint32_t end_transits(Cycle at);
    bool goes_on() const;
    void note(unsigned index, Cycle at);
    PendingChunk noted_chunk(unsigned index) const;

    const facts::fabric::Facts silicon_;
    const bool splits_;  // (2)
    const std::uint64_t split_mask_;
    DbbPort& port_;
    std::vector<WriteClient> clients_;
    std::vector<Ring<Context>> contexts_;   // (4), of clients
    std::array<std::uint8_t, 16> index_{};  // of an id
    // (1)
    elements::WeightedRoundRobin arbiter_;
    std::uint8_t locked_ = kNobody, locked_beats_ = 0;
    std::array<std::uint8_t, kWriteClients> weight_{};  // by index
    // (2)
    bool splitting_ = false;
    Command split_;              // what is left of it
    Ring<Beat> split_beats_{8};  // 5 in use
    // (3)
    bool command_valid_ = false, data_valid_ = false;
    Command command_;
    Beat data_;
    elements::Stage<Command> aw_;
    elements::Stage<Beat> w_;
    std::uint32_t limit_ = 0, outstanding_ = 0;
    std::uint32_t returned_ = 0;  // beats answered in the cycle before
    std::uint64_t commands_ = 0, beats_ = 0;
    // (4)
    ContextQueue context_times_{false};
    bool b_valid_ = false;  // nv_full
    std::uint8_t b_id_ = 0;
    elements::Stage<std::uint8_t> b_pipe_;
    // clients by index: what a cycle must look at
    std::uint32_t complete_ = 0;       // a whole chunk is at the arbiter
    std::uint32_t weighted_ = 0;       // weight not 0
    std::uint32_t active_ = 0;         // something changed in the cycle before
    std::uint32_t holding_ = 0;        // something in its stages
    std::uint32_t open_ = 0;           // a packet could enter
    std::uint32_t rung_ = UINT32_MAX;  // something may be at its channel
    bool belled_ = false;
    std::uint32_t transit_ = 0;  // data on their way through its first stages
    Cycle last_transit_ends_ = 0;
    Cycle transit_ends_ = kNever;  // of the first of them
    bool changed_ = true, again_ = true, moved_ = false;
    // with burst logs
    BurstLogs* burst_logs_ = nullptr;
    Cycle now_ = 0;
    std::array<Cycle, kWriteClients> complete_from_{};  // by index: their chunk is complete
    PendingChunk moving_{};                             // the chunk granted last
};

}  // namespace dlasim::fabric
