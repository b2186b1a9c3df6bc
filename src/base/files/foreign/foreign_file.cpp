#include "base/files/foreign/foreign_file.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files/input.h"
#include "base/files/json_text.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr const char* kConvertModel =
    "a network that dlasim reads: export or convert it to ONNX (FILE.onnx), or write its layers as docs/NETWORK.md has them";
constexpr const char* kCompileModel =
    "a network that dlasim reads: run what NVIDIA's compiler makes of it (FILE.nvdla), convert it to ONNX, or write its layers as "
    "docs/NETWORK.md has them";
constexpr const char* kCopyDram =
    "a DRAM's file of dlasim: `dlasim presets ddr4-2400` prints one; which value of this file goes where is in docs/DRAM.md, \"A DRAM "
    "described for another simulator\"";
constexpr const char* kOwnMachine = "a machine of dlasim (FILE.json of a preset and what differs: docs/hardware/README.md), or a preset";
constexpr const char* kReadAsWork = "its problem or topology: docs/SIMULATORS.md";

/// `endings`, separated by blanks, make a file one, or `begins` at `offset`, or any of the marks as a line begins.
struct ForeignKind {
    Wanted wanted;
    const char *name, *instead, *endings;
    std::array<std::string_view, 3> marks{};
    std::string_view begins{};
    std::size_t offset = 0;
};

using namespace std::string_view_literals;
constexpr std::array kForeignKinds{
    ForeignKind{Wanted::Work, "a model of TensorFlow Lite", kConvertModel, ".tflite .lite", {}, "TFL3"sv, 4},
    ForeignKind{Wanted::Work, "a model of Keras (HDF5)", kConvertModel, ".h5 .hdf5 .keras", {}, "\x89HDF"sv},
    ForeignKind{Wanted::Work, "a model of PyTorch", kConvertModel, ".pt .pth", {}},
    ForeignKind{Wanted::Work, "an archive (ZIP)", kConvertModel, "", {}, "PK\x03\x04"sv},
    ForeignKind{Wanted::Work, "a graph of TensorFlow", kConvertModel, ".pb .pbtxt", {}},
    ForeignKind{Wanted::Work, "the weights of a Caffe network", kCompileModel, ".caffemodel", {}},
    ForeignKind{Wanted::Work, "a network of Caffe", kCompileModel, ".prototxt", {"layer {"sv, "layers {"sv, "layer{"sv}},
    ForeignKind{Wanted::Work, "the weights of a Darknet network", kConvertModel, ".weights", {}},
    ForeignKind{Wanted::Work, "a network of Darknet", kConvertModel, "", {"[net]"sv, "[network]"sv, "[convolutional]"sv}},
    ForeignKind{Wanted::Work, "a module of MLIR", kConvertModel, ".mlir", {}},
    ForeignKind{Wanted::Memory, "a DRAM of DRAMsim3", kCopyDram, "", {"[dram_structure]"sv}},
    ForeignKind{Wanted::Memory, "a memory system of Ramulator 2", kCopyDram, "", {"MemorySystem:"sv}},
    ForeignKind{Wanted::Memory, "a memory of Ramulator", kCopyDram, "", {"standard ="sv, "standard="sv}},
    ForeignKind{Wanted::Memory, "a DRAM of DRAMSim2", kCopyDram, "", {"NUM_BANKS="sv, "NUM_BANKS ="sv, "NUM_CHANS="sv}},
    ForeignKind{Wanted::Memory, "a memory of NVMain", kCopyDram, "", {"MEM_CTL "sv, "tRCD "sv}},
    ForeignKind{Wanted::Machine, "a configuration of SCALE-Sim", kOwnMachine, "", {"[architecture_presets]"sv, "[general]"sv}},
    ForeignKind{Wanted::Machine, "an architecture of Timeloop", kOwnMachine, "", {"architecture:"sv, "arch:"sv}},
    ForeignKind{Wanted::Work, "a problem of Timeloop", kReadAsWork, "", {"problem:"sv}},
    ForeignKind{Wanted::Work, "a topology of SCALE-Sim", kReadAsWork, "", {"Layer name,"sv, "Layer,"sv}},
};

