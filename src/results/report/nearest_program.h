// Which of the programs that were measured on the RTL is nearest to what ran, and whether its events are equal.
//
//   register program ──► operations ──► units with their modes and sizes ──► rows of measured_programs.csv
//
// A kind of operation is its units with their modes. Of each kind the operation that is farthest from every measured program counts. Nearer
// is first who shares more modes, then whose machine is more alike, then whose sizes are: the largest ratio of two of them.
//
// Source  measured_programs.csv: scripts/measured_programs.py wrote it from the measured cases.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/files/keys.h"
#include "facts/hardware.h"
#include "loadable/write/recovery.h"

namespace dlasim {

/// A unit of an operation, as far as its cycles follow from it.
struct UnitUse {
    std::string unit;                  // "CONV"
    std::vector<std::string> modes;    // "direct", "int8"
    std::vector<std::uint32_t> sizes;  // columns, rows and channels of input and output, then of the unit: kernel, strides
};
/// The producer first.
using OperationUse = std::vector<UnitUse>;
OperationUse use_of(const loadable::ProgramOperation& operation);
/// "CONV direct int8 + SDP int8"; "56 56 64 .. + 56 56 64 ..".
std::string modes_text(const OperationUse& use);
std::string sizes_text(const OperationUse& use);

/// An operation of a measured program, as its row says it: of 1,311 only those of the nearest modes are read further.
struct MeasuredOperation {
    std::string_view program, machine;
    std::size_t events = 0, differing = 0;  // of the whole program: compared with the RTL
    std::string_view modes, sizes;

    OperationUse use() const;
};
const std::vector<MeasuredOperation>& measured_operations();
/// What every report needs of them; before a process forks, so that it is read once.
void read_measured_programs();

/// A kind of operation of a run.
struct NearestProgram {
    std::string modes;
    std::size_t operations = 0;  // of this kind
    const MeasuredOperation* measured = nullptr;
    bool same_machine = false;
    double size_ratio = 1;  // largest ratio of a size of the farthest operation and of the measured one

    bool same_modes() const { return modes == measured->modes; }
};
/// The farthest first; empty if nothing was launched.
std::vector<NearestProgram> nearest_programs(const Program& program, const Hardware& hardware);

nlohmann::ordered_json nearest_json(const Program& program, const Hardware& hardware);
std::vector<PlacedKey> nearest_keys();
/// A line of a table; empty if nothing was launched.
std::string nearest_line(const Program& program, const Hardware& hardware);

}  // namespace dlasim
