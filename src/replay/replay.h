// dlasim replay: runs a recorded register program - a measured case or a public NVDLA trace - through
// the machine, writes its events and compares what the recording says of memory and registers.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facts/hardware.h"
#include "files/keys.h"
#include "platform/machine.h"

namespace dlasim {

/// Bytes that are in memory before the program starts.
struct MemoryImage {
    MemorySpace space = MemorySpace::Primary;
    Address address;
    std::vector<std::uint8_t> bytes;
};

/// A region of memory that is read after the run. With an expectation it is compared.
struct OutputRegion {
    MemorySpace space = MemorySpace::Primary;
    Address address;
    std::uint64_t bytes = 0;
    std::optional<std::uint32_t> crc32;
    std::vector<std::uint8_t> content;  // compared if not empty
    std::string source;                 // file and line that asks for it
};

/// A recording in a form of its own.
struct Recording {
    std::string name;
    Program program;
    std::vector<MemoryImage> images;
    std::vector<OutputRegion> outputs;
    bool compare_outputs = false;  // traces judge themselves; a measured case is judged by its reader
    bool one_memory = false;
};

/// A measured case also says on which machine and memory it was measured.
struct MeasuredCase {
    Recording recording;
    Hardware hardware;
    MemorySpec memory;
};

/// Readers; ConfigError with file and place for anything unexpected.
MeasuredCase read_measured_case(const std::filesystem::path& file, const std::optional<Hardware>& hardware);
MeasuredCase parse_measured_case(const std::string& text, const std::filesystem::path& file, const std::optional<Hardware>& hardware);
Recording read_cfg_trace(const std::filesystem::path& file, const Hardware& hardware);
Recording read_txn_trace(const std::filesystem::path& file, const Hardware& hardware);

struct ReplayOptions {
    std::filesystem::path program;     // case, trace file or trace folder
    std::optional<Hardware> hardware;  // overrides a case's; a trace without it runs on nv_small or nv_full
    std::optional<MemorySpec> memory;  // overrides a case's; default ideal memory for traces
    std::filesystem::path events;      // events file to write, none if empty
    std::filesystem::path out;         // folder for result.json, none if empty
    bool quiet = false, stepping = false, times = false;
    bool hazards = false;  // look for accesses out of order
    Cycle cycle_limit = kNever;
};

/// Keys of the result.json of a replay.
std::vector<PlacedKey> replay_keys();

/// Exit status of interfaces.md 1. Prints a summary unless quiet. Throws ConfigError for bad input.
int replay_command(const ReplayOptions& options);

}  // namespace dlasim
