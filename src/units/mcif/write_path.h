// From write requests to write commands and data, and back to completions.
//
//   client ─► PIPE2 ─► PIPE2 ─┬─► command register ─► chunks, one in 1 + beats cycles ─► slot ────┐
//                             └─► data: two lanes, or PIPE2 ─► memory beats ─► FIFO(4) ───────────┤
//   client ─► ...                                                                                │
//        ┌───────────────────────────── (1) chunks that are complete, weighted round robin ◄──────┘
//        └─► [(2) splitter] ─► command PIPE1, data PIPE1 ─(3)─┬─► AW PIPE2 ─► port ─► B register ─(4)─► complete
//                                                             └─► W PIPE2  ─► port
//
// (1) a grant holds until the chunk's last beat has moved  (2) nv_full: a command a beat, or in CVIF a
// burst, which does not wait for its beats  (3) a command goes with its first beat, as the limit on outstanding
// beats and the queue of contexts allow  (4) contexts say whether the request is to be acknowledged.
//
// Stages hold occupancy and byte masks; atoms wait in the order in which they came and are put into
// memory beats when these are offered at the port.
//
// Source    fabric.md 1.6, 1.7, 2.3, 2.4; models/sdp_out.py.
#pragma once
#include <array>
#include <vector>

#include "base/ring.h"
#include "elements/lane_fifo.h"
#include "elements/round_robin.h"
#include "elements/stage.h"
#include "facts/fabric.h"
#include "facts/hardware.h"
#include "traffic/memory.h"
#include "units/mcif/context_queue.h"
#include "units/mcif/dbb_port.h"
#include "units/mcif/links.h"

namespace dlasim::fabric {

class WritePath {
public:
    WritePath(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, bool values);

    void step(Cycle at);
    void apply(const FabricSettings& settings);
    void hang_doorbells();

    bool changed() const { return changed_; }
    bool moved() const { return moved_; }
    bool empty() const
    {
        return holding_ == 0 && !splitting_ && split_count_ == 0 && !command_valid_ && !data_valid_ && !aw_.valid() && !w_.valid() &&
               !b_valid_ && !b_pipe_.valid();
    }
    /// All that is here are commands whose data the clients have not offered yet.
    bool waits_for_data() const;
    std::uint32_t outstanding() const { return outstanding_; }
    std::uint64_t commands() const { return commands_; }
    std::uint64_t beats() const { return beats_; }

private:
    struct Packet {  // of the client's channel, without data
        std::uint64_t address = 0;
        std::uint32_t atoms = 0;
        bool command = false, ack = false;
    };
    struct Chunk {
        std::uint64_t address = 0;
        std::uint8_t atoms = 0, beats = 0;
        bool ack = false;
    };
    struct Beat {
        std::uint8_t client = 0;  // index
        std::uint8_t mask = 0;    // atoms of the memory beat that are written
        bool first = false, last = false;
    };
    struct Command {
        std::uint64_t address = 0;
        std::uint8_t client = 0, beats = 0;
        bool ack = false;
    };
    struct Context {
        std::uint8_t beats = 0;
        bool ack = false;
    };
    struct ClientState {
        WriteLink* link = nullptr;
        std::uint8_t id = 0;
        Doorbell bell;
        elements::Stage<Packet> first, second;
        // command register and what is left of the request
        bool loaded = false, in_data = false, ack = false;
        std::uint64_t address = 0;
        std::uint32_t left = 0;  // atoms behind the current chunk
        Chunk chunk;             // of phase DATA
        std::uint8_t beats_left = 0, atoms_left = 0, lane = 0;
        bool first_beat = false;
        // data
        elements::RegisteredLaneFifo<facts::fabric::kWriteLane> lanes[2];  // nv_full
        elements::Stage<bool> data;                                        // configurable
        // arbiter stage
        elements::Stage<Chunk> slot;  // nv_full
        bool slot_valid = false;      // configurable: PIPE1
        Chunk slot_chunk;
        std::array<std::uint8_t, 2 * facts::fabric::kWriteDataFifo> masks{};
        std::uint8_t mask_head = 0, mask_count = 0;
        Ring<Context> contexts{64};
        // atoms in the order of the channel
        std::vector<std::uint8_t> atoms;
        std::uint32_t put = 0, got = 0;
    };
    static constexpr std::uint32_t kAtoms = 64;     // more than all stages of a client and the shared ones hold
    static constexpr std::uint32_t kSplitFifo = 8;  // 5 in use
    static constexpr std::uint8_t kNobody = 0xff;

