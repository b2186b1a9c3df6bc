// The container of a loadable: a FlatBuffer, verified before use, then read into plain structures and checked: every index names
// something, every blob fits its memory.
//
// Source  loadable.md 1.
// Error   ConfigError naming the file, the entry, what was found and what would do.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/model/channel_piece.h"

namespace dlasim::loadable {

inline constexpr std::uint64_t kMaxBytes = 1u << 30;  // of a file, and of all contents of its memories: far above any real one

enum class Interface : std::uint32_t { None = 0, Dla = 1, Emu = 2 };

struct Version {
    unsigned major = 0, minor = 0, sub_minor = 0;
    /// One number for one version.
    constexpr std::uint32_t number() const { return major << 16 | minor << 8 | sub_minor; }
    constexpr bool before(const Version& other) const { return number() < other.number(); }
    bool operator==(const Version&) const = default;
};
std::string text(const Version& version);

struct Task {
    Interface interface = Interface::None;
    std::vector<std::uint16_t> addresses;  // the address list: what descriptors call an address is an index into it
    bool operator==(const Task&) const = default;
};

/// A blob laid into a memory.
struct Content {
    std::size_t blob = 0;
    std::uint64_t offset = 0;  // bytes
    bool operator==(const Content&) const = default;
};

struct MemoryEntry {
    enum Flag : unsigned { Allocate = 1, Set = 2, Input = 4, Output = 8, Debug = 16 };

    unsigned domain = 0;  // 0 at the primary port, 1 at the secondary one
    unsigned flags = 0;
    std::uint64_t size = 0, alignment = 0;  // bytes
    std::vector<Content> contents;
    unsigned bind = 0;    // its place among the inputs, or among the outputs
    unsigned tensor = 0;  // of an input or output

    bool is(Flag flag) const { return (flags & flag) != 0; }
    bool operator==(const MemoryEntry&) const = default;
};

struct AddressEntry {
    std::size_t memory = 0;
    std::uint64_t offset = 0;  // bytes
    bool operator==(const AddressEntry&) const = default;
};

struct Blob {
    std::string name;
    Version version;
    std::span<const std::uint8_t> bytes;
    std::uint32_t interface = 0, sub_interface = 0;  // 1: of a hardware task, and which of its lists

    bool operator==(const Blob& other) const
    {
        return name == other.name && version == other.version && interface == other.interface && sub_interface == other.sub_interface &&
               std::ranges::equal(bytes, other.bytes);
    }
};

/// Shape and layout of an input or output: loadable.md 9.
struct TensorEntry {
    std::string name;
    unsigned type = 0;          // 1 float32, 2 fp16, 3 int16, 4 int8, 5 uint8, 6 uint16
    unsigned pixel_format = 0;  // 0 to 35 those of CDMA, 36 features in atoms of 32 bytes, 37 in atoms of 8
    std::uint32_t n = 0, c = 0, h = 0, w = 0;
    std::uint64_t size = 0, line_stride = 0, surface_stride = 0;  // bytes
    std::vector<ChannelPiece> pieces;  // of the channels among the c places, which no file says; none: every place is a channel

    std::uint32_t channels() const { return pieces.empty() ? c : pieces.back().first + pieces.back().count; }
    /// The place of a channel.
    std::uint32_t place_of(std::uint64_t channel) const;
    bool operator==(const TensorEntry&) const = default;
};

struct Loadable {
    std::string file;  // its path
    std::shared_ptr<const std::string> bytes;
    Version version;
    std::vector<Task> tasks;
    std::vector<std::size_t> order;  // tasks as they are submitted
    std::vector<MemoryEntry> memories;
    std::vector<AddressEntry> addresses;
    std::vector<Blob> blobs;
    std::vector<TensorEntry> tensors;

    /// What runs is the same, whatever the files are called.
    bool same_content(const Loadable& other) const;
    /// Memories with this flag and a tensor, by their place.
    std::vector<std::size_t> bound(MemoryEntry::Flag flag) const;
    /// "FILE: WHAT INDEX", for messages.
    std::string where(const char* what, std::size_t index) const;
};

Loadable read_loadable(const std::string& path);
Loadable parse_loadable(std::string bytes, const std::string& file);

}  // namespace dlasim::loadable
