#include "dram/check/checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim::dram {

Checker::Checker(const Config& config)
    : config_(config), ranks_(config.organisation.ranks()), groups_(config.organisation.bank_groups), banks_(config.organisation.banks)
{
    for (std::size_t i = 0; i < config_.constraints.size(); ++i)
        for (Command from : config_.constraints[i].from)
            for (Command to : config_.constraints[i].to) endings_[index(to)].push_back({i, from});
    View view;
    view.banks.resize(ranks_ * groups_ * banks_);
    view.ranks.resize(ranks_);
    view.by_bank.assign(view.banks.size() * kCommands, kLongAgo);
    view.by_group.assign(ranks_ * groups_ * kCommands, kLongAgo);
    view.by_rank.assign(ranks_ * kCommands, kLongAgo);
    view.windows.resize(config_.constraints.size() * ranks_);
    view.bank_refreshes.assign(ranks_, std::vector<Cycle>(groups_ * banks_, 0));
    views_.assign(config.organisation.channels, view);
}

void Checker::report(const Issued& issued, const std::string& rule, const std::string& what)
{
    ++count_;
    ++by_rule_[rule];
    if (violations_.size() >= 100) return;
    violations_.push_back(
        {issued.cycle, rule,
         fmt::format("cycle {}: {} channel {} rank {} group {} bank {} row {} column {}: {}: {}", issued.cycle, name(issued.command),
                     issued.at.channel, issued.at.rank, issued.at.group, issued.at.bank, issued.at.row, issued.at.column, rule, what)});
}

void Checker::see(const Issued& issued)
{
    ++commands_;
    const Organisation& o = config_.organisation;
    const Location& at = issued.at;
    if (at.channel >= o.channels || at.rank >= ranks_ || at.group >= groups_ || at.bank >= banks_ || at.row >= o.rows ||
        at.column >= o.columns / o.burst_length) {
        report(issued, "place", "is not in the organisation");
        return;
    }
    View& view = views_[at.channel];
    if (issued.cycle < view.last) report(issued, "order", fmt::format("after a command of cycle {}", view.last));
    check_rows(view, issued);
    check_state(view, issued);
    check_buses(view, issued);
    check_refresh(view, issued);
    remember(view, issued);
}

Cycle Checker::latest(const View& view, Command from, Scope scope, const Location& at) const
{
    const std::size_t c = index(from);
    const auto later = [](Cycle a, Cycle b) { return a == kLongAgo ? b : b == kLongAgo ? a : std::max(a, b); };
    Cycle found = kLongAgo;
    switch (scope) {
        case Scope::Bank:
            return view.by_bank[bank_index(at) * kCommands + c];
        case Scope::Group:
            return view.by_group[(at.rank * groups_ + at.group) * kCommands + c];
        case Scope::Rank:
            return view.by_rank[at.rank * kCommands + c];
        case Scope::OtherGroups:
            for (std::uint32_t g = 0; g < groups_; ++g)
                if (g != at.group) found = later(found, view.by_group[(at.rank * groups_ + g) * kCommands + c]);
            return found;
        case Scope::OtherBanks:
            for (std::uint32_t b = 0; b < groups_ * banks_; ++b)
                if (b != at.group * banks_ + at.bank) found = later(found, view.by_bank[(at.rank * groups_ * banks_ + b) * kCommands + c]);
            return found;
        case Scope::OtherRanks:
            for (std::uint32_t r = 0; r < ranks_; ++r)
                if (r != at.rank) found = later(found, view.by_rank[r * kCommands + c]);
            return found;
    }
    return found;
}

