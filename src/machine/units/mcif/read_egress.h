// From read beats to responses.
//
//                              nv_full      (2)                       (3)
//   port ─► PIPE2 ─(1)─► word FIFO(4) ─► arbiter, one ─► lane 0, lane 1 ─► PIPE2 ─► client
//             by id        per client    word a cycle     FIFO-B(4) each
//                        word FIFO(4) ─► PIPE1 ─► client            configurable: client by client
//
// (1) the head beat waits for its client's FIFO, and all later beats  (2) where the context
// register is loaded and both lanes have room  (3) pairs atoms: response beats start at lane 0.
//
// Only occupancy moves through the stages. The atoms themselves are put in request order when a beat
// is taken from the port and leave when the response is offered, so each is copied twice.
//
// Source    fabric.md 1.4, 1.7, 2.2; models/cdma_fabric.py.
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
#include "units/mcif/read_ingress.h"

namespace dlasim::fabric {

class ReadEgress {
public:
    ReadEgress(const Hardware& hardware, const McifLinks& links, DbbPort& port, const FabricMode& mode);

    /// Something can happen in this cycle.
    bool due(Cycle at) const
    {
        return (port_.r.valid && port_.r.from <= at) || returned_ || !pipe_.quiet() || (words_ | active_ | (out_ & ~transit_)) != 0 ||
               (transit_ != 0 && transit_ends_ <= at);
    }
    /// One cycle in which something can, before the ingress: words and lanes.
    void step(Cycle at);
    /// One in which nothing can.
    void rest()
    {
        changed_ = again_ = moved_ = returned_before_ = false;
        used_contexts_ = 0;
    }
    /// After it: contexts, with the command that the ingress issued in this cycle, or null.
    void issued(const ReadCommand* command)
    {
        if (command || (silicon_.pairs && (used_contexts_ != 0 || !contexts_.still()))) turn_contexts(command);
    }

    bool returned() const { return returned_before_; }  // a beat left the R pipe in the cycle before
    /// Beats of which that was known ahead, up to this cycle; to be asked before the cycle's step().
    std::uint32_t returned_ahead(Cycle at)
    {
        std::uint32_t beats = 0;
        for (; ahead_[0] <= at; ++beats) ahead_ = {ahead_[1], kNever};
        return beats;
    }
    /// When returned_ahead() has more.
    Cycle next_return() const { return ahead_[0]; }
    bool contexts_full() const { return contexts_.full(); }
    bool changed() const { return changed_; }                          // something did in this cycle
    bool again() const { return silicon_.pairs ? changed_ : again_; }  // something may in the next one, without anything new
    /// A beat goes on from stage to stage in this cycle, known in the cycle in which it was taken.
    Cycle in_transit_until() const { return last_transit_ends_; }
    Cycle horizon(Cycle now) const { return transit_ != 0 && transit_ends_ > now ? transit_ends_ : kNever; }
    bool moved() const { return moved_; }
    std::uint64_t taken() const { return beats_; }
    bool empty() const { return !pipe_.valid() && (words_ | active_ | out_) == 0; }

private:
    /// What the egress must know of a beat.
    struct Word {
        bool lane0 = false, lane1 = false;
        bool odd = false;           // lane 0 ends an odd request
        bool ends_context = false;  // last beat of its command
    };
    struct ClientState {
        ReadLink* link = nullptr;
        std::uint8_t id = 0;
        bool values = true;  // atoms are copied
        // words in front of the arbiter, and what remains of the command whose beats arrive
        std::array<Word, 2 * facts::fabric::kWordFifo> words{};  // and up to two in the R pipe
        std::uint8_t word_head = 0, word_count = 0, word_arrived = 0;
        ReadContext arriving{};
        Ring<ReadContext> contexts{64};
        // nv_full
        elements::LaneFifo<facts::fabric::kReadLane> lane[2];
        std::uint32_t odd_flags = 0;  // of lane 0, head in bit 0
        std::uint8_t odd_count = 0;
        elements::Stage<std::uint8_t> out;  // atoms of a response beat
        // configurable
        Cycle out_from = 0;  // where the offer has been made ahead of time
        // atoms on their way, in request order
        std::vector<std::uint8_t> atoms;
        std::uint32_t put = 0, got = 0;
    };
    static constexpr std::uint32_t kAtoms = 64;  // more than all stages of a client hold

    void turn_contexts(const ReadCommand* command);
    void receive(Cycle at, bool valid, bool leaves);
    Word arrive(ClientState& client, const std::uint8_t* data);
    ReadContext context_of_beat(ClientState& client);
    bool pass_through(ClientState& client, Cycle at, const std::uint8_t* data);
    void end_transits(Cycle at);
    void step_full(Cycle at);
    bool step_lanes(ClientState& client, Cycle at, const Word* word);
    void step_configurable(Cycle at);
    Word pop_word(ClientState& client);
    void offer(ClientState& client, Cycle from, std::uint32_t atoms);

    const facts::fabric::Facts silicon_;
    const std::uint32_t atom_bytes_;
    DbbPort& port_;
    const bool direct_;
    std::vector<ClientState> clients_;
    std::array<std::uint8_t, 16> index_{};  // of an id
    elements::Stage<std::uint8_t> pipe_;    // ids
    elements::WeightedRoundRobin arbiter_;
    ContextQueue contexts_{true};
    std::uint32_t used_contexts_ = 0;  // of this cycle, by client id
    // clients by id: what a cycle must look at
    std::uint32_t words_ = 0;                         // a word waits
    std::uint32_t room_ = 0;                          // both lanes have space
    std::uint32_t active_ = 0;                        // something changed in the cycle before
    std::uint32_t out_ = 0;                           // a response is offered
    std::uint32_t transit_ = 0;                       // a response is offered ahead of time
    Cycle transit_ends_ = 0, last_transit_ends_ = 0;  // the first and the last of them
    std::array<Cycle, 2> ahead_{kNever, kNever};      // when their beats count as returned
    std::uint64_t beats_ = 0;                         // from the port
    bool returned_ = false, returned_before_ = false;
    bool changed_ = false, again_ = false, moved_ = false;
};

}  // namespace dlasim::fabric