/// JSON of other programs, by keys at its root.
struct ForeignJson {
    Wanted wanted;
    const char *name, *instead, *key;
};
constexpr std::array kForeignJson{
    ForeignJson{Wanted::Memory, "a device of DRAMSys", kCopyDram, "memspec"},
    ForeignJson{Wanted::Memory, "a controller of DRAMSys", kCopyDram, "mcconfig"},
    ForeignJson{Wanted::Memory, "an address mapping of DRAMSys", kCopyDram, "addressmapping"},
    ForeignJson{Wanted::Memory, "an address mapping of DRAMSys", kCopyDram, "CONGEN"},
    ForeignJson{Wanted::Memory, "a simulation of DRAMSys", kCopyDram, "simulation"},
    ForeignJson{Wanted::Memory, "a thermal configuration of DRAMSys", kCopyDram, "thermalsimconfig"},
    ForeignJson{Wanted::Memory, "a memory system of Ramulator 2", kCopyDram, "MemorySystem"},
};

const char* expected_of(Wanted wanted)
{
    switch (wanted) {
        case Wanted::Work:
            return "a layer or a network: JSON, FILE.onnx, FILE.nvdla, a topology of SCALE-Sim (.csv) or a problem of Timeloop (.yaml)";
        case Wanted::Machine:
            return kOwnMachine;
        case Wanted::Memory:
            return "a memory of dlasim: a preset, or a DRAM's file (docs/DRAM.md)";
    }
    return "";
}

/// A line begins with the mark.
bool has_line(std::string_view text, std::string_view mark)
{
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
        if (at == 0 || text[at - 1] == '\n') return true;
    return false;
}

bool ends_with_any(const std::string& path, std::string_view endings)
{
    while (!endings.empty()) {
        const std::size_t blank = std::min(endings.find(' '), endings.size());
        if (path.ends_with(endings.substr(0, blank))) return true;
        endings.remove_prefix(std::min(blank + 1, endings.size()));
    }
    return false;
}

bool is_of(const ForeignKind& kind, const std::string& path, std::string_view text)
{
    if (ends_with_any(path, kind.endings)) return true;
    if (!kind.begins.empty()) return text.substr(std::min(kind.offset, text.size())).starts_with(kind.begins);
    return std::ranges::any_of(kind.marks, [&](std::string_view mark) { return !mark.empty() && has_line(text, mark); });
}

template <class Kind>
[[noreturn]] void refuse(const std::string& path, const Kind& kind, Wanted wanted)
{
    throw ConfigError(printable(path),
                      std::string("is ") + kind.name + ", expected " + (kind.wanted == wanted ? kind.instead : expected_of(wanted)));
}

}  // namespace

void refuse_foreign(const std::string& path, std::string_view text, Wanted wanted)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string_view::npos && (text[first] == '{' || path.ends_with(".json"))) return;
    for (const ForeignKind& kind : kForeignKinds)
        if (is_of(kind, path, text)) refuse(path, kind, wanted);
    if (path.ends_with(".json") || first == std::string_view::npos || text[first] == '[') return;
    throw ConfigError(printable(path), std::string("is no JSON, expected ") + expected_of(wanted));
}

void refuse_foreign_json(const std::string& path, const nlohmann::json& json, Wanted wanted)
{
    if (!json.is_object()) return;
    for (const ForeignJson& kind : kForeignJson)
        if (json.contains(kind.key)) refuse(path, kind, wanted);
}

nlohmann::json read_json_of_ours(const std::string& path, Wanted wanted)
{
    const std::string text = read_text(path, kMaxText, [&](std::string_view beginning) { refuse_foreign(path, beginning, wanted); });
    refuse_foreign(path, text, wanted);
    nlohmann::json json = parse_json(text, path);
    refuse_foreign_json(path, json, wanted);
    return json;
}

}  // namespace dlasim