void Checker::check_rows(View& view, const Issued& issued)
{
    for (const Ending& ending : endings_[index(issued.command)]) {
        const Constraint& row = config_.constraints[ending.row];
        if (row.after > 1) {
            std::vector<Cycle>& window = view.windows[ending.row * ranks_ + issued.at.rank];
            if (window.size() == row.after && static_cast<std::int64_t>(issued.cycle - window.front()) < row.gap)
                report(issued, row.rule,
                       fmt::format("{} of these in {} cycles, {} = {} is needed", row.after + 1, issued.cycle - window.front(),
                                   row.gap_text, row.gap));
            if (window.size() == row.after) window.erase(window.begin());
            window.push_back(issued.cycle);
            continue;
        }
        const Cycle from = latest(view, ending.from, row.scope, issued.at);
        if (from == kLongAgo) continue;
        const auto passed = static_cast<std::int64_t>(issued.cycle - from);
        const bool broken = row.at_most ? passed > row.gap : passed < row.gap;
        if (broken)
            report(issued, row.rule,
                   fmt::format("{} cycles after {}, {} {} = {} is needed", passed, name(ending.from), row.at_most ? "at most" : "at least",
                               row.gap_text, row.gap));
    }
}

void Checker::check_state(View& view, const Issued& issued)
{
    const Location& at = issued.at;
    RankView& rank = view.ranks[at.rank];
    BankView& bank = view.banks[bank_index(at)];
    const Command command = issued.command;
    const auto wrong = [&](const char* what) { report(issued, "state", what); };
    const auto rank_banks = static_cast<std::ptrdiff_t>(groups_) * banks_;
    const auto first = view.banks.begin() + at.rank * rank_banks;
    const auto end = first + rank_banks;

    if (rank.power == Power::Down && command != Command::PdExit) wrong("the rank is in power-down");
    if (rank.power == Power::SelfRefresh && command != Command::SrefExit) wrong("the rank is in self-refresh");
    switch (command) {
        case Command::Act:
            if (bank.open || bank.half_open) wrong("the bank is open");
            bank = {!config_.two_part_activation, config_.two_part_activation, at.row};
            break;
        case Command::Act2:
            if (!bank.half_open) wrong("without a first part");
            if (bank.row != at.row) wrong("the first part named another row");
            bank.open = true;
            bank.half_open = false;
            break;
        case Command::Rd:
        case Command::Rda:
        case Command::Wr:
        case Command::Wra:
            if (!bank.open) wrong("the bank is closed");
            else if (bank.row != at.row) wrong("another row is open");
            if (auto_precharges(command)) bank.open = false;
            break;
        case Command::Pre:
            if (bank.half_open) wrong("between the two parts of an activation");
            bank = {};
            break;
        case Command::PreAll:
            if (std::any_of(first, end, [](const BankView& b) { return b.half_open; })) wrong("between the two parts of an activation");
            std::fill(first, end, BankView{});
            break;
        case Command::RefBank:
            if (bank.open || bank.half_open) wrong("the bank is open");
            break;
        case Command::RefAll:
        case Command::SrefEnter:
            if (std::any_of(first, end, [](const BankView& b) { return b.open || b.half_open; })) wrong("a bank is open");
            if (command == Command::SrefEnter) rank.power = Power::SelfRefresh;
            break;
        case Command::SrefExit:
            if (rank.power != Power::SelfRefresh) wrong("the rank is not in self-refresh");
            rank.power = Power::On;
            break;
        case Command::PdEnter:
            rank.power = Power::Down;
            break;
        case Command::PdExit:
            if (rank.power != Power::Down) wrong("the rank is not in power-down");
            rank.power = Power::On;
            break;
        case Command::Cas:
            break;
    }
}

void Checker::check_buses(View& view, const Issued& issued)
{
    const Command command = issued.command;
    const bool column = is_column(command) || command == Command::Cas;
    Cycle& until = config_.row_and_column_bus && column ? view.column_bus_until : view.row_bus_until;
    if (issued.cycle < until) report(issued, "command_bus", fmt::format("another command is on it until cycle {}", until));
    until = issued.cycle + config_.command_cycles[index(command)];

    RankView& rank = view.ranks[issued.at.rank];
    if (command == Command::Cas) rank.clock_from_cas = issued.cycle;
    if (command == Command::PdEnter || command == Command::SrefEnter) rank.clock_until = 0;
    if (!is_column(command)) return;
    if (config_.write_clock.needed) {
        const bool runs = issued.cycle <= rank.clock_until;
        const bool started = rank.clock_from_cas != kLongAgo && issued.cycle == rank.clock_from_cas + 1;
        if (!runs && !started) report(issued, "write_clock", "it is stopped and there was no CAS in the previous cycle");
        const std::int64_t on = is_read(command) ? config_.write_clock.after_read : config_.write_clock.after_write;
        rank.clock_until = issued.cycle + static_cast<Cycle>(on);
    }
    const std::int64_t latency = is_read(command) ? config_.read_latency : config_.write_latency;
    const Cycle start = issued.cycle + static_cast<Cycle>(latency);
    if (start < view.data_until)
        report(issued, "data_bus", fmt::format("data from cycle {}, the bus is busy until {}", start, view.data_until));
    view.data_until = std::max(view.data_until, start + static_cast<Cycle>(config_.burst()));
}

