// What a run with SimulateOptions::hazards found: accesses that happened in another order than the program's operations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/rule_breach.h"

namespace dlasim {

enum class HazardKind : std::uint8_t {
    ReadBeforeWritten,  // a later operation read what an earlier one wrote only then
    OverwrittenEarly,   // a later operation wrote over what an earlier one had still to read
    WrittenOutOfOrder,  // what a later operation wrote was overwritten by an earlier one
    ReadsItself,        // an operation read where it had written itself
    NeverWritten,       // of CBUF: what was read was not written, before or after
};

/// One side of it. `operation` counts from 1, in the order in which the program starts them.
struct HazardAccess {
    std::uint32_t operation = 0;
    std::size_t entry = 0;   // of the program: the last launch of the operation
    std::string units;       // "convolution, SDP"
    std::string name;        // what the program calls it; empty if it does not
    std::string client;      // who accessed: of memory its client, CDMA or CSC of CBUF
    std::int64_t cycle = 0;  // relative to t0
};

/// All accesses of the same two operations and clients of one kind; place and cycles are those of the first.
struct Hazard {
    HazardKind kind{};
    std::string where;          // DBB, CVSRAM, CBUF
    std::uint64_t address = 0;  // bytes; of CBUF the entry
    std::uint64_t amount = 0;   // bytes in all, of CBUF entries
    HazardAccess before, after;
};

struct HazardReport {
    std::uint64_t accesses = 0;  // of memory atoms and CBUF entries that were looked at
    std::uint64_t found = 0;     // of these hazards
    std::vector<Hazard> list;    // the first kMaxHazards, in the order in which they were found
    RuleReport rules;            // that the program breaks
};
inline constexpr std::size_t kMaxHazards = 1000;

}  // namespace dlasim
