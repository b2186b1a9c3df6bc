#include "network/step_layer.h"

#include <bit>

#include "base/error.h"
#include "config/json_object.h"
#include "config/layer/sdp_reader.h"
#include "config/model/fp16.h"
#include "lowering/shape.h"
#include "network/fp16_step.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxChannels = 8192;  // of a layer's input

Lut tanh_table(Precision precision)
{
    if (precision == Precision::Fp16) {
        const Json json{{"function", "tanh"}};
        return read_lut(JsonObject(json, "tanh", "", {"function"}), precision);
    }
    const Json json{{"function", "tanh"}, {"input_scale", kTanhInput}, {"output_scale", kTanhOutput}};
    return read_lut(JsonObject(json, "tanh", "", {"function", "input_scale", "output_scale"}), precision);
}

/// After everything else: in the last engine in use.
void activate(Layer& layer, Activation activation)
{
    if (activation == Activation::None) return;
    if (activation != Activation::Tanh) return rectify(layer, activation);
    PointEngine& last = layer.post.last_of_two();
    layer.post.engines[2].lut = tanh_table(layer.precision);
    if (layer.precision == Precision::Fp16) return;
    last.mul = {.on = true, .per = OperandPer::Layer, .value = 1};  // in use whatever shift the values need
    layer.output.shift = kTanhShift;
}

/// SDP adds another tensor.
void add_tensor(PointEngine& engine, const Layer& layer)
{
    engine.alu = {.on = true, .per = OperandPer::Element};
    engine.function = AluFunction::Sum;
    engine.operand_bytes = layer.element_bytes();
}

Layer plain(const NetworkTensor& input, Op op, Precision precision)
{
    Layer layer;
    layer.op = op;
    layer.precision = layer.output.precision = precision;
    layer.width = input.width;
    layer.height = input.height;
    layer.channels = layer.kernels = input.channels;
    return layer;
}

/// Every pass of the layer begins with an atom of channels.
bool begins_with_atoms(const Layer& layer, const Hardware& hw)
{
    if (layer.groups == 1) return true;
    for (const ShapedPass& pass : shape_of(layer, hw).passes)
        if (pass.first_channel % (hw.memory.atom_bytes / layer.element_bytes()) != 0) return false;
    return true;
}

}  // namespace

namespace {

/// Without numbers.
Layer shape_of_step(const Network& network, const Steps& steps, const Step& step)
{
    const NetworkLayer& of = network.layers[step.layer];
    Layer layer;
    if (step.unit == StepUnit::Array) {
        layer = of.layer;
        if (network.minimise != Minimise::Parts && !layer.partition.on()) {
            layer.partition.automatic = true;
            layer.partition.minimise = network.minimise;
        }
        for (const std::size_t beside : step.beside) layer.kernels += network.layers[beside].layer.kernels;
        if (!step.beside.empty() && !network.is_fp16() && !of.numbers) layer.post.bs().mul = {.on = true, .per = OperandPer::Kernel};
        if (step.addend && !of.numbers) add_tensor(layer.post.engines[1], layer);
    } else if (step.unit == StepUnit::Sdp) {
        layer = plain(steps.tensors[step.inputs.front()], Op::Sdp, network.precision);
        if (!of.numbers) add_tensor(layer.post.bs(), layer);
    } else {
        layer = plain(steps.tensors[step.inputs.front()], Op::Pool, network.precision);
        layer.pool = of.pool;
    }
    layer.name = step.name;
    layer.file = network.file + ": " + step.name;
    activate(layer, step.activation);
    if (step.pool) layer.pool = network.layers[*step.pool].pool;
    return layer;
}

}  // namespace

Layer step_layer(const Network& network, const Steps& steps, const Step& step)
{
    if (network.layers[step.layer].numbers) return numbered_step(network, steps, step).layer;
    return shape_of_step(network, steps, step);
}

ScaledStep numbered_step(const Network& network, const Steps& steps, const Step& step)
{
    Layer shape = shape_of_step(network, steps, step);
    return network.is_fp16() ? fp16_step(network, step, std::move(shape)) : scaled_step(network, steps, step, std::move(shape));
}

Layer machine_layer(const Layer& layer, const TensorLayout& input, const Hardware& hardware)
{
    Layer machine = layer;
    if (input.format) {
        machine.format = input.format;
        machine.channels = input.format->components;
        return machine;
    }
    machine.channels = input.channels();
    if (machine.channels > kMaxChannels)
        throw ConfigError(layer.file, "reads a tensor of " + std::to_string(layer.channels) + " channels that takes " +
                                          std::to_string(machine.channels) + " places in " + std::to_string(input.pieces.size()) +
                                          " pieces, expected at most " + std::to_string(kMaxChannels) +
                                          ": groups or concatenated parts whose channels fill whole atoms, of " +
                                          std::to_string(input.per_atom()) + " on " + hardware.name);
    if (const std::uint64_t packed = std::uint64_t{layer.width} * input.cube.atom_bytes;
        input.cube.strides.line != packed || input.cube.strides.surface != packed * layer.height) {
        machine.input_line = static_cast<std::uint32_t>(input.cube.strides.line);
        machine.input_surface = static_cast<std::uint32_t>(input.cube.strides.surface);
    }
    if (!layer.convolves()) machine.kernels = machine.channels;
    if (layer.groups != 1 && (!input.whole() || !begins_with_atoms(layer, hardware))) machine.groups = 1;
    return machine;
}

std::array<Tensor, 6> machine_operands(const Layer& layer, const Layer& machine, const TensorLayout& input, std::array<Tensor, 6> operands)
{
    if (machine.kernels == layer.kernels) return operands;
    for (Tensor& operand : operands) {
        if (operand.empty()) continue;
        Tensor placed(1, machine.kernels, 1, 1);
        for (std::uint32_t c = 0; c < operand.c; ++c) placed.values[input.at(c)] = operand.values[c];
        operand = std::move(placed);
    }
    return operands;
}

Tensor machine_weights(const Layer& layer, const Layer& machine, const TensorLayout& input, Tensor weights)
{
    if (machine.groups == layer.groups && machine.channels == layer.channels) return weights;
    Tensor out(weights.n, machine.channels / machine.groups, weights.h, weights.w);
    const std::uint32_t per_group = layer.kernels / layer.groups;
    const std::size_t taps = std::size_t{weights.h} * weights.w;
    for (std::uint32_t k = 0; k < weights.n; ++k)
        for (std::uint32_t c = 0; c < weights.c; ++c) {
            const std::uint32_t to = input.at(k / per_group * weights.c + c);
            std::copy_n(&weights.values[weights.index(k, c, 0, 0)], taps, &out.values[out.index(k, to, 0, 0)]);
        }
    return out;
}

}  // namespace dlasim
