// What the integers of a network mean, where its layers were given numbers of their own: docs/ONNX.md. Without them numbers come by seed.
//
//   tensor   int8 q represents (q - zero) * scale
//   weights  int8 q of kernel k for q * weight_scale[k]; bias, factor and shift are real numbers
#pragma once
#include <cmath>
#include <optional>
#include <vector>

#include "config/model/compute.h"
#include "config/model/tensors.h"

namespace dlasim {

struct Quantisation {
    double scale = 1;
    std::int32_t zero = 0;  // -128..127
    bool operator==(const Quantisation&) const = default;
    double real(std::int32_t q) const { return (q - zero) * scale; }
    /// To the nearest number of the grid, ties to even: QuantizeLinear of ONNX.
    std::int32_t nearest(double value) const
    {
        const double q = std::nearbyint(value / scale) + zero;
        return !(q > -128) ? -128 : q > 127 ? 127 : static_cast<std::int32_t>(q);  // NaN is -128
    }
};

/// Limits of a result: min(max(v < 0 ? slope * v : v, low), high).
struct Clamp {
    std::optional<double> low{}, high{};
    std::vector<double> slopes{};  // one, or one a channel; empty: 1
    bool none() const { return !low && !high && slopes.empty(); }
    /// A limit is nearer than the end of what the grid holds.
    bool cuts_low(const Quantisation& out) const { return low && out.zero + *low / out.scale > -127.5; }
    bool cuts_high(const Quantisation& out) const { return high && out.zero + *high / out.scale < 126.5; }
    bool operator==(const Clamp&) const = default;
};

/// A function of every element by itself; its parameters are those of ONNX.
struct Function {
    enum class Kind {
        Sigmoid,
        Tanh,
        Elu,
        Selu,
        Softplus,
        Softsign,
        HardSigmoid,
        HardSwish,
        Exp,
        Log,
        Sqrt,
        Abs,
        Reciprocal,
        Erf,
        Power,
        Gelu,
        GeluTanh,
        Mish
    };
    Kind kind = Kind::Sigmoid;
    double alpha = 0, beta = 0;
    bool operator==(const Function&) const = default;

    double operator()(double x) const
    {
        switch (kind) {
            case Kind::Sigmoid:
                return 1 / (1 + std::exp(-x));
            case Kind::Tanh:
                return std::tanh(x);
            case Kind::Elu:
                return x < 0 ? alpha * std::expm1(x) : x;
            case Kind::Selu:
                return beta * (x > 0 ? x : alpha * std::expm1(x));
            case Kind::Softplus:
                return x > 30 ? x : std::log1p(std::exp(x));
            case Kind::Softsign:
                return x / (1 + std::abs(x));
            case Kind::HardSigmoid:
                return std::fmin(std::fmax(alpha * x + beta, 0.0), 1.0);
            case Kind::HardSwish:
                return x * std::fmin(std::fmax(x / 6 + 0.5, 0.0), 1.0);
            case Kind::Exp:
                return std::exp(x);
            case Kind::Log:
                return std::log(x);
            case Kind::Sqrt:
                return std::sqrt(x);
            case Kind::Abs:
                return std::abs(x);
            case Kind::Reciprocal:
                return alpha / x;
            case Kind::Erf:
                return std::erf(x);
            case Kind::Power:
                return std::pow(x, alpha);
            case Kind::Gelu:
                return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
            case Kind::GeluTanh:
                return x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
            case Kind::Mish:
                return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x)));
        }
        return x;
    }
};

struct LayerNumbers {
    Tensor weights{};                    // int8 [kernels][channels / groups][height][width]
    std::vector<double> weight_scale{};  // one, or one a kernel
    std::vector<double> bias{};          // one a kernel
    std::vector<double> factor{};        // of a channel, one or one each: the layer multiplies and then adds `bias`
    double sign = 1;                     // of the second tensor of an addition
    Clamp clamp{};
    Function function{};
    Move move{};  // of what is reshaped
    Compute compute{};
    std::uint32_t copies = 1;  // of each channel, of what is repeated
    bool exclusive = false;    // an average divides by the elements of its window that are no padding
};

}  // namespace dlasim
