// The state of the machine at a mark, as every part says it: one declaration, from which a state that recurs is found and the
// periods behind it are taken in one step (platform/repeats/recurrence.h).
//
//   part.state(s) ──► s.same(..), s.cycle(..), s.count(..), ..        in the same order, whatever it is asked for
//                        │
//                        ├─ Digest    a number: equal states have equal ones
//                        ├─ Take      all words: two states are compared word by word, what moved has moved by as much again
//                        └─ Advance   what moved moves on, as often as the period is repeated
//
// Two states are equal if everything that decides what happens next is: flags and occupancies, cycles as seen from now, addresses as far as
// their lowest bits, places in a ring as seen from where it begins. Loop positions may have moved: from where they are nothing follows as
// long as they stay between the bounds that their part names.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/counters.h"
#include "base/cycle.h"
#include "base/quantity.h"

namespace dlasim {

class State {
public:
    enum class Kind : std::uint8_t {
        Same,        // equal
        Fixed,       // equal; the state that is reached cannot be set where it is another one
        Derived,     // equal, and follows from others
        Cycle,       // equal as seen from now; or in the past, where it stays
        Since,       // the same, and however long ago it is: how long decides where it moves
        Count,       // nothing follows from it
        LayerCount,  // nothing follows from it, and it begins anew with a layer
        Result,      // nothing follows from it: operations leave it for software to read
        Total,       // the same, which none begins anew
        Extreme,     // nothing follows from it, and it stays
        Layers,      // nothing follows from it but that layers have begun or ended
        Address,     // equal below the granule
        Position,    // nothing follows from it between its bounds
        Turn,        // which of two is next, and nothing follows from which
        Turning      // a place in a ring, and nothing follows from where
    };
    /// Of the source that says a word.
    struct Where {
        const char* file = nullptr;
        unsigned line = 0;
        /// The caller's: clang 14 has no std::source_location.
        static constexpr Where here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
    };
    struct Word {
        std::uint64_t value = 0;
        // bounds of a position; `last`: entries of a ring. Of a result: how far behind the count, and how far to that of the other group
        std::int64_t first = 0, last = 0;
        Kind kind = Kind::Same;
        Where where{};

        /// Said in the same place, of the same kind.
        bool alike(const Word& other) const
        {
            return kind == other.kind && where.line == other.where.line && where.file == other.where.file;
        }
    };
    /// How far back a cycle is seen from now; nothing that is longer ago decides.
    static constexpr Cycle kBack = 256;

    /// A digest, of the state when all of cycle `now` has been evaluated.
    explicit State(Cycle now) : now_(now) {}
    /// All words, into `taken`.
    State(Cycle now, std::vector<Word>& taken) : task_(Task::Take), now_(now), taken_(&taken) {}
    /// `times` periods are skipped: a word moves on by its part of `moves`, times so often.
    State(Cycle now, Cycle period, std::span<const std::uint64_t> moves, std::uint64_t times)
        : task_(Task::Advance), now_(now), skipped_(times * period), moves_(moves), times_(times)
    {
    }

    // ---- for parts

