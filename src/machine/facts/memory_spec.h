#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace dlasim {

/// The memories at the ports: the ideal memory (interfaces.md 4) or a DRAM.
struct MemorySpec {
    std::string kind = "ideal";  // or a DRAM preset's name, or the path of a device's file
    std::string device;          // what that file holds
    std::uint32_t read_latency = 32, beat_interval = 1, write_latency = 8;
    std::uint32_t command_interval = 1, write_interval = 1;
    std::map<std::string, std::string> options;  // of the DRAM, by path
};

}  // namespace dlasim
