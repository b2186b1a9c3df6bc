// A task of NVIDIA's host emulator: softmax over the channels of one place, after the task of the accelerator.
//
// Source  loadable_writing.md 6.
#pragma once
#include <cstdint>
#include <vector>

#include "loadable/host_task.h"

namespace dlasim::loadable {

/// Channels of one place, side by side.
struct HostSoftmax {
    Place source, destination;
    std::uint32_t channels = 0;
    unsigned atom = 32, element = 1;          // bytes
    float input_scale = 1, output_scale = 1;  // of int8

    /// As the emulator carries it out; both buffers from byte 0 of their places on.
    HostOperation operation() const;
};

/// The lists of its task. Positions in the task's list of addresses: 0 is the network descriptor, then these.
struct HostLists {
    std::vector<std::uint8_t> network, operations, buffers;
};
inline constexpr std::int16_t kHostOperations = 1, kHostBuffers = 2, kHostSource = 3, kHostDestination = 4;

/// Offsets: of source and destination in their memories.
HostLists host_lists(const HostSoftmax& softmax, std::uint32_t source_offset, std::uint32_t destination_offset);

}  // namespace dlasim::loadable
