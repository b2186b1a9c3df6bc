#include "lowering/memory/kernels.h"

#include <algorithm>
#include <optional>

namespace dlasim {
namespace {

/// Kernels [part.first, part.first + part.count) of a pass, unless they are all of the tensor: zero where one meets another group's
/// channels, or has no tap, or none of the layer's.
std::optional<Tensor> kernels_of(const ShapedPass& shaped, const KernelPart& part, const Tensor& weights)
{
    const KernelBlock& block = shaped.kernels;
    const bool plain = block.groups == 1 && block.second_row == 0 && block.x.all_of(weights.w) && block.y.all_of(weights.h);
    if (plain && part.count == weights.n) return std::nullopt;
    const std::uint32_t channels = weights.c, kernels = shaped.pass.kernels / block.groups;  // of a group
    Tensor out(part.count, block.second_row != 0 ? shaped.pass.channels : channels * block.groups, block.y.count, block.x.count);
    if (block.x.none || block.y.none) return out;
    const auto fill = [&](std::uint32_t k, std::uint32_t lane, std::uint32_t c, std::uint32_t y, std::uint32_t row) {
        if (row >= weights.h) return;
        for (std::uint32_t x = 0; x < out.w && block.x.at(x) < weights.w; ++x)
            out.at(k, lane, y, x) = weights.at(shaped.first_kernel + part.first + k, c, row, block.x.at(x));
    };
    for (std::uint32_t k = 0; k < out.n; ++k) {
        const std::uint32_t beside = (part.first + k) / kernels * channels;
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t y = 0; y < out.h; ++y) fill(k, beside + c, c, y, block.y.at(y));
        // Of lines that overlap the row of the first one's second half is that of the next one.
        for (std::uint32_t y = block.lines_apart() == 1 ? out.h - 1 : 0; block.second_row != 0 && y < out.h; ++y)
            fill(k, block.second_row + beside, 0, y, block.y.at(y) + 1);
    }
    return out;
}

StoredKernels stored(const ShapedPass& shaped, const KernelSet& set, const Tensor& weights, const Hardware& hw)
{
    const Pass& p = shaped.pass;
    const std::optional<Tensor> part = kernels_of(shaped, set.kernels, weights);
    const std::vector<std::int16_t> stream = weight_stream(p, set.geometry, hw, part ? *part : weights);
    StoredKernels kernels;
    if (p.compressed.on) {
        CompressedWeights c = compress(p, set.geometry, hw, stream);
        kernels.compressed = {true, c.weights.size(), c.mask.size(), std::move(c.group_ends)};
        kernels.weights = std::move(c.weights);
        kernels.mask = std::move(c.mask);
        kernels.group_sizes = std::move(c.group_sizes);
    } else {
        kernels.weights = to_bytes(stream, p.element_bytes(), set.geometry.weight_bytes);
    }
    return kernels;
}

}  // namespace

std::vector<std::vector<StoredKernels>> stored_kernels(const Shape& shape, const std::vector<PassParts>& passes,
                                                       const LayerTensors* tensors, const Hardware& hardware)
{
    std::vector<std::vector<StoredKernels>> all(passes.size());
    for (std::size_t i = 0; i < passes.size(); ++i)
        for (const KernelSet& set : passes[i].sets) {
            const Pass& pass = passes[i].pass;
            if (tensors && pass.convolves()) all[i].push_back(stored(shape.passes[i], set, tensors->weights, hardware));
            else all[i].push_back({{}, {}, {}, pass.compressed});
        }
    return all;
}

}  // namespace dlasim
