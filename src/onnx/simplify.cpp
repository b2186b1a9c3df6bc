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

/// Two limits one behind the other.
Bend limited(const Bend& first, const Bend& second)
{
    constexpr double kFar = std::numeric_limits<double>::infinity();
    const double low = second.low.value_or(-kFar), high = second.high.value_or(kFar);
    const double new_low = std::min(std::max(first.low.value_or(-kFar), low), high),
                 new_high = std::min(std::max(first.high.value_or(kFar), low), high);
    Bend bend;
    if (new_low > -kFar) bend.low = new_low;
    if (new_high < kFar) bend.high = new_high;
    return bend;
}

/// `affine` reads what `before` makes, and nobody else does: true if they are one now.
bool join(RealNode& before, const RealNode& affine)
{
    const bool arithmetic = before.convolves() || before.op == RealOp::Affine;
    const bool bends = arithmetic || before.op == RealOp::Add || before.op == RealOp::Multiply;
    if (affine.identity() && affine.bend.none()) return true;
    if (!bends) return false;
    if (!before.bend.none()) {
        if (!affine.identity() || !before.bend.slopes.empty() || !affine.bend.slopes.empty()) return false;
        before.bend = limited(before.bend, affine.bend);
        return true;
    }
    if (!affine.identity()) {
        if (!arithmetic) return false;
        if (before.convolves()) fold(before, affine);
        else compose(before, affine);
    }
    before.bend = affine.bend;
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
        const bool alone = node.op == RealOp::Affine && readers[input] == 1 && !graph.values[input].grid;
        if (alone && maker[input] != SIZE_MAX && join(kept[maker[input]], node)) {
            kept[maker[input]].output = node.output;
            maker[node.output] = maker[input];
            continue;
        }
        if (alone && maker[input] == SIZE_MAX && node.identity() && node.bend.none() && graph.values[node.output].grid) {
            graph.values[input].grid = graph.values[node.output].grid;  // an input of the graph
            instead[node.output] = input;
            continue;
        }
        maker[node.output] = kept.size();
        kept.push_back(std::move(node));
    }
    // What nobody reads is left out.
    std::vector<bool> read(graph.values.size());
    for (RealOutput& output : graph.outputs) read[output.value = instead[output.value]] = true;
    graph.nodes.clear();
    for (std::size_t i = kept.size(); i-- > 0;) {
        if (!read[kept[i].output]) continue;
        for (const std::size_t input : kept[i].inputs) read[input] = true;
        graph.nodes.push_back(std::move(kept[i]));
    }
    std::reverse(graph.nodes.begin(), graph.nodes.end());
}

}  // namespace dlasim
