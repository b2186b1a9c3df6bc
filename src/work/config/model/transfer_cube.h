// A cube in memory and what is made of it, with the user's files: what every transfer has that makes a cube of a cube.
#pragma once
#include <cstdint>
#include <string>

#include "base/place.h"
#include "config/model/geometry.h"
#include "config/model/tolerance.h"
#include "facts/hardware.h"

namespace dlasim {

struct TransferCube {
    std::uint32_t width = 1, height = 1, channels = 1;  // of the input
    Precision precision = Precision::Int8;
    Place input{true, Address{0x80000000}}, output{true, Address{0xa0000000}};
    std::string data, data_where;          // NumPy file, and where it is named; empty: by seed
    std::string expected, expected_where;  // NumPy file of the output to compare with; empty: none
    Tolerance tolerance{};                 // of that comparison

    CubeSize cube() const { return {width, height, channels}; }
    std::uint32_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
};

}  // namespace dlasim
