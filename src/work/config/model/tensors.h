// The tensors of a layer, from NumPy files or by seed. A value is an int8, an int16 or the bit
// pattern of an fp16; all are kept in 16 bits.
//
//   input [batch][channels][height][width]   weights [kernels][channels / groups][height][width]
//   operands of SDP: per kernel [kernels], per element [1][kernels][out height][out width], for every batch the same
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/model/layer.h"

namespace dlasim {

/// Four dimensions, the last one fastest.
struct Tensor {
    std::uint32_t n = 0, c = 0, h = 0, w = 0;
    std::vector<std::int16_t> values;

    Tensor() = default;
    Tensor(std::uint32_t n_, std::uint32_t c_, std::uint32_t h_, std::uint32_t w_)
        : n(n_), c(c_), h(h_), w(w_), values(std::size_t{n_} * c_ * h_ * w_)
    {
    }
    std::size_t index(std::uint32_t in, std::uint32_t ic, std::uint32_t ih, std::uint32_t iw) const
    {
        return ((std::size_t{in} * c + ic) * h + ih) * w + iw;
    }
    std::int16_t& at(std::uint32_t in, std::uint32_t ic, std::uint32_t ih, std::uint32_t iw) { return values[index(in, ic, ih, iw)]; }
    std::int16_t at(std::uint32_t in, std::uint32_t ic, std::uint32_t ih, std::uint32_t iw) const { return values[index(in, ic, ih, iw)]; }
    bool empty() const { return values.empty(); }
    bool operator==(const Tensor&) const = default;
};

struct LayerTensors {
    Tensor input, weights;
    Tensor expected;                 // of the output; empty: none
    std::array<Tensor, 6> operands;  // by operand_slot(); empty without one, 1 x 1 where they are per kernel
};

/// Reads or makes them. By seed: int8 over its whole range, int16 mostly in 12 bits so that sums
/// stay inside 32, fp16 between 2^-5 and 2^1.
LayerTensors load_tensors(const Layer& layer);
/// The NumPy dtype of an output: what is written, and what an expected tensor must have.
const char* npy_type(Precision precision);
/// A tensor as a NumPy file.
std::string npy_file(const Tensor& tensor, Precision precision);
/// One cube [1][channels][height][width]: from a NumPy file that `where` names, or by seed without one.
Tensor load_cube(Precision precision, const CubeSize& size, const std::string& file, const std::string& where, std::uint64_t seed);

}  // namespace dlasim
