#include "app/loadable_run.h"

#include <algorithm>

#include "app/simulate.h"

namespace dlasim {

LoadableRun::LoadableRun(const loadable::Plan& plan, const MachineOptions& options, bool verify)
    : plan_(plan), values_(options.values), machine_(plan.hardware, plan.memory, options), acted_(plan.actions.size())
{
    for (const loadable::Used& used : loadable::used_memory(plan))
        machine_.require_memory(space(used.place), used.place.address, used.bytes, used.where);
    if (verify) reference_.emplace(plan);
    // Without values too: compressed weights take the time that they say.
    loadable::fill_memory(
        plan_, [&](const Place& to, std::span<const std::uint8_t> bytes) { machine_.write_memory(space(to), to.address, bytes); });
    for (const ProgramEntry& entry : plan.program) {
        const HostStep* step = std::get_if<HostStep>(&entry);
        if (!step) break;
        act(step->number);
    }
}

const RunResult& LoadableRun::run(const std::function<bool(Cycle now, std::size_t operations)>& keep_going)
{
    machine_.on_host = [&](std::size_t number) { act(number); };
    machine_.keep_going = [&](Cycle now) { return keep_going(now, machine_.stamps()); };
    return run_ = machine_.run(plan_.program);
}

std::vector<SeenRange> LoadableRun::look(const std::vector<loadable::Range>& ranges) const
{
    std::vector<SeenRange> seen;
    seen.reserve(ranges.size());
    for (const loadable::Range& range : ranges) seen.push_back({range, read(range.place, range.bytes)});
    return seen;
}

std::vector<std::uint8_t> LoadableRun::read(const Place& from, std::uint64_t bytes) const
{
    return machine_.read_memory(space(from), from.address, bytes);
}

void LoadableRun::act(std::size_t number)
{
    if (acted_[number] || !values_) return;
    acted_[number] = true;
    const loadable::HostAction& action = plan_.actions[number];
    if (action.kind == loadable::HostAction::Kind::Outputs) {
        written_ = look(plan_.written);
        return;
    }
    if (action.kind == loadable::HostAction::Kind::Completed) return judge(action.number);
    if (reference_) reference_->host(action.number);
    loadable::run_host_task(
        plan_.hosts[action.number], [&](const Place& from, std::uint64_t bytes) { return read(from, bytes); },
        [&](const Place& to, const std::vector<std::uint8_t>& bytes) { machine_.write_memory(space(to), to.address, bytes); });
}

void LoadableRun::judge(std::size_t chain)
{
    if (!reference_) return;
    reference_->chain(chain, [&](const Place& from, std::span<std::uint8_t> bytes) {
        const std::vector<std::uint8_t> there = read(from, bytes.size());
        std::copy(there.begin(), there.end(), bytes.begin());
    });
}

std::vector<std::optional<loadable::Verdict>> LoadableRun::verdicts() const
{
    return reference_ ? reference_->verdicts() : std::vector<std::optional<loadable::Verdict>>{};
}

}  // namespace dlasim
