// Request streams, to measure a DRAM by itself: one address after the other, offered as fast as the
// controller takes them or at intervals. The patterns of dram.md 10.3.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dram/channel.h"

namespace dlasim::dram {

struct Access {
    std::uint64_t address = 0;
    bool write = false;
};

/// The i-th access, called once for each i in order.
using Pattern = std::function<Access(std::uint64_t)>;

/// sequential, sequential_write, random, random_write, mixed (read, read, write), strided, latency
/// (one random read at a time); `stride` in bytes for strided. Throws ConfigError.
Pattern make_pattern(const std::string& name, const Config& config, std::uint64_t stride = 0);
std::vector<std::string> pattern_names();

struct StreamRun {
    Cycle cycles = 100'000;
    Cycle interval = 0;          // least cycles between two requests; 0: as many as are taken, one a cycle and channel
    bool one_at_a_time = false;  // the next request waits for the answer to this one
    CommandObserver observer;    // sees all channels, each in its own order
    bool stepping = false;       // evaluate every cycle: slow, the same result
};

/// Statistics of each channel after `run.cycles` cycles.
std::vector<Statistics> run_stream(const Config& config, const Pattern& pattern, const StreamRun& run);

}  // namespace dlasim::dram
