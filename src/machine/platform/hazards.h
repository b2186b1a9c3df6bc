// Looks for hazards in a run: every atom of memory and every entry of CBUF knows the last operation that wrote it, and the latest one
// that read it.
//
//   MCIF, CVIF ── bursts ──► whose operation? ──┐
//   CDMA, CSC ─── entries ──► whose layer? ─────┼──► who was there before, of a later operation? ──► hazard
//   host ──────── bytes ──► which host step? ───┘
//
// Right is what the operations compute one after the other, in the order in which the program starts them (workload/operations.h). So an
// access is a hazard if one of a later operation that it conflicts with has happened already: a write after its reader or writer, a read
// after the next write. Software that waits long enough has none, whether it waits for interrupts or by chance. The operation of a read is
// the layer that its unit is at: a unit ends none before its data are there. That of a write is known by the acknowledged ones before it,
// BDMA's by the atoms that its descriptors move.
//
// Shapes    a cell: an atom of memory, 24 bytes, in pages that are made when they are first touched; an entry of CBUF.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "facts/client.h"
#include "facts/hardware.h"
#include "links/module.h"
#include "platform/top.h"
#include "traffic/watch.h"
#include "workload/hazard.h"
#include "workload/operations.h"

namespace dlasim {

class Hazards {
public:
    /// By unit how many layers it has finished; null where a machine has no such unit.
    using Finished = std::array<const std::uint32_t*, kLaunched>;

    /// Watches `top` from now on. `one_memory`: both ports see the same bytes.
    Hazards(const Hardware& hardware, const Program& program, bool one_memory, const Clock& clock, Top& top);
    /// Passive: units that move values call port() and buffer().
    Hazards(const Hardware& hardware, const Program& program, bool one_memory, const Clock& clock, const Finished& finished,
            std::uint32_t cbuf_entries);

    MemoryWatch& port(bool primary) { return primary ? primary_ : secondary_; }
    CbufWatch& buffer() { return buffer_; }

    /// The host is at the next HostStep of the program, or past it.
    void host(bool works);
    /// What it reads or writes in one.
    void host_access(bool primary, Address address, std::uint64_t bytes, bool writes);

    /// What was found, cycles relative to t0.
    HazardReport report(Cycle t0);

private:
    using Number = Operations::Number;
    static constexpr std::uint8_t kHostClient = kClients, kCdmaClient = kClients + 1, kCscClient = kClients + 2;

    /// An access: whose, by which client, when.
    struct Access {
        Number operation = Operations::kNobody;
        std::uint8_t client = 0;
        Cycle at = 0;
    };
    class Cell {
    public:
        Access reader() const { return {reader_, client(read_), read_ >> kClientBits}; }
        Access writer() const { return {writer_, client(written_), written_ >> kClientBits}; }
        void read(const Access& by) { note(by, reader_, read_); }
        void write(const Access& by) { note(by, writer_, written_); }

    private:
        static constexpr unsigned kClientBits = 8;
        static std::uint8_t client(std::uint64_t packed) { return static_cast<std::uint8_t>(packed); }
        static void note(const Access& by, Number& operation, std::uint64_t& packed)
        {
            operation = by.operation;
            packed = by.at << kClientBits | by.client;
        }
        Number reader_ = Operations::kNobody, writer_ = Operations::kNobody;
        std::uint64_t read_ = 0, written_ = 0;  // cycle and client
    };
    static constexpr std::size_t kPageCells = 4096;
    using Page = std::array<Cell, kPageCells>;
    struct Shadow {
        std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
        std::uint64_t last = UINT64_MAX;
        Page* page = nullptr;
        Cell& cell(std::uint64_t atom);
    };

    struct Port final : MemoryWatch {
        void read(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) override;
        void written(std::uint32_t client, Address address, std::uint32_t bytes, Cycle at) override;
        void ended(std::uint32_t client) override { ++ended_[client % kClients]; }
        Hazards* owner = nullptr;
        bool primary = true;
        Shadow* shadow = nullptr;
        std::array<std::size_t, kClients> ended_{};  // acknowledged writes
    };
    struct Buffer final : CbufWatch {
        void restarted() override;
        /// Entries of weights and masks that were read and hold something older.
        void find_unwritten();
        void read(Held kind, std::uint32_t entry, std::uint64_t turn) override;
        void written(Held kind, std::uint32_t entry, std::uint64_t turn) override;
        struct Side {
            Access by;
            Held kind = Held::None;
            std::uint64_t turn = 0;
        };
        struct Entry {
            Side reader, writer;
        };
        Hazards* owner = nullptr;
        std::vector<Entry> entries;
    };

    Number reader(Client client);
    void read(const Port& port, std::uint64_t atom, const Access& by);
    void write(const Port& port, std::uint64_t atom, const Access& by);
    void found(HazardKind kind, const char* where, std::uint64_t address, std::uint64_t amount, const Access& before, const Access& after);
    HazardAccess named(const Access& access) const;

    const Clock& clock_;
    const std::uint32_t atom_bytes_;
    Operations operations_;
    Finished finished_;
    std::uint64_t bdma_read_ = 0, bdma_written_ = 0;  // atoms
    std::size_t host_steps_ = 0;
    bool host_works_ = false;
    std::array<Shadow, 2> shadows_;
    Port primary_, secondary_;
    Buffer buffer_;
    HazardReport report_;
    std::map<std::tuple<HazardKind, const char*, Number, std::uint8_t, Number, std::uint8_t>, std::size_t> known_;
};

}  // namespace dlasim
