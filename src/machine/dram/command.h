// What a DRAM controller says to its devices, and where: commands, addresses, one line of a log.
// ACT is the first part of an activation where the standard has two (LPDDR5); ACT2 is the second.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/cycle.h"
#include "dlasim/dram_policy.h"

namespace dlasim::dram {

enum class Command : std::uint8_t { Act, Act2, Pre, PreAll, Rd, Rda, Wr, Wra, RefAll, RefBank, SrefEnter, SrefExit, PdEnter, PdExit, Cas };
inline constexpr std::size_t kCommands = 15;
inline constexpr std::array<std::string_view, kCommands> kCommandNames{"ACT", "ACT2",  "PRE", "PREab", "RD",  "RDA", "WR", "WRA",
                                                                       "REF", "REFpb", "SRE", "SRX",   "PDE", "PDX", "CAS"};

constexpr std::size_t index(Command command) { return static_cast<std::size_t>(command); }
constexpr std::string_view name(Command command) { return kCommandNames[index(command)]; }
constexpr bool is_read(Command c) { return c == Command::Rd || c == Command::Rda; }
constexpr bool is_write(Command c) { return c == Command::Wr || c == Command::Wra; }
constexpr bool is_column(Command c) { return is_read(c) || is_write(c); }
constexpr bool auto_precharges(Command c) { return c == Command::Rda || c == Command::Wra; }
/// Addressed to a bank; all others concern a whole rank.
constexpr bool names_bank(Command c)
{
    return is_column(c) || c == Command::Act || c == Command::Act2 || c == Command::Pre || c == Command::RefBank;
}

using Location = DramLocation;

/// A command in the cycle of its first command-bus cycle.
struct Issued {
    Cycle cycle = 0;
    Command command{};
    Location at;
    std::uint64_t request = 0;  // of a column command
};

/// Sees every command of a channel as it is issued. Empty when nobody asked.
using CommandObserver = std::function<void(const Issued&)>;

}  // namespace dlasim::dram
