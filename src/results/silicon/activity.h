// What a run did, taken from its result.json: counters and clock domains of its units, its memory's energy.
#pragma once
#include <optional>

#include "silicon/energy.h"

namespace dlasim::silicon {

/// A run as far as it costs area and energy.
struct MeasuredRun {
    Hardware hardware;
    Activity activity;  // of all images
    double images = 1;
    bool precise = true;                       // the precision of the array is known, or the machine has one only: energies are known
    std::optional<double> dram_pj;             // of a DRAM with a model of its own
    double read_bytes = 0, written_bytes = 0;  // that crossed the primary port in whole beats, whatever memory it is

    double seconds() const { return activity.cycles / (hardware.clock_mhz * 1e6); }
    /// pJ of the memory at DBB; of a DRAM with its PHY and controller.
    double memory_pj(const Technology& technology) const
    {
        return dram_pj ? *dram_pj + technology.phy_pj(read_bytes, written_bytes, 1e9 * seconds())
                       : (read_bytes + written_bytes) / 8 * technology.dram_pj;
    }
};

/// Of the result.json of a layer, a transfer, a network, a loadable or a replay; none where it has no units or no hardware.
std::optional<MeasuredRun> measured_run(const nlohmann::ordered_json& result);

}  // namespace dlasim::silicon
