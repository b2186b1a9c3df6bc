#include "onnx/bias_correction.h"

#include <map>

namespace dlasim {
namespace {

using Means = std::vector<double>;  // by kernel

/// Adds the sums of every kernel.
void add_sums(Means& means, const RealTensor& sums, std::size_t kernels)
{
    means.resize(kernels);
    const std::size_t places = sums.size() / kernels;
    for (std::size_t i = 0; i < sums.size(); ++i) means[i / places] += static_cast<double>(sums[i]) / static_cast<double>(places);
}

void shift(RealTensor& sums, const Means& by)
{
    const std::size_t places = sums.size() / by.size();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<float>(by[i / places]);
}

RealTensor rounded_to(const std::optional<Quantisation>& quantisation, RealTensor tensor)
{
    if (quantisation)
        for (float& x : tensor) x = static_cast<float>(quantisation->real(quantisation->nearest(static_cast<double>(x))));
    return tensor;
}

/// A node of a graph on values of it, before limits and steps of a convolution.
RealTensor sums_of(const RealGraph& graph, const RealNode& node, const std::vector<RealTensor>& values)
{
    std::vector<const RealTensor*> from;
    std::vector<CubeShape> shapes;
    for (const std::size_t input : node.inputs) {
        from.push_back(&values[input]);
        shapes.push_back(graph.values[input].cube);
    }
    return evaluate(node, from, shapes, graph.values[node.output].cube);
}

RealNode without_limits(RealNode node)
{
    node.clamp = {};
    return node;
}

/// By the value that a convolution makes; sums over all images.
std::map<std::size_t, Means> model_means(const RealGraph& model, const CalibrationImages& images)
{
    std::map<std::size_t, Means> means;
    for (std::size_t i = 0; i < images.count; ++i) {
        std::vector<RealTensor> values(model.values.size()), inputs = images.reals(i);
        for (std::size_t n = 0; n < inputs.size(); ++n)
            values[model.inputs[n]] = rounded_to(model.values[model.inputs[n]].quantisation, std::move(inputs[n]));
        for (const RealNode& node : model.nodes) {
            RealTensor tensor = sums_of(model, node.convolves() ? without_limits(node) : node, values);
            if (node.convolves()) {
                add_sums(means[node.output], tensor, node.geometry.kernels);
                limit(node.clamp, tensor, node.geometry.kernels);
            }
            values[node.output] = rounded_to(model.values[node.output].quantisation, std::move(tensor));
        }
    }
    return means;
}

/// The node with the weights that the machine has.
RealNode with_rounded_weights(const RealNode& node, const LayerNumbers& numbers)
{
    RealNode rounded = without_limits(node);
    const std::size_t length = node.weights.size() / node.geometry.kernels;
    for (std::size_t i = 0; i < node.weights.size(); ++i)
        rounded.weights[i] = static_cast<float>(numbers.weights.values[i] * at(numbers.weight_scale, i / length));
    return rounded;
}

/// Values of all images that a later node reads.
class LiveValues {
public:
    LiveValues(const RealGraph& graph, const CalibrationImages& images) : last_(graph.values.size()), values_(images.count)
    {
        for (std::size_t n = 0; n < graph.nodes.size(); ++n)
            for (const std::size_t input : graph.nodes[n].inputs) last_[input] = n;
        for (std::size_t i = 0; i < images.count; ++i) {
            values_[i].resize(graph.values.size());
            std::vector<RealTensor> inputs = images.reals(i);
            for (std::size_t k = 0; k < inputs.size(); ++k)
                values_[i][graph.inputs[k]] = rounded_to(graph.values[graph.inputs[k]].quantisation, std::move(inputs[k]));
        }
    }
    std::vector<std::vector<RealTensor>>& of_images() { return values_; }
    /// Node `n` has run.
    void drop_read(const RealNode& node, std::size_t n)
    {
        for (const std::size_t input : node.inputs)
            if (last_[input] == n)
                for (std::vector<RealTensor>& values : values_) RealTensor().swap(values[input]);
    }

private:
    std::vector<std::size_t> last_;  // node that reads a value
    std::vector<std::vector<RealTensor>> values_;
};

}  // namespace

void correct_biases(QuantisedNetwork& made, const RealGraph& model, const RealGraph& graph, const CalibrationImages& images)
{
    const std::map<std::size_t, Means> wanted = model_means(model, images);
    LiveValues live(graph, images);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const RealNode& node = graph.nodes[n];
        const auto known = wanted.find(node.output);
        const bool corrected = node.convolves() && known != wanted.end();
        LayerNumbers& numbers = *made.network.layers[n].numbers;
        const RealNode rounded = node.convolves() ? with_rounded_weights(node, numbers) : node;
        Means means;
        std::vector<RealTensor> outputs;
        for (const std::vector<RealTensor>& values : live.of_images()) {
            outputs.push_back(sums_of(graph, rounded, values));
            if (corrected) add_sums(means, outputs.back(), node.geometry.kernels);
        }
        if (corrected) {
            for (std::size_t k = 0; k < means.size(); ++k) means[k] = (known->second[k] - means[k]) / static_cast<double>(images.count);
            numbers.bias.resize(means.size());
            for (std::size_t k = 0; k < means.size(); ++k) numbers.bias[k] += means[k];
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (corrected) shift(outputs[i], means);
            if (node.convolves()) limit(node.clamp, outputs[i], node.geometry.kernels);
            live.of_images()[i][node.output] = rounded_to(graph.values[node.output].quantisation, std::move(outputs[i]));
        }
        live.drop_read(node, n);
    }
}

}  // namespace dlasim
