#include "platform/repeats/repeated_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "links/guard.h"
#include "registers/interrupts.h"

namespace dlasim {
namespace {

// Interrupts that are remembered: a block of a network has about as many.
constexpr std::size_t kMostInterrupts = 16;
// Times between two that are known.
constexpr std::size_t kMostKnown = 32;

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
      uses_(registers_, granule),
      states_(StatePeriod::Within::Program, granule)
{
    window_.keep(kMostInterrupts + 1);
}

void RepeatedOperations::reached(Cycle now, Cycle pin)
{
    if (left_ != 0) return check(now);
    if (!software_.waits_for_pin() || !window_.waits_only_for(pin) || clock_.others() < pin) return;
    top_.catch_up(now + 1);
    Seen here;
    here.at = now;
    here.pin = pin;
    here.counted = window_.take(now + 1);  // units account what has happened so far: before their words are said
    if (!take(here)) return;
    here.digest = digest(now);
    if (path_ && !path_->remember(now, kMostInterrupts + 1)) return;
    learn(here);
    for (Next next = this->next(here); next.times != 0; next = this->next(here)) {
        if (repeats_ == Repeats::Checked) return expect(*next.known, next.times, here);
        if (!skip(*next.known, next.times, here)) break;
        seen_.clear();
    }
    seen_.push_back(std::move(here));
    if (seen_.size() > kMostInterrupts) seen_.pop_front();
}

/// What is to be remembered of now; false if it cannot recur.
bool RepeatedOperations::take(Seen& seen)
{
    seen.played = software_.played();
    seen.done = top_.glb().done().size();
    seen.turns = turns();
    words_.clear();
    State s(seen.at, words_);
    s.set_granule(granule_);
    s.set_turned(seen.turns.interrupts);
    top_.state(s);
    seen.values.clear();
    seen.values.reserve(words_.size());
    for (const State::Word& word : words_) seen.values.push_back(word.value);
    seen.registers = uses_.now();
    return !s.refused();
}

/// Of units whose second group is next.
GroupTurns RepeatedOperations::turns() const
{
    GroupTurns turns;
    for (const auto& [name, file] : registers_) {
        if (file->consumer() == 0) continue;
        turns.windows |= 1u << file->unit().base / UnitRegisters::kWindow;
        for (const reg::glb::Interrupt* interrupt : reg::glb::kInterrupts)
            if (const std::string_view of = interrupt->unit; of.substr(0, of.find('_')) == file->unit().name)
                turns.interrupts |= interrupt->bits();
    }
    return turns;
}

/// Of the words.
std::uint64_t RepeatedOperations::digest(Cycle now)
{
    State s(now);
    s.set_granule(granule_);
    for (State::Word word : words_) {
        s.same(word.kind);
        switch (word.kind) {
            case State::Kind::Same:
            case State::Kind::LayerCount:
            case State::Kind::Position:
                s.same(word.value);
                break;
            case State::Kind::Cycle:
            case State::Kind::Since:
                s.cycle(word.value);
                break;
            case State::Kind::Address:
                s.address(word.value);
                break;
            case State::Kind::Count:
            case State::Kind::Extreme:
            case State::Kind::Layers:
            case State::Kind::Turn:
            case State::Kind::Turning:
                break;
        }
    }
    return s.digest();
}

/// What came since the state was like that the last time, and the first time, is known from now on: a pass, and a block with passes.
void RepeatedOperations::learn(const Seen& now)
{
    const auto alike = [&](const Seen& seen) { return seen.digest == now.digest && seen.values.size() == now.values.size(); };
    const auto last = std::ranges::find_if(seen_.rbegin(), seen_.rend(), alike);
    if (last == seen_.rend()) return;
    const auto first = std::ranges::find_if(seen_, alike);
    for (const Seen* before : {&*last, &*first}) {
        if (std::optional<Known> known = between(*before, now)) known_.push_back(std::move(*known));
        if (&*last == &*first) break;
    }
    while (known_.size() > kMostKnown) known_.pop_front();
}

/// Nothing if it cannot come again.
std::optional<RepeatedOperations::Known> RepeatedOperations::between(const Seen& before, const Seen& now)
{
    const Cycle period = now.at - before.at;
    states_.from = words_;
    for (std::size_t i = 0; i < words_.size(); ++i) states_.from[i].value = before.values[i];
    states_.to = words_;
    if (!states_.measure(before.at, period)) return std::nullopt;
    const std::vector<Window::Sample> interrupts = window_.since(before.pin);
    const std::span<const ProgramEntry> part =
        std::span(software_.program()).subspan(before.played.entries, now.played.entries - before.played.entries);
    // units that work are as far in the same operations
    if (interrupts.empty() || !uses_.found(uses_.of(before.registers, {}), now.registers)) return std::nullopt;
    std::shared_ptr<const CriticalPath::Way> way;
    if (path_ && repeats_ == Repeats::Skipped && !(way = path_->way(before.at, now.at))) return std::nullopt;
    Known known{.digest = now.digest,
                .part = {before.played, now.played, before.turns ^ now.turns, before.at, period},
                .from = before.done,
                .to = now.done,
                .turns = before.turns,
                .uses = uses_.of(before.registers, part),
                .moves = states_.moves(),
                .since = {},
                .step = SnapshotStep(before.counted, now.counted),
                .interrupts = {},
                .way = std::move(way)};
    for (std::size_t i = 0; i < words_.size(); ++i)
        if (words_[i].kind == State::Kind::Since && known.moves[i] != 0) known.since.emplace_back(i, now.at - words_[i].value);
    for (const Window::Sample& sample : interrupts)
        known.interrupts.emplace_back(sample.cycle - before.pin, SnapshotStep(before.counted, sample.snapshot));
    return known;
}

/// How often it comes next.
std::uint64_t RepeatedOperations::times(const Known& known, const Seen& now) const
{
    if (known.digest != now.digest || known.moves.size() != now.values.size() || limit_ <= now.pin + known.part.period) return 0;
    for (const auto& [word, before] : known.since)
        if (now.at - now.values[word] != before) return 0;
    const std::uint64_t most =
        std::min(software_.comes(known.part, known.turns ^ now.turns, granule_), (limit_ - 1 - now.pin) / known.part.period);
    RegisterUses::Contents registers = now.registers;
    std::size_t entry = now.played.entries;
    for (std::uint64_t times = 0; times < most; ++times) {
        if (!uses_.found(known.uses, registers)) return times;
        for (const std::size_t end = entry + known.part.entries(); entry < end; ++entry)
            if (const auto* write = std::get_if<RegisterWrite>(&software_.program()[entry])) uses_.write(registers, *write);
        uses_.turn(registers, known.part.turns);
    }
    return most;
}

/// Of all that is known the one that comes for most of the program.
RepeatedOperations::Next RepeatedOperations::next(const Seen& now) const
{
    Next next;
    std::size_t most = 0;
    for (const Known& known : known_) {
        const std::uint64_t times = this->times(known, now);
        if (const std::size_t entries = times * known.part.entries(); entries > most) {
            most = entries;
            next = {&known, times};
        }
    }
    return next;
}

/// What GLB gets to know of in the time that is skipped.
std::vector<GlbCore::Done> RepeatedOperations::done(const Known& known, std::uint64_t times, const Seen& now) const
{
    std::vector<GlbCore::Done> list;
    GroupTurns turns = known.turns ^ now.turns;
    for (std::uint64_t i = 0; i < times; ++i, turns = turns ^ known.part.turns)
        for (std::size_t n = known.from; n < known.to; ++n) {
            const GlbCore::Done& done = top_.glb().done()[n];
            list.push_back({done.cycle + known.part.later(now.at, i), State::changed_places(done.bits, turns.interrupts)});
        }
    return list;
}

/// False, and nothing has changed, if it cannot be said what the causes of that time are.
bool RepeatedOperations::skip(const Known& known, std::uint64_t times, Seen& now)
{
    const Software::Part& part = known.part;
    const std::vector<GlbCore::Done> done = this->done(known, times, now);
    if (path_) {
        std::vector<Cycle> ends;
        ends.reserve(done.size() + times * (part.to.stamps - part.from.stamps));
        for (const GlbCore::Done& one : done) ends.push_back(one.cycle);
        for (std::uint64_t i = 0; i < times; ++i)
            for (std::size_t n = part.from.stamps; n < part.to.stamps; ++n) ends.push_back(software_.stamps()[n] + part.later(now.at, i));
        if (!path_->repeat(*known.way, times, ends)) return false;
    }
    std::vector<Window::Sample> interrupts;
    for (const auto& [later, step] : known.interrupts)
        step.add_to(interrupts.emplace_back(Window::Sample{now.pin + later, now.counted}).snapshot);
    window_.repeat(std::move(interrupts), times, part.period, known.step);
    for (const GlbCore::Done& one : done) top_.glb().repeat(one);

    State s(now.at, part.period, known.moves, times);
    s.set_granule(granule_);
    if (times % 2 != 0) s.set_turned(part.turns.interrupts);
    top_.state(s);
    software_.repeat(part, times, now.at, [this](const ProgramEntry& entry) {
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) {
            for (const auto& [name, file] : registers_)
                if (file->unit().has(write->address)) file->written(write->address - file->unit().base, write->value);
        } else if (const auto* step = std::get_if<HostStep>(&entry); step && software_.on_host) {
            guard_kernel([&] { software_.on_host(step->number); }, [&](const char* what) { top_.failures().report("host", what); });
        }
    });
    const Cycle cycles = times * part.period;
    clock_.skip(cycles);
    clock_.expect_activity();
    skipped_ += cycles;

