#include "loadable/reference/loadable_host.h"

#include <algorithm>

namespace dlasim::loadable {
namespace {

std::vector<SeenRange> seen(const std::vector<Range>& ranges, const HostMemory& memory)
{
    std::vector<SeenRange> seen;
    seen.reserve(ranges.size());
    for (const Range& range : ranges) seen.push_back({range, memory.read(range.place, range.bytes)});
    return seen;
}

}  // namespace

LoadableHost::LoadableHost(const LoadablePlan& plan, bool values, bool verify) : plan_(plan), values_(values)
{
    if (verify) reference_.emplace(plan);
}

void LoadableHost::at(std::size_t step, const HostMemory& memory)
{
    if (!values_) return;
    const HostAction& action = plan_.actions[step];
    if (action.kind == HostAction::Kind::Outputs) {
        written_ = seen(plan_.written, memory);
    } else if (action.kind == HostAction::Kind::Task) {
        if (reference_) reference_->host(action.number);
        run_host_task(plan_.hosts[action.number], memory.read, memory.write);
    } else if (reference_) {
        reference_->chain(action.number, [&](const Place& from, std::span<std::uint8_t> bytes) {
            std::ranges::copy(memory.read(from, bytes.size()), bytes.begin());
        });
    }
}

void LoadableHost::after(const RunResult&, const HostMemory& memory)
{
    if (values_) results_ = seen(plan_.results, memory);
}

std::vector<std::optional<Verdict>> LoadableHost::verdicts() const
{
    return reference_ ? reference_->verdicts() : std::vector<std::optional<Verdict>>{};
}

}  // namespace dlasim::loadable
