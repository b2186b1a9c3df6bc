// A layer, a network, a file of the NVDLA compiler or a recorded program as something that runs on one's own platform: a register program,
// the bytes of memory before it, and what must be in memory afterwards.
//
//   CompiledWorkload ──┬── steps() ──────► software of one's own, or dlasim::Driver
//                      ├── load(memory) ─► images of input, weights and operands
//                      └── check(memory) ► compared with the golden reference, which shares no arithmetic with the machine
//
// The files are those of `dlasim run`, but for ONNX models: `dlasim export` takes these.
//
// Errors  ConfigError, before anything runs: file, place, what was found, what would do.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dlasim/hardware_config.h"

namespace dlasim {

/// Access to the content of the memories in no time; `cvsram`: that of the secondary port, else of dbb.
struct MemoryAccess {
    std::function<std::vector<std::uint8_t>(bool cvsram, std::uint64_t address, std::uint64_t bytes)> read;
    std::function<void(bool cvsram, std::uint64_t address, const std::vector<std::uint8_t>& bytes)> write;
};

struct CompileOptions {
    std::uint64_t seed = 0;        // of the data that files leave open; 0: the file's own
    bool values = true;            // memory is filled, computed and compared; without it only time counts
    std::string memory = "ideal";  // the memory at dbb, as --memory: for layers that ask for the cheapest tiling
};

/// What software does, in order. Addresses are bytes on the register bus.
struct ProgramStep {
    enum class Kind {
        Write,          // value to address
        Poll,           // read address until (it & mask) == value
        Read,           // read address; the value may matter to check()
        WaitInterrupt,  // until the interrupt pin is high; then all ones to address, GLB.S_INTR_STATUS, until it is low
        WaitPin,        // until the interrupt pin is high, and leaves it so
        WaitStatus,     // until all bits of mask have been seen in GLB.S_INTR_STATUS at address, clearing what is seen
        Mark,           // cycles count from the acceptance of the write before this
        Stamp,          // nothing: between two operations
        Host            // call host(value, ..): what no unit of the accelerator computes
    };
    Kind kind = Kind::Write;
    std::uint32_t address = 0, value = 0, mask = 0;
    std::string name;  // of the register
};

/// What was found in memory after the run.
struct CheckResult {
    bool right = false;  // something was compared, and nothing differs
    std::uint64_t compared = 0, mismatches = 0;
    std::vector<std::string> examples;  // of mismatches, in words
};

class CompiledWorkload {
public:
    CompiledWorkload(const std::string& file, const HardwareConfig& hardware, const CompileOptions& options = {});
    CompiledWorkload(CompiledWorkload&&) noexcept;
    CompiledWorkload& operator=(CompiledWorkload&&) noexcept;
    ~CompiledWorkload();

    const std::string& name() const;
    const HardwareConfig& hardware() const;
    std::vector<ProgramStep> steps() const;
    /// Memory that it uses: all of it must be there.
    struct Range {
        std::string name;
        bool cvsram = false;
        std::uint64_t address = 0, bytes = 0;
    };
    std::vector<Range> ranges() const;

    /// Before the first step.
    void load(const MemoryAccess& memory);
    /// At a step of kind Host.
    void host(std::uint32_t number, const MemoryAccess& memory);
    /// After the last step; `last_read`: the value that the last step of kind Read has found. Once.
    CheckResult check(const MemoryAccess& memory, std::uint32_t last_read = 0);

    struct Parts;
    Parts& parts() { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace dlasim
