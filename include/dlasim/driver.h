// Software on the register bus: runs a compiled workload on an accelerator of the platform, checks its values and counts its cycles as
// `dlasim run` does.
//
//   dlasim::Driver driver("driver", accelerator, dlasim::CompiledWorkload("layer.json", accelerator.hardware()));
//   driver.csb.bind(accelerator.csb);           or a bus that leads there at the same addresses
//   driver.interrupt(interrupt);
//   sc_start();
//   driver.result().cycles
//
// Memory is filled when the simulation starts, and read at steps of the host and at the end, by the debug interface of what is bound
// to the accelerator's ports, unless `memory` says how. The program begins at time 0.
//
// Errors  ConfigError from the constructor: the workload was compiled for another machine. ConfigError from sc_start(): a memory without
//         debug interface. What happens later - a register access is refused, a host function throws - fails the accelerator: on_error.
#pragma once
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

#include "dlasim/accelerator.h"
#include "dlasim/workload.h"

namespace dlasim {

class Driver final : public sc_core::sc_module {
public:
    /// pre: the accelerator lives longer
    Driver(const sc_core::sc_module_name& name, Accelerator& accelerator, CompiledWorkload workload);
    ~Driver() override;

    tlm::tlm_initiator_socket<32> csb{"csb"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    /// Before the simulation starts.
    MemoryAccess memory{};
    /// Likewise: it does nothing, and its accelerator is idle.
    bool enabled = true;

    bool finished() const;
    /// Notified when it has finished, or failed.
    const sc_core::sc_event& ended() const;

    struct Result {
        bool finished = false;     // the program has ended
        std::string problem;       // why it has not: the accelerator's failure, or what every unit waits for
        std::uint64_t cycles = 0;  // from t0, the last op-enable of the first operation, to the last interrupt, as `dlasim run` counts
        CheckResult check;         // nothing compared without values
        AcceleratorReport report;  // of these cycles
    };
    /// After sc_start(). A platform that hangs returns from it with `finished` false and a `problem`. A value: what was asked for before
    /// does not change.
    Result result() const;

private:
    struct Parts;
    void start_of_simulation() override;
    void follow();
    std::unique_ptr<Parts> parts_;
};

}  // namespace dlasim
