// dlasim sweep: every point in a process of its own, so that points can run side by side and none
// can spoil another; the rows stand in the order of the axes whatever finishes first.
//
//   points ──► children (this binary, `sweep-point`) ──► DIR/points/N/result.json ──► DIR/points.csv, points.json
#pragma once
#include <string>

namespace dlasim {

struct SweepOptions {
    std::string sweep, out = "out";
    unsigned jobs = 1;
    bool timing_only = false, quiet = false;
};

int sweep_command(const SweepOptions& options);

/// The child: runs point `index`, writes out/result.json.
int sweep_point_command(const SweepOptions& options, std::size_t index);

}  // namespace dlasim
