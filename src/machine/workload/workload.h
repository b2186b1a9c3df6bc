// A workload: what runs on a machine, planned once. Whoever runs it or reports it does not ask what it was made of.
//
//   layer, copy, network, ONNX model,        ┌── program ───────────────────────────► machine ──► RunResult
//   compiler's file, recording ──► Workload ─┤
//                                  and Host ─┴── before ──► its memory ── at a HostStep, after
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/place.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"
#include "workload/program.h"
#include "workload/run_result.h"

namespace dlasim {

/// What there is to do, as the line of progress counts it.
struct Work {
    const char* unit = "MACs";
    std::uint64_t amount = 0;
    bool stamps = false;                  // counted by the stamps of the program, else by what the machine has multiplied or moved
    std::vector<std::string> steps = {};  // names, by stamp of the program
};

struct Workload {
    std::string name;
    Hardware hardware;
    MemorySpec memory;
    Program program;
    /// Software that decides while it runs; then `program` is what it does if operations end in their order.
    std::function<std::unique_ptr<ProgramSource>()> source;
    std::vector<TouchedRange> ranges;  // that the machine and its host use: refused before the run where there is no memory
    Work work;
    HostSpeed speed;
    bool drains = false;      // its memory is what it must be when every write has arrived, not at the interrupt
    bool flushed = false;     // it starts when CBUF has been flushed after reset, as the measured cases do
    bool one_memory = false;  // both ports see the same bytes, as in the measured cases
};

/// Memory content of a machine that is stopped.
struct HostMemory {
    std::function<std::vector<std::uint8_t>(const Place& place, std::uint64_t bytes)> read;
    std::function<void(const Place& place, std::span<const std::uint8_t> bytes)> write;
};

/// The software around the machine: it fills memory, computes CPU fallback, and checks memory. It takes no time of the machine.
class Host {
public:
    virtual ~Host() = default;
    virtual void before(const HostMemory&) {}
    /// At a HostStep of the program.
    virtual void at(std::size_t /*step*/, const HostMemory&) {}
    /// Such a step changes memory, so that a program alone is not all that runs.
    virtual bool computes(std::size_t /*step*/) const { return true; }
    /// The program has ended.
    virtual void after(const RunResult&, const HostMemory&) {}
    /// It never will: the machine hangs.
    virtual void hangs(const HostMemory&) {}
};

}  // namespace dlasim
