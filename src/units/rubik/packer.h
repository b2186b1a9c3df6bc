// What is drained, on its way to the sender: a pipe of beats, one beat in a register, two lanes of an atom each.
//
//   drain ──► PIPE2 of beats ──►(1)──► data register ──►(2)──► lane 0 ──► sender
//                                                         └──► lane 1 ──►
//
// (1) waits until the lanes are ready for the register's beat, and until the register file has a filled block
// (2) both lanes for two atoms, the lane whose turn it is for one
//
// Atoms take the lanes in turn, so a one-atom beat swaps the halves of the beats behind it. It takes a whole place in
// pipe and register: blocks with odd rows keep less ahead of the sender.
//
// Source  open_points.md 2, F2; rubik.md 1.5, 2.2.
#pragma once
#include <array>
#include <cstdint>

#include "elements/stage.h"
#include "elements/word_fifo.h"
#include "facts/rubik.h"

namespace dlasim::rubik {

class Packer {
public:
    struct Beat {
        std::uint8_t atoms = 0;
        bool ends_block = false;
    };
    struct Cycle {
        bool changed = false;
        bool block_read = false;  // the last beat of a block left the register file
        bool pushed = false;      // the lanes took a beat
    };

    /// Atoms that can be inside: in the pipe, the register and the lanes.
    static constexpr unsigned kAtoms = 2 * 2 + 2 + 2 * elements::WordFifo<facts::rubik::kLaneWords>::kCapacity;

    /// A drain beat may be issued.
    bool ready() const { return pipe_.ready(); }
    /// The lanes hold the next `atoms` (1 or 2) of the sender.
    bool available(unsigned atoms) const { return lanes_[send_].valid() && (atoms == 1 || lanes_[1 - send_].valid()); }

    /// `issued`: the drain beat of this cycle, if any; `filled`: the register file holds a block; `sent`: atoms that
    /// the sender takes.
    Cycle step(const Beat* issued, bool filled, unsigned sent)
    {
        Cycle cycle;
        const bool ready[2]{lanes_[0].ready(), lanes_[1].ready()};
        const bool lanes_ready = ready[fill_] && (atoms_ == 1 || ready[1 - fill_]);
        for (unsigned i = 0; i < lanes_.size(); ++i) {
            const bool wanted = full_ && (atoms_ == 2 || i == fill_);
            const bool write = wanted && (atoms_ == 1 || ready[1 - i]);
            const bool read = sent == 2 || (sent == 1 && i == send_);
            cycle.changed |= lanes_[i].step(write, read);
        }
        if (sent == 1) send_ ^= 1;
        cycle.pushed = full_ && lanes_ready;
        if (cycle.pushed && atoms_ == 1) fill_ ^= 1;

        const bool pops = pipe_.valid() && filled && lanes_ready;
        cycle.block_read = pops && pipe_.head().ends_block;
        cycle.changed |= cycle.pushed || pops;
        if (lanes_ready) {
            // The count follows what stands at the pipe's output, whether it comes or not.
            cycle.changed |= atoms_ != at_output_;
            full_ = pops;
            atoms_ = at_output_;
        }
        cycle.changed |= pipe_.step(issued, pops, false);
        if (pipe_.valid()) at_output_ = pipe_.head().atoms;
        return cycle;
    }
    /// The end of a layer.
    void restart() { fill_ = send_ = 0; }

private:
    elements::Stage<Beat> pipe_;
    bool full_ = false;                       // the data register
    std::uint8_t atoms_ = 2, at_output_ = 2;  // of the register, and of the last beat at the pipe's output
    std::array<elements::WordFifo<facts::rubik::kLaneWords>, 2> lanes_{};
    unsigned fill_ = 0, send_ = 0;  // the lane of the next atom
};

}  // namespace dlasim::rubik