    /// What decides as it is: a number, a flag, an enumerator, a quantity.
    template <class T>
    void same(T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) mix(digest_, raw(value));
        else if (const std::uint64_t moved = next({.value = raw(value), .where = where})) add(value, moved);
    }
    template <class T, std::size_t n>
    void same(std::array<T, n>& values, Where where = Where::here())
    {
        for (T& value : values) same(value, where);
    }
    /// The same, of what is no member that could be set.
    template <class T>
    void same(const T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) mix(digest_, raw(value));
        else next({.value = raw(value), .kind = Kind::Fixed, .where = where});
    }
    /// The same, of what follows from other words.
    template <class T>
    void derived(const T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) mix(digest_, raw(value));
        else next({.value = raw(value), .kind = Kind::Derived, .where = where});
    }
    /// A cycle, of the past or to come; kNever.
    void cycle(Cycle& at, Where where = Where::here())
    {
        if (task_ == Task::Digest) return mix(digest_, seen(at));
        if (const std::uint64_t moved = next({.value = at, .kind = Kind::Cycle, .where = where})) at += moved;
    }
    /// A cycle since which something goes on whose length is counted when it ends.
    void since(Cycle& at, Where where = Where::here())
    {
        if (task_ == Task::Digest) return mix(digest_, seen(at));
        if (const std::uint64_t moved = next({.value = at, .kind = Kind::Since, .where = where})) at += moved;
    }
    /// A number from which nothing follows: of what has happened, or the name of something.
    template <class T>
    void count(T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) return;
        if (const std::uint64_t moved = next({.value = raw(value), .kind = Kind::Count, .where = where})) add(value, moved);
    }
    /// The same, of a layer: it may begin anew with one.
    template <class T>
    void layer_count(T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) return;
        if (const std::uint64_t moved = next({.value = raw(value), .kind = Kind::LayerCount, .where = where})) add(value, moved);
    }
    /// How many layers, or parts of them, have begun or ended.
    template <class T>
    void layers(T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) return mix(digest_, raw(value));
        if (const std::uint64_t moved = next({.value = raw(value), .kind = Kind::Layers, .where = where})) add(value, moved);
    }
    /// A place in a loop: while it is in [first, last], all that follows is the same.
    template <class T>
    void position(T& value, std::int64_t first, std::int64_t last, Where where = Where::here())
    {
        if (task_ == Task::Digest) return;
        if (const std::uint64_t moved = next({.value = raw(value), .first = first, .last = last, .kind = Kind::Position, .where = where}))
            add(value, moved);
    }
    /// One from 0 to `last` in a loop inside of another, which is at `outer`: where that one moves this one has been at its end.
    template <class T>
    void inner_position(T& value, std::int64_t last, std::uint64_t outer, Where where = Where::here())
    {
        if (task_ == Task::Digest) loops_.push_back({raw(value), outer, -static_cast<std::int64_t>(outer), last});
        position(value, -static_cast<std::int64_t>(outer), last, where);
    }
    /// The same, counting down to `first`.
    template <class T>
    void inner_position_down(T& value, std::int64_t first, std::uint64_t outer, Where where = Where::here())
    {
        if (task_ == Task::Digest) loops_.push_back({raw(value), outer, first, INT64_MAX - static_cast<std::int64_t>(outer)});
        position(value, first, INT64_MAX - static_cast<std::int64_t>(outer), where);
    }
    /// The same two, of what follows from other words.
    template <class T>
    void derived_position(const T& value, std::int64_t last, std::uint64_t outer, Where where = Where::here())
    {
        T copy = value;
        inner_position(copy, last, outer, where);
    }
    template <class T>
    void derived_position_down(const T& value, std::int64_t first, std::uint64_t outer, Where where = Where::here())
    {
        T copy = value;
        inner_position_down(copy, first, outer, where);
    }
    /// How many in front of a queue are alike, of which some leave while none come: nothing follows from it as long as two are left.
    /// So many leave where what moved moves on.
    std::uint64_t leaving(std::uint64_t alike, Where where = Where::here())
    {
        if (task_ == Task::Digest) return 0;
        return -next({.value = alike, .first = 2, .last = INT64_MAX, .kind = Kind::Position, .where = where});
    }
    /// A struct of declared counters (base/counters.h). An extreme is what it was: periods that are alike have the same ones.
    template <class Counters>
    void counters(Counters& values)
    {
        for (const Counter<Counters>& counter : dlasim::counters<Counters>) {
            const bool counts = counter.row.kind != CounterKind::Extreme;
            std::visit([&](auto place) { this->counter(values.*place, counts); }, counter.place);
        }
    }
    /// Which of two groups of registers works next, and whether the two change places. All that belongs to one is said as seen from the
    /// next.
    struct Turn {
        unsigned next = 0;
        bool changes = false;

        /// The one that works next where they change places: all is said before they do.
        unsigned before() const { return changes ? next ^ 1 : next; }
    };
    Turn turn(unsigned& next, Where where = Where::here())
    {
        if (task_ == Task::Digest) mix(digest_, next);
        else if (this->next({.value = next, .kind = Kind::Turn, .where = where}) % 2 != 0) return {next ^= 1, true};
        return {next, false};
    }
    /// The number of one.
    template <class T>
    void group(T& number, Turn turn, Where where = Where::here())
    {
        T as_seen = static_cast<T>(number ^ turn.before());
        same(as_seen, where);
        if (advancing()) number = static_cast<T>(as_seen ^ turn.next);
    }
    /// What both have: `each` says it of one.
    template <class T, class Each>
    void groups(std::array<T, 2>& both, Turn turn, Each each)
    {
        for (const unsigned group : {turn.before(), turn.before() ^ 1}) each(both[group]);
        if (turn.changes) std::swap(both[0], both[1]);
    }
    /// What operations leave for software to read. `each` says it of a group, by `result`: first how many have left something, then what
    /// the last one has. Who calls changes the places of the groups.
    template <class Each>
    void results(Turn turn, Each each, Where where = Where::here())
    {
        if (task_ == Task::Digest) return;
        const std::size_t begin = taken_ ? taken_->size() : 0;
        const auto result = [&]<class T>(T& value, bool total = false) {
            const Kind kind = total ? Kind::Total : Kind::Result;
            if (const std::uint64_t moved = next({.value = raw(value), .kind = kind, .where = where})) add(value, moved);
        };
        for (const unsigned group : {turn.before(), turn.before() ^ 1}) each(group, result);
        if (!taken_) return;
        const std::size_t words = (taken_->size() - begin) / 2;
        for (std::size_t i = 0; i < 2 * words; ++i) {
            Word& word = (*taken_)[begin + i];
            word.first = static_cast<std::int64_t>(i % words);
            word.last = static_cast<std::int64_t>(words) * (i < words ? 1 : -1);
        }
    }
    /// Bits of S_INTR_STATUS.
    void interrupts(std::uint32_t& bits, Where where = Where::here())
    {
        std::uint32_t as_seen = changed_places(bits, turned_);
        same(as_seen, where);
        if (advancing()) bits = changed_places(as_seen, turned_ ^ turns_);
    }
    /// An address, of which what is below granule() decides.
    template <class T>
    void address(T& value, Where where = Where::here())
    {
        if (task_ == Task::Digest) return mix(digest_, raw(value) % granule_);
        if (const std::uint64_t moved = next({.value = raw(value), .kind = Kind::Address, .where = where})) add(value, moved);
    }
    /// Bytes, a power of two: the largest block at whose ends anybody cuts.
    std::uint64_t granule() const { return granule_; }
    /// Where a ring of `size` entries begins, or another place of it: nothing follows from where that is.
    template <class T>
    void turning(T& value, std::uint64_t size, Where where = Where::here())
    {
        if (task_ == Task::Digest) return;
        const std::uint64_t moved =
            next({.value = raw(value), .last = static_cast<std::int64_t>(size), .kind = Kind::Turning, .where = where});
        if (moved != 0) value = static_cast<T>((raw(value) + moved) % size);
    }
    /// A place of a ring of `size` entries, as seen from `origin`. Before that one is said.
    template <class T>
    void place(T& value, std::uint64_t origin, std::uint64_t size, Where where = Where::here())
    {
        derived((raw(value) + size - origin % size) % size, where);
        turning(value, size, where);
    }
    /// Not after now: of a cycle that has been said.
    bool past(Cycle at) const { return at <= now_ + skipped_; }
    /// How long ago it is does not matter: of one that has not been said.
    bool long_past(Cycle at) const { return at + kBack <= now_; }
    /// Pointers and the like that belong to what has moved are found anew.
    bool advancing() const { return task_ == Task::Advance; }
    Cycle now() const { return now_; }
    /// The part cannot say, now: nothing is repeated unless it sleeps.
    void unknown() { unknown_ = true; }

    // ---- for who asks

    /// Before the first word.
    void set_granule(std::uint64_t bytes) { granule_ = bytes; }
    /// Interrupts of units whose second group is next; of those whose groups change places.
    void set_turned(std::uint32_t interrupts, std::uint32_t changes = 0)
    {
        turned_ = interrupts;
        turns_ = changes;
    }
    /// Bits of S_INTR_STATUS, in which those of the two groups of some units, `turned`, change places.
    static std::uint32_t changed_places(std::uint32_t bits, std::uint32_t turned)
    {
        constexpr std::uint32_t kFirst = 0x55555555;
        return (bits & ~turned) | (((bits & kFirst) << 1 | (bits >> 1 & kFirst)) & turned);
    }

    std::uint64_t digest() const { return digest_; }
    /// A number for words that were taken in cycle `now`, of all but places in a ring: other than a digest, of what is counted too.
    static std::uint64_t digest(std::span<const Word> words, Cycle now)
    {
        State s(now);
        for (const Word& word : words) {
            const bool cycle = word.kind == Kind::Cycle || word.kind == Kind::Since;
            if (word.kind != Kind::Turning) mix(s.digest_, cycle ? s.seen(word.value) : word.value);
        }
        return s.digest_;
    }
    /// How often a position in [first, last] that has moved so far may do so again.
    static std::uint64_t times(std::uint64_t value, std::uint64_t has_moved, std::int64_t first, std::int64_t last)
    {
        const auto at = static_cast<std::int64_t>(value), moved = static_cast<std::int64_t>(has_moved);
        if (moved == 0) return UINT64_MAX;
        if (at < first || at > last) return 0;
        return static_cast<std::uint64_t>(moved > 0 ? (last - at) / moved : (at - first) / -moved);
    }
    /// Where an inner loop is, and the one around it; and between what it may be.
    struct Loop {
        std::uint64_t inner, outer;
        std::int64_t first, last;
    };
    /// Of a digest: all of them. Two states of one digest recur if every inner loop is where it was or has not been at its end.
    std::vector<Loop>& loops() { return loops_; }
    /// A module that cannot say more: it has not been evaluated, and will not be but where it is woken.
    template <class Module>
    void asleep(const Module& module, Where where = Where::here())
    {
        same(module.evaluations(), where);
        if (task_ == Task::Take && module.waiting()) refuse();
    }
    /// Nothing is repeated from here on.
    void refuse() { refused_ = true; }
    bool refused() const { return refused_; }
    /// Before the first word: those that were taken. From one that is another on none moves.
    void expect(std::span<const Word> said) { said_ = said; }
    /// All words have moved on.
    bool complete() const { return at_ == moves_.size(); }
    /// Whether a part could not say since the last time this was asked.
    bool any_unknown() { return std::exchange(unknown_, false); }

