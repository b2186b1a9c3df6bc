// In which order the parts run, and what each leaves in the buffer for the next one.
#pragma once
#include "lowering/cut/row_parts.h"

namespace dlasim {

/// What a part may find in the buffer.
struct ReusedBetweenParts {
    bool data = false, weights = false;
};

/// The order that fetches least; of equal ones the first of: kernels inside of rows, the same turning back and forth, rows inside of
/// kernels.
std::vector<Part> ordered_parts(const SplitFrame& frame, std::vector<RowPart> rows, const std::vector<KernelPart>& kernels,
                                const ReusedBetweenParts& again);

/// Of data and weights, by all parts; data in whole entries.
std::uint64_t fetched_bytes(const SplitFrame& frame, const std::vector<Part>& parts);

}  // namespace dlasim
