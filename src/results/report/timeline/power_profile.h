// Energy over the time of a run: of every step, and the power of windows.
//
//   machine ── samples: counters since t0 ──► PowerProfile ──► steps of result.json, `power`
//
// A stripe is counted where it begins, so a window is not shorter than kMinWindow.
#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/files/keys.h"
#include "facts/hardware.h"
#include "links/core.h"
#include "silicon/activity.h"

namespace dlasim {

inline constexpr Cycle kMinWindow = 256, kMaxWindow = 1'000'000'000;

class PowerProfile {
public:
    /// `window`: cycles of a window; 0: none is wanted.
    PowerProfile(const silicon::Technology& technology, const Hardware& hardware, Cycle window);
    /// Counters from t0 to the end of cycle `cycle`, and the energy of a DRAM.
    void sample(Cycle cycle, const std::vector<UnitReport>& units, double dram_pj);
    /// Energy of the steps or operations of a result, which has it of the whole run already, and `power` where windows were wanted.
    void add_to(nlohmann::ordered_json& result, const silicon::MeasuredRun& run) const;

    /// What accelerator and memory have spent up to the end of a sampled cycle, pJ; both 0 of a cycle without a sample.
    std::pair<double, double> picojoules(Cycle cycle, const silicon::MeasuredRun& run) const;

private:
    static constexpr std::size_t kPrecisions = 3;
    struct Point {
        Cycle cycle = 0;
        std::array<double, kPrecisions> chip_pj{};  // by precision of the array
        double memory_pj = 0;
    };
    const Point* at(Cycle cycle) const;
    void add_to_steps(nlohmann::ordered_json& steps, std::size_t precision) const;
    nlohmann::ordered_json windows(Cycle cycles, double all_pj, std::size_t precision) const;

    const silicon::Technology& technology_;
    Hardware hardware_;
    Cycle window_;
    std::vector<Point> points_{Point{}};
};

/// Keys of a step, and of `power`.
std::vector<PlacedKey> step_energy_keys();
std::vector<PlacedKey> power_keys();

}  // namespace dlasim
