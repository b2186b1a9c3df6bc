// What is drained, on its way to the sender: a pipe of beats, one beat in a register, two lanes of an atom each.
//
//   drain ──► PIPE2 of beats ──►(1)──► data register ──►(2)──► lane 0 ──► sender
//                                                         └──► lane 1 ──►
//
// (1) waits until the lanes are ready for the register's beat, and until the register file has a filled block
// (2) both lanes for two atoms, the lane whose turn it is for one
//
// Atoms take the lanes in turn, so a one-atom beat swaps the halves of the following beats. It takes a whole place in
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
    Cycle step(const Beat* issued, bool filled, unsigned sent);
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
