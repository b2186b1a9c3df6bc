// How a layer is cut into parts that run one after the other as hardware layers, and what they leave in the CBUF for
// each other.
//
//   "partition": {"rows": 14, "kernels": 64, "data_banks": 8, "weight_banks": 4, "reuse_data": true, "reuse_weights": true}
//   "partition": "auto"      the fewest parts that fit; the default
//
// Source  programming.md 7.
#pragma once
#include <cstdint>

namespace dlasim {

struct Partition {
    bool automatic = false;
    std::uint32_t rows = 0, kernels = 0;             // of the output in a part, at most; 0: all
    std::uint32_t columns = 0;                       // likewise
    bool phases = false;                             // rows of one phase of the dilation in a part
    std::uint32_t data_banks = 0, weight_banks = 0;  // of every part; 0: what it takes. Rows follow from the data banks
    bool padded = false;                             // parts of less than an atom of kernels, each in surfaces of its own
    bool reuse_data = false, reuse_weights = false;  // what the next part needs stays in the buffer

    bool on() const { return automatic || rows != 0 || columns != 0 || phases || kernels != 0 || data_banks != 0 || weight_banks != 0; }
    bool operator==(const Partition&) const = default;
};

}  // namespace dlasim
