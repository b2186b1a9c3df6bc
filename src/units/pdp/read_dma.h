// PDP_RDMA: one read command a line, words from memory to atoms, atoms to beats.
//
//   commands ─┬─► interface stages ─► port           port ─► response stages ─► latency FIFO ─► reorder FIFOs ─► output
//             └─► queue ─► line counter (1)                                                      one a beat       stage
//
// The reorder FIFOs are written together, an atom or two at once, and read in turn, one a cycle. So one count tells of
// all of them: the atoms in the FIFO that is read last. (1) begins anew with every line; where lines follow each other
// without a gap it is loaded with the last beat of the line before.
//
// Shapes  beat: the atom's bytes / facts.beats.
// Source  pdp.md 1.5, 4.1, 4.2, 5.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/command_fifo.h"
#include "elements/pipe_row.h"
#include "facts/pdp.h"
#include "links/port_stages.h"
#include "traffic/memory.h"
#include "units/pdp/layer.h"
#include "units/pdp/values.h"

namespace dlasim::pdp {

class ReadDma {
public:
    ReadDma(const facts::Pdp& facts, Values& values);
    void connect(ReadLink& primary, ReadLink* secondary);

    /// Requests leave from the next cycle on.
    void start(const ReadLayer& layer, bool count_stall);
    bool running() const { return beats_left_ != 0; }

    /// Takes the responses of this cycle.
    void receive(Cycle now);

    bool valid() const { return out_.valid(); }
    /// The beat at the output is the last of the layer; pre: valid().
    bool last() const { return beats_left_ == 1; }

    struct Answer {
        bool finished = false;       // the last beat of the layer was taken
        bool all_asked_for = false;  // the last request entered the interface
    };
    /// One cycle of everything. `flow.ready`: the output is taken.
    Answer sweep(Cycle now, elements::Flow& flow);

    /// The ready of the memory interfaces in this cycle, or none.
    void look(Cycle now)
    {
        for (auto& port : ports_) port.look(now);
    }
    void look_away()
    {
        for (auto& port : ports_) port.look_away();
    }

    /// The cycles in which, one after the other, a beat leaves, and is the last one of an atom in the last of them at the
    /// earliest, and of line and layer in none; no word leaves the latency FIFO.
    Cycle flows() const
    {
        if (!out_.flows() || line_left_ == 0 || atoms_[group_] == 0 || (latency_.valid() && room())) return 0;
        return std::min({line_left_ - 1, beats_left_ - 1, Cycle{facts_.beats - beat_}});
    }
    /// So many of them, if quiet() allows them.
    void flow(unsigned cycles)
    {
        if (blocked_ && count_stall_) stall_ += cycles;
        for (unsigned i = 0; i < cycles; ++i) latency_.clock(false, false);
        beats_left_ -= cycles;
        line_left_ -= cycles;
        beat_ += cycles;
        if (beat_ == facts_.beats) end_atom();
    }

    /// A word waits for the end of the atom that is read, and no other could follow it at once: the cycles until that end, if a
    /// beat leaves in each of them, neither the last of the line nor of the layer. Else 0.
    Cycle until_room() const
    {
        const Cycle cycles = facts_.beats - beat_;
        const bool waits = facts_.word_atoms == 1 && !promised_ && latency_.valid() && atoms_[0] == facts_.atom_fifo + 1;
        return waits && out_.flows() && line_left_ > cycles && beats_left_ > cycles ? cycles : 0;
    }
    /// It is so: the credit of that word is put now, and nobody has to look when it leaves.
    void promise(Cycle now)
    {
        link_->credit.put(now + 1 + facts_.beats - beat_ + 1, true);
        promised_ = true;
    }

    /// Cycles after the one evaluated last in which nothing leaves for the fabric or ends, if nothing arrives.
    Cycle quiet() const;
    bool blocked() const { return blocked_; }
    bool counting() const { return count_stall_; }
    std::uint64_t& stall() { return stall_; }
    std::uint64_t atoms_read() const { return atoms_read_; }

private:
    struct Line {
        std::uint32_t atoms = 0;
    };
    ReadRequest request() const;
    void next_request();
    bool room() const;
    bool sweep_beats(elements::Flow& flow);
    void end_atom()
    {
        --atoms_[group_];
        beat_ = 0;
        group_ = group_ + 1 == facts_.word_atoms ? 0 : group_ + 1;
    }
    bool sweep_requests(Cycle now, bool line_taken, elements::Flow& flow);

    const facts::Pdp& facts_;
    Values& values_;
    std::array<ReadLink*, 2> links_{};  // secondary, primary
    std::array<PortStages<ReadRequest>, 2> ports_;
    ReadLink* link_ = nullptr;  // of the layer
    ReadLayer layer_;
    // requests
    std::uint64_t requests_left_ = 0;
    std::uint32_t pass_ = 0, surface_ = 0, line_ = 0;
    elements::CommandQueue<Line> lines_;
    bool count_stall_ = false, blocked_ = false, moving_ = false;
    std::uint64_t stall_ = 0, atoms_read_ = 0;
    // responses
    bool arrived_ = false;
    elements::RamFifo<facts::kPdpResponseStages> latency_;
    Ring<std::uint8_t> words_{64};  // atoms of the words in it
    bool promised_ = false;         // the credit of the first one is on its way
    // beats
    std::array<std::uint32_t, 2> atoms_{};  // in the reorder FIFOs of lower and upper atoms
    std::uint32_t beat_ = 0, group_ = 0;    // FIFO that is read next: of the atom, lower or upper
    std::uint64_t line_left_ = 0;           // beats of the line; 0: idle
    elements::EitherSkid out_;
    std::uint64_t beats_left_ = 0;  // of the layer, still to leave
};

}  // namespace dlasim::pdp
