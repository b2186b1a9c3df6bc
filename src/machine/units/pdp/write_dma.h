// WDMA: collects beats to memory atoms and sends them, a command in front of every output line.
//
//   beats ─► input stage ─► FIFOs, one a beat of the atom, written in turn ─► (2) ─► interface stages ─► port
//   lines ─► command register ──────────────────────────────── command (1) ──►│
//
// Command (1) as soon as it is there, long before the data; then data (2): a packet goes when the last FIFO of its atoms
// has a word. One count of complete atoms describes all FIFOs. nv_full has two sets of them, for even and odd pixels of a
// line, and sends both at once.
//
// Source  pdp.md 1.7, 4.6, 5.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "elements/command_fifo.h"
#include "elements/pipe_row.h"
#include "facts/pdp.h"
#include "links/port_stages.h"
#include "traffic/memory.h"
#include "units/pdp/layer.h"
#include "units/pdp/values.h"

namespace dlasim::pdp {

/// The output lines of a layer in the order in which they are written.
class OutputLines {
public:
    void start(const LayerConfig& layer, std::uint32_t atom_bytes)
    {
        layer_ = &layer;
        atom_bytes_ = atom_bytes;
        left_ = std::uint64_t{layer.out.count} * layer.out_surfaces * layer.out_height;
        pass_ = surface_ = line_ = 0;
        column_ = 0;
    }
    bool more() const { return left_ != 0; }
    bool last() const { return left_ == 1; }
    std::uint32_t atoms() const { return layer_->out.width(pass_); }
    std::uint64_t address() const
    {
        return layer_->base + column_ * atom_bytes_ + surface_ * layer_->surface_stride + line_ * layer_->line_stride;
    }
    void next()
    {
        --left_;
        if (++line_ < layer_->out_height) return;
        line_ = 0;
        if (++surface_ < layer_->out_surfaces) return;
        surface_ = 0;
        column_ += atoms();
        ++pass_;
    }

private:
    const LayerConfig* layer_ = nullptr;
    std::uint32_t atom_bytes_ = 0;
    std::uint64_t left_ = 0, column_ = 0;
    std::uint32_t pass_ = 0, surface_ = 0, line_ = 0;
};

class WriteDma {
public:
    WriteDma(const facts::pdp::Facts& silicon, Values& values);
    void connect(WriteLink& primary, WriteLink* secondary);

    /// Commands are made from the next cycle on. `layer` stays until the layer has ended.
    void start(const LayerConfig& layer, bool count_stall);

    bool ready() const { return input_.ready(); }
    /// One cycle; `in`: the vertical stage offers a beat. `flow.ready` becomes its ready. True with the last data of the
    /// layer: they entered the interface.
    bool sweep(Cycle now, bool in, elements::Flow& flow);

    /// The ready of the memory interfaces in this cycle, or none.
    void look(Cycle now)
    {
        for (auto& port : ports_) port.look(now);
    }
    void skip_look()
    {
        for (auto& port : ports_) port.skip_look();
    }
    /// The memory interface takes a packet in this cycle.
    bool hands_over(Cycle now) const { return ports_[0].hands_over(now) || ports_[1].hands_over(now); }

    /// The cycles in which it takes whatever comes.
    Cycle takes() const
    {
        const std::uint32_t held = std::max(atoms_[0], atoms_[1]);
        return input_.ready() && !input_.shadow && held < silicon_.atom_fifo ? Cycle{silicon_.atom_fifo - held} * silicon_.beats : 0;
    }
    /// The cycles in which it takes whatever comes and hands nothing over: the atom it waits for is complete with the last
    /// of them at the earliest. `arrives`: the distance of the first beat that can be offered.
    Cycle flows(Cycle arrives) const
    {
        const bool waits = !moving_ && data_phase_ && !data_ready() && !ports_[0].leaves() && !ports_[1].leaves();
        const bool room = input_.ready() && !input_.shadow && std::max(atoms_[0], atoms_[1]) <= silicon_.atom_fifo;
        return waits && room ? atom_comes(arrives) : 0;
    }
    /// A number of them, with the beats that come, the first in bit 0.
    void flow(unsigned cycles, std::uint32_t in);

    /// Cycles after the one evaluated last in which nothing is handed over, as long as `arrives` is the distance of the
    /// first beat that can be offered.
    Cycle quiet(Cycle arrives) const;
    bool blocked() const { return blocked_; }
    bool starved() const { return data_phase_; }
    bool counting() const { return count_stall_; }
    std::uint64_t& stall() { return stall_; }
    std::uint64_t atoms_written() const { return atoms_written_; }

private:
    struct Command {
        std::uint64_t address = 0;
        std::uint32_t atoms = 0;
        bool last = false;
    };
    /// Atoms of the packet that is sent next.
    std::uint32_t packet_atoms() const { return silicon_.word_atoms == 2 && sent_ + 1 < command_.atoms ? 2 : 1; }
    /// Of the FIFOs, that the next beat goes to.
    std::uint32_t set_of_beat() const { return silicon_.word_atoms == 2 ? pixel_ & 1 : 0; }
    bool data_ready() const { return atoms_[packet_atoms() - 1] != 0; }
    void send_command(PortStages<WritePacket>& port);
    bool send_data(PortStages<WritePacket>& port);
    void collect(elements::Flow& flow, bool in);
    void end_atom();
    /// Cycles until the atom that is collected can be complete: its beats come one a cycle, through the input stage.
    Cycle atom_comes(Cycle arrives) const { return (input_.valid() ? 0 : arrives + 1) + silicon_.beats - beat_; }

    const facts::pdp::Facts& silicon_;
    Values& values_;
    std::array<PortStages<WritePacket>, 2> ports_;
    bool to_primary_ = true;
    OutputLines commands_, filling_;  // the line of the next command, of the beat that arrives next
    elements::CommandRegister<Command> register_;
    Command command_;
    bool data_phase_ = false;
    std::uint32_t sent_ = 0;  // atoms of the command
    elements::EitherSkid input_;
    std::array<std::uint32_t, 2> atoms_{};  // complete ones in the FIFOs: all or those of even pixels, those of odd pixels
    std::uint32_t beat_ = 0, pixel_ = 0;    // of the atom, of the line: where the next beat goes
    bool count_stall_ = false, blocked_ = false, moving_ = false;
    std::uint64_t stall_ = 0, atoms_written_ = 0;
};

}  // namespace dlasim::pdp
