// The descriptors of a hardware task as the bytes that the driver reads: what read_task() reads back.
//
// Source  loadable.md 3, interface version 0.12.
#pragma once
#include "loadable/descriptors.h"

namespace dlasim::loadable {

/// Entries of the task's address list that hold the lists.
struct ListPlaces {
    std::int16_t operations = 2, surfaces = 3, dependencies = 1, tables = -1;
    std::uint16_t addresses = 0;  // in the list
};

struct DescriptorBytes {
    std::vector<std::uint8_t> network, dependencies, operations, surfaces, tables;
};

DescriptorBytes descriptor_bytes(const HardwareTask& task, const ListPlaces& places);

}  // namespace dlasim::loadable
