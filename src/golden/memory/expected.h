// The output of the machine against a tensor of the user's: whether they are equal, and if not how far apart.
#pragma once
#include <string>

#include "config/model/tensors.h"

namespace dlasim {

struct Difference {
    std::uint64_t compared = 0, differing = 0;
    std::string file;  // the tensor it was compared with
    // The first one in the order of the file, and the largest distance of two numbers; fp16 as numbers.
    std::uint32_t n = 0, c = 0, y = 0, x = 0;
    double found = 0, expected = 0, largest = 0;
    bool equal() const { return differing == 0; }
};

/// Bit by bit, as precision says; a NaN in one of two fp16 that differ makes the largest difference infinite.
Difference difference(const Tensor& output, const Tensor& expected, Precision precision, const std::string& file);

}  // namespace dlasim
