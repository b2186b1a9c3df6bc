// The order in which software starts the operations of all steps.
//
// Operations of a unit start step by step. Units work beside each other: of their next operations that one comes first which could start
// first, by bounds. So a normalisation or a pooling in several operations follows the convolution before it row by row, and the next
// convolution follows them.
//
//   CONV   c0 c1 c2 c3 ..            software:  c0 c1 c2 n0 c3 n1 p0 c4 ..
//   CDP       n0 n1 n2 ..
//   PDP          p0 p1 ..
#pragma once
#include <cstdint>
#include <vector>

#include "lowering/passes.h"

namespace dlasim {

struct NetworkPlan;
struct Footprint;

/// The n-th operation of a step: its normalisations, its passes, then all that puts its parts together as one.
struct StepOperation {
    std::size_t step = 0, number = 0;
};

/// What a step consists of; one of the host has one.
std::size_t operations_of(const NetworkPlan& plan, std::size_t step);
/// Operations that write lines which this one reads.
std::vector<StepOperation> makers_of(const NetworkPlan& plan, const StepOperation& operation);

std::vector<StepOperation> step_by_step(const NetworkPlan& plan);
/// As units become free; without overlap step by step. Steps are then in the order of their first operations.
void put_in_order(NetworkPlan& plan, std::vector<Footprint>& footprints);

}  // namespace dlasim
