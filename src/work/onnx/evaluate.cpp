#include "onnx/evaluate.h"

#include <algorithm>
#include <cmath>

namespace dlasim {
namespace {

/// Outputs [first, last) of an axis whose element at `offset` from the start of its window is inside.
struct Inside {
    std::int64_t first, last;
};
Inside inside(std::int64_t stride, std::int64_t offset, std::int64_t size, std::int64_t outputs)
{
    const std::int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const std::int64_t last = size - 1 < offset ? 0 : (size - 1 - offset) / stride + 1;
    return {std::min(first, outputs), std::min(last, outputs)};
}

/// sums += weight * a plane, seen through one tap of the kernel.
void add_tap(const Layer& l, double weight, const float* plane, std::uint32_t r, std::uint32_t s, double* sums)
{
    const std::int64_t width = l.out_width(), height = l.out_height();
    const std::int64_t dy = std::int64_t{r} * l.dilation.y - l.pad.top, dx = std::int64_t{s} * l.dilation.x - l.pad.left;
    const Inside rows = inside(l.stride.y, dy, l.height, height), columns = inside(l.stride.x, dx, l.width, width);
    for (std::int64_t y = rows.first; y < rows.last; ++y) {
        const float* from = plane + (y * l.stride.y + dy) * l.width + dx;
        double* to = sums + y * width;
        if (l.stride.x == 1)
            for (std::int64_t x = columns.first; x < columns.last; ++x) to[x] += weight * static_cast<double>(from[x]);
        else
            for (std::int64_t x = columns.first; x < columns.last; ++x) to[x] += weight * static_cast<double>(from[x * l.stride.x]);
    }
}

/// The same of a deconvolution: every element of the plane goes to where the tap puts it.
void scatter_tap(const Layer& l, double weight, const float* plane, std::uint32_t r, std::uint32_t s, double* sums)
{
    const std::int64_t width = l.out_width(), height = l.out_height();
    const std::int64_t dy = std::int64_t{r} * l.dilation.y - l.pad.top, dx = std::int64_t{s} * l.dilation.x - l.pad.left;
    for (std::int64_t y = 0; y < l.height; ++y) {
        const std::int64_t oy = y * l.stride.y + dy;
        if (oy < 0 || oy >= height) continue;
        for (std::int64_t x = 0; x < l.width; ++x) {
            const std::int64_t ox = x * l.stride.x + dx;
            if (ox >= 0 && ox < width) sums[oy * width + ox] += weight * static_cast<double>(plane[y * l.width + x]);
        }
    }
}

double clamped(const Clamp& clamp, double value, std::size_t channel)
{
    if (!clamp.slopes.empty() && value < 0) value *= at(clamp.slopes, channel);
    if (clamp.low) value = std::max(value, *clamp.low);
    if (clamp.high) value = std::min(value, *clamp.high);
    return value;
}

RealTensor convolved(const RealNode& node, const RealTensor& in, const CubeShape& out)
{
    const Layer& l = node.geometry;
    const std::size_t places = std::size_t{out.h} * out.w, plane = std::size_t{l.width} * l.height;
    const std::uint32_t channels = l.kernel_channels(), per_group = l.kernels / l.groups;
    RealTensor result(out.elements());
    std::vector<double> sums(places);
    const float* weight = node.weights.data();
    for (std::uint32_t k = 0; k < l.kernels; ++k) {
        std::fill(sums.begin(), sums.end(), node.bias.empty() ? 0 : node.bias[k]);
        for (std::uint32_t c = 0; c < channels; ++c) {
            const float* from = &in[(std::size_t{k / per_group} * channels + c) * plane];
            for (std::uint32_t r = 0; r < l.kernel_height; ++r)
                for (std::uint32_t s = 0; s < l.kernel_width; ++s, ++weight)
                    if (node.op == RealOp::Deconvolution) scatter_tap(l, static_cast<double>(*weight), from, r, s, sums.data());
                    else add_tap(l, static_cast<double>(*weight), from, r, s, sums.data());
        }
        for (std::size_t i = 0; i < places; ++i) result[k * places + i] = static_cast<float>(clamped(node.clamp, sums[i], k));
    }
    return result;
}

float window(const RealNode& node, const float* plane, const CubeShape& in, std::uint32_t oy, std::uint32_t ox)
{
    const Pool& p = node.pool;
    const auto range = [](const PoolAxis& axis, std::uint32_t o, std::uint32_t size) {
        const std::int64_t begin = std::int64_t{o} * axis.stride - axis.before;
        return std::pair{std::max<std::int64_t>(begin, 0), std::min<std::int64_t>(begin + axis.kernel, size)};
    };
    const auto [top, bottom] = range(p.y, oy, in.h);
    const auto [left, right] = range(p.x, ox, in.w);
    double sum = 0;
    float most = plane[top * in.w + left];
    for (std::int64_t y = top; y < bottom; ++y)
        for (std::int64_t x = left; x < right; ++x) {
            sum += static_cast<double>(plane[y * in.w + x]);
            most = std::max(most, plane[y * in.w + x]);
        }
    if (p.function == PoolFunction::Max) return most;
    const std::int64_t count = node.exclusive ? (bottom - top) * (right - left) : std::int64_t{p.x.kernel} * p.y.kernel;
    return static_cast<float>(sum / static_cast<double>(count));
}

RealTensor normalised(const RealNode& node, const RealTensor& in, const CubeShape& shape)
{
    const std::size_t places = std::size_t{shape.h} * shape.w;
    const auto half_before = static_cast<std::int64_t>((node.lrn.size - 1) / 2), half_behind = static_cast<std::int64_t>(node.lrn.size / 2);
    RealTensor out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const auto c = static_cast<std::int64_t>(i / places);
        double sum = 0;
        for (std::int64_t j = std::max<std::int64_t>(c - half_before, 0); j <= std::min<std::int64_t>(c + half_behind, shape.c - 1); ++j) {
            const auto x = static_cast<double>(in[static_cast<std::size_t>(j) * places + i % places]);
            sum += x * x;
        }
        out[i] =
            static_cast<float>(static_cast<double>(in[i]) / std::pow(node.lrn.bias + node.lrn.alpha / node.lrn.size * sum, node.lrn.beta));
    }
    return out;
}

RealTensor softmax(const RealNode& node, const RealTensor& in, const CubeShape& shape)
{
    const std::size_t places = std::size_t{shape.h} * shape.w;
    RealTensor out(in.size());
    for (std::size_t p = 0; p < places; ++p) {
        float most = in[p];
        for (std::size_t i = p; i < in.size(); i += places) most = std::max(most, in[i]);
        double sum = 0;
        for (std::size_t i = p; i < in.size(); i += places) sum += std::exp(static_cast<double>(in[i]) - static_cast<double>(most));
        for (std::size_t i = p; i < in.size(); i += places) {
            const double x = static_cast<double>(in[i]) - static_cast<double>(most);
            out[i] = static_cast<float>(node.logarithm ? x - std::log(sum) : std::exp(x) / sum);
        }
    }
    return out;
}

template <class Each>
RealTensor each(const RealTensor& in, const CubeShape& out, Each function)
{
    const std::size_t places = std::size_t{out.h} * out.w;
    RealTensor result(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) result[i] = static_cast<float>(function(static_cast<double>(in[i]), i, i / places));
    return result;
}

RealTensor pooled(const RealNode& node, const RealTensor& in, const CubeShape& shape, const CubeShape& out)
{
    RealTensor result(out.elements());
    std::size_t i = 0;
    for (std::uint32_t c = 0; c < out.c; ++c)
        for (std::uint32_t y = 0; y < out.h; ++y)
            for (std::uint32_t x = 0; x < out.w; ++x) result[i++] = window(node, &in[std::size_t{c} * shape.h * shape.w], shape, y, x);
    return result;
}

RealTensor repeated(const RealNode& node, const RealTensor& in, const CubeShape& shape, const CubeShape& out)
{
    RealTensor result(out.elements());
    for (std::size_t i = 0; i < result.size(); ++i) {
        const std::size_t x = i % out.w, y = i / out.w % out.h, c = i / out.w / out.h;
        result[i] = in[(c / node.copies * shape.h + y / node.times.y) * shape.w + x / node.times.x];
    }
    return result;
}

}  // namespace

