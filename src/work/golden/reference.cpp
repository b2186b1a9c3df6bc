#include "golden/reference.h"

#include "golden/fp16.h"
#include "golden/pixels.h"
#include "golden/pooled.h"
#include "golden/post.h"
#include "golden/real.h"
#include "golden/sums.h"
#include "golden/winograd.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kWinogradBits = 2;  // integer kernels are transformed times four

/// `scale`: of integer sums.
Tensor output_of(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Method& method, std::int64_t scale)
{
    if (layer.op == Op::Pool) return pooled(tensors.input, *layer.pool, layer.precision, layer.flush_nan);
    const bool flush = layer.flush_nan && !method.winograd;  // a transformed kernel is flushed after its transform
    const bool changed = layer.image() || layer.conversion.on || layer.flush_nan;
    const Tensor converted = changed ? reference_input(layer, tensors.input) : Tensor{},
                 flushed = flush ? reference_weights(tensors.weights) : Tensor{};
    const Tensor &input = changed ? converted : tensors.input, &weights = flush ? flushed : tensors.weights;
    const bool fp = layer.precision == Precision::Fp16;
    const PostReference post(layer, hardware, tensors);
    std::vector<std::uint32_t> floats;
    std::vector<std::int64_t> sums;
    if (layer.op == Op::Sdp && fp)
        for (const std::int16_t value : input.values) floats.push_back(real::widen_fp16(real::kFp32, static_cast<std::uint16_t>(value)));
    else if (layer.op == Op::Sdp) sums.assign(input.values.begin(), input.values.end());
    else if (fp) floats = reference_fp16_sums(layer, input, weights, method);
    else if (method.winograd) sums = reference_winograd_sums(layer, input, weights);
    else sums = reference_sums(layer, input, weights);
    for (std::int64_t& sum : sums) sum *= scale;
    Tensor output(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
    std::size_t i = 0;
    for (std::uint32_t n = 0; n < output.n; ++n)
        for (std::uint32_t k = 0; k < output.c; ++k)
            for (std::uint32_t y = 0; y < output.h; ++y, i += output.w) {
                if (!fp) post.integer_row(&sums[i], k, y, &output.values[i]);
                for (std::uint32_t x = 0; fp && x < output.w; ++x) output.values[i + x] = post.floating(floats[i + x], k, y, x);
            }
    return layer.pool ? pooled(output, *layer.pool, layer.output.precision, false) : output;
}

}  // namespace

Tensor reference_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, const Method& method)
{
    return output_of(layer, hardware, tensors, method, 1);
}

Tensor direct_output(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, Method method)
{
    method.winograd = false;
    return output_of(layer, hardware, tensors, method, 1 << (kWinogradBits - layer.winograd_truncate));
}

}  // namespace dlasim
