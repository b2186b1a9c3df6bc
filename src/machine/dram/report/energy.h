// Energy of a channel from its counters and the currents of the configuration: commands, and the
// background of the states the ranks were in. pJ = V x mA x ns; the devices of a rank in parallel.
//
// Source    dram.md 9.1. Power-down, self-refresh and per-bank refresh included.
// Not modelled: the part of a refresh or activation that falls into another state; interface energy.
#pragma once
#include "dram/statistics.h"

namespace dlasim::dram {

struct Energy {
    double activate = 0, read = 0, write = 0, refresh = 0;  // pJ
    std::array<double, kRankStates> background{};           // pJ, by RankState
    double elapsed_ns = 0;

    double background_total() const
    {
        double sum = 0;
        for (double each : background) sum += each;
        return sum;
    }
    double total() const { return activate + read + write + refresh + background_total(); }
    double average_mw() const { return elapsed_ns > 0 ? total() / elapsed_ns : 0; }
};

/// `statistics` may be of one channel or the sum of several.
Energy energy_of(const Config& config, const Statistics& statistics);

}  // namespace dlasim::dram
