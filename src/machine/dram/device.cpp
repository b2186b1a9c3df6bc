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
                if ((issued >> index(to) & 1) != 0) {
                    Effects& effects = effects_[index(from)];
                    (c.scope == Scope::Bank    ? effects.bank
                     : c.scope == Scope::Group ? effects.group
                     : c.scope == Scope::Rank  ? effects.rank
                                               : effects.others)
                        .push_back({c.scope, static_cast<std::uint8_t>(to), row, gap});
                }
    }
    // Where a group holds back more than the other groups do, these may be the whole rank.
    for (Effects& effects : effects_)
        for (std::size_t i = effects.others.size(); i-- > 0;) {
            const Effect other = effects.others[i];
            const auto longer = [&](const Effect& e) { return e.to == other.to && e.gap > other.gap; };
            if (other.scope != Scope::OtherGroups || std::ranges::none_of(effects.group, longer)) continue;
            effects.rank.push_back(other);
            effects.others.erase(effects.others.begin() + static_cast<std::ptrdiff_t>(i));
        }
}

void DeviceState::apply(Command command, std::uint32_t bank, Cycle at)
{
    const std::uint32_t rank = rank_of_[bank], group = group_of_[bank];
    const Effects& effects = effects_[index(command)];
    const auto raise_all = [at](const std::vector<Effect>& list, Stamp* stamps) {
        for (const Effect& e : list) raise(stamps[e.to], {at + e.gap, e.row});
    };
    raise_all(effects.bank, &bank_[bank * kCommands]);
    raise_all(effects.group, &group_[group * kCommands]);
    raise_all(effects.rank, &rank_[rank * kCommands]);
    for (const Effect& e : effects.others) {
        const Stamp stamp{at + e.gap, e.row};
        switch (e.scope) {
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
            default:
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
