#include "loadable/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim::loadable {
namespace {

/// From the first unit to the last.
Chain upstream_first(const HardwareTask& task, Chain chain)
{
    std::sort(chain.begin(), chain.end(),
              [&](std::size_t a, std::size_t b) { return task.operations[a].type() < task.operations[b].type(); });
    return chain;
}

/// The tables of SDP and CDP may be written only while no operation of that unit runs.
bool needs_idle(const HardwareTask& task, std::size_t operation, const Chain& running)
{
    const Operation& o = task.operations[operation];
    return o.table() >= 0 && std::any_of(running.begin(), running.end(), [&](std::size_t i) { return task.operations[i].kind == o.kind; });
}

}  // namespace

void Scheduler::mark()
{
    if (!marked_) program_.push_back(MarkT0{});
    marked_ = true;
}

void Scheduler::enable(const HardwareTask& task, const Prepared& prepared, std::size_t chain)
{
    programmer_.enable(prepared);
    scheduled_.push_back({task.task, prepared.operation, chain, prepared.group, scheduled_.size()});
}

void Scheduler::wait(Kind kind, unsigned group)
{
    program_.push_back(WaitInterrupt{fmt::format("{}_{}", kKindNames[static_cast<std::size_t>(kind)], group)});
}

void Scheduler::add(const HardwareTask& task, const std::vector<Chain>& all, std::size_t most)
{
    const std::vector<Chain> chains(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size())));
    programmer_.begin(task);
    std::vector<Prepared> prepared;
    const auto is_prepared = [&](std::size_t i) {
        return std::any_of(prepared.begin(), prepared.end(), [&](const Prepared& p) { return p.operation == i; });
    };
    for (std::size_t k = 0; k < chains.size(); ++k) {
        const Chain& chain = chains[k];
        for (const std::size_t i : upstream_first(task, chain))
            if (!is_prepared(i)) prepared.push_back(programmer_.prepare(i));
        const Kind last = task.operations[chain.front()].kind;
        programmer_.unmask(last);
        unsigned last_group = 0;
        for (const std::size_t i : chain) {
            const Prepared& unit = *std::find_if(prepared.begin(), prepared.end(), [&](const Prepared& p) { return p.operation == i; });
            if (i == chain.front()) last_group = unit.group;
            if (!task.operations[i].runs()) continue;
            enable(task, unit, chains_ + k);
            if (i == chain.back()) mark();
            program_.push_back(Stamp{scheduled_.back().stamp});
        }
        prepared.clear();
        if (mode_ == Mode::Overlap && k + 1 < chains.size())
            for (const std::size_t i : upstream_first(task, chains[k + 1])) {
                if (needs_idle(task, i, chain)) break;
                prepared.push_back(programmer_.prepare(i));
            }
        if (task.operations[chain.front()].runs()) wait(last, last_group);
        completed_(chains_ + k);
    }
    chains_ += chains.size();
}

}  // namespace dlasim::loadable
