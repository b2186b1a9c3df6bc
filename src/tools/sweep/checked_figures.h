// The requirements of a sweep held against a machine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sweep/machines.h"

namespace dlasim {

/// A requirement of a workload, what was found, and how far it is met.
struct CheckedFigure {
    std::string workload;
    const Requirement* requirement;
    std::optional<double> value;
    double error = 0;  // share by which the value may be wrong
    bool met() const { return value && requirement->met(*value); }
    double margin() const;
    std::string text() const;
    /// Its column in the row of a machine.
    std::string column() const { return (workload.empty() ? "" : workload + ".") + requirement->column; }
};

/// Every requirement of every workload, in the order of the sweep.
std::vector<CheckedFigure> checked(const SweptMachine& machine, const MachineQuestion& question);

}  // namespace dlasim
