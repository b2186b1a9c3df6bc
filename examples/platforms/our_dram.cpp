// A layer on an accelerator with a DRAM of the library: its cycles, what they went to, and what the DRAM did.
//
//   our_dram LAYER.json [HARDWARE [MEMORY [in_order]]]      in_order: the DRAM serves requests in the order in which they came
#include <dlasim/driver.h>
#include <dlasim/memory.h>

#include <cstdio>
#include <memory>

/// A policy of this program.
struct InOrder final : dlasim::DramPolicy {
    dlasim::DramOrder order(const dlasim::DramCandidate& candidate, const dlasim::DramOrder&) const override
    {
        return {0, candidate.arrival};
    }
    bool younger_hit_first(const dlasim::DramBank&, bool) const override { return false; }
};

int sc_main(int argc, char** argv)
{
    const std::string memory_name = argc > 3 ? argv[3] : "ddr4-3200";
    const dlasim::HardwareConfig hardware(argc > 2 ? argv[2] : "nv_small");
    dlasim::AcceleratorOptions options;
    options.clock_period = hardware.clock_period();
    options.causes = true;
    dlasim::Accelerator dla("dla", hardware, options);
    dlasim::MemoryOptions dram{.memory = memory_name, .clock_period = hardware.clock_period()};
    if (argc > 4) dram.policy = std::make_shared<InOrder>();
    dlasim::Memory memory("memory", dram);
    dlasim::Driver driver("driver", dla, dlasim::CompiledWorkload(argv[1], hardware, {.memory = memory_name}));
    sc_core::sc_signal<bool> interrupt("interrupt");

    dla.dbb.bind(memory.port());
    std::unique_ptr<dlasim::Memory> on_chip;  // where the machine has a port for it
    if (dla.cvsram) {
        on_chip = std::make_unique<dlasim::Memory>("on_chip", dlasim::MemoryOptions{.clock_period = hardware.clock_period()});
        dla.cvsram->bind(on_chip->port());
    }
    dla.interrupt(interrupt);
    driver.csb.bind(dla.csb);
    driver.interrupt(interrupt);
    sc_core::sc_start();

    const dlasim::Driver::Result& result = driver.result();
    std::printf("cycles %llu, %s\n", static_cast<unsigned long long>(result.cycles), result.check.right ? "verified" : "WRONG");
    for (const auto& [cause, cycles] : result.report.causes)
        if (10 * cycles > result.cycles) std::printf("  %-32s %8llu cycles\n", cause.c_str(), static_cast<unsigned long long>(cycles));
    const dlasim::PortStatistics seen = memory.statistics(0);
    std::printf("  %llu bytes read, %.1f cycles a burst\n", static_cast<unsigned long long>(seen.read_bytes), seen.mean_read_cycles);
    return result.check.right ? 0 : 1;
}
