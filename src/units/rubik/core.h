// Rubik, the reshape engine: puts deconvolutions together and turns cubes into planes and back,
// cycle by cycle.
//
//   (1) reader ── requests ──► MCIF, CVIF
//                                 │ beats
//   (2) fill ◄── FIFO (80) ◄──────┘
//        ▼ pipe of beats
//      two banks of 64 atoms (5)
//        ▼ pipe of beats
//   (3) drain ──► packer ──► (4) sender ── commands, data ──► MCIF, CVIF ◄── complete ── done, GLB
//
// Fill and drain exchange the banks block by block, each when it issues the last beat of a block. (5) The register
// file behind their pipes counts blocks of its own, when the last beats really arrive and leave: no beat arrives
// while both banks are full, none leaves while both are empty. The register group is released when the last
// write beat is handed over; the interrupt follows when it is acknowledged.
//
// Shapes    an atom is 32 bytes, a beat two of them.
// Source    rubik.md; latencies in facts/rubik.h.
// Left out  the FIFO of 256 block commands: credits for 80 beats keep it from ever being full.
// Error     0 cycles on the measured cases: rubik.md 6 (tests/wiring/rubik_machine_test.cpp), rubik_* (ctest measured.nv_full).
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/ring.h"
#include "elements/stage.h"
#include "elements/word_fifo.h"
#include "facts/hardware.h"
#include "facts/rubik.h"
#include "links/core.h"
#include "links/dma_shim.h"
#include "registers/register_file.h"
#include "traffic/csb.h"
#include "traffic/memory.h"
#include "units/rubik/bank.h"
#include "units/rubik/counters.h"
#include "units/rubik/layer.h"
#include "units/rubik/packer.h"

namespace dlasim {

struct RubikPorts {
    CsbLink& csb;
    ReadLink& read_mc;
    ReadLink& read_cv;
    WriteLink& write_mc;
    WriteLink& write_cv;
    Pulse<std::uint32_t>& interrupt;  // GLB bits, for the cycle at the GLB input
};

class RubikCore final : public Core {
public:
    RubikCore(const Hardware& hardware, const RubikPorts& ports);

    void advance(Cycle to) override;
    Cycle horizon() const override { return horizon_; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return counted_.beats_out * kMaxBeatBytes; }

private:
    struct Beat {
        Cycle at = 0;  // first cycle in which it can be filled
        std::array<std::uint8_t, kMaxBeatBytes> data;
    };
    /// A FIFO of commands: what is in it, and when it is at the output.
    template <class T>
    struct Commands {
        elements::WordFifo<facts::kRubikCommandWords> fifo;
        Ring<T> items{elements::WordFifo<facts::kRubikCommandWords>::kCapacity};
        bool empty() const { return items.empty(); }
        bool step(const T* in, bool taken)
        {
            if (taken) items.pop_front();
            if (in && fifo.ready()) items.push_back(*in);
            return fifo.step(in, taken);
        }
    };
    struct BankState {
        rubik::Bank bank;
        bool full = false;
        Cycle changes = 0;  // first cycle in which the other side sees it
    };

    void start(Cycle now);
    void account(Cycle to);
    bool step_completion(Cycle now);
    bool step_reader(Cycle now);
    bool step_commands(Cycle now, bool taken);
    unsigned step_sender(Cycle now, bool& moved);
    bool step_write_side(Cycle now);
    const rubik::Packer::Beat* step_drain(Cycle now);
    bool step_fill(Cycle now);
    bool step_response(Cycle now);
    bool sender_offers(Cycle at) const;
    std::uint32_t beat_atoms() const { return atoms_left_ < 2 ? atoms_left_ : 2; }
    void finish(Cycle now);
    Cycle timers(Cycle now) const;
    Phase waiting_phase(Cycle at) const;

    RegisterFile registers_;
    std::array<ReadLink*, 2> read_;
    Pulse<std::uint32_t>& interrupt_;

    // The layer.
    bool running_ = false;
    Cycle active_at_ = 0;  // first cycle of requests and commands
    rubik::Layer layer_;
    unsigned from_ = 0, to_ = 0;  // 0 MCIF, 1 CVIF

    // (1) and (2)
    bool reading_ = false;
    rubik::ReadWalk reads_;
    std::array<Outlet<ReadRequest>, 2> read_out_;
    Ring<rubik::Block> blocks_;  // requested, not yet being filled
    Ring<Beat> fifo_;
    bool filling_ = false, fill_ends_ = false;  // the beat filled in this cycle ended its block

    // (3)
    std::array<BankState, 2> banks_;
    unsigned fill_bank_ = 0, drain_bank_ = 0;
    elements::Stage<bool> fill_pipe_;  // the beat ends its block
    unsigned blocks_filled_ = 0;       // (5)
    Commands<std::uint32_t> drains_;   // blocks to drain
    std::uint32_t open_ = 0;           // blocks left of the drain command that was taken out
    rubik::Packer::Beat drained_;      // the beat issued in this cycle
    rubik::Packer packer_;
    Ring<rubik::Atom> atoms_;  // drained and not yet sent

    // (4)
    bool commanding_ = false;  // commands are still generated
    rubik::WriteWalk writes_;
    rubik::Write next_write_;
    Commands<rubik::Write> commands_;
    Cycle armed_at_ = kNever;                                            // the first command after reset waits for data
    bool sending_ = false, command_taken_ = false, layer_done_ = false;  // the last two: in this cycle
    rubik::Write write_;
    std::uint32_t atoms_left_ = 0;
    std::array<Outlet<WritePacket>, 2> write_out_;
    WriteAcks acks_;
    Ring<unsigned> done_groups_;

    // Accounting.
    Cycle now_ = 0, horizon_ = 0;
    PhaseLog phases_;
    std::uint32_t read_stall_ = 0, write_stall_ = 0;
    Cycle gate_from_ = kNever, gate_until_ = 0, gate_cycles_ = 0;
    RubikCounters counted_;  // without the clock
};

}  // namespace dlasim
