// From read requests to read commands.
//
//   client ─► PIPE2 ─► PIPE2 ─► splitter ─► PIPE2 ─┐         nv_full            (2)      (3)
//             one request       one chunk a cycle  ├─(1)─► serialiser ─► PIPE2 ─► limit ─► AR PIPE2 ─► port
//   ...                         credit check       │       configurable
//   client ─► ...                                 ─┘       ────────────► PIPE2 ─►
//
// (1) weighted round robin, one chunk a grant  (2) nv_full only: a command a 64-byte word, or in
// CVIF a burst  (3) as many beats on their way as CFG_OUTSTANDING_CNT allows.
//
// Source    fabric.md 1.3, 1.5, 2.1; models/cdma_fabric.py.
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
#include "units/mcif/dbb_port.h"
#include "units/mcif/links.h"

namespace dlasim::fabric {

/// What the return path must know of a command, in order of each client.
struct ReadContext {
    std::uint32_t beats : 8;  // of the command
    std::uint32_t atoms : 8;
    std::uint32_t half : 1;     // the first atom is in the upper half of the first beat
    std::uint32_t lane : 1;     // of the first atom: its index in the request, modulo 2
    std::uint32_t odd_end : 1;  // its last atom ends a request of an odd number of atoms
};

struct ReadCommand {
    std::uint64_t address = 0;
    std::uint8_t client = 0;
    ReadContext context{};
};

class ReadIngress {
public:
    ReadIngress(const Hardware& hardware, MemorySide side, const McifLinks& links, DbbPort& port, const FabricMode& mode);

    /// Something can happen in this cycle.
    bool due(Cycle at) const
    {
        return ((waiting_ & weighted_) | active_ | (rung_ & open_)) != 0 || serialising_ || (ordered_.valid() && ordered_from_ <= at) ||
               (starved_ != 0 && (!belled_ || credit_due_ <= at)) || (!ar_.quiet() && (ar_.ready() || port_.ar.fires(at)));
    }
    /// One cycle in which something can. `contexts_full` blocks new commands; `settled`: the settings stay as they are.
    /// Returns the command that passed the limit, or null.
    const ReadCommand* step(Cycle at, bool contexts_full, bool settled);
    /// None in which nothing can.
    void rest() { changed_ = again_ = accepted_ = limit_blocks_ = false; }
    /// A beat left the R pipe in the cycle before.
    void returned(std::uint32_t beats) { outstanding_ -= beats; }

    bool changed() const { return changed_; }  // something did in this cycle
    bool again() const { return again_; }      // something may in the next one, without anything new
    /// A chunk goes on from stage to stage in this cycle, and nothing else can.
    Cycle in_transit_until() const { return ordered_from_; }
    /// The next credit that a blocked client waits for, the end of a transit.
    Cycle horizon(Cycle now) const;
    /// Credits that came before cycle `end`, of clients that do not wait for them.
    void catch_up(Cycle end);
    bool empty() const { return !serialising_ && !ordered_.valid() && !ar_.valid() && holding_ == 0; }
    void apply(const FabricSettings& settings);
    void connect_doorbells();
    /// Records what every command waits for from now on.
    void follow(BurstLogs* burst_logs) { burst_logs_ = burst_logs; }
    /// The burst logs get what has entered and not been granted.
    void note_pending();
    std::uint32_t outstanding() const { return outstanding_; }
    /// A command is at the limit.
    bool ordered(Cycle at) const { return ordered_.valid() && ordered_from_ <= at; }
    bool blocked_by_limit() const { return limit_blocks_; }
    bool accepted() const { return accepted_; }
    std::uint64_t issued() const { return commands_; }

private:
    struct Chunk {
        std::uint64_t address = 0;
        ReadContext context{};
        PendingChunk pending{};  // with burst logs
    };
    /// For the burst logs: a request that has entered.
    struct Entered {
        Cycle at = 0;
        bool refused = false;
    };
    struct ClientState;
    struct Split {
        bool active = false;
        std::uint64_t address = 0;  // of the next chunk
        std::uint32_t left = 0;     // atoms
        std::uint32_t done = 0;     // atoms
        std::uint32_t total = 0;
        bool odd_start = false;

