// What software does for a network: the operations of all steps through the register groups of all units, and what the steps are known by
// in a run.
#pragma once
#include "lowering/sequence.h"

namespace dlasim {

struct NetworkPlan;

/// The interrupt that says that an operation is done: the n-th, from 0, of its bit of GLB.
struct DoneMark {
    std::uint32_t bit = 0;
    std::size_t nth = 0;
};

struct StepMarks {
    Sequence::Operations operations;
    std::optional<std::size_t> host, stamp;  // number of its HostStep; of the Stamp behind its first enable
};

struct NetworkProgram {
    Program entries;
    std::vector<StepMarks> steps;
    std::vector<DoneMark> done;  // by operation; steps name those of the first image
    std::size_t image_done = 0;  // number of the HostStep between two images
};

/// `apart`: a step begins when all before it are done, and its registers are written then, as if it ran alone.
NetworkProgram network_program(const NetworkPlan& plan, bool apart = false);

}  // namespace dlasim
