// The implementation of the public classes.
#pragma once
#include <memory>

#include "config/machine/hardware.h"
#include "dlasim/accelerator.h"
#include "dlasim/workload.h"
#include "library/boundary_trace.h"
#include "platform/meter.h"
#include "workload/workload.h"

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
    std::shared_ptr<const Workload> work;  // knows how to delete what it was made as
    std::unique_ptr<Host> host;
    std::function<CheckResult()> found;  // after host->after
    std::string precision;               // of its products, where that is one
};

/// A report in public words. `precision`: of the products, where it is known.
AcceleratorReport public_report(const RunResult& run, const Hardware& hardware, const std::string& precision);

}  // namespace dlasim
