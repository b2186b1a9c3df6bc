// How far an output may be from the tensor that its user expects. A value is right if any of the three allows it.
#pragma once
#include <cstdint>

namespace dlasim {

struct Tolerance {
    std::uint32_t ulp = 0;      // steps of the output's type: of whole numbers 1, of fp16 units in the last place
    double atol = 0, rtol = 0;  // |found - expected| <= atol + rtol * |expected|, as numpy.isclose

    bool any() const { return ulp != 0 || atol != 0 || rtol != 0; }
};

}  // namespace dlasim
