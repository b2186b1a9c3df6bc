// An output beside the tensor that its user expects: how far it is away, and what kind of difference that is.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/model/tensors.h"
#include "config/model/tolerance.h"

namespace dlasim {

/// Two arrays of the same shape, batch, channel, row, column, the last one fastest.
struct ComparedArrays {
    std::span<const double> found, expected;
    std::array<std::uint64_t, 4> shape{};
    bool halves = false;  // fp16; else whole numbers
};

struct Difference {
    std::uint64_t compared = 0, differing = 0;
    std::uint64_t tolerated = 0;  // that differ, but less than the tolerance
    std::string file;             // the tensor it was compared with
    // The first one in the order of the file, and the largest distance of two numbers; fp16 as numbers.
    std::uint32_t n = 0, c = 0, y = 0, x = 0;
    double found = 0, expected = 0, largest = 0;
    std::vector<std::uint64_t> by_channel;  // of these; empty if none differs
    std::string kind;                       // what the difference looks like, in words; empty: like nothing known
    std::vector<double> values;             // found - expected; empty if none differs
    bool equal() const { return differing == 0; }
};

/// Equal is what the tolerance allows; without one all bits, but for the sign of a zero of whole numbers.
Difference difference(const ComparedArrays& arrays, const Tolerance& tolerance, const std::string& file);

/// Bit by bit, as precision says; a NaN in one of two fp16 that differ makes the largest difference infinite.
Difference difference(const Tensor& output, const Tensor& expected, Precision precision, const Tolerance& tolerance,
                      const std::string& file);

/// "3 of 512 outputs differ from y.npy, the largest by 1; the first at batch 0 channel 5 row 3 column 2: found 3, expected 2; ..."
std::string difference_text(const Difference& difference);

}  // namespace dlasim
