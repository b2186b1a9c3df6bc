// dlasim net: a network through the machine. Exit statuses as of `run`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dlasim {

struct NetOptions {
    std::string network;  // the file
    std::string hardware = "nv_full";
    std::string memory = "ideal";
    std::vector<std::string> settings;          // --set
    std::vector<std::string> input, calibrate;  // of an ONNX model: NumPy files, [NAME=]FILE
    std::string labels;
    std::string out = "out";
    std::string events;  // file of probes and bus logs, none if empty
    std::uint64_t seed = 1;
    bool timing_only = false, tensors = false, quiet = false, stepping = false, times = false;
    bool apart = false;  // simulate every step by itself too
};

/// Writes `out`/result.json, layers.csv and output.npy.
int net_command(const NetOptions& options);

}  // namespace dlasim
