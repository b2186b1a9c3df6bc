#include "network/allocation.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/bits.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kAligned = 256;

bool at_once(const Allocation& a, const Allocation& b) { return a.begin < b.end && b.begin < a.end; }

/// The lowest place between those that are there at the same time.
std::uint64_t lowest(const std::vector<Allocation>& allocations, const Arrangement& taken, std::size_t next)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> meeting;
    for (std::size_t i = 0; i < allocations.size(); ++i)
        if (taken.at[i] && at_once(allocations[i], allocations[next]))
            meeting.emplace_back(*taken.at[i], *taken.at[i] + allocations[i].bytes);
    std::sort(meeting.begin(), meeting.end());
    std::uint64_t at = 0;
    for (const auto& [begin, end] : meeting) {
        if (begin >= at + allocations[next].bytes) break;
        at = std::max(at, round_up(end, kAligned));
    }
    return at;
}

/// In this order, as far as they fit.
Arrangement filled(const std::vector<Allocation>& allocations, const std::vector<std::size_t>& order, std::uint64_t capacity)
{
    Arrangement arrangement;
    arrangement.at.resize(allocations.size());
    for (const std::size_t i : order) {
        const std::uint64_t at = lowest(allocations, arrangement, i);
        if (at + allocations[i].bytes > capacity) continue;
        arrangement.at[i] = at;
        arrangement.peak = std::max(arrangement.peak, at + allocations[i].bytes);
        arrangement.saved += allocations[i].saved;
    }
    return arrangement;
}

std::vector<std::size_t> ordered(const std::vector<Allocation>& allocations, const std::function<double(const Allocation&)>& worth)
{
    std::vector<std::size_t> order(allocations.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return worth(allocations[a]) > worth(allocations[b]); });
    return order;
}

}  // namespace

Arrangement arrange(const std::vector<Allocation>& allocations)
{
    return filled(allocations, ordered(allocations, [](const Allocation& allocation) { return static_cast<double>(allocation.bytes); }),
                  UINT64_MAX);
}

Arrangement choose(const std::vector<Allocation>& allocations, std::uint64_t capacity)
{
    const auto bytes = [](const Allocation& allocation) { return static_cast<double>(std::max<std::uint64_t>(allocation.bytes, 1)); };
    const auto saved = [](const Allocation& allocation) { return static_cast<double>(allocation.saved); };
    const std::function<double(const Allocation&)> worths[] = {
        [&](const Allocation& allocation) {
            return saved(allocation) / (bytes(allocation) * static_cast<double>(allocation.end - allocation.begin));
        },
        [&](const Allocation& allocation) { return saved(allocation) / bytes(allocation); },
        [&](const Allocation& allocation) { return saved(allocation) / static_cast<double>(allocation.end - allocation.begin); },
        saved,
    };
    Arrangement best;
    best.at.resize(allocations.size());
    for (const auto& worth : worths) {
        Arrangement next = filled(allocations, ordered(allocations, worth), capacity);
        if (next.saved > best.saved) best = std::move(next);
    }
    return best;
}

}  // namespace dlasim
