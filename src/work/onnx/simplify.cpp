#include "onnx/simplify.h"

#include <algorithm>
#include <limits>

namespace dlasim {
namespace {

/// A factor and a number for every kernel.
void fold(RealNode& convolution, const RealNode& affine)
{
    const std::size_t kernels = convolution.geometry.kernels, length = convolution.weights.size() / kernels;
    for (std::size_t i = 0; i < convolution.weights.size(); ++i)
        convolution.weights[i] = static_cast<float>(convolution.weights[i] * at(affine.factor, i / length));
    const bool adds = affine.bias != std::vector<double>{0};
    if (convolution.bias.empty() && adds) convolution.bias.assign(kernels, 0);
    for (std::size_t k = 0; k < convolution.bias.size(); ++k)
        convolution.bias[k] = convolution.bias[k] * at(affine.factor, k) + at(affine.bias, k);
    std::vector<double>& scales = convolution.weight_scale;
    if (scales.empty()) return;
    if (std::any_of(affine.factor.begin(), affine.factor.end(), [](double factor) { return !(factor > 0); })) return scales.clear();
    if (affine.factor.size() > 1 && scales.size() == 1) scales.assign(kernels, scales.front());
    for (std::size_t k = 0; k < scales.size(); ++k) scales[k] *= at(affine.factor, k);
}

void compose(RealNode& first, const RealNode& second)
{
    const std::size_t count = std::max({first.factor.size(), first.bias.size(), second.factor.size(), second.bias.size()});
    std::vector<double> factor, bias;
    for (std::size_t c = 0; c < count; ++c) {
        factor.push_back(at(first.factor, c) * at(second.factor, c));
        bias.push_back(at(first.bias, c) * at(second.factor, c) + at(second.bias, c));
    }
    first.factor = std::move(factor);
    first.bias = std::move(bias);
}

/// Two consecutive limits.
Clamp limited(const Clamp& first, const Clamp& second)
{
    constexpr double kFar = std::numeric_limits<double>::infinity();
    const double low = second.low.value_or(-kFar), high = second.high.value_or(kFar);
    const double new_low = std::min(std::max(first.low.value_or(-kFar), low), high),
                 new_high = std::min(std::max(first.high.value_or(kFar), low), high);
    Clamp clamp;
    if (new_low > -kFar) clamp.low = new_low;
    if (new_high < kFar) clamp.high = new_high;
    return clamp;
}

/// `affine` reads what `before` makes, and nobody else does: true if they are one now.
bool join(RealNode& before, const RealNode& affine)
{
    const bool arithmetic = before.convolves() || before.op == RealOp::Affine;
    const bool clamps = arithmetic || before.op == RealOp::Add || before.op == RealOp::Multiply;
    if (affine.identity() && affine.clamp.none()) return true;
    if (!clamps) return false;
    if (!before.clamp.none()) {
        if (!affine.identity() || !before.clamp.slopes.empty() || !affine.clamp.slopes.empty()) return false;
        before.clamp = limited(before.clamp, affine.clamp);
        return true;
    }
    if (!affine.identity()) {
        if (!arithmetic) return false;
        if (before.convolves()) fold(before, affine);
        else compose(before, affine);
    }
    before.clamp = affine.clamp;
    return true;
}

/// Elements that are moved twice.
bool joined_moves(RealNode& first, const RealNode& second)
{
    if (first.op != RealOp::Reshape || second.op != RealOp::Reshape) return false;
    Move &a = first.move, b = second.move;
    if (a.fills() && b.fills() && a.fill != b.fill) return false;
    if (b.fills()) a.fill = b.fill;
    if (a.from.empty() || b.from.empty()) {
        if (!b.from.empty()) a.from = b.from;
        return true;
    }
    for (std::int32_t& place : b.from) place = place < 0 ? -1 : a.from[static_cast<std::size_t>(place)];
    a.from = std::move(b.from);
    return true;
}

}  // namespace

void simplify(RealGraph& graph)
{
    const std::vector<std::size_t> readers = graph.readers();
    std::vector<std::size_t> maker(graph.values.size(), SIZE_MAX), instead(graph.values.size());
    for (std::size_t v = 0; v < instead.size(); ++v) instead[v] = v;
    std::vector<RealNode> kept;
    for (RealNode& node : graph.nodes) {
        for (std::size_t& input : node.inputs) input = instead[input];
        const std::size_t input = node.inputs.front();
        const bool ours = readers[input] == 1 && maker[input] != SIZE_MAX && !graph.values[input].quantisation;
        if (ours && joined_moves(kept[maker[input]], node)) {
            kept[maker[input]].output = node.output;
            maker[node.output] = maker[input];
            continue;
        }
        const bool alone = node.op == RealOp::Affine && readers[input] == 1 && !graph.values[input].quantisation;
        if (alone && maker[input] != SIZE_MAX && join(kept[maker[input]], node)) {
            kept[maker[input]].output = node.output;
            maker[node.output] = maker[input];
            continue;
        }
        if (alone && maker[input] == SIZE_MAX && node.identity() && node.clamp.none() && graph.values[node.output].quantisation) {
            graph.values[input].quantisation = graph.values[node.output].quantisation;  // an input of the graph
            instead[node.output] = input;
            continue;
        }
        maker[node.output] = kept.size();
        kept.push_back(std::move(node));
    }
    // Unused values are dropped.
    std::vector<bool> read(graph.values.size());
    for (RealOutput& output : graph.outputs)
        if (!output.constant) read[output.value = instead[output.value]] = true;
    graph.nodes.clear();
    for (std::size_t i = kept.size(); i-- > 0;) {
        if (!read[kept[i].output]) continue;
        for (const std::size_t input : kept[i].inputs) read[input] = true;
        graph.nodes.push_back(std::move(kept[i]));
    }
    std::reverse(graph.nodes.begin(), graph.nodes.end());
}

}  // namespace dlasim
