// The register program of a file, whatever the file is: what `run`, `net` or `loadable` would do. `export` records it, `lint` checks it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/commands/loadable_command.h"
#include "app/commands/net_command.h"

namespace dlasim {

struct ProgramOptions {
    LoadableOptions what;                // a layer, a network, a model or a loadable, by its content; the options of `loadable`
    std::vector<std::string> calibrate;  // of a model
    std::string precision;
    std::string calibration;              // of a model: as of `net`
    std::vector<std::string> preprocess;  // the same
    bool bias_correction = false;

    bool of_models() const { return !calibrate.empty() || !calibration.empty() || !preprocess.empty() || bias_correction; }
};

/// Valid inside with_program().
struct PlannedProgram {
    const Workload& workload;
    Host& host;
    std::string name;
    std::vector<loadable::Range> outputs;  // that are compared; none: those that change
};

/// The options of `net` for a model.
NetOptions model_options_of(const ProgramOptions& options);
/// Reads the file, plans its program and passes it on.
void with_program(const ProgramOptions& options, const std::function<void(const PlannedProgram& program)>& use);

}  // namespace dlasim
