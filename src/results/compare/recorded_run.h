// A run as recorded in its result.json: the same shape for layers, networks, files of the compiler and replays.
//
//   result.json ──► work      what was asked for: shapes, precision, images
//                   hardware, memory, plan      what it ran on, and how software did it
//                   cycles, causes, steps, traffic      what came of it
//
// Error  ConfigError: no result, or a number of it that is none.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/json_object.h"

namespace dlasim {

/// Values by path, "cbuf.banks".
using Facts = std::map<std::string, Json>;

/// A number by its name; of causes the names down the tree, "memory: latency".
struct Amount {
    std::string name;
    std::int64_t value = 0;
};
using Amounts = std::vector<Amount>;

struct RecordedStep {
    std::string name;
    std::int64_t cycles = 0;  // of a network what it adds to the whole; else from its start to its end
    Amounts causes;           // cycles; none if the result has none
};

/// The measured program that is nearest to a run; no program if the result names none.
struct NearestMeasured {
    std::string program, machine, modes;
    double size_ratio = 0;
    std::int64_t events = 0, differing = 0;
};

struct RecordedRun {
    std::string file, name, machine, memory_name;
    std::optional<bool> measured;  // whether its machine was; none if an earlier version wrote the result
    NearestMeasured nearest;       // of the kind of operation that is farthest from all measured programs
    std::int64_t cycles = 0;
    double seconds = 0;            // at the clock of the hardware; 0 if the result has no clock
    std::optional<bool> verified;  // none: not compared
    Facts work, hardware, memory, plan;
    Amounts causes;  // cycles, leaves of the tree in its order; none if the result has none
    Amounts phases;  // cycles of the array by phase, from a result with units
    std::vector<RecordedStep> steps;
    Amounts traffic;  // bytes, "dbb.read_bytes_by_client.CDMA_WT"
};

/// `path`: a result.json, or the folder that has it.
RecordedRun read_recorded_run(const std::string& path);
/// The same for the content of `file`.
RecordedRun recorded_run(const Json& result, const std::string& file);

}  // namespace dlasim
