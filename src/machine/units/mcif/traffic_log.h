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

    /// Keeps the first kLogged commands too, or all.
    void record_commands(bool all = false)
    {
        recording_ = true;
        logged_ = all ? SIZE_MAX : kLogged;
        recent_commands_.resize(kRecent);
    }
    /// Everything before cycle `first` no longer counts in since_mark() and in the logs. May be called
    /// some cycles late: the last events are remembered.
    void mark(Cycle first);

    void read_command(const Command& command)
    {
        ++all_.ar;
        record(command.cycle, Kind::Ar, command.id, 0);
        if (recording_) log(command, Kind::Ar);
    }
    void write_command(const Command& command)
    {
        ++all_.aw;
        record(command.cycle, Kind::Aw, command.id, 0);
        if (recording_) log(command, Kind::Aw);
    }
    void read_beat(Cycle at, std::uint32_t id, std::uint32_t bytes)
    {
        ++all_.read_beats;
        all_.read_bytes_by_client[id % kClients] += bytes;
        record(at, Kind::Read, id, bytes);
    }
    void write_beat(Cycle at, std::uint32_t id, std::uint32_t bytes)
    {
        ++all_.write_beats;
        all_.write_bytes += bytes;
        all_.write_bytes_by_client[id % kClients] += bytes;
        record(at, Kind::Write, id, bytes);
    }

    const PortTotals& since_reset() const { return all_; }
    /// Up to and including cycle `last`. A port knows ahead when the other side will accept: what is accepted later does not
    /// count. `last` may lie some cycles back.
    PortTotals since_mark(Cycle last = kNever) const;
    const std::vector<Command>& ar_log() const { return ar_log_; }
    const std::vector<Command>& aw_log() const { return aw_log_; }

private:
    enum class Kind : std::uint8_t { Ar, Aw, Read, Write };
    struct Event {
        Cycle at = 0;
        Kind kind = Kind::Ar;
        std::uint8_t id = 0;
        std::uint16_t bytes = 0;
    };
    struct LoggedCommand {
        Command command;
        Kind kind = Kind::Ar;
    };
    static constexpr std::size_t kRecent = 512;  // of at most four a cycle

    void record(Cycle at, Kind kind, std::uint32_t id, std::uint32_t bytes)
    {
        const Event event{at, kind, static_cast<std::uint8_t>(id), static_cast<std::uint16_t>(bytes)};
        recent_[events_++ % kRecent] = event;
        if (at < first_) add(before_, event);
    }
    void log(const Command& command, Kind kind);
    void append(const LoggedCommand& logged);
    static void add(PortTotals& totals, const Event& event);

    PortTotals all_, before_;  // before_: what does not count since the mark
    std::vector<Command> ar_log_, aw_log_;
    std::array<Event, kRecent> recent_{};
    std::vector<LoggedCommand> recent_commands_;
    std::size_t events_ = 0, commands_ = 0;
    std::size_t logged_ = kLogged;  // commands of a kind
    Cycle first_ = 0;
    bool recording_ = false;
};

}  // namespace dlasim
