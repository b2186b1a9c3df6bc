// A task of the machine as NVIDIA's driver reads it, for the rules of its graph and of its operations.
#pragma once
#include "loadable/descriptors.h"
#include "loadable/nvidia/check/checked_file.h"

namespace dlasim::loadable {

/// The memory types of BDMA's transfers: bytes, where our operation has two flags.
struct TransferMemories {
    unsigned from = 0, to = 0, transfers = 0;
};

struct CheckedTask {
    CheckedFile& f;
    const RawTask& raw;
    std::string place;  // "task 0"
    HardwareTask task = {};
    unsigned tables = 0;
    std::vector<TransferMemories> copies = {};             // by operation
    std::vector<std::vector<std::size_t>> consumers = {};  // by operation: those that name it as fused parent

    std::string where(std::size_t i) const;
    void refuse(std::string_view rule, std::size_t i, std::string problem) { f.refuse(rule, where(i), std::move(problem)); }
    void doubt(std::string_view rule, std::size_t i, std::string problem) { f.doubt(rule, where(i), std::move(problem)); }

    bool precise(std::size_t i, std::initializer_list<unsigned> precisions);
    bool sized(std::size_t i, const char* name, const Cube& cube);
    /// Where a cube lies: its memory, its address, `bytes` from there on, offset and strides in multiples of `align`.
    void lies(std::size_t i, const char* name, const Cube& cube, std::uint64_t bytes, std::uint64_t align);
    void lies(std::size_t i, const char* name, const Cube& cube, std::uint64_t bytes)
    {
        lies(i, name, cube, bytes, f.hw.memory.atom_bytes);
    }
    /// Bytes of a cube from its first to its last.
    std::uint64_t extent(const Cube& cube, std::uint32_t element) const;
    /// The operation takes on the fly what this one gives.
    void hands_over(std::size_t i, const Cube& given);
};

/// Bytes of an element of a precision.
constexpr std::uint32_t element_bytes(unsigned precision) { return precision == 0 ? 1 : 2; }

/// False if operations cannot be looked at one by one.
bool check_graph(CheckedTask& t);
void check_operation(CheckedTask& t, std::size_t i);
void check_operation(CheckedTask& t, std::size_t i, const ConvOperation& conv);

}  // namespace dlasim::loadable
