#include "network/fp16_values.h"

#include <algorithm>
#include <cmath>

#include "config/model/fp16.h"
#include "network/values.h"

namespace dlasim {
namespace {

double real(std::int16_t pattern) { return double_from_fp16(static_cast<std::uint16_t>(pattern)); }
std::int16_t rounded(double value)
{
    return static_cast<std::int16_t>(fp16_from_double(std::isnan(value) ? value : std::clamp(value, -kMaxFp16, kMaxFp16)));
}

double root_mean_square(const Tensor& tensor)
{
    double sum = 0;
    for (const std::int16_t value : tensor.values) sum += real(value) * real(value);
    return tensor.empty() ? 0 : std::sqrt(sum / static_cast<double>(tensor.values.size()));
}

/// The channels where the machine has them.
Tensor placed(const Tensor& input, const Layer& machine, const TensorLayout& places)
{
    Tensor out(input.n, machine.channels, input.h, input.w);
    const std::size_t plane = std::size_t{input.h} * input.w;
    for (std::uint32_t c = 0; c < input.c; ++c) std::copy_n(&input.values[c * plane], plane, &out.values[places.at(c) * plane]);
    return out;
}

double pooled(const Tensor& in, const Pool& pool, bool exclusive, std::uint32_t c, std::uint32_t oy, std::uint32_t ox)
{
    double sum = 0, most = -INFINITY, least = INFINITY;
    std::uint32_t inside = 0;
    for (std::uint32_t ky = 0; ky < pool.y.kernel; ++ky)
        for (std::uint32_t kx = 0; kx < pool.x.kernel; ++kx) {
            const std::int64_t y = std::int64_t{oy} * pool.y.stride + ky - pool.y.before,
                               x = std::int64_t{ox} * pool.x.stride + kx - pool.x.before;
            if (y < 0 || x < 0 || y >= in.h || x >= in.w) continue;
            const double value = real(in.at(0, c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x)));
            sum += value;
            most = std::max(most, value);
            least = std::min(least, value);
            ++inside;
        }
    if (pool.function != PoolFunction::Average) return pool.function == PoolFunction::Max ? most : least;
    return sum / (exclusive ? inside : pool.x.kernel * pool.y.kernel);
}

void softmax(const Tensor& in, Tensor& out, std::uint32_t y, std::uint32_t x)
{
    double most = -INFINITY, sum = 0;
    for (std::uint32_t c = 0; c < in.c; ++c) most = std::max(most, real(in.at(0, c, y, x)));
    for (std::uint32_t c = 0; c < in.c; ++c) sum += std::exp(real(in.at(0, c, y, x)) - most);
    for (std::uint32_t c = 0; c < in.c; ++c) out.at(0, c, y, x) = rounded(std::exp(real(in.at(0, c, y, x)) - most) / sum);
}

std::int16_t joined(const std::vector<const Tensor*>& inputs, std::uint32_t c, std::uint32_t y, std::uint32_t x)
{
    std::size_t i = 0;
    for (; c >= inputs[i]->c; ++i) c -= inputs[i]->c;
    return inputs[i]->at(0, c, y, x);
}

}  // namespace

LayerTensors seeded_fp16_weights(const Layer& layer, std::uint64_t seed, const Tensor& input)
{
    LayerTensors tensors = seeded_weights(layer, seed);
    const double products = static_cast<double>(layer.kernel_channels()) * layer.kernel_height * layer.kernel_width;
    const double sum = root_mean_square(tensors.weights) * root_mean_square(input) * std::sqrt(products);
    if (!(sum > 0)) return tensors;
    const int power = -static_cast<int>(std::lround(std::log2(sum)));
    for (std::int16_t& weight : tensors.weights.values) weight = rounded(std::ldexp(real(weight), power));
    return tensors;
}

Tensor fp16_output(const Layer& layer, const Layer& machine, const TensorLayout& places, const Method& method, const Hardware& hardware,
                   LayerTensors tensors, const Tensor& input, const Tensor* addend)
{
    const Layer& as = layer.convolves() ? machine : layer;
    tensors.input = as.channels == input.c ? input : placed(input, as, places);
    for (std::size_t e = 0; addend && e < as.post.engines.size(); ++e) {
        const PointEngine& engine = as.post.engines[e];
        if (engine.streams() && engine.per() == OperandPer::Element) tensors.operands[operand_slot(e, !engine.alu.streamed())] = *addend;
    }
    return reference_output(as, hardware, tensors, method);
}

Tensor fp16_host_output(const Network& network, const Steps& steps, const Step& step, const std::vector<const Tensor*>& inputs)
{
    const NetworkLayer& layer = network.layers[step.layer];
    const NetworkTensor& shape = steps.tensors[step.output];
    const Tensor& in = *inputs.front();
    Tensor out(1, shape.channels, shape.height, shape.width);
    if (layer.op == NetworkOp::Reshape) {
        out.values = layer.numbers ? layer.numbers->move(in.values, rounded(layer.numbers->move.fill)) : in.values;
        return out;
    }
    if (layer.op == NetworkOp::Compute) {
        std::vector<std::vector<double>> reals(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i)
            for (const std::int16_t pattern : inputs[i]->values) reals[i].push_back(real(pattern));
        const std::vector<double> values = layer.numbers->compute(reals);
        std::transform(values.begin(), values.end(), out.values.begin(), rounded);
        return out;
    }
    const bool exclusive = layer.numbers && layer.numbers->exclusive;
    const std::uint32_t copies = layer.numbers ? layer.numbers->copies : 1;
    for (std::uint32_t c = 0; c < out.c; ++c)
        for (std::uint32_t y = 0; y < out.h; ++y)
            for (std::uint32_t x = 0; x < out.w; ++x) {
                std::int16_t& to = out.at(0, c, y, x);
                if (layer.op == NetworkOp::Pool) to = rounded(pooled(in, layer.pool, exclusive, c, y, x));
                else if (layer.op == NetworkOp::Upsample) to = in.at(0, c / copies, y / layer.factor.y, x / layer.factor.x);
                else if (layer.op == NetworkOp::Concat) to = joined(inputs, c, y, x);
                else if (layer.op == NetworkOp::Function) to = rounded(layer.numbers->function(real(in.at(0, c, y, x))));
                else if (c == 0) softmax(in, out, y, x);
            }
    return out;
}

}  // namespace dlasim
