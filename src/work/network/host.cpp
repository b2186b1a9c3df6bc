#include "network/host.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "network/fp16_values.h"

namespace dlasim {
namespace {

constexpr double kSoftmaxStep = 1.0 / 16, kTanhStep = 4.0 / 127, kMaxInt8 = 127;

std::int16_t integer_rounded(double value) { return static_cast<std::int16_t>(std::lround(std::clamp(value, -kMaxInt8 - 1, kMaxInt8))); }

/// What a window sees.
struct WindowSums {
    std::int64_t sum = 0, most = INT64_MIN, least = INT64_MAX, inside = 0;
};
WindowSums window(const Tensor& in, const Pool& pool, std::uint32_t c, std::uint32_t oy, std::uint32_t ox)
{
    const auto range = [](const PoolAxis& axis, std::uint32_t out, std::uint32_t size) {
        const std::int64_t begin = std::int64_t{out} * axis.stride - axis.before;
        return std::pair{std::max<std::int64_t>(begin, 0), std::min<std::int64_t>(begin + axis.kernel, size)};
    };
    const auto [top, bottom] = range(pool.y, oy, in.h);
    const auto [left, right] = range(pool.x, ox, in.w);
    WindowSums seen;
    seen.inside = (bottom - top) * (right - left);
    for (std::int64_t y = top; y < bottom; ++y)
        for (std::int64_t x = left; x < right; ++x) {
            const std::int64_t value = in.at(0, c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x));
            seen.sum += value;
            seen.most = std::max(seen.most, value);
            seen.least = std::min(seen.least, value);
        }
    return seen;
}

std::int16_t result(const WindowSums& seen, const Pool& pool)
{
    if (pool.function != PoolFunction::Average)
        return static_cast<std::int16_t>(pool.function == PoolFunction::Max ? seen.most : seen.least);
    return integer_rounded(static_cast<double>(seen.sum) / (static_cast<double>(pool.x.kernel) * pool.y.kernel));
}

/// From one grid into another; padding, where it counts, is 0.
std::int16_t numbered_result(const WindowSums& seen, const NetworkLayer& layer, const Quantisation& from, const Quantisation& to)
{
    const Pool& pool = layer.pool;
    if (pool.function != PoolFunction::Average) return result(seen, pool);
    const std::int64_t count = layer.numbers->exclusive ? seen.inside : std::int64_t{pool.x.kernel} * pool.y.kernel;
    return static_cast<std::int16_t>(
        to.nearest(static_cast<double>(seen.sum - seen.inside * from.zero) / static_cast<double>(count) * from.scale));
}

void integer_softmax(const Tensor& in, Tensor& out, std::uint32_t y, std::uint32_t x)
{
    std::int16_t most = INT16_MIN;
    for (std::uint32_t c = 0; c < in.c; ++c) most = std::max(most, in.at(0, c, y, x));
    const auto power = [&](std::uint32_t c) { return std::exp((in.at(0, c, y, x) - most) * kSoftmaxStep); };
    double sum = 0;
    for (std::uint32_t c = 0; c < in.c; ++c) sum += power(c);
    for (std::uint32_t c = 0; c < in.c; ++c) out.at(0, c, y, x) = integer_rounded(power(c) / sum * kMaxInt8);
}

/// The tensor and the channel of a concatenation.
std::int16_t integer_joined(const std::vector<const Tensor*>& inputs, std::uint32_t c, std::uint32_t y, std::uint32_t x)
{
    std::size_t i = 0;
    for (; c >= inputs[i]->c; ++i) c -= inputs[i]->c;
    return inputs[i]->at(0, c, y, x);
}

/// Of a network with numbers: every integer by itself.
Tensor looked_up(const NetworkLayer& layer, const Quantisation& from, const Quantisation& to, const Tensor& in)
{
    std::array<std::int16_t, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = static_cast<std::int16_t>(to.nearest(layer.numbers->function(from.real(static_cast<std::int32_t>(i) - 128))));
    Tensor out = in;
    for (std::int16_t& value : out.values) value = table[static_cast<std::uint8_t>(value + 128)];
    return out;
}

Tensor numbered_softmax(const Quantisation& from, const Quantisation& to, const Tensor& in)
{
    Tensor out = in;
    for (std::uint32_t y = 0; y < in.h; ++y)
        for (std::uint32_t x = 0; x < in.w; ++x) {
            std::int16_t most = INT16_MIN;
            for (std::uint32_t c = 0; c < in.c; ++c) most = std::max(most, in.at(0, c, y, x));
            const auto power = [&](std::uint32_t c) { return std::exp((in.at(0, c, y, x) - most) * from.scale); };
            double sum = 0;
            for (std::uint32_t c = 0; c < in.c; ++c) sum += power(c);
            for (std::uint32_t c = 0; c < in.c; ++c) out.at(0, c, y, x) = static_cast<std::int16_t>(to.nearest(power(c) / sum));
        }
    return out;
}

/// In real numbers, rounded into the grid of the result.
Tensor computed_output(const NetworkLayer& layer, const Steps& steps, const Step& step, const std::vector<const Tensor*>& inputs)
{
    std::vector<std::vector<double>> reals(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (const std::int16_t q : inputs[i]->values) reals[i].push_back(steps.tensors[step.inputs[i]].quantisation->real(q));
    const NetworkTensor& shape = steps.tensors[step.output];
    Tensor out(1, shape.channels, shape.height, shape.width);
    const std::vector<double> values = layer.numbers->compute(reals);
    for (std::size_t i = 0; i < values.size(); ++i) out.values[i] = static_cast<std::int16_t>(shape.quantisation->nearest(values[i]));
    return out;
}

}  // namespace

Tensor host_output(const Network& network, const Steps& steps, const Step& step, const std::vector<const Tensor*>& inputs)
{
    if (network.is_fp16()) return fp16_host_output(network, steps, step, inputs);
    const NetworkLayer& layer = network.layers[step.layer];
    const NetworkTensor& shape = steps.tensors[step.output];
    const Tensor& in = *inputs.front();
    if (layer.numbers) {
        const Quantisation from = *steps.tensors[step.inputs.front()].quantisation, to = *shape.quantisation;
        if (layer.op == NetworkOp::Function) return looked_up(layer, from, to, in);
        if (layer.op == NetworkOp::Softmax) return numbered_softmax(from, to, in);
        if (layer.op == NetworkOp::Reshape) {
            Tensor out(1, shape.channels, shape.height, shape.width);
            out.values = layer.numbers->move(in.values, static_cast<std::int16_t>(to.nearest(layer.numbers->move.fill)));
            return out;
        }
        if (layer.op == NetworkOp::Compute) return computed_output(layer, steps, step, inputs);
    }
    Tensor out(1, shape.channels, shape.height, shape.width);
    const bool table = step.activation == Activation::Tanh;
    const std::uint32_t copies = layer.numbers ? layer.numbers->copies : 1;
    for (std::uint32_t c = 0; c < out.c; ++c)
        for (std::uint32_t y = 0; y < out.h; ++y)
            for (std::uint32_t x = 0; x < out.w; ++x) {
                std::int16_t& to = out.at(0, c, y, x);
                if (table) to = integer_rounded(std::tanh(in.at(0, c, y, x) * kTanhStep) * kMaxInt8);
                else if (layer.op == NetworkOp::Pool) {
                    const WindowSums seen = window(in, layer.pool, c, y, x);
                    to = layer.numbers ? numbered_result(seen, layer, *steps.tensors[step.inputs.front()].quantisation, *shape.quantisation)
                                       : result(seen, layer.pool);
                } else if (layer.op == NetworkOp::Upsample) to = in.at(0, c / copies, y / layer.factor.y, x / layer.factor.x);
                else if (layer.op == NetworkOp::Concat) to = integer_joined(inputs, c, y, x);
                else if (c == 0) integer_softmax(in, out, y, x);
            }
    return out;
}

}  // namespace dlasim
