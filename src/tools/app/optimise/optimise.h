// `dlasim net --optimise SECONDS`: another decision of one step at a time, the whole network simulated with it, kept where the objective
// gains. So what a decision does to the steps beside it is part of its cost.
//
//   steps by cycles ──► decisions (config/model/decisions.h), tilings by estimate ──► network with it, timing only, in a process of its own
//                                                                                     ──► better (objective.h): kept
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
#include "config/json_object.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "network/plan.h"
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

/// A decision that was changed: how far the objective's value and the bytes of both ports rose by it.
struct KeptDecision {
    std::string step, decision, was, is;
    double value = 0, dbb_bytes = 0, cvsram_bytes = 0;
};

struct Optimised {
    TriedProgram before, after;
    double value_before = 0, value_after = 0;
    std::uint64_t tries = 0, known = 0;  // simulated, and of earlier searches
    bool all = false;                    // no single other decision is better
    std::string best, required, missed;  // missed: requirements are not met
    std::vector<KeptDecision> kept;
};

/// Sets tilings and decisions of the network. `options`: of the run; its values are not computed. Ends after the seconds, after an
/// interrupt, or when nothing is left to try.
Optimised optimise(Network& network, const Hardware& hardware, const MemorySpec& memory, NetworkOptions options,
                   const SearchOptions& search);
std::string optimised_text(const Optimised& optimised);
/// As plan.json has it: what each decision was, is and gained.
OrderedJson optimised_json(const Optimised& optimised);

}  // namespace dlasim
