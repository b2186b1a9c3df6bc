// dlasim bound: off-chip traffic of convolutions with a given amount of on-chip memory. No machine, no simulation: jobs/traffic_bound.h.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"

namespace dlasim {

struct BoundOptions {
    std::string layers;        // a layer descriptor, or an object with a list of them, "layers"
    std::vector<double> chip;  // KiB
    std::uint32_t batch = 0;   // instead of the descriptors'; 0: theirs
    std::uint32_t word = 2;    // bytes of an element
    bool json = false;
};

int bound_command(const BoundOptions& options);
/// Of what it prints with --json.
std::vector<PlacedKey> bound_command_keys();

}  // namespace dlasim
