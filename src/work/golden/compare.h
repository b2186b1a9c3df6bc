// Output of the machine against the reference, element by element, bit by bit.
#pragma once
#include <string>
#include <vector>

#include "config/model/tensors.h"

namespace dlasim {

struct Comparison {
    std::uint64_t compared = 0, mismatches = 0;
    std::vector<std::string> examples;  // the first few, in words
    std::string finding;                // of a comparison by SDP: what it found
    bool equal() const { return mismatches == 0; }
};

Comparison compare(const Tensor& output, const Tensor& reference);
/// SDP.D_STATUS after a comparison (EQL) whose lanes are those of the reference: bit 0 says that one is not 0.
Comparison compare_status(std::uint32_t status, const Tensor& reference);

}  // namespace dlasim
