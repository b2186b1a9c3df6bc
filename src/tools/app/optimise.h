// `dlasim net --optimise SECONDS`: another tiling of one step at a time, the whole network simulated with it, kept where that takes fewer
// cycles. So what a tiling does to the steps beside it is part of its cost.
//
//   steps by cycles ──► tilings of a step by estimate ──► network with it, timing only, in a process of its own ──► fewer cycles: kept
//
// Not tried: pixels, placement, what is fused. Nothing is ever worse than the planner's own program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "network/plan.h"

namespace dlasim {

/// A tiling that was kept.
struct KeptTiling {
    std::string step;
    std::uint64_t cycles = 0;  // of the network with it
};

struct Optimised {
    std::uint64_t before = 0, after = 0, tries = 0;
    bool all = false;  // no single other tiling would take fewer cycles
    std::vector<KeptTiling> kept;
};

/// Sets tilings of the network. `options`: of the run; its values are not computed. Ends after `seconds`, after an interrupt, or when
/// nothing is left to try. `jobs`: simulations side by side.
Optimised optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options, double seconds,
                   std::size_t jobs);
std::string optimised_text(const Optimised& optimised);

}  // namespace dlasim
