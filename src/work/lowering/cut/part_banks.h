// How many banks the parts need, and how many they get.
#pragma once
#include <optional>

#include "lowering/cut/split_frame.h"

namespace dlasim {

/// Banks of all parts: for data and for weights. `ahead`: with what the next part fetches meanwhile.
struct BankNeed {
    RowPart rows;  // of the part with the most entries
    std::uint64_t data = 0, data_ahead = 0;
    std::uint64_t group = 0, kept = 0;             // weights of a kernel group, and of a part that is kept
    std::uint64_t weights = 0, weights_ahead = 0;  // of a whole part
    std::uint64_t least_weights() const { return group > kept ? group : kept; }
};
/// Compressed weights are known to fit only when they are made: `sure` takes them for uncompressed ones.
BankNeed bank_need(const SplitFrame& frame, const std::vector<Part>& parts, bool sure);

struct Banks {
    std::uint64_t data = 0, weights = 0;
};
/// What is left when everything has its place lets the next part fetch ahead. None if it does not fit, or not as the layer asks for it.
std::optional<Banks> allocate_banks(const SplitFrame& frame, const std::vector<Part>& parts, const BankNeed& need);

/// Lines of this pass are read correctly where they wrap around the ring of the buffer.
bool wraps_safely(const Pass& pass, const Hardware& hardware);

/// The mask of compressed weights has one bank, whatever is kept.
bool masks_fit(const SplitFrame& frame, const std::vector<Part>& parts);
/// The pass needs no parts.
bool whole_fits(const SplitFrame& frame);

}  // namespace dlasim
