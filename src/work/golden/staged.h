// The golden layer of integers in two steps, to choose its converters by their input: sums first, then SDP and pooling.
//
//   input, weights ──► sums ──► sample() ──► converters are chosen ──► output()
//
// Source  as golden/reference.h.
// Error   0 against reference_output() (tests/unit/staged_test.cpp).
#pragma once
#include "config/model/tensors.h"
#include "facts/hardware.h"

namespace dlasim {

class StagedReference {
public:
    /// The sums of the layer's operation; of SDP alone its input. pre: integers
    StagedReference(const Layer& layer, const Tensor& input, const Tensor& weights);

    /// What the engines of SDP hand to the output converter, at most `most` places spread evenly over the output.
    std::vector<std::int64_t> sample(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, std::size_t most) const;
    /// What the output memory must hold. Uses up the sums.
    Tensor output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors);

private:
    std::vector<std::int64_t> sums_;
};

}  // namespace dlasim
