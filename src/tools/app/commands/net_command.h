// dlasim net: a network through the machine. Exit statuses as of `run`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/common_options.h"
#include "base/files/json_text.h"
#include "config/model/network.h"
#include "config/sweep/sweep.h"
#include "facts/memory_spec.h"

namespace dlasim {

struct NetOptions : CommonOptions {
    std::string network;                        // the file
    std::vector<std::string> input, calibrate;  // of an ONNX model: NumPy files, [NAME=]FILE
    std::vector<std::string> shapes;            // of its inputs, [NAME=]SIZES, where the model leaves sizes open
    std::vector<std::string> preprocess;        // KEY=VALUE, for pictures among them
    std::string labels;
    std::string calibration;      // how ranges follow from the images: a name of kCalibrationNames; empty: max
    std::size_t most_images = 0;  // that run, the first ones; 0: all
    std::string precision;        // int8 or fp16; empty: that of the file
    std::uint64_t seed = 1;
    bool bias_correction = false;
    bool has_seed = false, tensors = false, steps = false, output = true, by_step = false;
    bool keep = false, cvsram = true;  // memory of its own for every tensor; tensors may be in CVSRAM
    bool pixels = true;                // inputs may be stored as pixels
    double optimise = 0;               // seconds for a better program; 0: the planner's
    std::size_t jobs = 0;              // simulations side by side meanwhile
    std::size_t images = 1;            // of a network, in one program
    bool apart = false;                // simulate every step by itself too
};

/// Runs what has been read; writes `out`/result.json, layers.csv and output.npy.
int run_network(const Network& network, const Hardware& hardware, const MemorySpec& memory, const NetOptions& options);
/// The same of the ONNX model that `options` names.
int run_model(const Hardware& hardware, const MemorySpec& memory, const NetOptions& options);
/// Options for it, of a point of a sweep laid over others.
NetOptions model_options(const OnnxWork& model, NetOptions options);
/// A network, as in its file.
int run_network_file(nlohmann::json json, const NetOptions& options);
/// A network, a model, or what else the file is that runs on a machine.
int net_command(const NetOptions& options);

}  // namespace dlasim
