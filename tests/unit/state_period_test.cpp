// How the words of two states of the machine, a period apart, go on.
#include "platform/repeats/state_period.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "base/ring.h"

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

namespace dlasim {
namespace {

constexpr Cycle kSince = 10'000, kPeriod = 1000;
constexpr std::uint64_t kGranule = 256;
using Kind = State::Kind;
using Within = StatePeriod::Within;

State::Word word(Kind kind, std::uint64_t value, std::int64_t first = 0, std::int64_t last = 0)
{
    return {.value = value, .first = first, .last = last, .kind = kind, .where = {"unit.cpp", 7}};
}

/// How far a word moves in a period; nothing if it does not go on.
std::optional<std::uint64_t> moved(Within within, const State::Word& from, const State::Word& to)
{
    StatePeriod period(within, kGranule);
    period.from = {from};
    period.to = {to};
    if (!period.measure(kSince, kPeriod)) return std::nullopt;
    return period.moves().front();
}

TEST(StatePeriod, WhatDecidesMayNotMove)
{
    for (const Within within : {Within::Layer, Within::Program}) {
        EXPECT_EQ(moved(within, word(Kind::Same, 5), word(Kind::Same, 5)), 0);
        EXPECT_EQ(moved(within, word(Kind::Same, 5), word(Kind::Same, 6)), std::nullopt);
        EXPECT_EQ(moved(within, word(Kind::Address, 512), word(Kind::Address, 512 + 3 * kGranule)), 3 * kGranule);
        EXPECT_EQ(moved(within, word(Kind::Address, 512), word(Kind::Address, 513)), std::nullopt);
        EXPECT_EQ(moved(within, word(Kind::Count, 5), word(Kind::Count, 9)), 4);
        EXPECT_EQ(moved(within, word(Kind::Extreme, 5), word(Kind::Extreme, 9)), 0);
        EXPECT_EQ(moved(within, word(Kind::Count, 5), word(Kind::Same, 5)), std::nullopt);
    }
}

TEST(StatePeriod, CyclesMoveWithTimeOrAreLongAgo)
{
    const auto cycle = [](Cycle from, Cycle to) { return moved(Within::Layer, word(Kind::Cycle, from), word(Kind::Cycle, to)); };
    EXPECT_EQ(cycle(kSince + 3, kSince + 3 + kPeriod), kPeriod);
    EXPECT_EQ(cycle(kSince - 3, kSince - 3 + kPeriod), kPeriod);
    EXPECT_EQ(cycle(77, 77), 0);
    EXPECT_EQ(cycle(kNever, kNever), 0);
    EXPECT_EQ(cycle(kSince + 3, kSince + 3), std::nullopt);         // it is to come, and does not
    EXPECT_EQ(cycle(77, kSince + 100), kPeriod);                    // comes in every period, and is long ago at both ends
    EXPECT_EQ(cycle(77, kSince + kPeriod - 100), std::nullopt);     // not yet long ago
    EXPECT_EQ(cycle(kSince - 100, kSince + 100), std::nullopt);     // was not
    EXPECT_EQ(cycle(77, kSince - State::kBack - 1), std::nullopt);  // before the period: it has not come in it
}

TEST(StatePeriod, HowLongSomethingHasGoneOnDecides)
{
    const auto since = [](Cycle from, Cycle to) { return moved(Within::Program, word(Kind::Since, from), word(Kind::Since, to)); };
    EXPECT_EQ(since(77, 77), 0);
    EXPECT_EQ(since(77, 77 + kPeriod), kPeriod);
    EXPECT_EQ(since(77, kSince + 100), std::nullopt);  // as a cycle it would be long ago at both ends
}

TEST(StatePeriod, LayersBeginAndEndInTheProgramOnly)
{
    const State::Word at = word(Kind::Position, 5, 0, 20), later = word(Kind::Position, 8, 0, 20);
    EXPECT_EQ(moved(Within::Layer, at, later), 3);
    EXPECT_EQ(moved(Within::Program, at, later), std::nullopt);
    EXPECT_EQ(moved(Within::Program, at, at), 0);
    EXPECT_EQ(moved(Within::Layer, at, word(Kind::Position, 8, 0, 21)), std::nullopt);
    EXPECT_EQ(moved(Within::Layer, word(Kind::Layers, 1), word(Kind::Layers, 2)), std::nullopt);
    EXPECT_EQ(moved(Within::Program, word(Kind::Layers, 1), word(Kind::Layers, 2)), 1);
    EXPECT_EQ(moved(Within::Layer, word(Kind::LayerCount, 1), word(Kind::LayerCount, 4)), 3);
    EXPECT_EQ(moved(Within::Program, word(Kind::LayerCount, 1), word(Kind::LayerCount, 4)), std::nullopt);
}

TEST(StatePeriod, GroupsTakeTurnsInTheProgramOnly)
{
    EXPECT_EQ(moved(Within::Layer, word(Kind::Turn, 0), word(Kind::Turn, 1)), std::nullopt);
    EXPECT_EQ(moved(Within::Layer, word(Kind::Turn, 1), word(Kind::Turn, 1)), 0);
    StatePeriod period(Within::Program, kGranule);
    period.from = {word(Kind::Turn, 0)};
    period.to = {word(Kind::Turn, 1)};
    ASSERT_TRUE(period.measure(kSince, kPeriod));
    StatePeriod::Words next{word(Kind::Turn, 0)};
    EXPECT_EQ(period.compare(next, kSince + 2 * kPeriod), "");
    next = {word(Kind::Turn, 0)};
    EXPECT_NE(period.compare(next, kSince + 3 * kPeriod), "");

    unsigned group = 0, number = 1;
    std::array<int, 2> both{3, 4};
    for (const std::uint64_t times : {1, 2, 3}) {
        const std::vector<std::uint64_t> moves{1, 0, 0, 0};
        State s(kSince, kPeriod, moves, times);
        const State::Turn turn = s.turn(group);
        s.group(number, turn);
        s.groups(both, turn, [&](int& each) { s.same(each); });
        EXPECT_EQ(turn.changes, times % 2 != 0);
    }
    EXPECT_EQ(group, 0u);
    EXPECT_EQ(number, 1u);
    EXPECT_EQ(both, (std::array{3, 4}));
    EXPECT_EQ(State::changed_places(0b10'01'01, 0b11'00'11), 0b01'01'10u);
}

TEST(StatePeriod, AnotherStateMayComeBehindOne)
{
    const auto leads = [](const State::Word& from, const State::Word& to) -> std::optional<std::uint64_t> {
        StatePeriod period(Within::Program, kGranule);
        period.from = {from};
        period.to = {to};
        if (!period.leads()) return std::nullopt;
        return period.moves().front();
    };
    EXPECT_EQ(leads(word(Kind::Same, 5), word(Kind::Same, 7)), 2);
    EXPECT_EQ(leads(word(Kind::Derived, 5), word(Kind::Derived, 7)), 2);
    EXPECT_EQ(leads(word(Kind::Fixed, 5), word(Kind::Fixed, 5)), 0);
    EXPECT_EQ(leads(word(Kind::Fixed, 5), word(Kind::Fixed, 7)), std::nullopt);  // nobody can set it
    EXPECT_EQ(leads(word(Kind::Address, 512), word(Kind::Address, 513)), 1);
    EXPECT_EQ(leads(word(Kind::Position, 5, 0, 20), word(Kind::Position, 8, 0, 9)), 3);
    EXPECT_EQ(leads(word(Kind::Turning, 6, 0, 8), word(Kind::Turning, 1, 0, 8)), 3);
    EXPECT_EQ(leads(word(Kind::Turning, 6, 0, 8), word(Kind::Turning, 1, 0, 4)), std::nullopt);
    EXPECT_EQ(leads(word(Kind::Extreme, 5), word(Kind::Extreme, 9)), 0);
    EXPECT_EQ(leads(word(Kind::Same, 5), word(Kind::Count, 5)), std::nullopt);
}

/// What is said by a part that has two groups of registers.
struct Grouped {
    unsigned next = 0, number = 0;
    std::array<int, 2> both{};
    std::array<std::uint64_t, 2> operations{}, left{};
    std::uint32_t bits = 0;