// A rank may owe `postpone` refreshes; two intervals more are the one in progress and the wait for
// the banks to close.
void Checker::check_refresh(View& view, const Issued& issued)
{
    if (config_.refresh.policy == RefreshPolicy::None) return;
    RankView& rank = view.ranks[issued.at.rank];
    std::vector<Cycle>& banks = view.bank_refreshes[issued.at.rank];
    const Cycle interval = static_cast<Cycle>(config_.refresh.interval), allowed = interval * (config_.refresh.postpone + 2);
    const auto due = [&](Cycle since, Cycle limit, const char* what) {
        if (issued.cycle > since + limit)
            report(issued, "refresh", fmt::format("{} {} cycles after the previous one, at most {}", what, issued.cycle - since, limit));
    };
    switch (issued.command) {
        case Command::RefAll:
            if (config_.refresh.policy != RefreshPolicy::PerBank) due(rank.last_refresh, allowed, "refresh");
            rank.last_refresh = issued.cycle;
            break;
        case Command::RefBank: {
            Cycle& last = banks[issued.at.group * banks_ + issued.at.bank];
            if (config_.refresh.policy == RefreshPolicy::PerBank) due(last, interval * banks.size() + allowed, "refresh of the bank");
            last = issued.cycle;
            break;
        }
        case Command::SrefExit:
            rank.last_refresh = issued.cycle;
            std::fill(banks.begin(), banks.end(), issued.cycle);
            break;
        default:
            break;
    }
}

void Checker::remember(View& view, const Issued& issued)
{
    const std::size_t c = index(issued.command);
    const Location& at = issued.at;
    view.by_rank[at.rank * kCommands + c] = issued.cycle;
    if (names_bank(issued.command)) {
        view.by_group[(at.rank * groups_ + at.group) * kCommands + c] = issued.cycle;
        view.by_bank[bank_index(at) * kCommands + c] = issued.cycle;
    }
    view.last = std::max(view.last, issued.cycle);
}

void Checker::finish(Cycle end)
{
    for (std::uint32_t channel = 0; channel < views_.size(); ++channel) {
        const View& view = views_[channel];
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            Issued here{end, Command::RefAll, {channel, rank, 0, 0, 0, 0}, 0};
            const Cycle interval = static_cast<Cycle>(config_.refresh.interval), allowed = interval * (config_.refresh.postpone + 2);
            const bool all_bank =
                config_.refresh.policy == RefreshPolicy::AllBankStaggered || config_.refresh.policy == RefreshPolicy::AllBankSimultaneous;
            if (all_bank && view.ranks[rank].power != Power::SelfRefresh && end > view.ranks[rank].last_refresh + allowed)
                report(here, "refresh", fmt::format("none since cycle {}", view.ranks[rank].last_refresh));
            for (std::uint32_t bank = 0; bank < groups_ * banks_; ++bank) {
                const BankView& b = view.banks[rank * groups_ * banks_ + bank];
                const Cycle act = view.by_bank[(rank * groups_ * banks_ + bank) * kCommands + index(Command::Act)];
                for (const Constraint& row : config_.constraints)
                    if (b.half_open && row.at_most && end > act + static_cast<Cycle>(row.gap))
                        report(here, row.rule, "the second part of an activation is missing");
            }
        }
    }
}

}  // namespace dlasim::dram
