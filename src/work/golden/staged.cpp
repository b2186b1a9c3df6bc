#include "golden/staged.h"

#include <algorithm>

#include "golden/pooled.h"
#include "golden/post.h"
#include "golden/sums.h"
#include "golden/winograd.h"

namespace dlasim {

StagedReference::StagedReference(const Layer& layer, const Tensor& input, const Tensor& weights)
{
    if (layer.op == Op::Sdp) sums_.assign(input.values.begin(), input.values.end());
    else if (layer.mode == Mode::Winograd) sums_ = reference_winograd_sums(layer, input, weights);
    else sums_ = reference_sums(layer, input, weights);
}

std::vector<std::int64_t> StagedReference::sample(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors,
                                                  std::size_t most) const
{
    const PostReference post(layer, hardware, tensors);
    const std::uint32_t width = layer.out_width(), height = layer.out_height();
    const std::size_t step = std::max<std::size_t>(1, sums_.size() / most) | 1;  // odd: not the same column again and again
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < sums_.size(); i += step)
        values.push_back(post.unconverted(sums_[i], static_cast<std::uint32_t>(i / width / height % layer.kernels),
                                          static_cast<std::uint32_t>(i / width % height), static_cast<std::uint32_t>(i % width)));
    return values;
}

Tensor StagedReference::output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors)
{
    const PostReference post(layer, hardware, tensors);
    Tensor output(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
    std::size_t i = 0;
    for (std::uint32_t n = 0; n < output.n; ++n)
        for (std::uint32_t k = 0; k < output.c; ++k)
            for (std::uint32_t y = 0; y < output.h; ++y, i += output.w) post.integer_row(&sums_[i], k, y, &output.values[i]);
    sums_ = {};
    return layer.pool ? pooled(output, *layer.pool, layer.output.precision, false) : output;
}

}  // namespace dlasim
