// Local response normalisation across channels, as the user describes it:
//
//   y[c] = x[c] / (bias + alpha / size * sum of x[j]^2, j = c - size / 2 .. c + size / 2) ^ beta
//
// Channels outside the cube count as 0. Integers represent real numbers, a step of the input for
// `input_scale` of them and one of the output for `output_scale`; fp16 is what it is.
//
// Source  ONNX LRN; cdp.md 1, 5.
#pragma once
#include <cstdint>
#include <string>

#include "base/place.h"
#include "config/model/geometry.h"
#include "config/model/tolerance.h"
#include "facts/hardware.h"

namespace dlasim {

struct Lrn {
    std::uint32_t size = 5;  // 3, 5, 7 or 9
    double alpha = 1e-4, beta = 0.75, bias = 1;
    double input_scale = 1, output_scale = 1;
    std::uint32_t width = 1, height = 1, channels = 1;
    Precision precision = Precision::Int8;
    Place input{true, Address{0x80000000}}, output{true, Address{0xa0000000}};
    std::string data, data_where;          // NumPy file, and where it is named; empty: by seed
    std::string expected, expected_where;  // NumPy file of the output to compare with; empty: none
    Tolerance tolerance{};                 // of that comparison

    CubeSize cube() const { return {width, height, channels}; }
    std::uint32_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
};

}  // namespace dlasim
