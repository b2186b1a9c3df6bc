// Convolutions of a register program whose end can meet that of the one before in CACC (units/cacc/end_tags.h): enabled before software
// knows that the one before has left, and with fewer results than the delivery buffer holds. A larger one cannot end before: its last
// results need the place of the last one of the layer before. The groups of a unit take turns, so a layer that is enabled in front of its
// turn starts with the enable of the other group: NVIDIA's driver enables in the order in which operations become ready.
//
//   enable of CSC ── waits, polls, clears of interrupts since the enable before ──► has the layer before left? ──► results < entries?
//
// It is looked for in the program alone, whatever a run does: most programs that have such layers run, by the luck of a cycle.
//
// Source  cacc.md 3.6, 3.7; open_points.md R2.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "facts/hardware.h"
#include "workload/program.h"

namespace dlasim::lint {

/// The convolution of the n-th enable of a program, from 0: enabled too early.
struct EarlyLayer {
    std::size_t convolution = 0, entry = 0;  // of the program: the enable of CSC
    std::uint64_t results = 0;               // entries of the delivery buffer, of which there are
    std::uint32_t entries = 0;
};

std::vector<EarlyLayer> early_layers(const Hardware& hardware, const Program& program);

}  // namespace dlasim::lint
