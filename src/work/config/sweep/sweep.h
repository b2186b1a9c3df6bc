// A sweep: the product of its axes, point by point, laid over a base. docs/SWEEPS.md.
//
//   {"base": {"layer": "l.json", "hw": "nv_large", "memory": "ideal"},
//    "axes": {"mac.atomic_c": [16, 32], "mac.atomic_k": "= mac.atomic_c / 2", "kernel.count": [32, 64], "latency": [32, 200]},
//    "exclude": [{"mac.atomic_c": 16, "latency": 200}, "cbuf.banks * cbuf.bank_depth > 8192"]}
//
// An axis is a hardware path, a field of the layer, an option of the memory, or one of `hw`, `memory`,
// `layer`, `network`, `loadable` and `mode` as a whole. The last axis varies fastest. An axis that is an expression has the value that
// follows from the others, and so have expressions among its values.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/keys.h"
#include "config/descriptor.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/model/network.h"
#include "config/source.h"

namespace dlasim {

struct SweepAxis {
    enum class Kind { Hardware, Layer, MemoryOption, WholeHardware, WholeMemory, Work, Mode };
    std::string name;
    Kind kind = Kind::Hardware;
    std::vector<Json> values;  // a text "= mac.atomic_c / 2" is an expression
    std::size_t places() const { return values.size(); }
    /// Some of its values follow from the other axes.
    bool follows() const;
};
/// "= mac.atomic_c / 2" without its sign; empty for anything else.
std::string expression_of(const Json& value);

/// Files that points name, each read once.
class SweepFiles {
public:
    const Json& json(const std::string& path);
    const std::map<std::string, Json>& read() const { return read_; }

private:
    std::map<std::string, Json> read_;
};

/// One of several that every machine of a sweep runs.
struct SweepWorkload {                  // NOLINT(bugprone-exception-escape): moving JSON does not throw
    std::string name;                   // its own, or of its file; unique
    double weight = 1;                  // frames of it in a mix
    std::optional<double> rate;         // frames a second that it is released at; 0: as fast as possible, alone
    std::optional<double> deadline_ms;  // from release to end
    int priority = 0;                   // the larger goes first
    std::string require;                // of its row
    Json work;                          // a network or a layer, or its path
};

struct Sweep {
    std::string file, folder;              // of the sweep, for messages and relative paths
    std::string text;                      // of the file
    std::string name;                      // as it calls itself; may be empty
    std::string runs;                      // layer, network or loadable: key of the base and name of the axis of its work
    Json work;                             // its path; or a layer or network itself
    OnnxWork model;                        // what it gets, of an ONNX model; of a file of the compiler its input
    std::string mode = "overlap";          // of a file of the compiler: the order of its writes
    Json hardware;                         // a preset, a file or a hardware object
    std::optional<double> host_ns;         // that the host takes for an element of its steps
    Json memory = "ideal";                 // as --memory, or an object
    Json technology = "16nm";              // areas and energies: a name, a file, or an object laid over one
    std::vector<SweepWorkload> workloads;  // values of the last axis; empty: the base has the one
    std::vector<std::string> require;      // of all machines
    std::string order = "first_come";      // of frames of several workloads: first_come, priority or deadline
    std::vector<SweepAxis> axes;
    std::vector<std::vector<std::size_t>> points;  // an index on each axis; without excluded ones
    std::shared_ptr<SweepFiles> files = std::make_shared<SweepFiles>();
    const WorkKind& kind() const { return swept_kind(runs, work); }
};

/// A figure of a machine that is known before it runs, area_mm2; none of other names.
using KnownFigure = std::function<std::optional<double>(const Sweep& sweep, const Hardware& hardware, const std::string& name)>;

/// `known`: what exclusions may use beside sizes and axes.
Sweep read_sweep(const std::string& path, const KnownFigure& known = {});
/// Keys of the file.
std::vector<PlacedKey> sweep_keys();
Sweep parse_sweep(const std::string& text, const std::string& path, const KnownFigure& known = {});

/// The value of each axis.
std::vector<Json> point_values(const Sweep& sweep, const std::vector<std::size_t>& place);

/// One point, checked. Throws ConfigError if it cannot exist.
struct SweepPoint : Source {
    std::string described;  // all that a layer was read from: equal where two points run the same one
};
SweepPoint sweep_point(const Sweep& sweep, std::size_t index);

/// Relative paths are relative to the sweep's file, where there is such a file.
std::string resolve(const Sweep& sweep, const std::string& path);

}  // namespace dlasim
