// dlasim net: a network through the machine. Exit statuses as of `run`.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/network.h"
#include "config/sweep.h"
#include "facts/memory_spec.h"
#include "files/json_text.h"
#include "files/output.h"

namespace dlasim {

struct NetOptions {
    std::string network;  // the file
    std::string hardware = "nv_full";
    std::string memory = "ideal";
    std::vector<std::string> settings;          // --set
    std::vector<std::string> input, calibrate;  // of an ONNX model: NumPy files, [NAME=]FILE
    std::string labels;
    std::string precision;  // int8 or fp16; empty: that of the file
    std::string out = "out";
    std::size_t point = 0;  // of a sweep, with has_point
    bool has_point = false;
    std::string events;  // file of probes and bus logs, none if empty
    std::uint64_t seed = 1;
    bool timing_only = false, tensors = false, steps = false, output = true, report = false, quiet = false, stepping = false,
         hazards = false, times = false;
    bool plan = false, has_out = false;  // say what would run, and write it where a folder was named
    bool keep = false, cvsram = true;    // memory of its own for every tensor; tensors may stand behind CVSRAM
    bool pixels = true;                  // inputs may stand as pixels
    bool apart = false;                  // simulate every step by itself too
    Sync sync = Sync::Now;
    std::function<void(const nlohmann::ordered_json&)> on_result;  // gets what result.json says
};

/// Runs what has been read; writes `out`/result.json, layers.csv and output.npy.
int run_network(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options);
/// The same of the ONNX model that `options` names.
int run_model(const Hardware& hardware, const MemorySpec& memory, const NetOptions& options);
/// Options for it, of a point of a sweep laid over others.
NetOptions model_options(const OnnxWork& model, NetOptions options);
int net_command(const NetOptions& options);

}  // namespace dlasim
