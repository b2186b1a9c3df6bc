#include "platform/repeats/state_period.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlasim {

bool StatePeriod::measure(Cycle since, Cycle period)
{
    if (to.size() != from.size()) return false;
    moves_.assign(to.size(), 0);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const State::Word &a = from[i], &b = to[i];
        if (a.kind != b.kind || !goes_on(a, b, since, period)) return false;
        moves_[i] = b.kind == State::Kind::Extreme ? 0 : b.kind == State::Kind::Cycle && a.value != b.value ? period : b.value - a.value;
        if (b.kind == State::Kind::Turning && b.last != 0)
            moves_[i] = (moves_[i] + static_cast<std::uint64_t>(b.last)) % static_cast<std::uint64_t>(b.last);
    }
    return true;
}

bool StatePeriod::leads()
{
    if (to.size() != from.size()) return false;
    moves_.assign(to.size(), 0);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const State::Word &a = from[i], &b = to[i];
        if (a.kind != b.kind || (a.kind == State::Kind::Fixed && a.value != b.value)) return false;
        if (a.kind == State::Kind::Turning && a.last != b.last) return false;
        moves_[i] = a.kind == State::Kind::Extreme ? 0 : b.value - a.value;
        if (b.kind == State::Kind::Turning && b.last != 0)
            moves_[i] = (moves_[i] + static_cast<std::uint64_t>(b.last)) % static_cast<std::uint64_t>(b.last);
    }
    return true;
}

bool StatePeriod::goes_on(const State::Word& a, const State::Word& b, Cycle since, Cycle period) const
{
    const std::uint64_t moved = b.value - a.value;
    switch (a.kind) {
        case State::Kind::Same:
        case State::Kind::Fixed:
        case State::Kind::Derived:
            return moved == 0;
        case State::Kind::Cycle:
            if (moved == 0) return a.value <= since || a.value == kNever;
            // or it came in the period, and was as long ago at its begin as at its end
            return moved == period || (a.value + State::kBack <= since && b.value > since && b.value + State::kBack <= since + period);
        case State::Kind::Since:
            return moved == 0 ? a.value <= since || a.value == kNever : moved == period;
        case State::Kind::Address:
            return moved % granule_ == 0;
        case State::Kind::Count:
        case State::Kind::Extreme:
            return true;
        case State::Kind::LayerCount:
            return moved == 0 || within_ == Within::Layer;
        case State::Kind::Result:
        case State::Kind::Total:
            return moved == 0 || within_ == Within::Program;
        case State::Kind::Layers:
            return moved == 0 || within_ == Within::Program;
        case State::Kind::Position: {
            const auto at = static_cast<std::int64_t>(a.value);
            return moved == 0 || (within_ == Within::Layer && a.first == b.first && a.last == b.last && at >= a.first && at <= a.last);
        }
        case State::Kind::Turn:
            return moved == 0 || within_ == Within::Program;
        case State::Kind::Turning:
            return a.last == b.last;
    }
    return false;
}

std::uint64_t StatePeriod::times() const
{
    std::uint64_t times = UINT64_MAX;
    for (std::size_t i = 0; i < to.size(); ++i)
        if (const State::Word& word = to[i]; word.kind == State::Kind::Position && moves_[i] != 0)
            times = std::min(times, State::times(word.value, moves_[i], word.first, word.last));
    return times;
}

bool StatePeriod::expected(const State::Word& a, const State::Word& b, std::uint64_t moves, Cycle now) const
{
    std::uint64_t value = a.value + moves;
    if (a.kind == State::Kind::Turning && moves != 0) value %= static_cast<std::uint64_t>(a.last);
    if (a.kind != b.kind) return false;
    if (a.kind == State::Kind::Turn) return (b.value - value) % 2 == 0;
    if (a.kind == State::Kind::Turning && within_ == Within::Program) return true;  // a layer may begin where the ring does
    if (a.kind == State::Kind::Address) return (b.value - value) % granule_ == 0;
    if (a.kind == State::Kind::Cycle && b.value != kNever && b.value + State::kBack < now) return value + State::kBack < now;
    return b.value == value;
}

std::string StatePeriod::compare(const Words& later, Cycle now)
{
    from.swap(to);
    to = later;
    for (std::size_t i = 0; i < std::min(to.size(), from.size()); ++i)
        if (const State::Word& a = from[i], &b = to[i]; !expected(a, b, moves_[i], now))
            return fmt::format("{}:{} has {} in place of {}", b.where.file, b.where.line, b.value, a.value + moves_[i]);
    return to.size() == from.size() ? "" : fmt::format("{} words in place of {}", to.size(), from.size());
}

}  // namespace dlasim
