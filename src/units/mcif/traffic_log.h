// What went over a memory port: totals, bytes by client, and the first commands.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "traffic/memory.h"

namespace dlasim {

struct PortTotals {
    std::uint64_t ar = 0, read_beats = 0, aw = 0, write_beats = 0, write_bytes = 0;
    std::array<std::uint64_t, kClients> read_bytes_by_client{}, write_bytes_by_client{};
};

class TrafficLog {
public:
    struct Command {
        Cycle cycle = 0;
        std::uint64_t address = 0;
        std::uint32_t beats = 0, id = 0;
    };
    static constexpr std::size_t kLogged = 400;

    /// Keeps the first kLogged commands too.
    void record_commands() { recording_ = true; }
    /// Everything before cycle `t0` no longer counts in since_mark() and in the logs. May be said
    /// some cycles late: the last events are remembered.
    void mark(Cycle t0);

    void read_command(Cycle at, const Command& command) { record({at, Kind::Ar, command, 0}); }
    void write_command(Cycle at, const Command& command) { record({at, Kind::Aw, command, 0}); }
    void read_beat(Cycle at, std::uint32_t id, std::uint32_t bytes) { record({at, Kind::Read, {0, 0, 0, id}, bytes}); }
    void write_beat(Cycle at, std::uint32_t id, std::uint32_t bytes) { record({at, Kind::Write, {0, 0, 0, id}, bytes}); }

    const PortTotals& since_reset() const { return all_; }
    const PortTotals& since_mark() const { return marked_; }
    const std::vector<Command>& ar_log() const { return ar_log_; }
    const std::vector<Command>& aw_log() const { return aw_log_; }

private:
    enum class Kind : std::uint8_t { Ar, Aw, Read, Write };
    struct Event {
        Cycle at = 0;
        Kind kind = Kind::Ar;
        Command command;
        std::uint32_t bytes = 0;
    };
    static constexpr std::size_t kRecent = 512;  // of at most four a cycle

    void record(const Event& event);
    void count_marked(const Event& event);
    static void add(PortTotals& totals, const Event& event);

    PortTotals all_, marked_;
    std::vector<Command> ar_log_, aw_log_;
    std::array<Event, kRecent> recent_{};
    std::size_t events_ = 0;
    Cycle t0_ = 0;
    bool recording_ = false;
};

}  // namespace dlasim
