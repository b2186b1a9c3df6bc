// A client of the write path: from its channel to whole chunks in front of the arbiter.
//
//                                        (1)                             (3)
//   channel ─► PIPE2 ─► PIPE2 ─┬─► command register ──► chunk ────────► slot ─────┐
//                              │                                                  ├─► arbiter
//                              └─► data stage (2) ────► memory beats ─► FIFO(4) ──┘
//
// (1) A command stays until the last beat of its last chunk is in the FIFO. Its phase says what is next: a chunk, or a
// beat of that chunk, one a cycle. So a chunk costs 1 + beats cycles.
// (2) nv_full: a FIFO for each of the two atoms of a packet; a request that starts at an odd atom has its memory beats
// put together across packets. Else one PIPE2.
// (3) Holds a chunk until its last beat has moved. nv_full: PIPE2, else PIPE1.
//
// Shapes    packet: 1 atom, nv_full 1 or 2; memory beat: the same; chunk: up to `block` atoms, which are not cut by a
//           multiple of `block`. Stages hold occupancy and strobes; atoms wait in the order in which they came.
// Depth     commands: two in each PIPE2 and one in the register. Beats after a command: kWriteDataFifo, those of the data
//           stage, and the PIPE2s that commands share with them.
// Latency   command at the channel in 0: chunk in the slot in 3. Data packet at the channel in 1: beat in the FIFO in 4,
//           nv_full 5. fabric.md 2.3.
// Source    fabric.md 1.3, 1.6; models/sdp_out.py.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "elements/lane_fifo.h"
#include "elements/stage.h"
#include "facts/fabric.h"
#include "facts/hardware.h"
#include "traffic/memory.h"
#include "units/mcif/links.h"

namespace dlasim::fabric {

struct WriteChunk {
    std::uint64_t address = 0;
    std::uint8_t atoms = 0, beats = 0;
    bool ack = false;  // the last one of a request that is to be acknowledged
};

class WriteClient {
public:
    /// `block`: atoms. Without `values` atoms are counted and not kept.
    WriteClient(const Hardware& hardware, std::uint32_t block, std::uint8_t id, WriteLink& link, const FabricMode& mode);

    std::uint8_t id() const { return id_; }
    /// From now on bit `index` of `rung` is set while something may be at the channel; the client stays where it is.
    void connect_doorbell(std::uint32_t& rung, unsigned index);
    bool offered() const { return link_->request.offered(); }
    void complete(Cycle at) { link_->complete.put(at, true); }

    // ---- for the arbiter
    /// A chunk is in the slot and all its beats in the FIFO.
    bool competes() const { return slot_valid() && fifo_count_ >= chunk().beats; }
    /// pre: competes(), or some of its beats have moved
    const WriteChunk& chunk() const { return silicon_.pairs ? slot_.head() : slot_chunk_; }
    bool has_beat() const { return fifo_count_ != 0; }
    /// The oldest beat moves in this cycle, in front of step(): its strobes, a bit an atom. The `last` one frees the slot.
    std::uint8_t take_beat(bool last);
    /// The oldest atoms, to the places of a memory beat that `strobes` name.
    void take_atoms(std::uint8_t strobes, std::uint8_t* beat);

    // ---- the cycle
    /// A packet would enter.
    bool open() const { return first_.ready(); }
    bool arrives(Cycle at) const { return open() && link_->request.valid(at); }
    struct Stepped {
        bool changed = false;  // the next cycle may differ without anything new
        bool entered = false;  // a packet did
    };
    Stepped step(Cycle at);

    bool empty() const { return phase_ == Phase::Idle && !slot_valid() && !has_beat() && !first_.valid() && !second_.valid() && no_data(); }
    /// All that is here are commands.
    bool waits_for_data(Cycle at) const;
    /// Data are on their way through the stages in front of (2), and will be there in this cycle. kNever: none are.
    Cycle data_from(Cycle at) const { return data_.valid() && data_from_ > at ? data_from_ : kNever; }

private:
    enum class Phase : std::uint8_t { Idle, Command, Data };  // Idle: no command in the register
    struct Packet {                                           // of the channel, without its bytes
        std::uint64_t address = 0;
        std::uint32_t atoms = 0;
        bool command = false, ack = false;
    };
    struct Beat {
        bool there = false;      // its atoms are
        std::uint8_t atoms = 0;  // 1 or 2
        std::uint8_t strobes = 0;
        std::uint8_t reads = 0;  // read ready of the lanes
    };
    struct Taken {
        bool beat = false, last = false;
    };

    bool slot_valid() const { return silicon_.pairs ? slot_.valid() : slot_full_; }
    bool no_data() const { return silicon_.pairs ? lanes_[0].empty() && lanes_[1].empty() : !data_.valid(); }
    bool slot_room(bool freed) const { return silicon_.pairs ? slot_.ready() : !slot_full_ || freed; }
    void emit_chunk();
    bool turn_slot(bool emits, bool freed);
    Beat next_beat(Cycle at) const;
    void emit_beat(const Beat& beat);
    bool load(const Packet& command);
    bool step_data(Cycle at, std::uint32_t atoms, const Beat& beat, bool& leaves);
    bool straight() const { return direct_ && first_.quiet() && second_.quiet() && data_.quiet(); }
    bool receive(Cycle at, bool room, bool& entered);
    void keep_atoms(const WritePacket& packet);

    static constexpr std::uint32_t kAtoms = 64;  // more than all stages of a client and those after the arbiter hold

    const facts::fabric::Facts silicon_;
    const std::uint32_t atom_bytes_, atom_shift_, block_;
    const std::uint64_t address_mask_;
    const bool values_, direct_;
    const std::uint8_t id_;
    WriteLink* link_;
    Doorbell bell_;
    elements::Stage<Packet> first_, second_;
    // (1)
    Phase phase_ = Phase::Idle;
    bool ack_ = false;
    std::uint64_t address_ = 0;  // of the next chunk
    std::uint32_t left_ = 0;     // atoms after the current chunk
    bool odd_start_ = false;     // of the chunk: its first atom is the upper one of a memory beat
    bool first_beat_ = false;
    std::uint8_t beats_left_ = 0, atoms_left_ = 0;  // of the chunk
    std::uint8_t lane_ = 0;                         // of the next atom
    // (2)
    elements::RegisteredLaneFifo<facts::fabric::kWriteLane> lanes_[2];
    elements::Stage<bool> data_;
    Cycle data_from_ = 0;                                                 // a single entry of data_ has been put there ahead of time
    std::array<std::uint8_t, 2 * facts::fabric::kWriteDataFifo> fifo_{};  // strobes
    std::uint8_t fifo_head_ = 0, fifo_count_ = 0;
    // (3)
    WriteChunk emitted_;  // the last one
    elements::Stage<WriteChunk> slot_;
    WriteChunk slot_chunk_;
    bool slot_full_ = false;
    Taken taken_;  // by the arbiter in this cycle
    // atoms in the order of the channel
    std::vector<std::uint8_t> atoms_;
    std::uint32_t put_ = 0, got_ = 0;
    std::uint64_t requests_ = 0;  // so far
};

}  // namespace dlasim::fabric
