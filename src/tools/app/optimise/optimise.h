// `dlasim net --optimise SECONDS`: another decision of one step at a time, the whole network simulated with it, kept where the objective
// gains. So what a decision does to the steps beside it is part of its cost. Where none gains alone, two of neighbouring steps together.
//
//   steps by cycles ──► decisions (config/model/decisions.h), tilings by estimate ──► network with it, timing only, in a process of its own
//         ▲                                                                           ──► better (objective.h): kept
//         └── a pair was kept ◄── two of neighbours that lose least alone ◄── none gains
//
// Not run: what cannot be better by its bounds, or was tried by an earlier search into the same folder. The result is never worse than the
// plan at the start, that of the file, nor than the planner's own.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/optimise/objective.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "network/plan.h"
#include "report/network/search_report.h"
#include "silicon/technology.h"

namespace dlasim {

struct SearchOptions {
    double seconds = 0;
    std::size_t jobs = 1;       // simulations side by side
    std::string best, require;  // objective.h
    const silicon::Technology& technology;
    std::optional<double> host_ns = {};
    std::optional<std::filesystem::path> store = {};  // what was tried before (tried_store.h)
};

/// Sets tilings and decisions of the network. `options`: of the run; its values are not computed. Ends after the seconds, after an
/// interrupt, or when nothing is left to try.
SearchReport optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options,
                      const SearchOptions& search);

}  // namespace dlasim
