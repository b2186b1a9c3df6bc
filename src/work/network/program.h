// What software does for a network: the operations of all steps through the register groups of all units, and what the steps are known by
// in a run.
#pragma once
#include "lowering/program/sequence.h"

namespace dlasim {

struct NetworkPlan;

/// The interrupt that says that an operation is done: the n-th, from 0, of its bit of GLB.
struct DoneMark {
    std::uint32_t bit = 0;
    std::size_t nth = 0;
};

/// An operation before used a unit of this one: the unit is free with that interrupt.
struct UnitMark {
    Sequence::Operation operation = 0;
    DoneMark done;
};

struct StepMarks {
    Sequence::Operations operations;
    std::optional<std::size_t> stamp;  // number of the Stamp after its first enable
};

/// What a HostStep of the program is for. Look: the step is about to take the memory of tensors that are over.
struct HostAction {
    enum class Kind { Compute, Look, ImageDone };
    Kind kind = Kind::Compute;
    std::size_t step = 0;
};
/// `number` of a HostStep in the program of a network with that number of steps.
HostAction host_action(std::size_t number, std::size_t steps);

/// What the steps of a program are known by in a run of it.
struct NetworkMarks {
    std::vector<StepMarks> steps;
    std::vector<DoneMark> done;                             // by operation; steps name those of the first image
    std::vector<std::vector<UnitMark>> units;               // by operation: when its units are free
    std::vector<std::pair<std::size_t, std::size_t>> ends;  // of every step of every image in turn: its last entry + 1, its number
    std::vector<std::size_t> over;  // by step: the first that begins when this one is done; their number if there is none

    /// The step that an entry belongs to.
    std::optional<std::size_t> step_of(std::size_t entry) const;
};

struct NetworkProgram : NetworkMarks {
    Program entries;
};

/// NetworkMarks::over of its program, whatever the places of tensors.
std::vector<std::size_t> steps_over(const NetworkPlan& plan);
/// `apart`: a step begins when all before it are done, and its registers are written then, as if it ran alone.
NetworkProgram network_program(const NetworkPlan& plan, bool apart = false);

}  // namespace dlasim
