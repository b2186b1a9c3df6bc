// What runs, read from any file, and the machine that it runs on. This is the one place that asks what a file is.
//
//   FILE.json, .csv, .yaml         a layer or transfer, a network, a measured case: by its keys
//   FILE.onnx                      a model
//   FILE.nvdla                     of the NVDLA compiler
//   FILE.txn, FILE.cfg, a folder   a trace of the public players
//
// Error  ConfigError with the file, what it is, and what was expected.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/descriptor.h"
#include "config/file_kind.h"
#include "config/model/network.h"
#include "config/onnx_work.h"
#include "facts/hardware.h"
#include "facts/memory_spec.h"

namespace dlasim {

/// A file of the NVDLA compiler, and how it runs: LOADABLE.md.
struct LoadableWork {
    std::string file{};
    std::vector<std::string> inputs{};  // in the order of their numbers; those without one are seeded
    std::string mode = "overlap", form = "auto", manifest{};
    std::uint64_t chains = UINT32_MAX;  // limit, after which the run ends
};

/// A measured case or a trace.
struct RecordedWork {
    std::string file;
    Json json;  // of a case
};

using AnyWork = std::variant<Descriptor, Network, OnnxWork, LoadableWork, RecordedWork>;
/// "a layer", ..
const char* kind_name(std::size_t index);
/// It names a tensor that its output is compared with.
bool has_expected(const AnyWork& work);

struct Source {
    AnyWork work{};
    Hardware hardware{};
    MemorySpec memory{};
    std::optional<double> host_ns{};                // that the host takes for an element of its steps
    bool own_hardware = false, own_memory = false;  // nobody named them: a recording has its own
};

struct SourceOptions {
    std::string file{};
    std::string hardware{}, memory{};     // empty: those of a recording, else nv_full and ideal
    std::vector<std::string> settings{};  // --set
    OnnxWork model{};                     // without the file; its input is a compiler's file's too, its precision a network's
    LoadableWork loadable{};              // likewise without the file
    FileKind assumed = FileKind::Layer;   // of a file that does not say what it is
};
Source read_source(const SourceOptions& options);

/// By the ending of the file.
bool is_onnx(const std::string& path);
bool is_loadable(const std::string& path);

}  // namespace dlasim