    now.at += cycles;
    now.pin += cycles;
    for (std::uint64_t i = 0; i < times; ++i) known.step.add_to(now.counted);
    if (window_.take(now.at + 1).units != now.counted.units)
        top_.failures().report("recurrence", fmt::format("a unit has not said what it has counted in {} cycles", part.period));
    take(now);
    return !path_ || path_->remember(now.at, kMostInterrupts + 1);
}

/// Operations that could be skipped are simulated, and checked.
void RepeatedOperations::expect(const Known& known, std::uint64_t times, const Seen& now)
{
    period_ = known.part.period;
    next_ = now.at + period_;
    left_ = times;
    counted_ = now.counted;
    step_ = known.step;
    states_.begin(words_, known.moves);
}

/// The state has to be as was to be expected.
void RepeatedOperations::check(Cycle now)
{
    if (now < next_) return;
    std::string what = "no interrupt";
    if (now == next_) {
        top_.catch_up(now + 1);
        Seen here;
        here.at = now;
        here.counted = window_.take(now + 1);
        take(here);
        what = states_.compare(words_, now);
        step_->add_to(counted_);
        if (what.empty() && here.counted.units != counted_.units) what = "a unit counts otherwise";
        counted_ = std::move(here.counted);
    }
    if (!what.empty()) {
        const std::string period = fmt::format("the operations of {} cycles up to {} are not like those before", period_, next_);
        top_.failures().report("recurrence", period + ": " + what);
    }
    next_ += period_;
    if (--left_ == 0) seen_.clear();
}

}  // namespace dlasim
