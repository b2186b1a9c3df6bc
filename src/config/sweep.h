// A sweep: the product of its axes, point by point, laid over a base. interfaces.md 7.
//
//   {"base": {"layer": "l.json", "hw": "nv_large", "memory": "ideal"},
//    "axes": {"mac.atomic_c": [16, 32], "cbuf.banks": [8, 16], "kernel.count": [32, 64], "latency": [32, 200]},
//    "exclude": [{"mac.atomic_c": 16, "cbuf.banks": 8}]}
//
// An axis is a hardware path, a field of the layer, an option of the memory, or one of `hw`, `memory`
// and `layer` as a whole. The last axis varies fastest.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "config/descriptor.h"
#include "config/hardware.h"
#include "config/memory.h"
#include "files/keys.h"

namespace dlasim {

struct SweepAxis {
    enum class Kind { Hardware, Layer, MemoryOption, WholeHardware, WholeMemory, WholeLayer };
    std::string name;
    Kind kind = Kind::Hardware;
    std::vector<Json> values;
};

struct Sweep {
    std::string file, folder;  // of the sweep, for messages and relative paths
    Json layer;                // a descriptor's path or the descriptor itself
    Json hardware;             // a preset, a file or a hardware object
    std::string memory = "ideal";
    std::vector<SweepAxis> axes;
    std::vector<std::vector<std::size_t>> points;  // a place on each axis; excluded ones are left out
};

Sweep read_sweep(const std::string& path);
/// Keys of the file.
std::vector<PlacedKey> sweep_keys();
Sweep parse_sweep(const std::string& text, const std::string& path);

/// One point, checked. Throws ConfigError if it cannot exist.
struct SweepPoint {
    Descriptor descriptor;
    Hardware hardware;
    MemorySpec memory;
};
SweepPoint sweep_point(const Sweep& sweep, std::size_t index);

}  // namespace dlasim
