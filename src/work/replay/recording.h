// A recorded register program: a measured case or a public NVDLA trace, with what it says of memory and registers.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facts/hardware.h"
#include "replay/expectation.h"
#include "workload/workload.h"

namespace dlasim {

/// Bytes that are in memory before the program starts.
struct MemoryImage {
    Place place;
    std::vector<std::uint8_t> bytes;
};

/// A region of memory that is read after the run. With an expectation it is compared.
struct OutputRegion {
    Place place;
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
    bool one_memory = false, flushed = false;  // Workload
};

/// A measured case also says on which machine and memory it was measured.
struct MeasuredCase {
    Recording recording;
    Hardware hardware;
    MemorySpec memory;
    std::optional<Expectation> expected;  // of a case that was measured
    bool same_hardware = true;            // as that one, and likewise
    bool same_memory = true;
};

/// Readers; ConfigError with file and place for anything unexpected.
MeasuredCase read_measured_case(const std::filesystem::path& file, const std::optional<Hardware>& hardware);
MeasuredCase measured_case(const Json& json, const std::filesystem::path& file, const std::optional<Hardware>& hardware);
MeasuredCase parse_measured_case(const std::string& text, const std::filesystem::path& file, const std::optional<Hardware>& hardware);
Recording read_cfg_trace(const std::filesystem::path& file, const Hardware& hardware);
Recording read_txn_trace(const std::filesystem::path& file, const Hardware& hardware);

/// A recording as a workload, and memory around it: images before, the content of the regions after.
Workload workload_of(const MeasuredCase& recorded, const std::string& file);
class RecordingHost final : public Host {
public:
    /// pre: `recording` lives longer.
    explicit RecordingHost(const Recording& recording) : recording_(recording) {}
    void before(const HostMemory& memory) override
    {
        for (const MemoryImage& image : recording_.images) memory.write(image.place, image.bytes);
    }
    void after(const RunResult&, const HostMemory& memory) override { hangs(memory); }
    void hangs(const HostMemory& memory) override
    {
        for (const OutputRegion& region : recording_.outputs) contents_.push_back(memory.read(region.place, region.bytes));
    }
    /// By region; empty when the run was interrupted.
    const std::vector<std::vector<std::uint8_t>>& contents() const { return contents_; }

private:
    const Recording& recording_;
    std::vector<std::vector<std::uint8_t>> contents_;
};

}  // namespace dlasim
