// A regression suite: a folder of layers, networks and models, each with what must come out of it. docs/REGRESSION.md.
//
//   DIR/suite.json    the machine, the tolerance, a case each; none is needed: every file of the folder that can be run is a case
//
// Error  ConfigError with file, pointer, found and expected; a folder without a case.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/json_text.h"
#include "base/files/keys.h"
#include "config/model/tolerance.h"
#include "config/onnx_work.h"
#include "facts/presets.h"

namespace dlasim {

inline constexpr const char* kSuiteFile = "suite.json";

/// What a case has if the suite says nothing.
struct SuiteDefaults {
    std::string hardware = kDefaultHardware, memory = "ideal";
    std::vector<std::string> settings;
    double tolerance = 0;  // percent of the golden cycles, either way
    Tolerance values;      // of the tensor that is expected
    bool timing_only = false;
};

struct SuiteCase : SuiteDefaults {
    std::string name;                     // also its folder among the results
    std::filesystem::path file;           // that runs
    std::filesystem::path expected;       // NumPy file of what output.npy must be; empty: none
    std::optional<std::uint64_t> cycles;  // golden ones
    OnnxWork model;                       // of an ONNX model: its images, without the file; else empty
    std::optional<double> accuracy;       // of an ONNX model with labels: the least, 0..1
    std::optional<std::size_t> place;     // in the suite's list; none: it was found in the folder
};

struct Suite {
    std::string name;
    std::filesystem::path folder;
    nlohmann::ordered_json json;  // as in the file; an object without one
    SuiteDefaults defaults;
    std::vector<SuiteCase> cases;  // listed ones first, then found ones by name
};

/// `apart`: a folder below it that holds no cases.
Suite read_suite(const std::filesystem::path& folder, const SuiteDefaults& defaults, const std::filesystem::path& apart);
/// suite.json with these cycles in place of the golden ones; cases that were found are added. None: the case stays as it is.
nlohmann::ordered_json updated_suite(const Suite& suite, const std::vector<std::optional<std::uint64_t>>& cycles);
/// Its keys, with their places.
std::vector<PlacedKey> suite_keys();

}  // namespace dlasim
