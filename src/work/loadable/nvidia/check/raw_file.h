// A loadable as its lists have it, nothing refused: what NVIDIA's runtime would see.
//
// Source  loadable.md 1.
#pragma once
#include <optional>

#include "loadable/container.h"

namespace dlasim::loadable {

struct RawMemory {
    std::uint16_t id = 0, flags = 0, bind = 0, tensor = 0;
    unsigned domain = 0;
    std::uint64_t size = 0;
    std::vector<std::string> contents;
    std::vector<std::uint64_t> offsets;

    bool is(MemoryEntry::Flag flag) const { return (flags & flag) != 0; }
    bool bound() const { return is(MemoryEntry::Input) || is(MemoryEntry::Output); }
};

struct RawAddress {
    std::uint16_t id = 0, memory = 0;
    std::uint64_t offset = 0;
};

struct RawBlob {
    std::optional<std::string> name;
    std::optional<Version> version;
    bool has_data = false;
    std::uint64_t size = 0;                 // that it says
    std::span<const std::uint8_t> bytes{};  // that it has, as far as it says
    std::uint64_t held = 0;                 // that it has
};

struct RawTensor {
    std::optional<std::string> name;
    std::uint16_t id = 0, memory = 0;
    unsigned type = 0, pixel_format = 0;
    std::uint64_t size = 0;
    std::int32_t channels = 0;
};

struct RawTask {
    std::uint32_t interface = 0;
    int instance = 0;
    std::vector<std::uint16_t> addresses;
};

struct RawRelocation {
    std::uint16_t memory = 0;  // its id
    std::uint64_t offset = 0;
};

struct RawSubmit {
    std::uint16_t id = 0;
    std::vector<std::uint16_t> tasks;
};

struct RawFile {
    bool identified = false;  // NVDA in bytes 4 to 7
    std::optional<Version> version;
    std::vector<const char*> absent;  // lists of the root
    std::vector<RawTask> tasks;
    std::vector<RawMemory> memories;
    std::vector<RawAddress> addresses;
    std::vector<RawBlob> blobs;
    std::vector<RawTensor> tensors;
    std::vector<RawRelocation> relocations;
    std::vector<RawSubmit> submits;
};

/// Blobs point into `bytes`. ConfigError if they are no FlatBuffer of a loadable.
RawFile read_raw(const std::string& bytes, const std::string& file);

}  // namespace dlasim::loadable
