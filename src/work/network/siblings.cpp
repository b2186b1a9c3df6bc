#include "network/siblings.h"

#include <algorithm>

#include "base/bits.h"

namespace dlasim {
namespace {

/// Numbers of int8 have scales that a multiplier per kernel would round; on a board each layer has its own.
bool same_numbers(const Network& network, const NetworkLayer& a, const NetworkLayer& b)
{
    if (!a.numbers) return !b.numbers;
    return network.is_fp16() && a.numbers->clamp == b.numbers->clamp && a.numbers->bias.empty() == b.numbers->bias.empty() &&
           a.numbers->clamp.slopes.empty();
}

class Siblings {
public:
    Siblings(Steps& steps, const Network& network, const Hardware& hardware, const std::function<bool(const Step&)>& join)
        : s_(steps), n_(network), hw_(hardware), join_(join)
    {
    }

    void join()
    {
        for (std::size_t i = 0; i < s_.list.size(); ++i) {
            if (!free(s_.list[i])) continue;
            std::vector<std::size_t> parts{s_.list[i].output};
            std::string name = s_.tensors[parts.front()].name;
            for (std::size_t j = i + 1; j < s_.list.size();) {
                if (!ends_with_atoms(parts.back()) || !free(s_.list[j]) || !alike(s_.list[i], s_.list[j]) || !join_(s_.list[j])) {
                    ++j;
                    continue;
                }
                const Step& other = s_.list[j];
                parts.push_back(other.output);
                name += "+" + s_.tensors[other.output].name;
                s_.list[i].name = other.name;
                s_.list[i].beside.push_back(other.layer);
                s_.list.erase(s_.list.begin() + static_cast<std::ptrdiff_t>(j));
            }
            if (parts.size() > 1) make_whole(s_.list[i], parts, name);
        }
    }

private:
    const NetworkLayer& layer(const Step& step) const { return n_.layers[step.layer]; }

    /// Nothing else belongs to it.
    bool free(const Step& step) const
    {
        if (step.unit != StepUnit::Array || step.addend || step.pool || layer(step).op != NetworkOp::Convolution) return false;
        if (step.activation != Activation::None && step.activation != Activation::Relu) return false;
        const bool output = step.output >= n_.tensors.size() || step.output == n_.layers.back().output ||
                            std::find(n_.outputs.begin(), n_.outputs.end(), step.output) != n_.outputs.end();
        return !output && layer(step).layer.groups == 1 &&
               std::none_of(s_.joined.begin(), s_.joined.end(), [&](const JoinedTensor& joined) { return joined.has(step.output); });
    }
    bool ends_with_atoms(std::size_t tensor) const
    {
        return s_.tensors[tensor].channels % (hw_.memory.atom_bytes / n_.element_bytes()) == 0;
    }
    const std::optional<std::uint32_t>& asked(const Step& step, PlanDecision decision) const { return layer(step).decided.of(decision); }
    bool alike(const Step& a, const Step& b) const
    {
        const Layer &x = layer(a).layer, &y = layer(b).layer;
        return a.inputs == b.inputs && a.activation == b.activation && !y.partition.on() && x.kernel_width == y.kernel_width &&
               x.kernel_height == y.kernel_height && x.stride == y.stride && x.dilation == y.dilation && x.pad == y.pad &&
               x.post.bias() == y.post.bias() && same_numbers(n_, layer(a), layer(b)) &&
               asked(a, PlanDecision::Winograd) == asked(b, PlanDecision::Winograd) &&
               asked(a, PlanDecision::Compressed) == asked(b, PlanDecision::Compressed);
    }

    void make_whole(Step& step, const std::vector<std::size_t>& parts, const std::string& name)
    {
        NetworkTensor whole = s_.tensors[step.output];
        whole.name = name;
        whole.channels = 0;
        for (const std::size_t part : parts) whole.channels += s_.tensors[part].channels;
        step.output = s_.tensors.size();
        s_.tensors.push_back(whole);
        s_.joined.push_back({step.output, parts, true});
    }

    Steps& s_;
    const Network& n_;
    const Hardware& hw_;
    const std::function<bool(const Step&)>& join_;
};

void append(Tensor& to, const Tensor& more, bool kernels)
{
    if (to.empty()) {
        to = more;
        return;
    }
    (kernels ? to.n : to.c) += kernels ? more.n : more.c;
    to.values.insert(to.values.end(), more.values.begin(), more.values.end());
}

}  // namespace

void join_siblings(Steps& steps, const Network& network, const Hardware& hardware, const std::function<bool(const Step&)>& join)
{
    Siblings(steps, network, hardware, join).join();
}

NetworkLayer with_siblings(const Network& network, const Step& step)
{
    NetworkLayer all = network.layers[step.layer];
    for (const std::size_t beside : step.beside) {
        const NetworkLayer& other = network.layers[beside];
        all.layer.kernels += other.layer.kernels;
        append(all.numbers->weights, other.numbers->weights, true);
        all.numbers->bias.insert(all.numbers->bias.end(), other.numbers->bias.begin(), other.numbers->bias.end());
    }
    return all;
}

Tensor channels_of(const Tensor& whole, std::uint32_t first, std::uint32_t count)
{
    Tensor part(1, count, whole.h, whole.w);
    std::copy_n(&whole.values[whole.index(0, first, 0, 0)], part.values.size(), part.values.begin());
    return part;
}

std::optional<TensorLayout> layout_of(const TensorLayout& whole, std::uint32_t first, std::uint32_t count)
{
    const std::uint32_t begin = whole.at(first), end = whole.at(first + count - 1) + 1;
    if (begin % whole.per_atom() != 0) return std::nullopt;
    TensorLayout part = whole;
    part.before = 0;
    part.bytes = ceil_div(end - begin, part.per_atom()) * whole.cube.strides.surface;
    part.pieces.clear();
    for (const ChannelPiece& piece : whole.pieces) {
        const std::uint32_t from = std::max(piece.first, first), to = std::min(piece.first + piece.count, first + count);
        if (from < to) part.pieces.push_back({from - first, to - from, piece.at + (from - piece.first) - begin});
    }
    return part;
}

LayerTensors side_by_side(std::vector<LayerTensors> layers)
{
    LayerTensors all = std::move(layers.front());
    for (std::size_t i = 1; i < layers.size(); ++i) {
        append(all.weights, layers[i].weights, true);
        for (std::size_t o = 0; o < all.operands.size(); ++o)
            if (!layers[i].operands[o].empty()) append(all.operands[o], layers[i].operands[o], false);
    }
    return all;
}

}  // namespace dlasim
