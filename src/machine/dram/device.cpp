#include "dram/device.h"

#include <algorithm>

namespace dlasim::dram {

DeviceState::DeviceState(const Config& config, std::uint32_t issued)
    : banks(config.organisation.banks_per_channel()),
      ranks_(config.organisation.ranks()),
      groups_(config.organisation.bank_groups),
      banks_(config.organisation.banks),
      banks_per_rank_(config.organisation.banks_per_rank()),
      group_of_(banks.size()),
      rank_of_(banks.size()),
      bank_(banks.size() * kCommands),
      group_(ranks_ * groups_ * kCommands),
      rank_(ranks_ * kCommands)
{
    for (std::size_t bank = 0; bank < banks.size(); ++bank) {
        group_of_[bank] = static_cast<std::uint8_t>(bank / banks_);
        rank_of_[bank] = static_cast<std::uint8_t>(bank / banks_per_rank_);
    }
    for (std::size_t i = 0; i < config.constraints.size(); ++i) {
        const Constraint& c = config.constraints[i];
        if (c.at_most || c.gap <= 0) continue;
        const auto row = static_cast<std::uint8_t>(i);
        const auto gap = static_cast<std::uint32_t>(c.gap);
        if (c.after > 1) {
            windows_.push_back({c.after, gap, row, c.from[0], std::vector<Cycle>(ranks_ * c.after), std::vector<std::uint32_t>(ranks_),
                                std::vector<std::uint32_t>(ranks_)});
            continue;
        }
        if (c.scope == Scope::OtherRanks && ranks_ == 1) continue;
        if (c.scope == Scope::OtherGroups && groups_ == 1) continue;
        for (Command from : c.from)
            for (Command to : c.to)
                if ((issued >> index(to) & 1) != 0) effects_[index(from)].push_back({c.scope, static_cast<std::uint8_t>(to), row, gap});
    }
}

void DeviceState::apply(Command command, std::uint32_t bank, Cycle at)
{
    const std::uint32_t rank = rank_of_[bank], group = group_of_[bank];
    for (const Effect& e : effects_[index(command)]) {
        const Stamp stamp{at + e.gap, e.row};
        switch (e.scope) {
            case Scope::Bank:
                raise(bank_[bank * kCommands + e.to], stamp);
                break;
            case Scope::Group:
                raise(group_[group * kCommands + e.to], stamp);
                break;
            case Scope::Rank:
                raise(rank_[rank * kCommands + e.to], stamp);
                break;
            case Scope::OtherGroups:
                for (std::uint32_t g = rank * groups_; g < (rank + 1) * groups_; ++g)
                    if (g != group) raise(group_[g * kCommands + e.to], stamp);
                break;
            case Scope::OtherBanks:
                for (std::uint32_t b = rank * banks_per_rank_; b < (rank + 1) * banks_per_rank_; ++b)
                    if (b != bank) raise(bank_[b * kCommands + e.to], stamp);
                break;
            case Scope::OtherRanks:
                for (std::uint32_t r = 0; r < ranks_; ++r)
                    if (r != rank) raise(rank_[r * kCommands + e.to], stamp);
                break;
        }
    }
    for (Window& w : windows_) {
        if (w.command != command) continue;
        Cycle* ring = &w.last[rank * w.after];
        std::uint32_t& next = w.next[rank];
        ring[next] = at;
        next = next + 1 == w.after ? 0 : next + 1;
        if (w.seen[rank] < w.after) ++w.seen[rank];
        if (w.seen[rank] == w.after) raise(rank_[rank * kCommands + index(command)], {ring[next] + w.gap, w.row});
    }
}

}  // namespace dlasim::dram
