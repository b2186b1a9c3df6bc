// Checks a command log against the constraint table and the rules of the bus. It shares nothing
// with the controllers but the configuration: it keeps what was issued and when, and looks back at
// every command for each row of the table that ends in it.
//
// Checked: every row of the table; row and power states; command bus; data bus; write clock of
// LPDDR5; deadlines; refreshes that come too late; places outside the organisation.
// Source: dram.md 4 and V6 of 10.1.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "dram/config.h"

namespace dlasim::dram {

struct Violation {
    Cycle cycle = 0;
    std::string rule;  // of the table, or state, command_bus, data_bus, write_clock, refresh, order, place
    std::string what;  // one line for people
};

class Checker {
public:
    explicit Checker(const Config& config);

    /// The next command of the log, of any channel; the commands of one channel in order.
    void see(const Issued& issued);
    /// The log ends here: what should have come and did not.
    void finish(Cycle end);

    std::uint64_t commands() const { return commands_; }
    std::uint64_t count() const { return count_; }
    /// The first hundred, as they came.
    const std::vector<Violation>& violations() const { return violations_; }
    bool violated(const std::string& rule) const { return by_rule_.contains(rule); }

private:
    static constexpr Cycle kLongAgo = kNever;  // never issued
    enum class Power : std::uint8_t { On, Down, SelfRefresh };
    struct BankView {
        bool open = false, half_open = false;  // half: ACT without its ACT2
        std::uint32_t row = 0;
    };
    struct RankView {
        Power power = Power::On;
        Cycle last_refresh = 0;
        Cycle clock_until = 0;  // the write clock runs to here
        Cycle clock_from_cas = kLongAgo;
    };
    struct View {  // of a channel
        std::vector<BankView> banks;
        std::vector<RankView> ranks;
        std::vector<Cycle> by_bank, by_group, by_rank;   // latest cycle of a command, [place][command]
        std::vector<std::vector<Cycle>> windows;         // row x rank: cycles of the last `after` commands
        std::vector<std::vector<Cycle>> bank_refreshes;  // by rank: REFpb of each bank
        Cycle last = 0, row_bus_until = 0, column_bus_until = 0, data_until = 0;
    };
    struct Ending {  // a row of the table that ends in this command
        std::size_t row;
        Command from;
    };

    void report(const Issued& issued, const std::string& rule, const std::string& what);
    void check_state(View& view, const Issued& issued);
    void check_rows(View& view, const Issued& issued);
    void check_buses(View& view, const Issued& issued);
    void check_refresh(View& view, const Issued& issued);
    void remember(View& view, const Issued& issued);
    Cycle latest(const View& view, Command from, Scope scope, const Location& at) const;
    std::size_t bank_index(const Location& at) const { return (at.rank * groups_ + at.group) * banks_ + at.bank; }

    Config config_;
    std::uint32_t ranks_, groups_, banks_;
    std::vector<Ending> endings_[kCommands];
    std::vector<View> views_;
    std::vector<Violation> violations_;
    std::map<std::string, std::uint64_t> by_rule_;
    std::uint64_t commands_ = 0, count_ = 0;
};

}  // namespace dlasim::dram
