// What CSC counts. The silicon has none of it: csc.md 3 says what a simulator should derive.
#pragma once
#include "base/counters.h"

namespace dlasim {

struct CscCounters {
    std::uint64_t packages = 0, atoms = 0, data_reads = 0, weight_reads = 0, credit_waits = 0;
    std::uint64_t package_gap_cycles = 0, load_gap_cycles = 0, credit_gap_cycles = 0;
    std::uint64_t shortest_stripe = 0, longest_stripe = 0;
    std::uint64_t op0 = 0, op1 = 0, op2 = 0;
    std::optional<std::uint64_t> winograd;
};

template <>
inline constexpr auto counters<CscCounters> = std::array{
    counter("packages", &CscCounters::packages, "packages", "packages whose data went to the array: a stripe and its weights each",
            "csc.md 1.5"),
    counter("atoms", &CscCounters::atoms, "atoms", "atoms of these stripes, of all batches: operations of the array", "csc.md 1.5.1"),
    counter("data_reads", &CscCounters::data_reads, "entries", "CBUF entries read for data", "csc.md 1.8.2"),
    counter("weight_reads", &CscCounters::weight_reads, "entries", "CBUF entries read for weights and masks", "csc.md 1.10"),
    counter("credit_waits", &CscCounters::credit_waits, "packages", "packages that had to wait for credits from CACC", "csc.md 1.6.1"),
    counter("package_gap_cycles", &CscCounters::package_gap_cycles, "cycles",
            "between two stripes: the next package was not ready, data or weights were missing", "csc.md 1.5.2"),
    counter("load_gap_cycles", &CscCounters::load_gap_cycles, "cycles",
            "between two stripes: the weights of the next one were being loaded into the array", "csc.md 2.2"),
    counter("credit_gap_cycles", &CscCounters::credit_gap_cycles, "cycles",
            "between two stripes: no credit from CACC while a package waited", "csc.md 1.6.1"),
    extreme("shortest_stripe", &CscCounters::shortest_stripe, "atoms", "the shortest stripe since reset", "csc.md 1.5.1"),
    extreme("longest_stripe", &CscCounters::longest_stripe, "atoms", "the longest stripe since reset", "csc.md 1.5.1"),
    clock_domain("op0", &CscCounters::op0, "sequence generator", "csc.md 3"),
    clock_domain("op1", &CscCounters::op1, "weight loader and decompressor", "csc.md 3"),
    clock_domain("op2", &CscCounters::op2, "data loader", "csc.md 3"),
    clock_domain("winograd", &CscCounters::winograd, "Winograd cells, in Winograd layers", "csc.md 3", "where the machine has Winograd"),
};

}  // namespace dlasim
