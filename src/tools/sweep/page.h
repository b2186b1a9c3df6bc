// sweep.html: the table of a sweep to look at, in one file that needs nothing beside it.
//
//   rows of the store ──► JSON ──┐
//   page/: HTML, CSS, script ────┼──► sweep.html
//   Apache ECharts, bundled ─────┘
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "base/files/output.h"
#include "sweep/machines.h"
#include "sweep/neighbours.h"
#include "sweep/store.h"

namespace dlasim {

struct PageFacts {
    std::string name;               // of the sweep
    std::vector<std::string> axes;  // their columns
    std::size_t points = 0;         // of the whole sweep, or machines
    std::vector<PlacedKey> keys;    // what columns mean
    std::vector<SweptAxis> swept;   // the axes again, and what more of them means
    MachineQuestion machines;       // what is asked of them
    nlohmann::ordered_json answer;  // answer.h; null where nothing is asked
    std::string technology_name;
    nlohmann::ordered_json technology;  // the table of areas and energies
};

class SweepPage {
public:
    /// Complete: every point has ended. Running: more points come, and the page looks for them by itself.
    enum class State { Complete, Stopped, Running };
    SweepPage(const std::vector<std::string>& columns, const PageFacts& facts, OutputFile& file, State state = State::Complete);
    /// Of a point, or of a machine where there are questions of them.
    void row(const KeptPoint& kept);
    void end();

private:
    const std::vector<std::string>& columns_;
    OutputFile& file_;
    bool first_ = true;
};

}  // namespace dlasim
