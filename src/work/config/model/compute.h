// CPU fallbacks on whole tensors, elements in the order of ONNX: moved, or computed in double precision. docs/ONNX.md.
//
//   Move     out[i] = in[from[i]], or `fill` where from[i] is -1: transpositions, slices, gathers, padding, depth to space
//   Compute  of one or two tensors: matrix products, quotients, means, normalisation, interpolation, the index of the largest
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlasim {

/// Elements in another order.
struct Move {
    std::vector<std::int32_t> from{};  // by element of the result, -1: `fill`; empty: as they are
    double fill = 0;

    bool fills() const
    {
        for (const std::int32_t index : from)
            if (index < 0) return true;
        return false;
    }
    /// `filling`: the value of `fill` among these.
    template <class Values>
    Values operator()(const Values& in, typename Values::value_type filling) const
    {
        if (from.empty()) return in;
        Values out(from.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = from[i] < 0 ? filling : in[static_cast<std::size_t>(from[i])];
        return out;
    }
};

/// A separable resampling: along each dimension, output i is the sum of weights times elements.
struct ResampledAxis {
    std::size_t size = 1;  // of the input
    struct Tap {
        std::size_t from = 0;
        double weight = 0;
    };
    std::vector<std::vector<Tap>> outputs{};  // one without taps is `outside`
};

struct Compute {
    enum class Kind { MatMul, Divide, Maximum, Minimum, Normalise, Mean, Resample, ArgMax };
    Kind kind = Kind::MatMul;
    // [outer][count][inner] of Normalise, Mean and ArgMax, which work over `count`; [outer][rows][count] * [outer][count][columns] of
    // MatMul
    std::size_t outer = 1, count = 1, inner = 1, rows = 1, columns = 1;
    double epsilon = 0;                 // Normalise: added to the variance
    bool last = false;                  // ArgMax: of equal ones the last
    double outside = 0;                 // Resample: of outputs without taps
    std::vector<ResampledAxis> axes{};  // Resample

    /// The elements of the result. pre: as many inputs as the kind has
    std::vector<double> operator()(const std::vector<std::vector<double>>& in) const;
};

const char* compute_name(Compute::Kind kind);

}  // namespace dlasim
