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
    if (path_ && !path_->remember(now, kMostInterrupts + 1)) return;
    learn(here);
    go_on(std::move(here));
}

/// What comes next is skipped as far as it is known.
void RepeatedOperations::go_on(Seen here)
{
    for (Next next = this->next(here); next.known; next = this->next(here)) {
        if (repeats_ == Repeats::Checked) return expect(*next.known, next.ends.size(), std::move(here));
        if (!skip(*next.known, next.ends, here)) {  // walks may find the same the next time
            std::erase_if(known_, [&](const Known& known) { return &known == next.known; });
            continue;
        }
        seen_.clear();
        if (path_ && !path_->remember(here.at, kMostInterrupts + 1)) break;
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
    seen.asked = uses_.asked();
    seen.idle = std::ranges::all_of(registers_, [](const auto& file) { return file.second->idle(); });
    digest(seen);
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
void RepeatedOperations::digest(Seen& seen)
{
    State s(seen.at), structure(0);
    s.set_granule(granule_);
    for (State::Word word : words_) {
        structure.derived(word.kind);
        structure.derived(reinterpret_cast<std::uintptr_t>(word.where.file) + word.where.line);
        switch (word.kind) {
            case State::Kind::Same:
            case State::Kind::Fixed:
            case State::Kind::Derived:
            case State::Kind::Position:
                s.derived(word.value);
                break;
            case State::Kind::Cycle:
            case State::Kind::Since:
                s.cycle(word.value);
                break;
            case State::Kind::Address:
                s.address(word.value);
                break;
            case State::Kind::Count:
            case State::Kind::LayerCount:
            case State::Kind::Result:
            case State::Kind::Total:
            case State::Kind::Extreme:
            case State::Kind::Layers:
            case State::Kind::Turn:
            case State::Kind::Turning:
                break;
        }
    }
    s.derived(structure.digest());
    seen.structure = structure.digest();
    seen.digest = s.digest();
}

/// What came since the last interrupt is known from now on: an operation. And what came since the state was like that the last time, and
/// the first time: a pass, and a block with passes.
void RepeatedOperations::learn(const Seen& now)
{
    if (seen_.empty()) return;
    const auto alike = [&](const Seen& seen) { return seen.digest == now.digest; };
    const auto last = std::ranges::find_if(seen_.rbegin(), seen_.rend(), alike);
    const auto first = std::ranges::find_if(seen_, alike);
    std::vector<const Seen*> begins{&seen_.back()};
    if (first != seen_.end())
        for (const Seen* const begin : {&*last, &*first})
            if (begin != begins.back()) begins.push_back(begin);
    for (const Seen* const before : begins) {
        if (is_known(*before, now)) continue;
        if (std::optional<Known> known = between(*before, now)) known_.push_back(std::move(*known));
    }
    while (known_.size() > kMostKnown) known_.pop_front();
}

/// It has come before, and could not be repeated.
bool RepeatedOperations::is_known(const Seen& before, const Seen& now) const
{
    return std::ranges::any_of(known_, [&](const Known& known) {
        return known.digest == before.digest && known.part.period == now.at - before.at &&
               known.part.to.entries - known.part.from.entries == now.played.entries - before.played.entries &&
               uses_.found(known.uses, before.registers);
    });
}

/// Nothing if it cannot come again.
std::optional<RepeatedOperations::Known> RepeatedOperations::between(const Seen& before, const Seen& now)
{
    const Cycle period = now.at - before.at;
    if (before.structure != now.structure || before.values.size() != now.values.size()) return std::nullopt;
    states_.from = words_;
    for (std::size_t i = 0; i < words_.size(); ++i) states_.from[i].value = before.values[i];
    states_.to = words_;
    const bool returns = states_.measure(before.at, period);
    // what a unit that works knows of its operation is not said, nor what it keeps of a single register that has been written
    if (!returns && (!now.idle || !uses_.singles_alike(before.registers, now.registers) || !states_.leads())) return std::nullopt;
    const std::vector<Window::Sample> interrupts = window_.since(before.pin);
    const Program& program = software_.program();
    const std::span<const ProgramEntry> part =
        std::span(program).subspan(before.played.entries, now.played.entries - before.played.entries);
    if (interrupts.empty() || program[before.played.entries].index() != program[now.played.entries].index()) return std::nullopt;
    std::shared_ptr<const CriticalPath::Way> way;
    if (path_ && repeats_ == Repeats::Skipped && !(way = path_->way(before.at, now.at))) return std::nullopt;
    std::vector<bool> asked = now.asked;
    for (const Seen& seen : seen_)
        if (seen.at > before.at)
            for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = asked[i] || seen.asked[i];
    RegisterUses::Uses uses = uses_.of(before.registers, asked, part);
    Known known{.digest = before.digest,
                .returns = returns,
                .from_idle = before.idle,
                .part = {before.played, now.played, before.turns ^ now.turns, before.at, period, std::move(uses.decides)},
                .from = before.done,
                .to = now.done,
                .turns = before.turns,
                .uses = std::move(uses.found),
                .moves = states_.moves(),
                .since = {},
                .cycles = {},
                .results = results(before, now),
                .of_layers = {},
                .step = SnapshotStep(before.counted, now.counted),
                .interrupts = {},
                .way = std::move(way)};
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const std::uint64_t was = before.values[i], is = now.values[i];
        // of one that works already it is not known how much it had counted
        if (words_[i].kind == State::Kind::Total && was != is && !before.idle) return std::nullopt;
        if (words_[i].kind == State::Kind::LayerCount) known.of_layers.push_back({i, was, is});
        if ((words_[i].kind != State::Kind::Cycle && words_[i].kind != State::Kind::Since) || was == is) continue;
        known.cycles.emplace_back(i, is == kNever ? kNever : is - before.at);
        if (words_[i].kind == State::Kind::Since) known.since.emplace_back(i, before.at - was);
    }
    for (const Window::Sample& sample : interrupts)
        known.interrupts.emplace_back(sample.cycle - before.pin, SnapshotStep(before.counted, sample.snapshot));
    return known;
}

/// Of the words that operations leave, in their order: what such a time makes of them.
std::vector<RepeatedOperations::Known::Result> RepeatedOperations::results(const Seen& before, const Seen& now) const
{
    std::vector<Known::Result> results;
    bool turned = false;  // of the groups of a unit
    for (std::size_t i = 0; i < words_.size(); ++i) {
        const State::Word& word = words_[i];
        if (word.kind == State::Kind::Turn) turned = (now.values[i] - before.values[i]) % 2 != 0;
        if (word.kind != State::Kind::Result && word.kind != State::Kind::Total) continue;
        const std::size_t other = i + static_cast<std::size_t>(word.last), same = turned ? other : i;  // the same group, before
        const auto count = static_cast<std::size_t>(word.first);
        const std::uint64_t more = now.values[i - count] - before.values[same - count];
        const std::size_t at = results.size(), from = at + (same - i);
        if (more == 0 || count == 0) results.push_back({i, from, from, count == 0 ? more : 0});
        else if (word.kind == State::Kind::Result) results.push_back({i, kNone, kNone, now.values[i]});
        else results.push_back({i, at, at + (other - i), now.values[i] - std::max(before.values[i], before.values[other])});
    }
    return results;
}

/// As often as it comes next: where it does in the program.
std::vector<std::size_t> RepeatedOperations::ends(const Known& known, const Seen& now) const
{
    if (known.digest != now.digest || known.moves.size() != now.values.size() || limit_ <= now.pin + known.part.period) return {};
    for (const auto& [word, before] : known.since)
        if (now.at - now.values[word] != before) return {};
    // one that is as it was may have begun anew with a layer, and counted the same
    for (const Known::OfLayer& count : known.of_layers)
        if (now.values[count.word] != count.from && (!known.from_idle || count.from == count.to)) return {};
    const std::uint64_t most = known.returns ? (limit_ - 1 - now.pin) / known.part.period : 1;
    std::vector<std::size_t> ends = software_.comes(known.part, known.turns ^ now.turns, granule_, most);
    RegisterUses::Contents registers = now.registers;
    std::size_t entry = now.played.entries;
    for (std::size_t times = 0; times < ends.size(); ++times) {
        if (!uses_.found(known.uses, registers)) {
            ends.resize(times);
            break;
        }
        for (; entry < ends[times]; ++entry)
            if (const auto* write = std::get_if<RegisterWrite>(&software_.program()[entry])) uses_.write(registers, *write);
        uses_.turn(registers, known.part.turns);
    }
    return ends;
}

/// Of all that is known the one that comes for most of the program.
RepeatedOperations::Next RepeatedOperations::next(const Seen& now) const
{
    Next next;
    for (const Known& known : known_) {
        std::vector<std::size_t> ends = this->ends(known, now);
        if (!ends.empty() && (!next.known || ends.back() > next.ends.back())) next = {&known, std::move(ends)};
    }
    return next;
}

/// How far the words move when it comes so often.
std::vector<std::uint64_t> RepeatedOperations::moves(const Known& known, std::uint64_t times, const Seen& now) const
{
    std::vector<std::uint64_t> moves = known.moves;
    for (std::uint64_t& move : moves) move *= times;
    for (const auto& [word, later] : known.cycles)
        moves[word] = (later == kNever ? kNever : now.at + (times - 1) * known.part.period + later) - now.values[word];
    std::vector<std::uint64_t> left;
    left.reserve(known.results.size());
    for (const Known::Result& result : known.results) left.push_back(now.values[result.word]);
    for (std::uint64_t i = 0; i < times; ++i) {
        const std::vector<std::uint64_t> before = left;
        for (std::size_t n = 0; n < left.size(); ++n)
            left[n] = known.results[n].add +
                      (known.results[n].from == kNone ? 0 : std::max(before[known.results[n].from], before[known.results[n].other]));
    }
    for (std::size_t n = 0; n < left.size(); ++n) moves[known.results[n].word] = left[n] - now.values[known.results[n].word];
    for (const Known::OfLayer& count : known.of_layers)
        if (count.from != count.to) moves[count.word] = count.to - now.values[count.word];
    return moves;
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
bool RepeatedOperations::skip(const Known& known, const std::vector<std::size_t>& ends, Seen& now)
{
    const Software::Part& part = known.part;
    const std::uint64_t times = ends.size();
    const std::vector<GlbCore::Done> done = this->done(known, times, now);
    if (path_) {
        std::vector<Cycle> cuts;
        cuts.reserve(done.size() + times * (part.to.stamps - part.from.stamps));
        for (const GlbCore::Done& one : done) cuts.push_back(one.cycle);
        for (std::uint64_t i = 0; i < times; ++i)
            for (std::size_t n = part.from.stamps; n < part.to.stamps; ++n) cuts.push_back(software_.stamps()[n] + part.later(now.at, i));
        if (!path_->repeat(*known.way, times, cuts)) return false;
    }
    std::vector<Window::Sample> interrupts;
    for (const auto& [later, step] : known.interrupts)
        step.add_to(interrupts.emplace_back(Window::Sample{now.pin + later, now.counted}).snapshot);
    window_.repeat(std::move(interrupts), times, part.period, known.step);
    for (const GlbCore::Done& one : done) top_.glb().repeat(one);

    const Cycle cycles = times * part.period;
    const std::vector<std::uint64_t> moves = this->moves(known, times, now);
    State s(now.at, cycles, moves, 1);
    s.expect(words_);
    s.set_granule(granule_);
    s.set_turned(now.turns.interrupts, times % 2 != 0 ? part.turns.interrupts : 0);
    top_.state(s);
    if (!s.complete()) top_.failures().report("recurrence", fmt::format("other words move on than were said in cycle {}", now.at));
    software_.repeat(part, known.turns ^ now.turns, ends, now.at, [this](const ProgramEntry& entry) {
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) {
            for (const auto& [name, file] : registers_)
                if (file->unit().has(write->address)) file->written(write->address - file->unit().base, write->value);
        } else if (const auto* step = std::get_if<HostStep>(&entry); step && software_.on_host) {
            guard_kernel([&] { software_.on_host(step->number); }, [&](const char* what) { top_.failures().report("host", what); });
        }
    });
    clock_.skip(cycles);
    clock_.expect_activity();
    skipped_ += cycles;

    states_.begin(words_, moves);
    now.at += cycles;
    now.pin += cycles;
    for (std::uint64_t i = 0; i < times; ++i) known.step.add_to(now.counted);
    if (window_.take(now.at + 1).units != now.counted.units)
        top_.failures().report("recurrence", fmt::format("a unit has not said what it has counted in {} cycles", part.period));
    take(now);
    if (const std::string what = states_.compare(words_, now.at); !what.empty())
        top_.failures().report("recurrence", fmt::format("after operations of {} cycles: {}", part.period, what));
    return true;
}

/// Operations that could be skipped are simulated, and checked.
void RepeatedOperations::expect(const Known& known, std::uint64_t times, Seen now)
{
    left_ = times;
    expected_ = known;
    states_.begin(words_, moves(known, 1, now));
    since_ = std::move(now);
}

/// The state has to be as was to be expected.
void RepeatedOperations::check(Cycle now)
{
    const Cycle period = expected_->part.period, next = since_.at + period;
    if (now < next) return;
    std::string what = "no interrupt";
    Snapshot counted = since_.counted;
    expected_->step.add_to(counted);
    since_.at = next;
    if (now == next) {
        top_.catch_up(now + 1);
        since_.counted = window_.take(now + 1);
        take(since_);
        what = states_.compare(words_, now);
        if (what.empty() && since_.counted.units != counted.units) what = "a unit counts otherwise";
    }
    if (!what.empty()) {
        const std::string operations = fmt::format("the operations of {} cycles up to {} are not like those before", period, next);
        top_.failures().report("recurrence", operations + ": " + what);
    }
    since_.pin += period;
    if (--left_ != 0) return states_.begin(words_, moves(*expected_, 1, since_));
    seen_.clear();
    go_on(std::move(since_));
}

}  // namespace dlasim
