// Frames that share a machine, tick by tick, and what is known of figures before machines run.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "sweep/requirement.h"
#include "sweep/schedule.h"

namespace dlasim {
namespace machine_question_test {

struct TickedFrame {
    std::size_t work = 0;
    std::int64_t release = 0;
    std::size_t step = 0;
};

/// Worst latencies, a microsecond after the other. Rates divide a million.
std::vector<double> ticked(const std::vector<PeriodicWork>& works, FrameOrder order, std::int64_t end)
{
    std::vector<double> worst(works.size());
    std::vector<TickedFrame> waiting;
    const auto before = [&](const TickedFrame& a, const TickedFrame& b) {
        if (order == FrameOrder::Priority && works[a.work].priority != works[b.work].priority)
            return works[a.work].priority > works[b.work].priority;
        if (order == FrameOrder::Deadline) {
            const double due_a = static_cast<double>(a.release) + works[a.work].deadline_us;
            const double due_b = static_cast<double>(b.release) + works[b.work].deadline_us;
            if (due_a != due_b) return due_a < due_b;
        }
        return a.release != b.release ? a.release < b.release : a.work < b.work;
    };
    std::int64_t free_at = 0;
    for (std::int64_t now = 0; now < end || !waiting.empty() || now < free_at; ++now) {
        for (std::size_t w = 0; w < works.size(); ++w)
            if (const auto period = static_cast<std::int64_t>(1e6 / works[w].rate); now < end && now % period == 0)
                waiting.push_back({w, now, 0});
        if (now < free_at || waiting.empty()) continue;
        const auto next = std::ranges::min_element(waiting, before);
        const std::vector<double>& steps = works[next->work].step_us;
        free_at = now + static_cast<std::int64_t>(steps[next->step]);
        if (++next->step < steps.size()) continue;
        worst[next->work] = std::max(worst[next->work], static_cast<double>(free_at - next->release));
        waiting.erase(next);
    }
    return worst;
}

TEST(Schedule, LatenciesAreThoseOfASimulationTickByTick)
{
    constexpr std::array kRates{1000, 500, 250, 200, 125, 100};
    std::mt19937 random{1};
    int compared = 0;
    while (compared < 60) {
        std::vector<PeriodicWork> works(2 + random() % 3);
        for (PeriodicWork& work : works) {
            work.rate = kRates[random() % kRates.size()];
            work.deadline_us = static_cast<double>(100 + random() % 5000);
            work.priority = static_cast<int>(random() % 3);
            for (std::size_t n = 1 + random() % 6; n > 0; --n) work.step_us.push_back(static_cast<double>(1 + random() % 300));
        }
        const FrameOrder order = std::array{FrameOrder::FirstCome, FrameOrder::Priority, FrameOrder::Deadline}[compared % 3];
        const auto latencies = simulate_frames(works, order);
        ASSERT_EQ(latencies.has_value(), load_of(works) <= 1);
        if (!latencies) continue;
        const std::vector<double> expected = ticked(works, order, 40'000);  // of all these rates together
        for (std::size_t w = 0; w < works.size(); ++w) EXPECT_EQ((*latencies)[w].worst_us, expected[w]) << compared << " " << w;
        ++compared;
    }
}

TEST(Figures, RangesOfAnExpressionHoldEachOfItsValues)
{
    constexpr std::array kExpressions{"a + b",           "a - b",         "a * b - c",      "(a - b) * (c - a)", "a / b",
                                      "max(a, b) - c",   "min(a, b * c)", "a * a - a",      "-a + 2 * b",        "(a + b) / (c + 1)",
                                      "a / (b + c) - a", "max(a - b, 0)", "(a - 2) * b * c"};
    std::mt19937 random{2};
    const auto number = [&] { return 0.1 + static_cast<double>(random() % 100) / 10; };
    for (const char* text : kExpressions)
        for (int trial = 0; trial < 200; ++trial) {
            std::map<std::string, FigureRange> ranges;
            nlohmann::ordered_json row;
            for (const char* name : {"a", "b", "c"}) {
                const double one = number(), other = trial % 3 == 0 ? one : number();
                ranges[name] = {std::min(one, other), std::max(one, other)};
                row[name] = ranges[name].least + (ranges[name].most - ranges[name].least) * static_cast<double>(random() % 11) / 10;
            }
            const FigureRange range = range_of(text, [&](const std::string& name) { return ranges.at(name); });
            const double value = figure_of(row, text).value();
            EXPECT_LE(range.least, value + 1e-9) << text;
            EXPECT_GE(range.most, value - 1e-9) << text;
        }
}

TEST(Figures, AConditionIsOneRequirement)
{
    const auto read = [](const char* text) { return read_requirements(text, "s.json", {"one"}); };
    const auto holds = [&](const char* text, double load, double area) {
        const nlohmann::ordered_json row{{"load", load}, {"area_mm2", area}};
        return std::ranges::all_of(read(text), [&](const Requirement& r) { return r.met(figure_of(row, r.column).value()); });
    };
    EXPECT_EQ(read("load < 0.9 && (area_mm2 < 2 && load > 0.1)").size(), 3);
    EXPECT_EQ(read("(load < 0.9)").front().column, "load");
    EXPECT_EQ(read("load < 0.9 || area_mm2 < 1 && load < 2").size(), 1);
    EXPECT_EQ(read("load < 0.9 || area_mm2 < 1").front().text(), "load < 0.9 || area_mm2 < 1");
    for (const double load : {0.5, 0.95, 3.0})
        for (const double area : {0.5, 1.5}) {
            EXPECT_EQ(holds("load < 0.9 || area_mm2 < 1", load, area), load < 0.9 || area < 1);
            EXPECT_EQ(holds("!(load > 0.9) && area_mm2 > 1", load, area), !(load > 0.9) && area > 1);
            EXPECT_EQ(holds("(load < 0.9 || load > 2) && area_mm2 < 1", load, area), (load < 0.9 || load > 2) && area < 1);
            EXPECT_EQ(holds("(load < 0.9) + (area_mm2 < 1) >= 1", load, area), load < 0.9 || area < 1);
        }
    const Requirement either = read("load < 0.9 || area_mm2 < 1").front();
    EXPECT_FALSE(cannot_meet(either, range_of(either.column, [](const std::string&) { return FigureRange{1, 2}; })));
    for (const char* wrong : {"load", "(load < 1", "load < 1)", "load || ", "lod < 1 || load < 2", "load < 1 |", "!"}) {
        const std::string text = wrong;
        EXPECT_THROW(read(text.c_str()), ConfigError) << text;
    }
}

TEST(Figures, WhatIsNotKnownRefusesNothing)
{
    const FigureRange wide = range_of("a % 3 + 1", [](const std::string&) { return FigureRange{1, 2}; });
    EXPECT_FALSE(cannot_meet({"x", Requirement::Is::Below, 0}, wide));
    EXPECT_TRUE(cannot_meet({"x", Requirement::Is::Below, 5}, {5, 5}));
    EXPECT_FALSE(cannot_meet({"x", Requirement::Is::AtMost, 5}, {5, 7}));
    EXPECT_TRUE(cannot_meet({"x", Requirement::Is::AtMost, 5}, {5.001, 7}));
    EXPECT_TRUE(cannot_meet({"x", Requirement::Is::AtLeast, 5}, {0, 4.9}));
    EXPECT_FALSE(cannot_meet({"x", Requirement::Is::AtLeast, 5}, {0, 6}));
}

}  // namespace machine_question_test
}  // namespace dlasim