    void state(State& s)
    {
        const State::Turn turn = s.turn(next);
        s.group(number, turn);
        s.groups(both, turn, [&](int& each) { s.same(each); });
        s.interrupts(bits);
        s.results(turn, [&](unsigned group, auto result) {
            result(operations[group]);
            result(left[group]);
        });
        if (!turn.changes) return;
        std::swap(operations[0], operations[1]);
        std::swap(left[0], left[1]);
    }
    StatePeriod::Words words(std::uint32_t turned)
    {
        StatePeriod::Words words;
        State s(kSince, words);
        s.set_turned(turned);
        state(s);
        return words;
    }
    bool operator==(const Grouped&) const = default;
};

TEST(StatePeriod, AStateIsSetAsSeenFromTheGroupThatWorksNext)
{
    constexpr std::uint32_t kBoth = 0b11;
    Grouped from{.next = 0, .number = 0, .both = {3, 4}, .operations = {1, 1}, .left = {30, 40}, .bits = 0b01};
    Grouped to{.next = 1, .number = 1, .both = {5, 6}, .operations = {2, 1}, .left = {50, 40}, .bits = 0b10};
    StatePeriod period(Within::Program, kGranule);
    period.from = from.words(0);
    period.to = to.words(kBoth);
    ASSERT_TRUE(period.leads());
    // the same, but that the groups have changed places before
    Grouped now{.next = 1, .number = 1, .both = {4, 3}, .operations = {1, 1}, .left = {40, 30}, .bits = 0b10};
    ASSERT_EQ(now.words(kBoth).size(), period.from.size());
    State s(kSince, kPeriod, period.moves(), 1);
    s.set_turned(kBoth, kBoth);
    now.state(s);
    EXPECT_EQ(now, (Grouped{.next = 0, .number = 0, .both = {6, 5}, .operations = {1, 2}, .left = {40, 50}, .bits = 0b01}));
    // of results it is told where those of the other group are, and the count of who has left them
    EXPECT_EQ(period.to[period.to.size() - 1].first, 1);
    EXPECT_EQ(period.to[period.to.size() - 1].last, -2);
}

TEST(StatePeriod, PositionsStayBetweenTheirBounds)
{
    StatePeriod period(Within::Layer, kGranule);
    period.from = {word(Kind::Position, 5, 0, 20), word(Kind::Position, 50, 10, 60)};
    period.to = {word(Kind::Position, 8, 0, 20), word(Kind::Position, 40, 10, 60)};
    ASSERT_TRUE(period.measure(kSince, kPeriod));
    EXPECT_EQ(period.times(), 3);  // 50, 40, then 30, 20, 10; the other one 8, 11, 14, 17, 20
}

TEST(StatePeriod, TheFirstWordThatIsNotAsExpectedIsNamed)
{
    StatePeriod period(Within::Layer, kGranule);
    period.from = {word(Kind::Count, 5), word(Kind::Turning, 6, 0, 8), word(Kind::Cycle, kSince)};
    period.to = {word(Kind::Count, 7), word(Kind::Turning, 1, 0, 8), word(Kind::Cycle, kSince + kPeriod)};
    ASSERT_TRUE(period.measure(kSince, kPeriod));
    StatePeriod::Words next{word(Kind::Count, 9), word(Kind::Turning, 4, 0, 8), word(Kind::Cycle, kSince + 2 * kPeriod)};
    EXPECT_EQ(period.compare(next, kSince + 2 * kPeriod), "");
    next = {word(Kind::Count, 11), word(Kind::Turning, 7, 0, 8), word(Kind::Cycle, kSince + 3 * kPeriod + 1)};
    EXPECT_EQ(period.compare(next, kSince + 3 * kPeriod), "unit.cpp:7 has 13001 in place of 13000");
    next = {word(Kind::Count, 13)};
    EXPECT_EQ(period.compare(next, kSince + 4 * kPeriod), "1 words in place of 3");
}

TEST(StatePeriod, AsManyWordsMoveOnAsWereSaid)
{
    Ring<Cycle> pushed;
    for (const Cycle at : {kSince - 2 * State::kBack, kSince - 100, kSince - 3}) pushed.push_back(at);
    const auto say = [&](State& s) {
        pushed.leaving_state(
            s, [&](Cycle at) { return s.long_past(at); }, [&](Cycle& at) { s.cycle(at); });
    };
    StatePeriod::Words words;
    State taken(kSince, words);
    say(taken);
    const std::vector<std::uint64_t> moves(words.size(), 0);
    State advanced(kSince, kPeriod, moves, 5);
    say(advanced);
    EXPECT_TRUE(advanced.complete());
    EXPECT_EQ(pushed.size(), 3);
    State more(kSince, kPeriod, std::span(moves).first(2), 5);
    say(more);
    EXPECT_FALSE(more.complete());
    // one is said no longer: what belongs to it goes to none behind it
    const std::vector<std::uint64_t> all(words.size(), kPeriod);
    Ring<Cycle> fewer;
    for (const Cycle at : {kSince - 2 * State::kBack, kSince - 3}) fewer.push_back(at);
    Cycle behind = 7;
    StatePeriod::Words longer = words;
    longer.push_back(word(Kind::Count, 7));
    State astray(kSince, kPeriod, all, 1);
    astray.expect(longer);
    fewer.state(astray, [&](Cycle& at) { astray.count(at); });
    astray.count(behind);
    EXPECT_FALSE(astray.complete());
    EXPECT_EQ(fewer.front(), kSince - 2 * State::kBack);
    EXPECT_EQ(behind, 7u);
}

}  // namespace
}  // namespace dlasim
