// WDMA: collects converted beats to memory atoms and sends them, a command before the data of each
// line (1), (2).
//
//   commands ─┬─► split FIFO ─► token (1): which banks the arriving beats go to
//             └─► dma FIFO ──► command (2): CMD phase, then DATA phase ──► stages of the port ──► port
//   beats ─────► 4 banks ─────────────────────────────────────▲
//
// nv_full: a bank holds 16 bytes, a packet four of them (two atoms). Configurable generation: a bank
// holds an atom, a packet is one atom. A command is sent as soon as it is known, before its data.
// Quiet layers (to PDP, compare) run the same machine and nothing leaves.
//
// Source  sdp.md 1.7, 2.7.
#pragma once
#include <array>
#include <cstring>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "traffic/memory.h"
#include "units/sdp/banks.h"
#include "units/sdp/values.h"
#include "units/sdp/write_commands.h"
#include "units/sdp/write_interface.h"

namespace dlasim::sdp {

template <bool kFull>
class Wdma {
public:
    /// What a cycle did.
    struct Answer {
        bool changed = false;  // the next cycle may differ from this one
        bool last = false;     // the last data of the layer entered the interface: cycle L
    };
    /// A bit for each memory interface that takes a packet in this cycle.
    using PortsReady = unsigned;
    static constexpr unsigned kPorts = 2;  // 0 CVIF, 1 MCIF: as the register bit has them

    Wdma(const Hardware& hw, Values& values) : values_(values), atom_(hw.memory.atom_bytes) {}

    /// The generator runs from the next cycle on.
    void start(const Layer& layer)
    {
        commands_.start(layer);
        quiet_ = layer.quiet();
        to_pdp_ = layer.to_pdp;
        compare_ = layer.compare && !to_pdp_;  // to PDP, what WDMA sees is zero
        unequal_ = false;
        to_primary_ = layer.to_primary;
        wide_ = layer.output != Precision::Int8;
        twins_ = layer.widening && !layer.single;
    }

    /// The banks of the next beat have room.
    bool ready() const { return token_ && banks_.ready(banks_of_beat()); }

    const Answer& sweep(bool in, PortsReady ports_ready)
    {
        Answer& answer = answer_;
        answer = {};
        const bool taken = in && ready();
        const bool produced = commands_.more() && split_count_ < facts::sdp::kCommandFifo && dma_count_ < facts::sdp::kCommandFifo;
        if (produced) push(commands_.next());

        // (2) what is offered to the interface
        const bool room = quiet_ || interface().ready();
        unsigned popped = 0;
        bool reload = !command_on_;
        blocked_ = starved_ = false;
        if (command_on_ && !data_phase_) {
            blocked_ = !room;
        } else if (command_on_) {
            starved_ = !banks_.valid(needed());
            blocked_ = !starved_ && !room;
        }
        const bool sent = command_on_ && !blocked_ && !starved_;
        const bool sent_data = sent && data_phase_;
        sweep_interfaces(sent && !quiet_, ports_ready, answer);
        if (sent && !data_phase_) {
            if (!quiet_) send_command();
            data_phase_ = true;
            packet_ = 0;
        } else if (sent_data) {
            popped = needed();
            send_data(popped);
            if (last_packet()) {
                data_phase_ = false;
                reload = true;
                answer.last = command_.last;
                command_on_ = false;
            } else {
                ++packet_;
            }
        }
        // (1) the arriving beat
        unsigned pushed = 0;
        bool token_done = !token_;
        if (taken) {
            pushed = banks_of_beat();
            store(pushed);
            if (++beat_ == split_beats_) {
                token_done = true;
                if (twins_ && !split_single_) twin_ = !twin_;
            }
        }
        if (token_done) {
            beat_ = 0;
            token_ = split_count_ != 0;
            if (token_) pop_split();
        }
        if (reload) {
            command_on_ = dma_count_ != 0;
            if (command_on_) pop_dma();
        }
        answer.changed |= banks_.clock(pushed, popped) || taken || produced || sent;
        return answer;
    }

    /// The packet that port shows in the next cycle, null if none.
    const WritePacket* leaving(unsigned port) const { return interfaces_[port].leaving(); }
    bool leaving() const { return leaving(0) || leaving(1); }
    /// The target of the layer.
    bool to_primary() const { return to_primary_; }
    /// Nothing leaves before this many beats have been taken: 0 if something may leave at any time,
    /// elements::kNoBeat if there is nothing to wait for.
    unsigned beats_to_packet() const
    {
        if (quiet_ || !interfaces_[0].at_rest() || !interfaces_[1].at_rest()) return 0;
        if (!command_on_) return dma_count_ || commands_.more() ? 0 : elements::kNoBeat;
        if (!data_phase_) return 0;
        const unsigned missing = banks_.missing(needed());
        return kFull && wide_ ? (missing + 1) / 2 : missing;
    }
    static constexpr unsigned kInterface = WriteInterface<kFull>::kStages;

