// Stages of SDP that take one operand from memory and the other from a register: no descriptor says that. The register's operand is
// repeated beside every kernel's in memory; where the memory has one operand per element, what is in the register goes to the next stage.
//
// Source  loadable_writing.md 5.2: operands of a stage side by side.
#pragma once
#include <deque>

#include "loadable/write/file_writer.h"

namespace dlasim::loadable {

/// Operands that the file has instead of those in memory.
struct OwnOperands {
    Place place;
    std::vector<std::uint8_t> bytes;
};

/// Rewrites such stages of `task`. ConfigError if one cannot be.
void resolve_mixed_operands(RecoveredTask& task, std::span<const ConstantBytes> constants, std::deque<OwnOperands>& own,
                            const std::function<std::string(std::size_t)>& where);

}  // namespace dlasim::loadable
