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
#include <string_view>
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

/// Work as another file holds or names it.
struct WrittenWork {        // NOLINT(bugprone-exception-escape): moving JSON does not throw
    Json json{};            // null of what is no description
    std::string file{};     // that it is in, or that it is
    std::string pointer{};  // in that file
    std::string folder{};   // that its paths are relative to
};

/// A kind of work, and what is different from the others.
struct WorkKind {
    FileKind file;
    const char *name, *many;       // "a layer", "layers"
    const char* key;               // under which a result has it; null: it cannot run again
    const char* swept;             // key of a sweep's base and axes; null: no sweep runs it
    const char* command;           // of dlasim, that runs it
    const char* ending = nullptr;  // of a file's name, where that alone says it
    AnyWork (*read)(WrittenWork&& written, const OnnxWork& model, const LoadableWork& loadable);
    bool described = false;  // by JSON
    bool fields = false;     // of its description, that a sweep can have axes of
    bool bounded = false;    // cycles and energies have bounds before it runs
    bool images = false;     // it gets images, classes and a precision: OnnxWork
    bool compiled = false;   // for one machine, with an order of register writes
    bool tested = true;      // a suite runs such a file of its folder
};
const WorkKind& kind_of(const AnyWork& work);
/// That a result holds: its work is under the key. None: it cannot run again.
const WorkKind* kind_in_result(const Json& result);
/// Keys of a sweep's base and axes that have work, each once.
const std::vector<std::string_view>& swept_keys();
/// Of a value of a sweep's key, which is a path or the work itself.
const WorkKind& swept_kind(const std::string& key, const Json& value);
/// By the ending of its name, JSON by its keys; none: neither says it.
const WorkKind* kind_of_file(const std::string& path);
/// By the ending of its name alone.
const WorkKind* kind_of_name(const std::string& path);

/// "a layer", ..
const char* kind_name(std::size_t index);
/// It names a tensor that its output is compared with.
bool has_expected(const AnyWork& work);
/// The layer of the convolution pipeline; null: something else.
const Layer* layer_of(const AnyWork& work);

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

}  // namespace dlasim
