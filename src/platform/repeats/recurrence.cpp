#include "platform/repeats/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "platform/top.h"
#include "platform/window.h"

namespace dlasim {
namespace {

// A period is longer than anything takes on its way through a unit: what is said late is said of the period before.
constexpr Cycle kShortest = State::kBack;
constexpr std::size_t kMostSeen = 1024;  // marks that are remembered

// In evaluations: what a look costs, which part of all is spent on looks and which part of what they have saved.
constexpr std::uint64_t kLook = 64, kPart = 40, kSaved = 8;
// Looks that are saved up at most, and before the next ones are taken.
constexpr std::uint64_t kMostLooks = 512, kManyLooks = 64;

}  // namespace

Recurrence::Recurrence(Clock& clock, Top& top, FollowedPath* path, Repeats repeats, std::uint64_t granule, std::function<Cycle()> limit,
                       std::function<std::optional<std::uint64_t>()> answered)
    : clock_(clock),
      top_(top),
      path_(path),
      repeats_(repeats),
      granule_(granule),
      limit_(std::move(limit)),
      answered_(std::move(answered)),
      states_(StatePeriod::Within::Layer, granule)
{
    budget_ = kManyLooks * kLook;
    for (UnitModule* unit : top_.units()) unit->core().mark(clock_.marked);
}

void Recurrence::say(State& s)
{
    s.set_granule(granule_);
    top_.state(s);
}

/// Nothing if this one cannot recur.
std::optional<Recurrence::Seen> Recurrence::digest(Cycle now)
{
    State s(now);
    say(s);
    if (s.refused()) return std::nullopt;
    return Seen{now, s.digest(), std::move(s.loops())};
}

void Recurrence::reached(Cycle now)
{
    if (!memory_rests()) return forget();
    if (period_ == 0 ? !affordable() : now < since_ + period_) return;
    top_.catch_up(now + 1);
    if (period_ == 0) return look(now);
    if (left_ != 0) return check(now);
    if (now == since_ + period_ && recurs(now) && measured(now)) {
        const std::uint64_t most = times(now);
        if (most != 0 && repeats_ == Repeats::Checked) {
            left_ = most;
            since_ = now;
            return;
        }
        if (most != 0 && skip(now, most)) return;
        if (most > 1 && !again_) return measure(now, period_, true);
    }
    period_ = 0;
}

/// A memory that does not say its state has been asked for nothing since the mark before.
bool Recurrence::memory_rests()
{
    const std::optional<std::uint64_t> before = std::exchange(answered_before_, answered_());
    return before && before == answered_before_;
}

/// Between marks before this one and later ones the memory was asked: none leads to another.
void Recurrence::forget()
{
    if (left_ != 0) top_.failures().report("recurrence", "the memory is asked where it was not in the period before");
    give_up();
    if (std::exchange(known_, 0) != 0) seen_.clear();
}

/// Looks take a small part of the time that is simulated, and some of what they save. They are taken one after the other, since what is
/// between two that are equal is not known.
bool Recurrence::affordable()
{
    const std::uint64_t evaluations = top_.evaluations();
    budget_ = std::min(budget_ + (evaluations - evaluated_) / kPart, kMostLooks * kLook);
    evaluated_ = evaluations;
    looking_ = budget_ >= (looking_ ? kLook : kManyLooks * kLook);
    if (looking_) budget_ -= kLook;
    return looking_;
}

/// The state is the one from which on is measured.
bool Recurrence::recurs(Cycle now)
{
    const std::optional<Seen> state = digest(now);
    return state && state->digest == measured_.digest && state->follows(measured_);
}

bool Recurrence::Seen::follows(const Seen& before) const
{
    return std::ranges::equal(loops, before.loops,
                              [](const State::Loop& a, const State::Loop& b) { return a.inner == b.inner || a.outer == b.outer; });
}

bool Recurrence::Seen::may_follow(const Seen& before) const
{
    return std::ranges::equal(loops, before.loops, [](const State::Loop& a, const State::Loop& b) {
        return a.inner == b.inner || (a.outer == b.outer && State::times(a.inner, a.inner - b.inner, a.first, a.last) > 1);
    });
}

/// For a state that has been before.
void Recurrence::look(Cycle now)
{
    const std::optional<Seen> state = digest(now);
    if (!state) return;
    if (++known_ > kMostSeen) {
        seen_.clear();
        known_ = 1;
    }
    std::vector<Seen>& before = seen_[state->digest];
    const auto earlier = std::ranges::find_if(before.rbegin(), before.rend(),
                                              [&](const Seen& seen) { return now - seen.at >= kShortest && state->may_follow(seen); });
    const Cycle then = earlier == before.rend() ? kNever : earlier->at;
    before.push_back(*state);
    if (then == kNever) return;
    measured_ = *state;
    measure(now, now - then, false);
}

/// From now on what moves in a period, `again` if that was done before.
void Recurrence::measure(Cycle now, Cycle period, bool again)
{
    period_ = period;
    since_ = now;
    again_ = again;
    measured_from_ = top_.evaluations();
    take(now, states_.from);
}

/// The state at the end of the period; false if it does not go on.
bool Recurrence::measured(Cycle now) { return take(now, states_.to) && states_.measure(since_, period_); }

/// False if nothing is to be repeated from here on.
bool Recurrence::take(Cycle now, StatePeriod::Words& words)
{
    words.clear();
    State s(now, words);
    say(s);
    return !s.refused();
}

/// How often the period may be repeated.
std::uint64_t Recurrence::times(Cycle now)
{
    const Cycle end = std::min(limit_(), clock_.others());
    if (end <= now + period_) return 0;
    return std::min((end - 1 - now) / period_, states_.times());
}

/// A period that could have been skipped has been simulated: it has to be like the one before.
void Recurrence::check(Cycle now)
{
    const std::string period = fmt::format("the period of {} cycles up to {} is not like that before", period_, since_ + period_);
    StatePeriod::Words words;
    take(now, words);
    const std::string what = now != since_ + period_ ? "no mark" : states_.compare(words, now);
    if (!what.empty()) top_.failures().report("recurrence", period + ": " + what);
    since_ = now;
    if (--left_ != 0) return;
    period_ = 0;
    forget();
}

/// False if what the trails said of the first period has been forgotten.
bool Recurrence::skip(Cycle now, std::uint64_t times)
{
    if (path_) {
        // the trails may have forgotten what is older, or not know yet what became of the latest bursts
        const std::uint64_t most = times;
        times = 0;
        for (const Cycle second : {now - State::kBack, since_})
            if (times == 0) times = path_->repeat(second - period_, second, most);
    }
    if (times == 0) return false;
    State s(now, period_, states_.moves(), times);
    s.expect(states_.to);
    say(s);
    if (!s.complete()) top_.failures().report("recurrence", fmt::format("other words move on than were said in cycle {}", now));
    clock_.skip(times * period_);
    budget_ += times * (top_.evaluations() - measured_from_) / kSaved;
    skipped_ += times * period_;
    period_ = 0;
    return true;
}

}  // namespace dlasim