        void pass(std::uint32_t atoms, std::uint32_t atom_shift)
        {
            address += std::uint64_t{atoms} << atom_shift;
            left -= atoms;
            done += atoms;
        }
    };
    /// Credits wake the interface only for a client that waits for them.
    struct CreditBell final : Sleeper {
        void wake_at(Cycle at) override;
        Sleeper* owner = nullptr;
        const ClientState* client = nullptr;
        Cycle* due = nullptr;
    };
    struct ClientState {
        ReadLink* link = nullptr;
        std::uint8_t id = 0;
        std::uint32_t depth = 0, used = 0;  // credits; depth 0: no limit
        elements::Stage<ReadRequest> first, second;
        elements::Stage<Chunk> slot;
        Split split;
        std::uint64_t taken = 0;  // requests so far
        bool out_of_credit = false;
        Doorbell bell;
        CreditBell credit_bell;
        // with burst logs
        Ring<Entered> requests{8};
        bool lacked_credit = false;
    };

    bool issue(bool contexts_full);
    void serve_port(Cycle at, const ReadCommand* issued);
    bool order(std::uint32_t requests, std::uint32_t& granted, Cycle at);
    std::uint32_t with_input(Cycle at);
    void step_clients(Cycle at, std::uint32_t granted);
    bool step_client(ClientState& client, Cycle at, bool granted);
    void refund(ClientState& client, Cycle at);
    std::uint32_t next_chunk(const Split& split, Chunk& chunk) const;
    void command_of(const ClientState& client, const Chunk& chunk, ReadCommand& command) const;
    void serialise(ReadCommand& command);
    void pass_through(Cycle at);
    Cycle next_credit() const;
    void order_ahead(const ClientState& client, unsigned pick, const Chunk& chunk, Cycle at);
    void update_activity(ClientState& client, std::uint32_t bit, Cycle at);
    bool only_credit() const;
    void pass_chunk(ClientState& client, Cycle at);
    static bool stands(const ClientState& client);
    static bool lacks_credit(const ClientState& client, Cycle at);
    static void note_pending(const ClientState& client, BurstLog& reads);
    static void note_chunk(ClientState& client, Chunk& chunk, Cycle at, bool ends_request);
    void note_command(const PendingChunk& chunk, const ReadCommand& command, Cycle at);
    const facts::fabric::Facts silicon_;
    const bool bursts_, direct_;
    const std::uint32_t atom_shift_, block_;
    const std::uint64_t address_mask_;
    DbbPort& port_;
    std::vector<ClientState> clients_;  // in arbitration order
    elements::WeightedRoundRobin arbiter_;
    bool serialising_ = false;  // (2)
    ReadCommand serial_;        // what is left of the granted chunk
    elements::Stage<ReadCommand> ordered_, ar_;
    Cycle ordered_from_ = 0;         // a single entry of ordered_ has been put there ahead of time
    std::uint32_t outstanding_ = 0;  // (3) beats
    std::uint64_t commands_ = 0;
    // clients by index: what a cycle must look at
    std::uint32_t waiting_ = 0;        // a chunk is at the arbiter
    std::uint32_t weighted_ = 0;       // weight not 0
    std::uint32_t active_ = 0;         // something changed in the cycle before
    std::uint32_t starved_ = 0;        // out of credit
    std::uint32_t holding_ = 0;        // something in its stages
    std::uint32_t rung_ = UINT32_MAX;  // something may be at its channel
    std::uint32_t open_ = 0;           // a request could enter
    bool belled_ = false;
    std::uint32_t read_limit_ = 0;
    std::array<std::uint8_t, kClients> weight_{};  // by index
    Cycle credit_due_ = kNever;                    // the first credit for a client that lacks one can be used
    BurstLogs* burst_logs_ = nullptr;
    PendingChunk granted_{};  // with burst logs: of the serialiser
    bool changed_ = false, again_ = false, limit_blocks_ = false, accepted_ = false;
};

}  // namespace dlasim::fabric
