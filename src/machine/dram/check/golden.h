// The published figures of dram.md 10.3 and what the reference controller makes of them: one row a
// device and stream. The source of the table in scripts/figures/EXPERIMENTS.md and of tests/golden/dram_golden_test.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "dram/statistics.h"

namespace dlasim::dram {

struct GoldenRow {
    const char* device;
    const char* mapping;
    const char* page_policy;
    const char* pattern;
    std::uint64_t stride;
    std::uint64_t reads, writes;  // column commands in 100 000 cycles
    double hit_rate;
    std::uint64_t activations, precharges, refreshes;
    double latency, gb_per_s;
};

const std::vector<GoldenRow>& golden_rows();

struct GoldenResult {
    std::uint64_t reads, writes, activations, precharges, refreshes;
    double hit_rate, latency, gb_per_s;
};
GoldenResult run_golden(const GoldenRow& row);

/// The table of scripts/figures/EXPERIMENTS.md: published and ours, side by side.
std::string golden_table();

}  // namespace dlasim::dram
