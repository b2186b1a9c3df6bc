// When memory runs out: whatever becomes of the failed allocation - an exception, one that a library catches, an abort - the process ends
// with a status that says so.
#pragma once

namespace dlasim {

/// First of all in main: allocations that fail are remembered, and a process that cannot go on says why.
void watch_allocations();
/// One has failed since the last look of this kind.
bool allocation_failed();
/// What failed was done without.
void forget_failed_allocation();
/// Of a process that ends in the middle; kBadInput at first.
void set_no_memory_status(int status);

inline constexpr const char* kNoMemoryText = "dlasim: out of memory: this run does not fit, expected a smaller one or a higher limit\n";

}  // namespace dlasim
