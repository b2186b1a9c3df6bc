// Allocation of memory for a limited lifetime: dead blocks are reused.
//
//   bytes │ ┌──────┐          ┌──────────┐
//         │ │  c   │  ┌───┐   │    d     │     two of them never meet, unless one is over when the other begins
//         │ ├──────┴──┤ b ├───┴────┬─────┘
//         │ │    a    └───┘        │
//         └─┴──────────────────────┴──────► steps
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dlasim {

/// Needed in steps [begin, end). `saved`: bytes of traffic with another memory if it fits here.
struct Allocation {
    std::uint64_t bytes = 0;
    std::size_t begin = 0, end = 0;
    std::uint64_t saved = 0;
};

struct Arrangement {
    std::vector<std::optional<std::uint64_t>> at;  // from the start of the memory; none: does not fit
    std::uint64_t peak = 0;                        // bytes up to the end of the last one
    std::uint64_t saved = 0;
};

/// All of them, the largest first, each as near to the start as it goes; from multiples of 256 bytes on.
Arrangement arrange(const std::vector<Allocation>& allocations);
/// Blocks that save most per byte; of the orderings listed in the source, the one that saves most in all.
Arrangement choose(const std::vector<Allocation>& allocations, std::uint64_t capacity);

}  // namespace dlasim
