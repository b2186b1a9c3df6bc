#include "platform/repeats/repeated_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dlasim {
namespace {

// Interrupts that are remembered: a block of a network has about as many.
constexpr std::size_t kMostInterrupts = 16;

}  // namespace

RepeatedOperations::RepeatedOperations(Clock& clock, Top& top, Software& software, Window& window, FollowedPath* path, Repeats repeats,
                                       std::uint64_t granule, Cycle limit)
    : clock_(clock),
      top_(top),
      software_(software),
      window_(window),
      path_(path),
      repeats_(repeats),
      granule_(granule),
      limit_(limit),
      registers_(top.register_files()),
      states_(StatePeriod::Within::Program, granule)
{
    window_.keep(kMostInterrupts + 1);
}

void RepeatedOperations::reached(Cycle now, Cycle pin)
{
    if (left_ != 0) return check(now);
    if (!software_.waits_for_pin() || !window_.waits_only_for(pin) || clock_.others() < pin) return;
    top_.catch_up(now + 1);
    Seen here{now, pin, 0, software_.played(), top_.glb().done().size(), {}, {}};
    here.counted = window_.take(now + 1);  // units account what has happened so far: before their words are said
    if (!take(now)) return;
    here.digest = digest(now);
    here.values.reserve(words_.size());
    for (const State::Word& word : words_) here.values.push_back(word.value);
    if (path_ && !path_->remember(now, kMostInterrupts + 1)) return;
    for (auto before = seen_.rbegin(); before != seen_.rend(); ++before)
        if (before->digest == here.digest && before->values.size() == here.values.size() && repeat(*before, here)) {
            seen_.clear();
            return;
        }
    seen_.push_back(std::move(here));
    if (seen_.size() > kMostInterrupts) seen_.pop_front();
}

/// The words of the state; false if it cannot recur.
bool RepeatedOperations::take(Cycle now)
{
    words_.clear();
    State s(now, words_);
    s.set_granule(granule_);
    top_.state(s);
    return !s.refused();
}

/// Of the words, and of what layers are going to do.
std::uint64_t RepeatedOperations::digest(Cycle now)
{
    State s(now);
    s.set_granule(granule_);
    for (const auto& [name, file] : registers_) file->contents(s);
    for (State::Word word : words_) {
        s.same(word.kind);
        switch (word.kind) {
            case State::Kind::Same:
            case State::Kind::LayerCount:
            case State::Kind::Position:
                s.same(word.value);
                break;
            case State::Kind::Cycle:
                s.cycle(word.value);
                break;
            case State::Kind::Address:
                s.address(word.value);
                break;
            case State::Kind::Count:
            case State::Kind::Extreme:
            case State::Kind::Layers:
            case State::Kind::Turning:
                break;
        }
    }
    return s.digest();
}

/// What has happened between them happens again. False if nothing does.
bool RepeatedOperations::repeat(const Seen& before, const Seen& now)
{
    period_ = now.at - before.at;
    std::uint64_t times = software_.repeats(before.played, granule_);
    if (times == 0 || limit_ <= now.pin + period_) return false;
    times = std::min(times, (limit_ - 1 - now.pin) / period_);
    states_.from = words_;
    for (std::size_t i = 0; i < words_.size(); ++i) states_.from[i].value = before.values[i];
    states_.to = words_;
    if (!states_.measure(before.at, period_)) return false;
    if (repeats_ == Repeats::Checked) {
        left_ = times;
        counted_ = now.counted;
        step_.emplace(before.counted, now.counted);
        next_ = now.at + period_;
        return true;
    }
    if (!window_.knows(before.pin)) return false;
    if (path_ && !path_->repeat_since(before.at, now.at, times, ends(before, times))) return false;
    window_.repeat(before.pin, now.pin, times, SnapshotStep(before.counted, now.counted));
    skip(before, now, times);
    return true;
}

/// The cycles in which operations are done or stamped in the time that is skipped.
std::vector<Cycle> RepeatedOperations::ends(const Seen& before, std::uint64_t times) const
{
    std::vector<Cycle> ends;
    for (std::uint64_t i = 1; i <= times; ++i) {
        for (std::size_t n = before.done; n < top_.glb().done().size(); ++n) ends.push_back(top_.glb().done()[n].cycle + i * period_);
        for (std::size_t n = before.played.stamps; n < software_.stamps().size(); ++n) ends.push_back(software_.stamps()[n] + i * period_);
    }
    return ends;
}

void RepeatedOperations::skip(const Seen& before, const Seen& now, std::uint64_t times)
{
    top_.glb().repeat(before.done, times, period_);
    software_.repeat(before.played, times, period_, [this](const RegisterWrite& write) {
        for (const auto& [name, file] : registers_)
            if (file->unit().has(write.address)) file->written(write.address - file->unit().base, write.value);
    });
    State s(now.at, period_, states_.moves(), times);
    s.set_granule(granule_);
    top_.state(s);
    clock_.skip(times * period_);
    clock_.expect_activity();
    skipped_ += times * period_;
    Snapshot expected = now.counted;
    const SnapshotStep step(before.counted, now.counted);
    for (std::uint64_t i = 0; i < times; ++i) step.add_to(expected);
    if (window_.take(now.at + times * period_ + 1).units != expected.units)
        top_.failures().report("recurrence", fmt::format("a unit has not said what it has counted in {} cycles", period_));
}

/// Operations that could have been skipped have been simulated: the state has to be as was to be expected.
void RepeatedOperations::check(Cycle now)
{
    if (now < next_) return;
    std::string what = "no interrupt";
    if (now == next_) {
        top_.catch_up(now + 1);
        Snapshot counted = window_.take(now + 1);
        take(now);
        what = states_.compare(words_, now);
        if (what.empty() && SnapshotStep(counted_, counted) != *step_) what = "a unit counts otherwise";
        counted_ = std::move(counted);
    }
    if (!what.empty()) {
        const std::string period = fmt::format("the operations of {} cycles up to {} are not like those before", period_, next_);
        top_.failures().report("recurrence", period + ": " + what);
    }
    next_ += period_;
    if (--left_ == 0) seen_.clear();
}

}  // namespace dlasim