    struct Grant {
        std::uint8_t client = kNobody;  // whose beat moves in this cycle
        bool slot_freed = false;        // it is the last beat of its chunk
    };
    struct NextBeat {
        bool complete = false;  // its atoms are there
        std::uint8_t atoms = 0;
        std::uint8_t mask = 0;   // of the memory beat
        std::uint8_t reads = 0;  // read ready of the lanes
    };

    bool convert(Cycle at);
    void match_response(Cycle at, int pushed);
    void accept_response(Cycle at);
    Grant arbitrate(bool room, bool data_room) const;
    void step_clients(Cycle at, const Grant& grant);
    void move(const Grant& grant);
    void split(bool command_room, bool data_room);
    void to_converter(const Command& command);
    void to_converter(const Beat& beat);
    bool step_client(ClientState& client, Cycle at, bool popped, bool slot_freed);
    void note(ClientState& client, std::uint32_t bit);
    NextBeat next_beat(const ClientState& client) const;
    Chunk next_chunk(const ClientState& client) const;
    const Chunk* slot_head(const ClientState& client) const;
    void receive(ClientState& client, const WritePacket& packet);
    void offer_data(Cycle from);

    const facts::fabric::Facts silicon_;
    const bool bursts_, values_;
    const std::uint32_t atom_bytes_, atom_shift_, block_;
    const std::uint64_t address_mask_;
    DbbPort& port_;
    std::vector<ClientState> clients_;
    std::array<std::uint8_t, 16> index_{};  // of an id
    elements::WeightedRoundRobin arbiter_;
    std::uint8_t locked_ = kNobody, locked_beats_ = 0;  // (1)
    // (2)
    bool splitting_ = false;
    Command split_;
    std::uint8_t split_left_ = 0;  // beats
    std::array<Beat, kSplitFifo> split_beats_{};
    std::uint8_t split_head_ = 0, split_count_ = 0;
    // (3)
    bool command_valid_ = false, data_valid_ = false;
    Command command_;
    Beat data_;
    elements::Stage<Command> aw_;
    elements::Stage<Beat> w_;
    std::uint32_t outstanding_ = 0;
    std::uint32_t returned_ = 0;  // beats answered in the cycle before
    std::uint64_t commands_ = 0, beats_ = 0;
    // (4)
    ContextQueue contexts_{false};
    elements::Stage<std::uint8_t> b_pipe_;  // configurable
    bool b_valid_ = false;                  // nv_full: one register
    std::uint8_t b_id_ = 0;
    bool response_taken_ = false;  // its context was there in this cycle
    // clients by index: what a cycle must look at
    std::uint32_t complete_ = 0;       // a whole chunk stands in front of the arbiter
    std::uint32_t weighted_ = 0;       // weight not 0
    std::uint32_t active_ = 0;         // something changed in the cycle before
    std::uint32_t holding_ = 0;        // something in its stages
    std::uint32_t rung_ = UINT32_MAX;  // something may stand at its channel
    std::uint32_t all_ = 0;
    bool belled_ = false;
    std::uint32_t limit_ = 0;
    std::array<std::uint8_t, kWriteClients> weight_{};  // by index
    bool changed_ = true, moved_ = false;
};

}  // namespace dlasim::fabric
