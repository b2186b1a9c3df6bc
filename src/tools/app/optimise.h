// `dlasim net --optimise SECONDS`: another decision of one step at a time, the whole network simulated with it, kept where that takes fewer
// cycles, or moves fewer bytes if the network minimises traffic. So what a decision does to the steps beside it is part of its cost.
//
//   steps by cycles ──► decisions (config/model/decisions.h), tilings by estimate ──► network with it, timing only, in a process of its own
//                                                                                     ──► costs less: kept
//
// Not run: what costs more by its bounds. Nothing is ever worse than the plan at the start, the planner's own or that of the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/json_text.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "network/plan.h"

namespace dlasim {

/// A decision that was changed.
struct KeptDecision {
    std::string step, decision, was, is;
    std::uint64_t before = 0, after = 0;  // cost of the network
};

struct Optimised {
    std::uint64_t before = 0, after = 0, tries = 0;
    bool all = false;  // no single other decision would cost less
    const char* unit = "cycles";
    std::vector<KeptDecision> kept;
};

/// Sets tilings and decisions of the network. `options`: of the run; its values are not computed. Ends after `seconds`, after an interrupt,
/// or when nothing is left to try. `jobs`: simulations side by side.
Optimised optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options, double seconds,
                   std::size_t jobs);
std::string optimised_text(const Optimised& optimised);
/// As plan.json has it: what each decision was, is and gained.
OrderedJson optimised_json(const Optimised& optimised);

}  // namespace dlasim
