// Operations read back from a register program: what the driver's descriptors must say so that it writes these registers.
//
//   program ──► registers of both groups ──► at the last launch of an operation: its units ──► descriptors
//
// The inverse of programmer.h. A register that the driver never writes, or derives from others, has no field in a descriptor: the
// registers of every operation are kept, so that the writer can compare them with those that the driver will write (file_writer.h).
//
// Source  loadable.md 6, read backwards.
// Error   ConfigError for an operation that no descriptor describes, naming the operation and the register.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>

#include "base/place.h"
#include "loadable/descriptors.h"
#include "registers/tables.h"
#include "workload/operations.h"

namespace dlasim::loadable {

/// A register of an operation as the program left it.
struct WrittenRegister {
    const UnitRegisters* unit = nullptr;
    const RegisterRow* row = nullptr;
    std::uint32_t value = 0;
};

/// One operand of an SDP stage in memory, the other in a register.
struct MixedStage {
    bool mixed = false;
    bool alu_in_memory = false;  // else the multiplier
};

struct RecoveredOperation {
    Operation operation;
    std::vector<std::optional<Place>> places;  // of cubes_of(operation); of BDMA source and destination of each transfer
    std::array<MixedStage, 3> mixed{};
    std::vector<WrittenRegister> registers;
};

/// Operations between two steps of the host. Those of a chain follow each other, the producer first.
struct RecoveredTask {
    std::vector<RecoveredOperation> operations;
    std::vector<std::size_t> chain;  // of each operation
    std::vector<LookupTable> tables;
    std::optional<std::size_t> host_step;  // that follows
};

/// `ends_task`: the host computes at this HostStep.
std::vector<RecoveredTask> recover_operations(std::span<const ProgramEntry> program, const Hardware& hardware, const std::string& where,
                                              const std::function<bool(std::size_t step)>& ends_task);

/// An operation of any program, a recorded one too.
struct ProgramOperation {
    std::vector<OperationLaunch> launches;  // in the order of the program
    std::string units;                      // "convolution, SDP"
    std::vector<RecoveredOperation> chain;  // the producer first; empty of a step of the host, or where it lacks a unit
};

/// All of them, in the order of Operations.
std::vector<ProgramOperation> program_operations(const Program& program, const Hardware& hardware);

/// In the order of the surface descriptor; none of BDMA.
std::vector<Cube*> cubes_of(Operation& operation);

}  // namespace dlasim::loadable
