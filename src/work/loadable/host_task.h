// Tasks of the host: power and softmax, between hardware tasks.
//
//   power     (shift + scale * x) ^ power of every element
//   softmax   over the adjacent channels of one position
//
// In float32, rounded to fp16; int8: with a scale before and after, truncated and saturated.
//
// Source  loadable.md 8.
// Error   ConfigError naming file, task and operation.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "loadable/memory_plan.h"

namespace dlasim::loadable {

struct HostBuffer {
    Place place;                      // of its first byte
    std::uint64_t bytes = 0;          // from there to the end of its memory
    unsigned atom = 32, element = 1;  // bytes
    std::uint32_t width = 0, height = 0, channels = 0;
    Strides strides;

    std::uint64_t offset(std::uint32_t c, std::uint32_t y, std::uint32_t x) const
    {
        const std::uint32_t per_atom = atom / element;
        return c / per_atom * strides.surface + y * strides.line + std::uint64_t{x} * atom + c % per_atom * element;
    }
};

struct HostOperation {
    enum class Type { Power, Softmax };
    Type type = Type::Power;
    float power = 1, scale = 1, shift = 0;
    float input_scale = 1, output_scale = 1;  // of int8
    HostBuffer source, destination;
};

struct HostTask {
    std::size_t task = 0;
    std::vector<HostOperation> operations;
};

HostTask read_host_task(const Loadable& loadable, const MemoryPlan& memories, std::size_t task);

using ReadBytes = std::function<std::vector<std::uint8_t>(const Place& from, std::uint64_t bytes)>;
using WriteBytes = std::function<void(const Place& to, const std::vector<std::uint8_t>& bytes)>;

/// Carries it out on the memory of the machine.
void run_host_task(const HostTask& task, const ReadBytes& read, const WriteBytes& write);

}  // namespace dlasim::loadable
