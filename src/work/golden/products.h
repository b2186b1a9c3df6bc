// Sums of products of the golden convolution: 16 places at a time with any number of kernels. Exact, in
// arithmetic of its own: nothing of it is shared with the machine. The processor's vectors are used where
// it has them; every form gives the sums of the portable one.
//
//   data     [length][kPlaces]    one row for each element of a kernel, one column for each place
//   weights  [kernels][length]    as a NumPy file has them
//   sums     [kernels][kPlaces]   sum over the length of weight * data
//
// Products of pairs are added in 32 bits for as long as they cannot overflow, which the largest magnitudes
// decide, then in 64. Where not even a pair is safe the weights are taken apart in 256 * high + low.
// oneDNN is no choice here: its int8 products saturate on processors without VNNI, and it has none of int16.
//
// Error   0 against plain sums (tests/unit/products_test.cpp).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/vectors.h"

namespace dlasim {

class Products {
public:
    static constexpr std::uint32_t kPlaces = 16;

    /// `weights`: must outlive this. `most`: the largest magnitude among the data.
    Products(std::span<const std::int16_t> weights, std::uint32_t kernels, std::size_t length, std::int32_t most,
             Vectors vectors = Vectors::Best);

    /// sums[kernel * kPlaces + place] for kernels [first, first + count).
    void multiply(const std::int16_t* data, std::uint32_t first, std::uint32_t count, std::int64_t* sums);

private:
    using Row = std::int32_t[kPlaces];
    void run(const std::int16_t* plane, std::uint32_t first, std::uint32_t count, std::int64_t scale, std::int64_t* sums);

    const Vectors vectors_;
    std::size_t length_, pitch_, safe_;     // elements; pitch is even; as many as 32 bits hold
    const std::int16_t* whole_;             // [kernels][pitch]: the weights as given, or low_
    std::vector<std::int16_t> low_, high_;  // [kernels][pitch]: a padded copy, its high parts; each empty where not needed
    std::vector<std::int16_t> pairs_;       // [pitch / 2][kPlaces][2]
};

}  // namespace dlasim
