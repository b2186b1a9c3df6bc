// The write DMA of CDP: puts the chunks of every pixel together and writes a pass at a time, a command
// when all its data are there.
//
//   core ──► input stage ──► (1) gatherer: F FIFOs (2F with words of two atoms) ──┐
//                       └──► commands ──► (2) command, then a word a cycle ◄──────┘
//                                              └──► interface stage ──► MCIF, CVIF
//
// The layer is done when its last word has gone to the interface stage.
//
// Source  cdp.md 2, 4.4; models/cdp.py.
// Error   0 cycles on every measured cdp_ case (tests/rtl).
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "elements/slices.h"
#include "links/dma_shim.h"
#include "traffic/memory.h"
#include "units/cdp/layer.h"
#include "units/cdp/values.h"

namespace dlasim::cdp {

class WriteDma {
public:
    WriteDma(const facts::cdp::Facts& silicon, WriteLink& primary, WriteLink& secondary, Values& values);

    /// With the first beat of a layer.
    void start(const Cube& cube, const LayerConfig& layer);

    // ---- a cycle: begin(), then the ready is asked for, then cycle()
    void begin(Cycle now);
    bool ready() const { return input_.ready(); }

    struct Answer {
        bool changed = false, sent = false;
        bool last_command = false;  // the command to be acknowledged was sent
        bool finished = false;      // the last data were
    };
    Answer cycle(Cycle now, bool in);

    bool primary() const { return primary_; }
    bool blocked() const { return blocked_; }
    bool empty() const { return commands_.held == 0 && !data_phase_ && interface_.empty(); }
    std::uint32_t stalls() const { return stalls_; }
    void account(Cycle cycles);
    std::uint64_t atoms() const { return atoms_; }

private:
    struct Target {
        unsigned half, slice;
    };
    Target target() const;
    bool takes() const;
    unsigned atoms_of_word() const;
    void offer(Cycle now, Answer& answer);

    const facts::cdp::Facts silicon_;
    Values& values_;
    bool primary_ = true, counts_stalls_ = false;

    elements::Skid input_;
    BeatWalk arriving_;
    bool fresh_ = true;  // the beat at the input stage's output is not yet arriving_.beat()
    // (1)
    elements::Gatherer gatherer_;
    elements::Places<8> commands_;
    // (2)
    PassWalk passes_;
    Pass pass_;
    bool data_phase_ = false, blocked_ = false;
    std::uint32_t pixel_ = 0;
    DmaOutputs<WritePacket> interface_;  // by primary

    std::uint32_t stalls_ = 0;
    std::uint64_t atoms_ = 0;
};

}  // namespace dlasim::cdp