private:
    enum class Task : std::uint8_t { Digest, Take, Advance };

    void counter(std::uint64_t& value, bool counts)
    {
        if (counts) count(value);
        else if (task_ != Task::Digest) next({.value = value, .kind = Kind::Extreme});
    }
    void counter(std::optional<std::uint64_t>& value, bool counts)
    {
        if (value) counter(*value, counts);
    }
    void counter(std::vector<std::uint64_t>& values, bool counts)
    {
        for (std::uint64_t& value : values) counter(value, counts);
    }
    template <class T>
    static constexpr std::uint64_t raw(const T& value)
    {
        if constexpr (std::is_enum_v<T>) return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<T>>(value));
        else if constexpr (requires { value.byte(); }) return value.byte();
        else if constexpr (requires { value.count(); }) return static_cast<std::uint64_t>(value.count());
        else {
            static_assert(std::is_integral_v<T>);
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        }
    }
    template <class T>
    static void add(T& value, std::uint64_t moved)
    {
        if constexpr (requires { value.byte(); }) value += moved;
        else if constexpr (requires { value.count(); }) value += T(static_cast<decltype(value.count())>(moved));
        else value = static_cast<T>(static_cast<std::uint64_t>(value) + moved);
    }
    static void mix(std::uint64_t& digest, std::uint64_t word)
    {
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 29;
    }
    /// A cycle as seen from now.
    std::uint64_t seen(Cycle at) const
    {
        if (at == kNever) return kNever;
        return at + kBack > now_ ? at - now_ : kNever - 1;
    }
    /// How far the word moves.
    std::uint64_t next(const Word& word)
    {
        if (task_ == Task::Take) {
            taken_->push_back(word);
            return 0;
        }
        const std::size_t at = at_++;
        if (at < said_.size() && !said_[at].alike(word)) moves_ = {};
        return at < moves_.size() ? moves_[at] * times_ : 0;
    }

    Task task_ = Task::Digest;
    const Cycle now_, skipped_ = 0;
    std::uint64_t granule_ = 4096;
    std::uint32_t turned_ = 0, turns_ = 0;
    std::uint64_t digest_ = 0xcbf29ce484222325u;
    std::vector<Loop> loops_;
    bool unknown_ = false, refused_ = false;
    std::vector<Word>* taken_ = nullptr;
    std::span<const std::uint64_t> moves_;
    std::span<const Word> said_;
    std::uint64_t times_ = 0;
    std::size_t at_ = 0;
};

}  // namespace dlasim
