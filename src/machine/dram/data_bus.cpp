#include "dram/data_bus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace dlasim::dram {
namespace {

/// The bank of the second command relative to that of the first.
struct Relation {
    const char* text;
    bool exists;
    std::vector<Scope> scopes;  // of the rows that hold for it
};

std::vector<Relation> relations(const Organisation& o)
{
    return {{"the same bank", true, {Scope::Bank, Scope::Group, Scope::Rank}},
            {"another bank of the group", o.banks > 1, {Scope::Group, Scope::OtherBanks, Scope::Rank}},
            {"another bank group", o.bank_groups > 1, {Scope::OtherGroups, Scope::OtherBanks, Scope::Rank}},
            {"another rank", o.ranks() > 1, {Scope::OtherRanks}}};
}

bool names_command(const std::vector<Command>& commands, Command wanted)
{
    return std::find(commands.begin(), commands.end(), wanted) != commands.end();
}

/// The gap the table asks for; 0 if no row does.
std::int64_t gap(const Config& config, Command from, Command to, const Relation& relation)
{
    std::int64_t most = 0;
    for (const Constraint& row : config.constraints) {
        const bool holds = std::find(relation.scopes.begin(), relation.scopes.end(), row.scope) != relation.scopes.end();
        if (holds && !row.at_most && row.after == 1 && names_command(row.from, from) && names_command(row.to, to))
            most = std::max(most, row.gap);
    }
    return most;
}

}  // namespace

void check_data_bus(const Config& config, const std::string& where)
{
    const auto start = [&](Command command) { return is_read(command) ? config.read_latency : config.write_latency; };
    const Organisation& o = config.organisation;
    constexpr Command kColumns[] = {Command::Rd, Command::Wr, Command::Rda, Command::Wra};
    for (const Command from : kColumns)
        for (const Command to : kColumns)
            for (const Relation& relation : relations(o)) {
                // After auto-precharge the same bank has to be activated first.
                if (!relation.exists || (auto_precharges(from) && relation.scopes.front() == Scope::Bank)) continue;
                const std::int64_t found = gap(config, from, to, relation), needed = start(from) + config.burst() - start(to);
                if (found >= needed) continue;
                throw ConfigError(
                    where, fmt::format("a burst of {} at {} transfers a cycle takes {} cycles of the data bus, but {} may follow {} to {} "
                                       "after {} cycles, expected at least {}: the constraint table of {} would let bursts overlap",
                                       o.burst_length, o.transfers_per_cycle, config.burst(), name(to), name(from), relation.text, found,
                                       needed, config.standard));
            }
}

}  // namespace dlasim::dram
