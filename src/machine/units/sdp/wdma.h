// WDMA: collects converted beats to memory atoms and sends them, a command before the data of each
// line (1), (2).
//
//   commands ─┬─► split FIFO ─► token (1): which banks the arriving beats go to
//             └─► dma FIFO ──► command (2): CMD phase, then DATA phase ─┬─► stages ─► MCIF
//   beats ─────► 4 banks ─────────────────────────▲                     └─► stages ─► CVIF
//
//   nv_full        a place of a bank is 16 bytes: a beat fills one or two, a packet of two atoms empties four
//   configurable   a place is an atom: a beat fills one, a packet empties one
//
// A command is sent as soon as it is known, before its data. Packets are steered by the destination of the running layer
// and only then buffered, so those that wait for a slow port are not in the way of the next layer's on the other one.
// Quiet layers (to PDP, compare) run the same machine and nothing leaves.
//
// Latency  beat taken in x, its bank valid in x + 1, packet at the port silicon.interface_stages later.
// Source   sdp.md 1.7, 2.7; facts in facts/sdp.h.
#pragma once
#include <array>
#include <cstdint>

#include "facts/sdp.h"
#include "links/port_stages.h"
#include "traffic/memory.h"
#include "units/sdp/banks.h"
#include "units/sdp/value/values.h"
#include "units/sdp/write_commands.h"

namespace dlasim::sdp {

class Wdma {
public:
    /// What a cycle did.
    struct Answer {
        bool changed = false;  // the next cycle may differ from this one
        bool last = false;     // the last data of the layer entered the interface: cycle L
    };

    Wdma(const facts::sdp::Facts& silicon, Values& values);
    void connect(WriteLink& primary, WriteLink* secondary);

    /// The generator runs from the next cycle on.
    void start(const LayerConfig& layer);

    /// The banks of the next beat have space.
    bool ready() const { return token_on_ && banks_.ready(banks_of_beat()); }
    /// One cycle. `late`: nothing leaves in it, and it is evaluated afterwards.
    const Answer& sweep(Cycle now, bool in, bool late);

    /// A packet is offered to a memory interface.
    bool offers() const { return ports_[0].valid() || ports_[1].valid(); }
    /// The target of the layer.
    bool to_primary() const { return to_primary_; }
    /// Nothing leaves before this many beats have been taken: 0 if something may leave at any time, elements::kNoBeat if
    /// there is nothing to wait for.
    unsigned beats_to_packet() const;

    /// In the cycle evaluated last the interface refused a command or data.
    bool blocked() const { return blocked_; }
    bool quiet() const { return quiet_; }
    /// Bytes of an input beat.
    std::uint32_t beat_bytes() const { return beat_bytes_; }
    bool unequal() const { return unequal_; }
    std::uint64_t atoms_written() const { return atoms_written_; }

private:
    struct Token {
        std::uint32_t beats = 0;
        bool single = false;
    };
    /// A queue of flip-flops that is read in place.
    template <class T>
    struct CommandFifo {
        std::array<T, facts::sdp::kCommandFifo> places{};
        unsigned first = 0, count = 0;
        bool ready() const { return count < places.size(); }
        void push(const T& item) { places[(first + count++) % facts::sdp::kCommandFifo] = item; }
        const T& pop()
        {
            const T& item = places[first];
            first = (first + 1) % facts::sdp::kCommandFifo;
            --count;
            return item;
        }
    };

    unsigned banks_of_beat() const;
    unsigned banks_of_packet() const;
    std::uint32_t atoms_of_packet() const;
    void make_command();
    void send_command();
    void send_data(unsigned banks);
    void store_bytes(unsigned banks);
    unsigned store_beat();

    const facts::sdp::Facts& silicon_;
    Values& values_;
    std::uint32_t banks_per_atom_;
    Answer answer_;
    // the layer
    bool quiet_ = false, to_pdp_ = false, unequal_ = false, to_primary_ = true, wide_ = false;
    bool twins_ = false, twin_ = false;  // 8to16: the two beats of a pixel go to one pair of banks
    std::uint32_t beat_bytes_ = 0;
    WriteCommands commands_;
    CommandFifo<Token> split_;
    CommandFifo<WriteCommand> dma_;
    // (1)
    bool token_on_ = false;
    Token token_;
    std::uint32_t beat_ = 0;  // of the token
    Banks banks_;
    // (2)
    bool command_on_ = false, data_phase_ = false, blocked_ = false;
    WriteCommand command_;
    std::uint32_t packet_ = 0, packets_ = 0;        // of the command
    std::array<PortStages<WritePacket>, 2> ports_;  // CVIF, MCIF: as the register bit has them
    // content of the banks and after them
    static constexpr unsigned kWords = 8;
    std::array<std::array<std::array<std::uint8_t, kMaxBeatBytes>, kWords>, facts::sdp::kBanks> words_{};
    std::array<std::uint8_t, facts::sdp::kBanks> heads_{}, tails_{};
    std::uint64_t atoms_written_ = 0;
};

}  // namespace dlasim::sdp
