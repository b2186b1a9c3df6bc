// The implementation of the public classes.
#pragma once
#include <memory>

#include "config/machine/hardware.h"
#include "dlasim/accelerator.h"
#include "dlasim/workload.h"
#include "library/boundary_trace.h"
#include "plan/planned.h"
#include "platform/meter.h"

namespace dlasim {

struct HardwareConfig::Parts {
    std::string from;
    std::vector<std::string> settings;
    Hardware hardware;
};

struct Accelerator::Parts {
    Parts(const HardwareConfig& config_, const AcceleratorOptions& options);

    HardwareConfig config;
    Clock clock;
    Top top;
    Meter meter;
    std::unique_ptr<BoundaryTrace> trace;
};

struct CompiledWorkload::Parts {
    explicit Parts(const HardwareConfig& config_) : config(config_) {}

    HardwareConfig config;
    std::unique_ptr<Planned> planned;
};

/// A report in public words. `precision`: of the products, where it is known.
AcceleratorReport public_report(const RunResult& run, const Hardware& hardware, const std::string& precision);

}  // namespace dlasim
