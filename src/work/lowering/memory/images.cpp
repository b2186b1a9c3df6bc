#include "lowering/memory/images.h"

namespace dlasim {
namespace {

Bytes input_image(const Layer& layer, const Tensor& input, const ShapedPass& shaped, const Geometry& g, std::uint64_t bytes,
                  const Hardware& hw)
{
    const Pass& p = shaped.pass;
    if (p.mode == PassMode::Image) return pixel_bytes(layer, input, g, uv_offset(p, g));
    const std::uint32_t element_bytes = p.stored_precision() != Precision::Int8 ? 2 : 1;
    const Cube cube{{g.in_strides.line, g.in_strides.surface, g.in_strides.surface * g.surfaces}, hw.memory.atom_bytes, element_bytes};
    return feature_bytes(input, {shaped.first_channel, p.channels}, cube, bytes);
}

/// What an engine of SDP streams, cut to a set: its kernels, and the places of the layer's output that the pass makes.
Bytes operand_image(const Tensor& alu, const Tensor& mul, const ShapedPass& shaped, const KernelSet& set, std::size_t engine,
                    std::uint32_t atom_bytes)
{
    Pass pass = shaped.pass;
    pass.kernels = set.kernels.count;
    const std::uint32_t first_kernel = shaped.first_kernel + set.kernels.first;
    const bool per_kernel = pass.post.engines[engine].per() == OperandPer::Kernel;
    const auto at = [&](bool of_mul, std::uint32_t k, std::uint32_t y, std::uint32_t x) -> std::int16_t {
        const Tensor& tensor = of_mul ? mul : alu;
        const std::uint32_t ly = shaped.first.y + shaped.step.y * y, lx = shaped.first.x + shaped.step.x * x;
        if (per_kernel) return tensor.at(0, first_kernel + k, 0, 0);
        // A phase of a deconvolution may end beyond the layer's output; what is computed there is cut off.
        return ly < tensor.h && lx < tensor.w ? tensor.at(0, first_kernel + k, ly, lx) : std::int16_t{0};
    };
    return operand_bytes(pass, set.geometry, engine, atom_bytes, at);
}

}  // namespace

std::vector<PlannedImage> images_of(const Layer& layer, const LayerTensors& tensors, const Shape& shape,
                                    const std::vector<PassParts>& passes, std::vector<std::vector<StoredKernels>>&& kernels,
                                    const Places& places, const Hardware& hardware)
{
    std::vector<PlannedImage> images;
    std::vector<bool> there(places.inputs.size());
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const ShapedPass& shaped = shape.passes[i];
        const Pass& p = shaped.pass;
        const Stretch& input = places.inputs[shaped.input];
        if (!there[shaped.input] && !tensors.input.empty())  // what has no values is somebody else's
            images.push_back(
                {ImageOf::Input, input.place, input_image(layer, tensors.input, shaped, passes[i].geometry(), input.bytes, hardware)});
        there[shaped.input] = true;
        for (std::size_t s = 0; s < passes[i].sets.size(); ++s) {
            const KernelSet& set = passes[i].sets[s];
            const Addresses& at = places.sets[i][s];
            StoredKernels& stored = kernels[i][s];
            const auto add_weights = [&](ImageOf what, Address address, Bytes& bytes) {
                if (!bytes.empty()) images.push_back({what, {p.weights_primary, address}, std::move(bytes)});
            };
            add_weights(ImageOf::WeightMask, at.mask, stored.mask);
            add_weights(ImageOf::GroupSizes, at.group_sizes, stored.group_sizes);
            add_weights(ImageOf::Weights, at.weights, stored.weights);
            for (std::size_t e = 0; e < kEngineNames.size(); ++e) {
                const Tensor &alu = tensors.operands[operand_slot(e, false)], &mul = tensors.operands[operand_slot(e, true)];
                if (!p.post.engines[e].streams() || (alu.empty() && mul.empty())) continue;
                images.push_back({static_cast<ImageOf>(static_cast<std::size_t>(ImageOf::OperandsBs) + e),
                                  {p.operands_primary[e], at.operands[e]},
                                  operand_image(alu, mul, shaped, set, e, hardware.memory.atom_bytes)});
            }
        }
    }
    for (const Stretch& output : places.written) images.push_back({ImageOf::Output, output.place, Bytes(output.bytes, kUnwritten)});
    return images;
}

}  // namespace dlasim