void limit(const Clamp& clamp, RealTensor& tensor, std::size_t channels)
{
    const std::size_t places = tensor.size() / channels;
    for (std::size_t i = 0; i < tensor.size(); ++i)
        tensor[i] = static_cast<float>(clamped(clamp, static_cast<double>(tensor[i]), i / places));
}

RealTensor evaluate(const RealNode& node, const std::vector<const RealTensor*>& inputs, const std::vector<CubeShape>& shapes,
                    const CubeShape& out)
{
    const RealTensor& in = *inputs.front();
    switch (node.op) {
        case RealOp::Convolution:
        case RealOp::Deconvolution:
        case RealOp::Connected:
            return convolved(node, in, out);
        case RealOp::Pool:
            return pooled(node, in, shapes.front(), out);
        case RealOp::Add:
            return each(in, out, [&](double x, std::size_t i, std::size_t c) {
                return clamped(node.clamp, x + node.sign * static_cast<double>((*inputs[1])[i]), c);
            });
        case RealOp::Multiply:
            return each(in, out, [&](double x, std::size_t i, std::size_t c) {
                return clamped(node.clamp, x * static_cast<double>((*inputs[1])[i]), c);
            });
        case RealOp::Affine:
            return each(in, out, [&](double x, std::size_t, std::size_t c) {
                return clamped(node.clamp, x * at(node.factor, c) + at(node.bias, c), c);
            });
        case RealOp::Lrn:
            return normalised(node, in, out);
        case RealOp::Concat: {
            RealTensor whole;
            for (const RealTensor* part : inputs) whole.insert(whole.end(), part->begin(), part->end());
            return whole;
        }
        case RealOp::Upsample:
            return repeated(node, in, shapes.front(), out);
        case RealOp::Softmax:
            return softmax(node, in, out);
        case RealOp::Function:
            return each(in, out, [&](double x, std::size_t, std::size_t) { return node.function(x); });
        case RealOp::Reshape:
            return node.move(in, static_cast<float>(node.move.fill));
        case RealOp::Compute: {
            std::vector<std::vector<double>> reals;
            for (const RealTensor* input : inputs) reals.emplace_back(input->begin(), input->end());
            const std::vector<double> values = node.compute(reals);
            return {values.begin(), values.end()};
        }
    }
    return {};
}

std::vector<RealTensor> evaluate(const RealGraph& graph, std::vector<RealTensor> inputs)
{
    std::vector<RealTensor> values(graph.values.size());
    const auto keep = [&](std::size_t v, RealTensor tensor) {
        if (const std::optional<Quantisation>& quantisation = graph.values[v].quantisation)
            for (float& x : tensor) x = static_cast<float>(quantisation->real(quantisation->nearest(static_cast<double>(x))));
        values[v] = std::move(tensor);
    };
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) keep(graph.inputs[i], std::move(inputs[i]));
    for (const RealNode& node : graph.nodes) {
        std::vector<const RealTensor*> from;
        std::vector<CubeShape> shapes;
        for (const std::size_t input : node.inputs) {
            from.push_back(&values[input]);
            shapes.push_back(graph.values[input].cube);
        }
        keep(node.output, evaluate(node, from, shapes, graph.values[node.output].cube));
    }
    return values;
}

}  // namespace dlasim
