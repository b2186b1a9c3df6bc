// Weights on their way through the CBUF: how large the ring must be for a kernel group to become complete in it. CDMA
// fetches bursts of 8 atoms as long as they fit; CSC releases a group when it has used it, in whole entries.
//
//   entries   | group 0 ......... | group 1 ........... |     a group begins in the entry in which the one before ends
//   bursts    |        |        |        |        |           and a burst that does not fit is not fetched
//
// So the bytes of a group are not always enough for it.
//
// Source  cdma.md 7.1, 7.5; csc.md 1.10.
#pragma once
#include <cstdint>
#include <vector>

#include "facts/hardware.h"

namespace dlasim {

/// Where the kernel groups end, in bytes of weights or bits of the mask. `kernel`: those of one.
using GroupEnds = std::vector<std::uint64_t>;
GroupEnds group_ends(const Hardware& hardware, Precision precision, Kernels kernels, std::uint64_t kernel);

/// Entries that hold every group at its time. `entry`: bytes or bits of one.
std::uint64_t ring_entries(const Hardware& hardware, const GroupEnds& ends, std::uint64_t entry);

/// Banks of uncompressed kernels, at least 1.
std::uint64_t weight_banks(const Hardware& hardware, const GroupEnds& ends);
/// The mask of compressed kernels has one bank. `ends` in elements.
bool mask_fits(const Hardware& hardware, const GroupEnds& ends);

}  // namespace dlasim
