// Lanes packed for a page: whatever the length of a grain, the cycles of every phase are what they were.
#include "report/timeline/lanes.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace dlasim {
namespace lanes_test {

std::vector<std::uint64_t> numbers_of(const std::string& base64)
{
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint64_t> numbers;
    std::uint64_t bits = 0, number = 0;
    unsigned held = 0, shift = 0;
    for (const char c : base64) {
        if (c == '=') break;
        bits = bits << 6 | digits.find(c);
        if ((held += 6) < 8) continue;
        const std::uint64_t byte = bits >> (held -= 8) & 0xff;
        number |= (byte & 0x7f) << shift;
        shift += 7;
        if (byte >= 128) continue;
        numbers.push_back(number);
        number = shift = 0;
    }
    return numbers;
}

using Spent = std::array<std::uint64_t, kPhases>;

/// Cycles of each phase, gated ones apart: a grain at the end may be longer than the lane.
Spent spent_in(const nlohmann::ordered_json& packed)
{
    const auto grain = packed["grain"].get<std::uint64_t>();
    const std::vector<std::uint64_t> numbers = numbers_of(packed["data"].get<std::string>());
    Spent spent{};
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const std::uint64_t grains = numbers[at] / 8, kind = numbers[at] % 8;
        if (kind < kPhases) spent[kind] += grains * grain;
        else
            for (std::size_t phase = 0; phase < 4; ++phase) spent[phase] += grains * numbers.at(++at);
    }
    spent[static_cast<std::size_t>(Phase::Gated)] = 0;
    return spent;
}

TEST(Lanes, KeepTheCyclesOfEveryPhase)
{
    std::mt19937 random(5);
    for (int round = 0; round < 60; ++round) {
        Lane lane{.name = "sdp", .runs = {}};
        Spent want{};
        std::int64_t at = 10;
        const unsigned busy = 1 + random() % 40;  // in this many cycles of a thousand or more it does something
        for (int i = 0; i < 4000; ++i) {
            at += static_cast<std::int64_t>(random() % (2000 / busy));
            const auto phase = static_cast<Phase>(random() % 4);
            const std::uint64_t cycles = 1 + random() % 3;
            lane.runs.push_back({at, cycles, phase});
            want[static_cast<std::size_t>(phase)] += cycles;
            at += static_cast<std::int64_t>(cycles);
        }
        for (const std::size_t most : {100'000u, 3'000u, 200u}) {
            const nlohmann::ordered_json packed = lane_json(lane, most);
            EXPECT_EQ(spent_in(packed), want) << "grain " << packed["grain"];
            EXPECT_LE(packed["data"].get<std::string>().size(), most * 4 / 3 + 4);
        }
    }
}

/// A lane that works in one cycle of a hundred does so on a page, however long its grains are.
TEST(Lanes, RareWorkIsSeen)
{
    Lane lane{.name = "SDP writes DBB", .runs = {}};
    for (std::int64_t at = 0; at < 4'000'000; at += 100) lane.runs.push_back({at, 1, Phase::Issuing});
    const nlohmann::ordered_json packed = lane_json(lane, 1000);
    EXPECT_GT(packed["grain"].get<std::uint64_t>(), 100u);
    EXPECT_EQ(spent_in(packed)[static_cast<std::size_t>(Phase::Issuing)], 40'000u);
}

}  // namespace lanes_test
}  // namespace dlasim
