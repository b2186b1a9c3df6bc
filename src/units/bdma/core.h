// BDMA, the bridge DMA: copies blocks of lines between the two memories, cycle by cycle.
//
//   CFG_OP ──► descriptors (20) ──► (1) loader ── read requests ──► MCIF, CVIF
//   LAUNCH ──► pending, active ──┘      │ commands (20)
//                                       ▼
//   MCIF, CVIF ── beats ──► FIFO (245) ──► (2) store ── commands, data ──► MCIF, CVIF
//                                                       ◄── complete ── group done, GLB
//
// Software pushes descriptors and launches what it has gathered as group 0 or 1; one group runs, one
// waits. The loader sends one read a line and runs ahead of the store as far as credits let it.
//
// Shapes    an atom is 32 bytes, a beat two of them; sizes count atoms from 0, strides are bytes.
// Source    bdma.md; latencies in facts/bdma.h.
// Left out  nothing known.
// Error     0 cycles on the 13 measured cases (tests/rtl).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ring.h"
#include "facts/hardware.h"
#include "links/core.h"
#include "links/dma_shim.h"
#include "registers/register_file.h"
#include "traffic/csb.h"
#include "traffic/memory.h"
#include "units/bdma/counters.h"

namespace dlasim {

struct BdmaPorts {
    CsbLink& csb;
    ReadLink& read_mc;
    ReadLink& read_cv;
    WriteLink& write_mc;
    WriteLink& write_cv;
    Pulse<std::uint32_t>& interrupt;  // GLB bits, for the cycle at the GLB input
};

class BdmaCore final : public Core {
public:
    BdmaCore(const Hardware& hardware, const BdmaPorts& ports);

    void advance(Cycle to) override;
    Cycle horizon() const override { return horizon_; }
    UnitReport report(Cycle end) override;
    std::string waiting_for() const override;
    std::uint64_t work() const override { return counted_.beats * kMaxBeatBytes; }

private:
    static constexpr unsigned kMc = 0, kCv = 1;  // index of an interface

    /// What CFG_OP takes a copy of.
    struct Descriptor {
        std::uint64_t source = 0, destination = 0;
        std::uint32_t size = 0;                 // atoms of a line, from 0
        std::uint32_t lines = 0, surfaces = 0;  // repeats, from 0
        std::uint32_t source_line = 0, source_surface = 0, destination_line = 0, destination_surface = 0;
        unsigned from = kCv, to = kCv;
    };
    /// Walks over the lines of a descriptor.
    struct Walk {
        std::uint64_t surface_base = 0, address = 0;
        std::uint32_t line = 0, surface = 0;
        /// To the next line; false behind the last one.
        bool next(std::uint32_t lines, std::uint32_t surfaces, std::uint32_t line_stride, std::uint32_t surface_stride);
    };
    struct Command {
        Descriptor descriptor;
        Cycle at = 0;       // first cycle at the queue's output
        bool last = false;  // of its group: to be acknowledged
        unsigned group = 0;
    };
    struct Queued {
        Descriptor descriptor;
        Cycle pushed = 0;
    };
    struct Beat {
        Cycle at = 0;  // first cycle at the FIFO's output
        unsigned from = kMc;
        std::array<std::uint8_t, kMaxBeatBytes> data;
    };

    void write_register(std::uint32_t offset, std::uint32_t data, Cycle decode);
    std::optional<std::uint32_t> read_register(std::uint32_t offset, Cycle at) const;
    Descriptor snapshot() const;
    std::uint32_t queue_count(Cycle at) const;
    Cycle descriptor_at() const;

    void account(Cycle to);
    bool step_completion(Cycle now);
    bool step_store(Cycle now);
    bool step_loader(Cycle now);
    bool step_responses(Cycle now);
    bool takes_descriptor(Cycle now, bool finishing) const;
    bool store_offers(Cycle at) const;
    void send_command(Outlet<WritePacket>& out);
    void send_beat(Outlet<WritePacket>& out, Cycle now);
    Cycle timers(Cycle now) const;
    bool idle() const;
    Phase waiting_phase(Cycle at) const;
    bool gate_open() const;

    RegisterFile registers_;
    std::array<ReadLink*, 2> read_;
    Pulse<std::uint32_t>& interrupt_;

    // Descriptors and groups.
    Ring<Queued> queue_;     // pushed, not yet taken by the loader
    Ring<Cycle> slots_;      // cycles in which slots of taken ones are counted as free
    Cycle moved_ = 0;        // when the head of the queue could move to its output register
    Ring<Cycle> gathering_;  // pushes not yet in the counter
    std::uint32_t gathered_ = 0;
    bool pending_ = false, active_ = false;
    Cycle pending_at_ = 0;
    unsigned pending_group_ = 0, active_group_ = 0;
    std::uint32_t active_left_ = 0;
    Cycle active_at_ = 0;
    std::array<bool, 2> busy_{};
    std::array<Cycle, 2> busy_changes_{};  // cycle from which busy_ is read

    // (1) The loader.
    bool loading_ = false;
    Descriptor load_;
    Walk load_walk_;
    unsigned previous_from_ = kCv;
    std::array<Outlet<ReadRequest>, 2> read_out_;

    // (2) The store.
    Ring<Command> commands_;
    bool storing_ = false, sending_data_ = false;
    Command store_;
    Walk store_walk_;
    std::uint32_t beats_left_ = 0;
    Ring<Beat> fifo_;
    std::array<Outlet<WritePacket>, 2> write_out_;
    WriteAcks acks_;
    Ring<unsigned> done_groups_;  // groups whose acknowledged command was sent

    // Accounting.
    Cycle now_ = 0, horizon_ = 0;
    PhaseLog phases_;
    std::array<std::uint32_t, 2> read_stall_{};
    std::uint32_t write_stall_ = 0;
    bool gate_ = false;
    Cycle gate_since_ = 0, gate_cycles_ = 0;
    BdmaCounters counted_;  // without the clock
};

}  // namespace dlasim
