#include "loadable/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

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

void check_end(const HardwareTask& task, const Chain& chain)
{
    if (task.operations[chain.front()].kind == Kind::Conv)
        throw ConfigError(task.where_is(chain.front()), "ends at CONV, expected an SDP that takes its sums");
}

/// BDMA without transfers completes without the hardware.
bool runs(const HardwareTask& task, std::size_t operation)
{
    const Operation& o = task.operations[operation];
    return o.kind != Kind::Bdma || !o.bdma.transfers.empty();
}

}  // namespace

void Scheduler::add(const HardwareTask& task, const std::vector<Chain>& chains, std::size_t most)
{
    programmer_.begin(task);
    std::vector<Chain> first(chains.begin(), chains.begin() + static_cast<std::ptrdiff_t>(std::min(most, chains.size())));
    for (const Chain& chain : chains) check_end(task, chain);
    if (first.empty()) return;
    if (mode_ == Mode::Driver) add_driver(task, chains, most);
    else add_static(task, first);
    chains_ += first.size();
}

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

void Scheduler::add_static(const HardwareTask& task, const std::vector<Chain>& chains)
{
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
            if (!runs(task, i)) continue;
            enable(task, unit, chains_ + k);
            if (i == chain.back()) mark();
            program_.push_back(Stamp{});
        }
        prepared.clear();
        if (mode_ == Mode::Overlap && k + 1 < chains.size())
            for (const std::size_t i : upstream_first(task, chains[k + 1])) {
                if (needs_idle(task, i, chain)) break;
                prepared.push_back(programmer_.prepare(i));
            }
        if (runs(task, chain.front())) wait(last, last_group);
        completed_(chains_ + k);
    }
}

void Scheduler::add_driver(const HardwareTask& task, const std::vector<Chain>& chains, std::size_t most)
{
    std::vector<std::size_t> chain_of(task.operations.size());
    for (std::size_t k = 0; k < chains.size(); ++k)
        for (const std::size_t i : chains[k]) chain_of[i] = k;
    std::vector<Prepared> units(task.operations.size());
    programmer_.unmask(task.operations[chains.front().front()].kind);  // before anything can finish
    Driver driver(
        task, programmer_.next_groups(), [&](std::size_t i, unsigned group) { units[i] = programmer_.prepare(i, group); },
        [&](std::size_t i, unsigned) {
            enable(task, units[i], chains_ + chain_of[i]);
            program_.push_back(Stamp{});
        });
    if (!marked_ && !program_.empty() && std::holds_alternative<Stamp>(program_.back())) program_.insert(program_.end() - 1, MarkT0{});
    else if (!marked_) program_.push_back(MarkT0{});
    marked_ = true;
    for (std::size_t done = 0; driver.completed() < task.operations.size() && done < most; ++done) {
        std::vector<std::size_t> running;  // chains, the first to finish first
        for (const std::size_t i : driver.active()) {
            const std::size_t k = chain_of[i];
            if (chains[k].front() == i &&
                std::all_of(chains[k].begin(), chains[k].end(), [&](std::size_t member) { return driver.active(member); }))
                running.push_back(k);
        }
        if (running.empty())
            throw ConfigError(task.where, fmt::format("makes no progress in mode driver after {} operations", driver.completed()));
        const auto last = [&](std::size_t k) -> const Operation& { return task.operations[chains[k].front()]; };
        std::sort(running.begin(), running.end());
        for (const std::size_t k : running)
            if (last(k).kind != last(running.front()).kind)
                throw ConfigError(
                    task.where_is(chains[k].front()),
                    fmt::format("may run beside operation {}, so that nobody knows which completes first: expected mode serial or overlap",
                                chains[running.front()].front()));
        std::stable_partition(running.begin(), running.end(),
                              [&](std::size_t k) { return driver.group(chains[k].front()) == driver.next_group(last(k).kind); });
        const Chain& chain = chains[running.front()];
        const Kind kind = task.operations[chain.front()].kind;
        programmer_.unmask(kind);
        if (runs(task, chain.front())) wait(kind, driver.group(chain.front()));
        completed_(chains_ + running.front());
        for (const std::size_t i : upstream_first(task, chain)) driver.complete(task.operations[i].kind, driver.group(i));
    }
}

}  // namespace dlasim::loadable