    /// In the cycle evaluated last the interface refused a command or data.
    bool blocked() const { return blocked_; }
    bool quiet() const { return quiet_; }
    /// Bytes of an input beat.
    std::uint32_t beat_bytes() const { return !kFull ? atom_ : wide_ ? 32 : 16; }
    bool unequal() const { return unequal_; }
    std::uint64_t atoms_written() const { return atoms_written_; }

private:
    using Banks = std::conditional_t<kFull, FullBanks, ElasticBanks>;

    struct Token {
        std::uint32_t beats = 0;
        bool single = false;
    };

    void push(const WriteCommand& command)
    {
        split_[(split_first_ + split_count_++) % facts::sdp::kCommandFifo] = {command.beats, command.atoms == 1};
        dma_[(dma_first_ + dma_count_++) % facts::sdp::kCommandFifo] = command;
    }
    void pop_split()
    {
        const Token& token = split_[split_first_];
        split_beats_ = token.beats;
        split_single_ = token.single;
        split_first_ = (split_first_ + 1) % facts::sdp::kCommandFifo;
        --split_count_;
    }
    void pop_dma()
    {
        command_ = dma_[dma_first_];
        dma_first_ = (dma_first_ + 1) % facts::sdp::kCommandFifo;
        --dma_count_;
    }

    /// Where the next beat goes.
    unsigned banks_of_beat() const
    {
        if (!kFull || !wide_) return 1u << (beat_ & 3);
        const bool upper = twins_ ? twin_ : beat_ & 1;
        return upper ? 0xc : 0x3;
    }
    bool last_packet() const { return packet_ + 1 == (kFull ? (command_.atoms + 1) / 2 : command_.atoms); }
    unsigned atoms_of_packet() const { return kFull && !(last_packet() && command_.atoms % 2) ? 2 : 1; }
    unsigned needed() const
    {
        if (!kFull) return 1u << (packet_ & 3);
        return atoms_of_packet() == 2 ? 0xf : 0x3;
    }
    WriteInterface<kFull>& interface() { return interfaces_[to_primary_]; }

    void sweep_interfaces(bool in, PortsReady ports_ready, Answer& answer)
    {
        for (unsigned port = 0; port < kPorts; ++port)
            answer.changed |= interfaces_[port].sweep(in && port == unsigned{to_primary_}, ports_ready >> port & 1);
    }

    void send_command()
    {
        WritePacket& packet = interface().extend();
        packet.command = true;
        packet.require_ack = command_.last;
        packet.atoms = command_.atoms;
        packet.address = command_.address;
    }
    void send_data(unsigned banks)
    {
        WritePacket* packet = quiet_ ? nullptr : &interface().extend();
        if (packet) {
            packet->command = false;
            packet->require_ack = false;
            packet->atoms = atoms_of_packet();
            atoms_written_ += packet->atoms;
        }
        std::uint8_t* to = packet ? packet->data.data() : nullptr;
        for (unsigned bank = 0; bank < facts::sdp::kBanks; ++bank) {
            if (!(banks >> bank & 1)) continue;
            const auto& from = words_[bank][heads_[bank]++ % kWords];
            if (to) {
                std::memcpy(to, from.data(), bank_bytes());
                to += bank_bytes();
            } else if (compare_) {
                for (unsigned i = 0; i < bank_bytes(); ++i) unequal_ |= from[i] != 0;
            }
        }
    }
    void store(unsigned banks)
    {
        std::array<std::uint8_t, 32> bytes{};
        if (!to_pdp_) values_.next(bytes);
        const std::uint8_t* from = bytes.data();
        for (unsigned bank = 0; bank < facts::sdp::kBanks; ++bank) {
            if (!(banks >> bank & 1)) continue;
            std::memcpy(words_[bank][tails_[bank]++ % kWords].data(), from, bank_bytes());
            from += bank_bytes();
        }
    }
    std::uint32_t bank_bytes() const { return kFull ? 16 : atom_; }

    Values& values_;
    Answer answer_;
    std::uint32_t atom_;
    WriteCommands commands_;
    bool quiet_ = false, to_pdp_ = false, compare_ = false, unequal_ = false, to_primary_ = true, wide_ = false, twins_ = false,
         twin_ = false;
    // command FIFOs
    std::array<Token, facts::sdp::kCommandFifo> split_{};
    std::array<WriteCommand, facts::sdp::kCommandFifo> dma_{};
    unsigned split_first_ = 0, split_count_ = 0, dma_first_ = 0, dma_count_ = 0;
    // (1)
    bool token_ = false, split_single_ = false;
    std::uint32_t split_beats_ = 0, beat_ = 0;
    Banks banks_;
    // (2)
    bool command_on_ = false, data_phase_ = false, blocked_ = false, starved_ = false;
    WriteCommand command_;
    std::uint32_t packet_ = 0;
    std::array<WriteInterface<kFull>, kPorts> interfaces_{};
    // what is in the banks and behind them
    static constexpr unsigned kWords = 8;
    std::array<std::array<std::array<std::uint8_t, 32>, kWords>, facts::sdp::kBanks> words_{};
    std::array<std::uint8_t, facts::sdp::kBanks> heads_{}, tails_{};
    std::uint64_t atoms_written_ = 0;
};

}  // namespace dlasim::sdp
