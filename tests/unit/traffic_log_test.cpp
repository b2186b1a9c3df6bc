#include "units/mcif/traffic_log.h"

#include <gmock/gmock.h>

namespace dlasim {
namespace traffic_log_test {

TEST(TrafficLog, CountsByKindAndByClient)
{
    TrafficLog log;
    log.read_command({5, 0x100, 1, 8});
    log.read_beat(30, 8, 64);
    log.write_command({40, 0x200, 1, 1});
    log.write_beat(41, 1, 32);
    EXPECT_EQ(log.since_reset().ar, 1u);
    EXPECT_EQ(log.since_reset().read_bytes_by_client[8], 64u);
    EXPECT_EQ(log.since_mark().write_bytes, 32u);
    EXPECT_EQ(log.since_mark().write_bytes_by_client[1], 32u);
}

TEST(TrafficLog, AMarkSaidLateCountsFromItsCycleOn)
{
    TrafficLog log;
    log.record_commands();
    for (Cycle at = 0; at < 1000; ++at) log.read_command({at, at * 64, 1, 9});
    log.mark(990);
    EXPECT_EQ(log.since_mark().ar, 10u);
    EXPECT_EQ(log.since_reset().ar, 1000u);
    ASSERT_EQ(log.ar_log().size(), 10u);
    EXPECT_EQ(log.ar_log().front().cycle, 990u);
}

TEST(TrafficLog, AMarkSaidAheadCountsFromItsCycleOn)
{
    TrafficLog log;
    log.record_commands();
    log.mark(20);
    for (Cycle at = 0; at < 30; ++at) log.read_beat(at, 9, 64);
    log.write_command({19, 0, 1, 1});
    log.write_command({20, 0, 1, 1});
    EXPECT_EQ(log.since_mark().read_beats, 10u);
    EXPECT_EQ(log.since_mark().read_bytes_by_client[9], 640u);
    ASSERT_EQ(log.aw_log().size(), 1u);
}

TEST(TrafficLog, WhatWillBeAcceptedBehindTheLastCycleDoesNotCount)
{
    TrafficLog log;
    log.mark(10);
    for (Cycle at = 0; at < 1000; at += 3) log.read_command({at, 0, 1, 9});
    log.write_beat(1000, 3, 32);
    EXPECT_EQ(log.since_mark().ar, 330u);
    EXPECT_EQ(log.since_mark(998).ar, 329u);
    EXPECT_EQ(log.since_mark(999).ar, 330u);
    EXPECT_EQ(log.since_mark(999).write_bytes, 0u);
    EXPECT_EQ(log.since_mark(999).write_bytes_by_client[3], 0u);
    EXPECT_EQ(log.since_mark(1000).write_bytes_by_client[3], 32u);
}

TEST(TrafficLog, KeepsTheFirstFourHundredCommands)
{
    TrafficLog log;
    log.record_commands();
    for (Cycle at = 0; at < 1000; ++at) log.write_command({at, 0, 1, 1});
    ASSERT_EQ(log.aw_log().size(), 400u);
    EXPECT_EQ(log.aw_log().back().cycle, 399u);
}

}  // namespace traffic_log_test
}  // namespace dlasim
