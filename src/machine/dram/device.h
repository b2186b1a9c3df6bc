// The devices of a channel as the controller sees them: open rows, and for every command the first
// cycle in which the constraint table allows it. A command raises those cycles at three levels;
// what a bank may do is the latest of the three:
//
//   rank ──► bank group ──► bank        allowed(cmd) = max(rank[cmd], group[cmd], bank[cmd])
//
// The cycle and the row of the table that set it are kept together in one word, so that the owner
// of a lost cycle is known for free. Source: dram.md 3, 4. Rows are data: dram/read/reader.h.
#pragma once
#include <vector>

#include "dram/config.h"

namespace dlasim::dram {

/// A cycle and the row of the constraint table it comes from, comparable as one number.
class Stamp {
public:
    Stamp() = default;
    Stamp(Cycle cycle, std::uint32_t row) : bits_(cycle << 8 | row) {}
    Cycle cycle() const { return bits_ >> 8; }
    std::uint32_t row() const { return bits_ & 0xff; }
    bool operator<(Stamp other) const { return bits_ < other.bits_; }

private:
    std::uint64_t bits_ = kNoRow;

public:
    static constexpr std::uint32_t kNoRow = 0xff;
};

enum class BankState : std::uint8_t { Closed, Activating, Open };

struct Bank {
    BankState state = BankState::Closed;
    std::uint32_t row = 0;
    std::uint32_t columns = 0;  // column commands since the activation
    Cycle last_use = 0;         // cycle of the last activation or column command
};

class DeviceState {
public:
    /// `issued`: of the commands that are never issued nothing is kept; a bit each.
    explicit DeviceState(const Config& config, std::uint32_t issued = ~0u);

    /// Index of a bank in the channel: rank, then group, then bank.
    std::uint32_t flat(const Location& at) const { return (at.rank * groups_ + at.group) * banks_ + at.bank; }
    std::uint32_t rank_of(std::uint32_t bank) const { return rank_of_[bank]; }

    Stamp allowed(Command command, std::uint32_t bank) const
    {
        const std::size_t c = index(command);
        const Stamp b = bank_[bank * kCommands + c], g = group_[group_of_[bank] * kCommands + c], r = rank_[rank_of_[bank] * kCommands + c];
        return std::max(b, std::max(g, r));
    }
    Stamp allowed_rank(Command command, std::uint32_t rank) const { return rank_[rank * kCommands + index(command)]; }

    /// Applies the constraint table. `bank` is any bank of the rank for a command to a whole rank.
    void apply(Command command, std::uint32_t bank, Cycle at);

    std::vector<Bank> banks;

private:
    struct Effect {
        Scope scope;
        std::uint8_t to;
        std::uint8_t row;
        std::uint32_t gap;
    };
    struct Window {  // the cycles of the last `after` commands of a rank, a ring
        std::uint32_t after, gap;
        std::uint8_t row;
        Command command;
        std::vector<Cycle> last;
        std::vector<std::uint32_t> next, seen;
    };
    static void raise(Stamp& stamp, Stamp to)
    {
        if (stamp < to) stamp = to;
    }

    std::uint32_t ranks_, groups_, banks_, banks_per_rank_;
    std::vector<std::uint8_t> group_of_, rank_of_;  // by bank
    std::vector<Stamp> bank_, group_, rank_;
    struct Effects {
        std::vector<Effect> bank, group, rank, others;  // by scope
    };
    std::array<Effects, kCommands> effects_;
    std::vector<Window> windows_;
};

}  // namespace dlasim::dram
