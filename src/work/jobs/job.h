// A job: what runs on a machine, planned once. Who runs it, reports it or sweeps over it does not ask what it was made of.
//
//   Layer ────┐         ┌── program ────────────────────────────► machine
//             ├──► Job ─┼── contents ── before ──► its memory ── after ──► findings
//   Transfer ─┘         └── bounds, and what the report says ──► result.json and the table
//
// Error  ConfigError if the machine cannot do it.
#pragma once
#include <memory>

#include "config/descriptor.h"
#include "config/model/tensors.h"
#include "golden/memory/contents.h"
#include "jobs/bounds.h"
#include "workload/workload.h"

namespace dlasim {

/// What passes the MAC array.
struct ArrayWork {
    std::uint64_t macs = 0;            // of the direct convolution
    std::uint64_t operations = 0;      // that the array takes
    std::uint64_t macs_per_cycle = 0;  // that it could do
};

/// The tensor that it makes in memory.
struct TensorFile {
    Precision precision = Precision::Int8;
    std::uint64_t bytes = 0;
};

/// What the report says of it, beside the figures.
// NOLINTNEXTLINE(bugprone-exception-escape): JSON moves without an exception, which clang-tidy does not see
struct ReportText {
    OrderedJson descriptor;           // with every default
    OrderedJson plan;                 // its launches get their completion times
    std::vector<std::string> advice;  // what it costs that would be cheaper written otherwise
    std::string subject;              // "lenet5_c1  28 x 28 x 1 -> .."
    std::string mode;                 // "direct mode, 64 MACs a cycle"; may be empty
    std::string cut;                  // "2 tiles by rows of the output"; empty if it is not tiled
    std::string memory;               // layout of an output that is not one tensor; mostly empty
    const char* compared = "";        // "outputs"
    std::string equal;                // "equal the golden convolution"
};

struct Job : Workload {
    std::unique_ptr<const MemoryCheck> contents;
    bool timed_by_values = false;    // masks of compressed weights: they are written for --timing-only too
    bool compares = false;           // SDP compares, and the program reads what it found
    std::optional<ArrayWork> array;  // none: it moves bytes
    std::optional<TensorFile> tensor;
    std::vector<Bound> bounds;
    ReportText text;
};

struct SharedLayer;  // lowering/memory/layer_contents.h
/// Loads or makes the data, unless a layer's are there already. Without `values` a layer has data and contents only if some is in a file,
/// which has to be right, or says how long it takes.
Job job_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory, bool values = true,
           std::shared_ptr<const SharedLayer> shared = nullptr);
/// What would run: without data and, of a layer, without contents.
Job outline_of(const Descriptor& descriptor, const Hardware& hardware, const MemorySpec& memory);
/// Keys of `plan` of a layer, of a transfer.
std::vector<PlacedKey> layer_plan_keys();
std::vector<PlacedKey> transfer_plan_keys();
/// Of a layer with its data. Where `shared` is null they are loaded or made, once it is known that the machine can do it. layer_job.cpp
Job layer_job(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, LayerTensors tensors);
Job layer_job(const Layer& layer, const Hardware& hardware, const MemorySpec& memory, std::shared_ptr<const SharedLayer> shared);
Job layer_outline(const Layer& layer, const Hardware& hardware, const MemorySpec& memory);
/// transfer_job.cpp
Job transfer_job(const Transfer& transfer, const Hardware& hardware, const MemorySpec& memory);

}  // namespace dlasim
