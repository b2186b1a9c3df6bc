#include "network/memory_rooms.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/bits.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kAligned = 256;

bool at_once(const Room& a, const Room& b) { return a.begin < b.end && b.begin < a.end; }

/// The lowest place between those that are there at the same time.
std::uint64_t lowest(const std::vector<Room>& rooms, const Arrangement& taken, std::size_t next)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> meeting;
    for (std::size_t i = 0; i < rooms.size(); ++i)
        if (taken.at[i] && at_once(rooms[i], rooms[next])) meeting.emplace_back(*taken.at[i], *taken.at[i] + rooms[i].bytes);
    std::sort(meeting.begin(), meeting.end());
    std::uint64_t at = 0;
    for (const auto& [begin, end] : meeting) {
        if (begin >= at + rooms[next].bytes) break;
        at = std::max(at, round_up(end, kAligned));
    }
    return at;
}

/// In this order, as far as they fit.
Arrangement filled(const std::vector<Room>& rooms, const std::vector<std::size_t>& order, std::uint64_t capacity)
{
    Arrangement arrangement;
    arrangement.at.resize(rooms.size());
    for (const std::size_t i : order) {
        const std::uint64_t at = lowest(rooms, arrangement, i);
        if (at + rooms[i].bytes > capacity) continue;
        arrangement.at[i] = at;
        arrangement.peak = std::max(arrangement.peak, at + rooms[i].bytes);
        arrangement.saved += rooms[i].saved;
    }
    return arrangement;
}

std::vector<std::size_t> ordered(const std::vector<Room>& rooms, const std::function<double(const Room&)>& worth)
{
    std::vector<std::size_t> order(rooms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return worth(rooms[a]) > worth(rooms[b]); });
    return order;
}

}  // namespace

Arrangement arrange(const std::vector<Room>& rooms)
{
    return filled(rooms, ordered(rooms, [](const Room& room) { return static_cast<double>(room.bytes); }), UINT64_MAX);
}

Arrangement choose(const std::vector<Room>& rooms, std::uint64_t capacity)
{
    const auto bytes = [](const Room& room) { return static_cast<double>(std::max<std::uint64_t>(room.bytes, 1)); };
    const auto saved = [](const Room& room) { return static_cast<double>(room.saved); };
    const std::function<double(const Room&)> worths[] = {
        [&](const Room& room) { return saved(room) / (bytes(room) * static_cast<double>(room.end - room.begin)); },
        [&](const Room& room) { return saved(room) / bytes(room); },
        [&](const Room& room) { return saved(room) / static_cast<double>(room.end - room.begin); },
        saved,
    };
    Arrangement best;
    best.at.resize(rooms.size());
    for (const auto& worth : worths) {
        Arrangement next = filled(rooms, ordered(rooms, worth), capacity);
        if (next.saved > best.saved) best = std::move(next);
    }
    return best;
}

}  // namespace dlasim
