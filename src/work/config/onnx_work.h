// A trained model and the images that it gets, as sweeps and regression suites name them. ONNX.md.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "config/json_object.h"

namespace dlasim {

struct OnnxWork {
    std::string file;
    std::vector<std::string> input, calibrate;  // [NAME=]FILE; none: one image by seed
    std::string labels, precision;
    std::vector<std::string> shapes{};  // [NAME=]SIZES of inputs
    std::size_t most_images = 0;        // that run, the first ones; 0: all
    std::string calibration{};          // of --calibration; empty: max
    bool bias_correction = false;
    std::vector<std::string> preprocess{};  // KEY=VALUE of --preprocess, for pictures
};

/// Of the keys input, calibrate, labels, precision and preprocess. `resolve`: a path in the file to one from here. The model's file stays
/// empty. Throws ConfigError with the place.
OnnxWork read_onnx_work(const JsonObject& object, const std::function<std::string(const std::string&)>& resolve);

}  // namespace dlasim
