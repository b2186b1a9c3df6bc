#include "network/values.h"

#include <algorithm>
#include <cmath>

#include "golden/pooled.h"

namespace dlasim {
namespace {

constexpr std::size_t kSampled = 1u << 16;
constexpr double kSaturating = 0.001, kMaxOutput = 127.5;
constexpr std::uint32_t kMaxAluShift = 31, kMaxMulShift = 31;

double root_mean_square(const auto& values)
{
    double sum = 0;
    for (const auto value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

std::uint32_t shift_for(double ratio, std::uint32_t most)
{
    return ratio <= 1 ? 0 : std::min(most, static_cast<std::uint32_t>(std::lround(std::log2(ratio))));
}

std::uint32_t output_shift(std::vector<std::int64_t> values)
{
    if (values.empty()) return 0;
    for (std::int64_t& value : values) value = std::abs(value);
    const auto rank = static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * (1 - kSaturating));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    const auto most = static_cast<double>(values[static_cast<std::size_t>(rank)]);
    std::uint32_t shift = 0;
    while (shift < kMaxMulShift && std::ldexp(most, -static_cast<int>(shift)) > kMaxOutput) ++shift;
    return shift;
}

void choose_converters(Layer& layer, const Hardware& hw, const StagedReference& golden, LayerTensors& tensors, const Tensor* addend)
{
    const auto sample = [&](const Layer& as) { return golden.sample(as, hw, tensors, kSampled); };
    if (addend && layer.op != Op::Sdp) {
        Layer before = layer;
        before.post.engines[1] = {};
        const double there = root_mean_square(addend->values);
        layer.post.engines[1].alu_shift = there > 0 ? shift_for(root_mean_square(sample(before)) / there, kMaxAluShift) : 0;
    }
    if (layer.post.ew().lut) {
        Layer before = layer;
        before.post.engines[2] = {};
        PointEngine& last = layer.post.engines[layer.post.engines[1].on() ? 1 : 0];
        last.mul_shift = shift_for(root_mean_square(sample(before)) * kTanhInput, kMaxMulShift);
        return;
    }
    layer.output.shift = output_shift(sample(layer));
}

}  // namespace

LayerTensors seeded_weights(const Layer& layer, std::uint64_t seed)
{
    Layer made = layer;
    made.data.seed = seed;
    made.width = made.height = 1;  // of the input nothing is kept
    if (made.op == Op::FullyConnected) made.op = Op::Convolution;
    for (PointEngine& engine : made.post.engines)
        if (engine.streams() && engine.per() == OperandPer::Element) engine = {};
    LayerTensors tensors = load_tensors(made);
    tensors.input = {};
    return tensors;
}

Tensor seeded_input(const NetworkTensor& tensor, Precision precision, std::uint64_t seed)
{
    return load_cube(precision, {.width = tensor.width, .height = tensor.height, .channels = tensor.channels}, "", "", seed);
}

StepValues step_values(Layer layer, const Hardware& hardware, LayerTensors weights, const Tensor& input, const Tensor* addend)
{
    StepValues values;
    if (layer.op == Op::Pool) {
        values.output = pooled(input, *layer.pool, layer.precision, false);
        values.layer = std::move(layer);
        return values;
    }
    StagedReference golden(layer, input, weights.weights);
    Tensor& operand = weights.operands[operand_slot(layer.op == Op::Sdp ? 0 : 1, false)];
    if (addend) operand = *addend;
    choose_converters(layer, hardware, golden, weights, addend);
    values.output = golden.output(layer, hardware, weights);
    if (addend) operand = {};
    values.layer = std::move(layer);
    values.weights = std::move(weights);
    return values;
}

}  // namespace dlasim
