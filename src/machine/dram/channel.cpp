#include "dram/channel.h"

#include <algorithm>

#include "base/expects.h"
#include "dram/check/reference.h"
#include "dram/controller.h"

namespace dlasim::dram {
namespace {

Cause cause_of(const std::string& owner)
{
    if (owner == "refresh") return Cause::DramRefresh;
    if (owner == "power") return Cause::DramPower;
    if (owner == "bank_group") return Cause::DramGroup;
    if (owner == "burst") return Cause::DramData;
    if (owner == "turnaround" || owner == "rank_switch" || owner == "write_clock") return Cause::DramTurn;
    return Cause::DramRow;
}

/// The commands that the controller may issue, a bit each.
std::uint32_t commands_of(const Config& config, bool any_policy)
{
    if (config.controller.profile == Profile::Reference) return ~0u;
    std::uint32_t never = 0;
    const auto only_if = [&never](bool issued, std::initializer_list<Command> commands) {
        for (Command command : commands) never |= issued ? 0u : 1u << index(command);
    };
    only_if(any_policy || config.controller.auto_precharges(), {Command::Rda, Command::Wra});
    only_if(config.controller.power_down_after != 0, {Command::PdEnter, Command::PdExit});
    only_if(config.controller.self_refresh_after != 0, {Command::SrefEnter, Command::SrefExit});
    return ~never;
}

}  // namespace

Channel::Channel(const Config& config, const DramPolicy* policy)
    : config_(config),
      policy_(policy),
      device_(config, commands_of(config, policy)),
      openings_(device_.banks.size()),
      ranks_(config.organisation.ranks())
{
    stats_.lost_to_row.resize(256);
    stats_.read_queue_cycles.resize(config.controller.read_queue + 1);
    stats_.write_queue_cycles.resize(config.controller.write_queue + 1);
    stats_.banks.resize(device_.banks.size());
    cause_of_row_.fill(static_cast<std::uint8_t>(dram_index(Cause::DramQueue)));
    for (std::size_t row = 0; row < config_.constraints.size() && row < cause_of_row_.size(); ++row)
        cause_of_row_[row] = static_cast<std::uint8_t>(dram_index(cause_of(config_.constraints[row].owner)));
}

Location Channel::location_of(std::uint32_t bank) const
{
    const Organisation& o = config_.organisation;
    Location at;
    at.rank = bank / o.banks_per_rank();
    at.group = bank / o.banks % o.bank_groups;
    at.bank = bank % o.banks;
    at.row = device_.banks[bank].row;
    return at;
}

void Channel::enter(RankTrack& rank, RankState state, Cycle at)
{
    stats_.rank_cycles[static_cast<std::size_t>(rank.state)] += at - rank.since;
    rank.since = at;
    rank.state = state;
}

void Channel::issue(Command command, std::uint32_t bank, const Location& at, Cycle cycle, std::uint64_t request)
{
    const std::uint32_t rank_index = device_.rank_of(bank);
    RankTrack& rank = ranks_[rank_index];
    Bank& b = device_.banks[bank];
    Opening& opening = openings_[bank];
    BankCounts& counts = stats_.banks[bank];
    ++stats_.commands[index(command)];
    if (observer_) observer_({cycle, command, at, request});

    const auto close = [&](std::uint32_t which, Stamp ready) {
        openings_[which].pre_at = cycle;
        openings_[which].pre_ready = ready;
        device_.banks[which].state = BankState::Closed;
        if (--rank.open == 0) enter(rank, RankState::Precharged, cycle);
    };
    switch (command) {
        case Command::Act:
            opening.act_at = cycle;
            opening.act_ready = device_.allowed(command, bank);
            b = {config_.two_part_activation ? BankState::Activating : BankState::Open, at.row, 0, cycle};
            ++counts.activations;
            if (rank.open++ == 0) enter(rank, RankState::Active, cycle);
            break;
        case Command::Act2:
            b.state = BankState::Open;
            break;
        case Command::Pre:
            close(bank, device_.allowed(command, bank));
            ++counts.precharges;
            break;
        case Command::PreAll: {
            const Stamp ready = device_.allowed_rank(command, rank_index);
            const std::uint32_t per_rank = config_.organisation.banks_per_rank();
            for (std::uint32_t other = rank_index * per_rank; other < (rank_index + 1) * per_rank; ++other)
                if (device_.banks[other].state != BankState::Closed) {
                    close(other, ready);
                    ++stats_.banks[other].precharges;
                }
            break;
        }
        case Command::Rd:
        case Command::Rda:
        case Command::Wr:
        case Command::Wra:
            account_column(command, bank, at, cycle, device_.allowed(command, bank));
            b.last_use = cycle;
            if (b.columns++ != 0) ++stats_.later_columns;
            ++(is_read(command) ? counts.reads : counts.writes);
            if (auto_precharges(command)) close(bank, device_.allowed(command, bank));
            break;
        case Command::RefAll:
            ++stats_.banks[rank_index * config_.organisation.banks_per_rank()].refreshes;
            break;
        case Command::RefBank:
            ++counts.refreshes;
            break;
        case Command::SrefEnter:
            enter(rank, RankState::SelfRefresh, cycle);
            break;
        case Command::PdEnter:
            enter(rank, rank.open ? RankState::ActivePowerDown : RankState::PrechargedPowerDown, cycle);
            break;
        case Command::SrefExit:
        case Command::PdExit:
            enter(rank, rank.open ? RankState::Active : RankState::Precharged, cycle);
            break;
        case Command::Cas:
            break;
    }
    device_.apply(command, bank, cycle);
}

void Channel::account_column(Command command, std::uint32_t bank, const Location& at, Cycle cycle, Stamp ready)
{
    const bool write = is_write(command);
    const std::int64_t latency = write ? config_.write_latency : config_.read_latency;
    const auto start = static_cast<std::int64_t>(cycle) + latency;
    const auto end = static_cast<std::int64_t>(data_end_);
    if (start > end) account_gap(bank, end - latency, cycle, ready);
    data_end_ = static_cast<Cycle>(start + config_.burst());
    stats_.busy += static_cast<Cycle>(config_.burst());
    spent_[dram_index(Cause::DramData)] += static_cast<std::uint32_t>(config_.burst());
    if (any_column_) {
        const Organisation& o = config_.organisation;
        if (last_write_ != write) ++stats_.turnarounds;
        if (last_bank_ / o.banks_per_rank() != at.rank) ++stats_.other_rank;
        else if (last_bank_ / o.banks % o.bank_groups == at.group) ++stats_.same_group;
        else ++stats_.other_group;
    }
    any_column_ = true;
    last_write_ = write;
    last_bank_ = bank;
}

// The data bus idles although a burst might have started by a command in [from, to). Backwards from
// the column command: what delayed it after the activation, what delayed the activation, what the precharge.
void Channel::account_gap(std::uint32_t bank, std::int64_t from, Cycle to, Stamp ready)
{
    const Opening& opening = openings_[bank];
    const std::int64_t lower = std::min(std::max(from, static_cast<std::int64_t>(work_since_)), static_cast<std::int64_t>(to));
    lose(Lost::NoRequest, lower - from);
    auto upper = static_cast<std::int64_t>(to);
    const auto held = [&](Stamp stamp, Cycle previous, bool more) {
        const std::int64_t free = std::clamp(static_cast<std::int64_t>(stamp.cycle()), lower, upper);
        lose(Lost::Scheduling, upper - free);
        const std::int64_t down_to = more ? std::clamp(static_cast<std::int64_t>(previous), lower, free) : lower;
        lose(stamp, free - down_to);
        upper = down_to;
    };
    held(ready, opening.act_at, true);
    held(opening.act_ready, opening.pre_at, true);
    held(opening.pre_ready, 0, false);
}

Statistics Channel::statistics(Cycle end) const
{
    Statistics s = stats_;
    s.cycles = end;
    for (std::size_t i = 0; i < answers_.size(); ++i)
        if (answers_[i].at < end) count_answer(s, answers_[i].id);
    for (const RankTrack& rank : ranks_)
        if (end > rank.since) s.rank_cycles[static_cast<std::size_t>(rank.state)] += end - rank.since;
    if (end > data_end_) s.lost[static_cast<std::size_t>(working() ? Lost::Unfinished : Lost::NoRequest)] += end - data_end_;
    s.bus_cycles = std::max(end, data_end_);
    if (end > queues_since_) {
        const auto [reads, writes] = queued();
        s.read_queue_cycles[reads] += end - queues_since_;
        s.write_queue_cycles[writes] += end - queues_since_;
    }
    return s;
}

std::unique_ptr<Channel> make_channel(const Config& config, const DramPolicy* policy)
{
    DLASIM_EXPECTS(!policy || config.controller.profile == Profile::Default);
    if (config.controller.profile == Profile::Reference) return std::make_unique<ReferenceController>(config);
    return std::make_unique<Controller>(config, policy);
}

}  // namespace dlasim::dram
