#include "onnx/quantise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "config/model/fp16.h"
#include "config/network_reader.h"

namespace dlasim {
namespace {

constexpr double kMaxInt8 = 127, kMaxMultiplier = 32767, kMaxParts = 4;
constexpr std::uint64_t kMaxChannels = 8192;
constexpr std::uint64_t kFewWeights = 1 << 18;
constexpr std::size_t kMaxName = 100, kNone = SIZE_MAX;

class Quantiser {
public:
    Quantiser(RealGraph& graph, const Ranges& ranges, bool fp16) : g_(graph), ranges_(ranges), fp16_(fp16) {}

    QuantisedNetwork network()
    {
        for (const RealValue& value : g_.values) given_.push_back(value.quantisation.has_value());
        if (fp16_) refuse_quantisations();
        split();
        if (!fp16_) {
            split_weights();
            change_grids();
            choose_grids();
            centre_products();
            clamp_after_additions();
            clamp_after_sums();
        }
        emit();
        problems_.report(g_.file);
        return std::move(q_);
    }

private:
    void refuse_quantisations()
    {
        for (std::size_t v = 0; v < g_.values.size(); ++v)
            if (given_[v])
                problems_.add("\"" + g_.values[v].name + "\"",
                              "has steps of the model's (QuantizeLinear), expected none with fp16: --precision int8");
        problems_.report(g_.file);
    }

    /// Weights with a scale of the model's that are no int8: the input is there several times, each time with a part of every weight.
    void split_weights()
    {
        for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
            RealNode& node = g_.nodes[i];
            if (!node.convolves() || node.weight_scale.empty()) continue;
            const std::size_t length = node.weights.size() / node.geometry.kernels;
            std::vector<double> integers;
            double low = 0, high = 0;
            for (std::size_t w = 0; w < node.weights.size(); ++w) {
                integers.push_back(std::nearbyint(static_cast<double>(node.weights[w]) / at(node.weight_scale, w / length)));
                low = std::min(low, integers.back());
                high = std::max(high, integers.back());
            }
            const double parts = std::max(std::ceil(high / kMaxInt8), std::ceil(-low / (kMaxInt8 + 1)));
            if (parts < 2 || parts > kMaxParts) continue;
            const auto count = static_cast<std::uint32_t>(parts);
            if (std::uint64_t{node.geometry.channels} * count > kMaxChannels) continue;  // refused where weights become integers
            divide(node, integers, count);
            i = repeat_input(i, count);
        }
    }

    /// [kernels][channels / groups][taps] become [kernels][parts * channels / groups][taps].
    static void divide(RealNode& node, const std::vector<double>& integers, std::uint32_t parts)
    {
        const std::size_t length = integers.size() / node.geometry.kernels;
        std::vector<float> weights;
        weights.reserve(integers.size() * parts);
        for (std::size_t k = 0; k < node.geometry.kernels; ++k)
            for (std::uint32_t part = 0; part < parts; ++part)
                for (std::size_t w = 0; w < length; ++w) {
                    const double all = integers[k * length + w];
                    const double before = std::clamp(all, -(kMaxInt8 + 1) * part, kMaxInt8 * part),
                                 now = std::clamp(all, -(kMaxInt8 + 1) * (part + 1), kMaxInt8 * (part + 1));
                    weights.push_back(static_cast<float>((now - before) * at(node.weight_scale, k)));
                }
        node.weights = std::move(weights);
    }

    /// Groups keep their channels together. The place of the node afterwards.
    std::size_t repeat_input(std::size_t i, std::uint32_t parts)
    {
        Layer& l = g_.nodes[i].geometry;
        const std::size_t value = g_.nodes[i].inputs.front();
        RealNode node;
        node.op = RealOp::Reshape;
        node.label = g_.nodes[i].label;
        node.inputs = {value};
        node.output = g_.values.size();
        const std::uint32_t per = l.kernel_channels(), plane = l.width * l.height;
        for (std::uint32_t g = 0; g < l.groups; ++g)
            for (std::uint32_t part = 0; part < parts; ++part)
                for (std::uint32_t e = 0; e < per * plane; ++e) node.move.from.push_back(static_cast<std::int32_t>(g * per * plane + e));
        RealValue made = g_.values[value];
        made.name += ".parts" + std::to_string(g_.values.size());
        made.cube.c = l.channels = l.channels * parts;
        g_.values.push_back(std::move(made));
        given_.push_back(given_[value]);
        source_[node.output] = source_.contains(value) ? source_[value] : value;
        repeats_.insert(node.output);
        g_.nodes[i].inputs.front() = node.output;
        g_.nodes.insert(g_.nodes.begin() + static_cast<std::ptrdiff_t>(i), std::move(node));
        return i + 1;
    }

    /// The last nodes of every output that run after the machine, in real numbers.
    void split()
    {
        for (const RealOutput& output : g_.outputs) last_.push_back(output.constant ? kNone : output.value);
        for (std::size_t& last : last_) {
            std::vector<RealNode>& trailing = q_.outputs.emplace_back().trailing;
            while (last != kNone) {
                const std::optional<std::size_t> maker = g_.maker(last);
                if (!maker) break;
                const RealNode& node = g_.nodes[*maker];
                const bool host = node.op == RealOp::Softmax || node.op == RealOp::Function || node.op == RealOp::Reshape ||
                                  (node.op == RealOp::Compute && node.inputs.size() == 1);
                if (!host || g_.values[last].quantisation || wanted_elsewhere(last)) break;
                last = node.inputs.front();
                trailing.insert(trailing.begin(), node);
                g_.nodes.erase(g_.nodes.begin() + static_cast<std::ptrdiff_t>(*maker));
            }
        }
        const auto on_host = [](const RealNode& node) {
            return node.op == RealOp::Softmax || node.op == RealOp::Function || node.op == RealOp::Reshape || node.op == RealOp::Upsample ||
                   node.op == RealOp::Compute || node.op == RealOp::Concat || node.host_average();
        };
        if (std::all_of(g_.nodes.begin(), g_.nodes.end(), on_host)) copy_input();
    }

    /// Beside the output whose last value it is.
    bool wanted_elsewhere(std::size_t value) const
    {
        const bool read = std::any_of(g_.nodes.begin(), g_.nodes.end(), [&](const RealNode& node) {
            return std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
        });
        return read || std::count(last_.begin(), last_.end(), value) > 1;
    }

    /// The machine does something at least: what comes first goes through it as it is.
    void copy_input()
    {
        const auto made_of = std::find_if(last_.begin(), last_.end(), [](std::size_t value) { return value != kNone; });
        const std::size_t first = !g_.nodes.empty()        ? g_.nodes.front().inputs.front()
                                  : made_of != last_.end() ? *made_of
                                                           : g_.inputs.front();
        const std::size_t made = copied(g_.nodes.begin(), first, "").first;
        g_.values[made].quantisation = g_.values[first].quantisation;
        tied_.emplace_back(first, made);
        if (g_.nodes.size() == 1) std::replace(last_.begin(), last_.end(), first, made);
        else std::replace(g_.nodes[1].inputs.begin(), g_.nodes[1].inputs.end(), first, made);
    }

    /// A value through SDP, unchanged; the value after the new node.
    std::pair<std::size_t, std::vector<RealNode>::iterator> copied(std::vector<RealNode>::iterator at, std::size_t value,
                                                                   const std::string& label)
    {
        RealNode node;
        node.op = RealOp::Affine;
        node.label = label.empty() ? "\"" + g_.values[value].name + "\"" : label;
        node.inputs = {value};
        node.output = g_.values.size();
        node.factor = {1};
        node.bias = {0};
        RealValue made = g_.values[value];
        made.quantisation.reset();
        made.name += ".sdp" + std::to_string(g_.values.size());
        g_.values.push_back(made);
        source_[node.output] = source_.contains(value) ? source_[value] : value;
        const std::size_t output = node.output;
        return {output, g_.nodes.insert(at, std::move(node)) + 1};
    }

    /// Where what a node reads has another given grid than what it makes, SDP changes it in front.
    void change_grids()
    {
        for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
            if (!g_.nodes[i].keeps_grid()) continue;
            std::optional<Quantisation> target = g_.values[g_.nodes[i].output].quantisation;
            for (const std::size_t input : g_.nodes[i].inputs)
                if (!target) target = g_.values[input].quantisation;
            if (!target) continue;
            for (std::size_t n = 0; n < g_.nodes[i].inputs.size(); ++n) {
                const std::size_t input = g_.nodes[i].inputs[n];
                const std::optional<Quantisation> own = g_.values[input].quantisation;
                if (!own || *own == *target) continue;
                if (average_as_convolution(g_.nodes[i])) break;
                const auto [made, behind] = copied(g_.nodes.begin() + static_cast<std::ptrdiff_t>(i), input, g_.nodes[i].label);
                g_.values[made].quantisation = target;
                i = static_cast<std::size_t>(behind - g_.nodes.begin());
                g_.nodes[i].inputs[n] = made;
            }
            g_.values[g_.nodes[i].output].quantisation = target;
        }
    }

    /// An average into another grid is exact as a sum of the array with one conversion, where that is small.
    bool average_as_convolution(RealNode& node)
    {
        const Pool& p = node.pool;
        if (node.op != RealOp::Pool || p.function != PoolFunction::Average || node.exclusive || p.ceil) return false;
        const CubeShape in = g_.values[node.inputs.front()].cube;
        const std::uint64_t taps = std::uint64_t{p.x.kernel} * p.y.kernel;
        if (p.x.kernel > 32 || p.y.kernel > 32 || p.x.stride > 8 || p.y.stride > 8 || std::uint64_t{in.c} * in.c * taps > kFewWeights)
            return false;
        Layer& l = node.geometry;
        l.width = in.w;
        l.height = in.h;
        l.channels = l.kernels = l.groups = in.c;
        l.kernel_width = p.x.kernel;
        l.kernel_height = p.y.kernel;
        l.stride = {p.x.stride, p.y.stride};
        l.pad = {p.x.before, p.x.after, p.y.before, p.y.after, 0};
        node.op = RealOp::Convolution;
        node.weight_scale = {1.0 / static_cast<double>(taps)};
        node.weights.assign(in.c * taps, static_cast<float>(node.weight_scale.front()));
        return true;
    }

    // Grids.

    std::size_t root(std::size_t v)
    {
        while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
        return v;
    }

    /// Values that nodes without arithmetic join have one grid.
    void choose_grids()
    {
        parent_.resize(g_.values.size());
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
        for (const RealNode& node : g_.nodes)
            for (const std::size_t input : node.inputs)
                if (node.keeps_grid()) parent_[root(input)] = root(node.output);
        for (const auto& [first, made] : tied_) parent_[root(first)] = root(made);
        std::map<std::size_t, double> most;
        std::map<std::size_t, Quantisation> given;
        for (std::size_t v = 0; v < g_.values.size(); ++v) {
            if (g_.values[v].quantisation) given.emplace(root(v), *g_.values[v].quantisation);
            double& largest = most[root(v)];
            largest = std::max(largest, seen(v));
        }
        for (std::size_t v = 0; v < g_.values.size(); ++v) {
            if (g_.values[v].quantisation) continue;
            const auto known = given.find(root(v));
            const double largest = most[root(v)];
            g_.values[v].quantisation = known != given.end() ? known->second : Quantisation{largest > 0 ? largest / kMaxInt8 : 1, 0};
        }
        drop_limits(given);
    }

    /// Limits that the ends of a grid make. Given grids say so themselves; of others it is what nodes can make, whatever the images of the
    /// calibration made of it: which engines work must not depend on these.
    void drop_limits(const std::map<std::size_t, Quantisation>& given)
    {
        std::map<std::size_t, double> most;  // of all values of a grid
        for (std::size_t v = 0; v < g_.values.size(); ++v) {
            const std::optional<std::size_t> maker = g_.maker(v);
            if (maker && g_.nodes[*maker].keeps_grid()) continue;
            const Clamp clamp = maker ? g_.nodes[*maker].clamp : Clamp{};
            const bool bounded = clamp.low && clamp.high;
            double& largest = most[root(v)];
            largest = std::max(largest, bounded ? std::max(std::abs(*clamp.low), std::abs(*clamp.high)) : INFINITY);
        }
        for (RealNode& node : g_.nodes) {
            const auto known = given.find(root(node.output));
            Clamp& clamp = node.clamp;
            if (known == given.end()) {
                if (clamp.high && most[root(node.output)] <= *clamp.high) clamp.high.reset();
                continue;
            }
            if (!clamp.cuts_low(known->second)) clamp.low.reset();
            if (!clamp.cuts_high(known->second)) clamp.high.reset();
        }
    }

    /// Of a product SDP subtracts one zero point. If both tensors have one, the tensor whose steps grow less by it gets symmetric steps in
    /// front: 127 for the integer that is farthest from its zero point.
    void centre_products()
    {
        const auto reach = [&](std::size_t value) {
            const std::int32_t zero = g_.values[value].quantisation->zero;
            return std::max(127 - zero, zero + 128);
        };
        for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
            const std::vector<std::size_t> factors = g_.nodes[i].inputs;
            const auto without = [&](std::size_t value) { return g_.values[value].quantisation->zero == 0; };
            if (g_.nodes[i].op != RealOp::Multiply || std::any_of(factors.begin(), factors.end(), without)) continue;
            const std::size_t n = reach(factors[1]) <= reach(factors[0]) ? 1 : 0;
            const double scale = g_.values[factors[n]].quantisation->scale * reach(factors[n]) / kMaxInt8;
            const auto [made, behind] =
                copied(g_.nodes.begin() + static_cast<std::ptrdiff_t>(i), factors[n], std::string(g_.nodes[i].label));
            g_.values[made].quantisation = Quantisation{scale, 0};
            i = static_cast<std::size_t>(behind - g_.nodes.begin());
            g_.nodes[i].inputs[n] = made;
        }
    }

    /// Where 0 of an added tensor is not its integer 0, SDP cannot compare with it in the same step: the limit follows in a step of its
    /// own.
    void clamp_after_additions()
    {
        for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
            const RealNode& node = g_.nodes[i];
            const bool zeros =
                std::any_of(node.inputs.begin(), node.inputs.end(), [&](std::size_t v) { return g_.values[v].quantisation->zero != 0; });
            if (node.op != RealOp::Add || !node.clamp.low || (!zeros && *node.clamp.low == 0)) continue;
            copy_after(i);
            std::swap(g_.nodes[i].clamp, g_.nodes[i + 1].clamp);
        }
    }

    /// BN has one operand: what adds there is limited from above in a step of its own.
    void clamp_after_sums()
    {
        for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
            if (!g_.nodes[i].clamp.high || !is_followed_by_add(g_.nodes[i])) continue;
            copy_after(i);
            std::swap(g_.nodes[i].clamp.high, g_.nodes[i + 1].clamp.high);
        }
    }

    bool is_followed_by_add(const RealNode& node) const
    {
        const bool from_low = node.clamp.low.has_value(), moved = from_low && *node.clamp.low != 0;
        if (node.op == RealOp::Add) return true;
        if (node.op == RealOp::Multiply) return moved;
        if (node.op != RealOp::Affine) return false;
        const bool zero = g_.values[node.inputs.front()].quantisation->zero != 0;
        const auto differs = [](const std::vector<double>& list) {
            return std::any_of(list.begin(), list.end(), [&](double value) { return value != list.front(); });
        };
        if (differs(node.bias) || (zero && differs(node.factor))) return true;
        return moved || (from_low && (zero || node.bias.front() != 0));
    }

    /// A copy in the same steps makes what node `i` made.
    void copy_after(std::size_t i)
    {
        const std::size_t output = g_.nodes[i].output;
        const std::string label = g_.nodes[i].label;
        const std::size_t made = copied(g_.nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1, output, label).first;
        g_.values[made].quantisation = g_.values[output].quantisation;
        g_.nodes[i].output = made;
        g_.nodes[i + 1].inputs.front() = made;
        g_.nodes[i + 1].output = output;
    }

    double seen(std::size_t value) const
    {
        const auto copy = source_.find(value);
        return ranges_.most(copy == source_.end() ? value : copy->second);
    }

    // The network.

    std::string name_of(std::size_t value)
    {
        std::string name = g_.values[value].name;
        if (name.empty() || name.size() > kMaxName) name = name.substr(0, kMaxName - 12) + "~" + std::to_string(value);
        while (!names_.insert(name).second) name += "'";
        return name;
    }

    void add_tensor(std::size_t value, std::optional<std::size_t> layer)
    {
        const RealValue& v = g_.values[value];
        NetworkTensor tensor{name_of(value), v.cube.w, v.cube.h, v.cube.c, layer, v.quantisation, value < given_.size() && given_[value]};
        tensor_of_[value] = q_.network.tensors.size();
        q_.network.tensors.push_back(std::move(tensor));
        const auto copy = source_.find(value);
        q_.values.push_back(repeats_.contains(value) ? kNone : copy == source_.end() ? value : copy->second);
    }

    void emit()
    {
        Network& network = q_.network;
        network.name = g_.name.substr(0, kMaxName);
        network.file = g_.file;
        if (fp16_) network.precision = Precision::Fp16;
        for (const std::size_t input : g_.inputs) add_tensor(input, std::nullopt);
        for (const RealNode& node : g_.nodes) {
            add_tensor(node.output, network.layers.size());
            network.layers.push_back(layer_of(node));
        }
        if (network.layers.size() > kMaxNetworkLayers)
            problems_.add("layers",
                          "found " + std::to_string(network.layers.size()) + ", expected at most " + std::to_string(kMaxNetworkLayers));
        std::uint64_t weights = 0;
        for (const NetworkLayer& layer : network.layers) weights += layer.weights();
        if (weights > kMaxNetworkWeights)
            problems_.add("layers",
                          "found " + std::to_string(weights) + " weights, expected at most " + std::to_string(kMaxNetworkWeights));
        for (std::size_t i = 0; i < last_.size(); ++i) {
            if (last_[i] == kNone) continue;
            q_.outputs[i].tensor = tensor_of_.at(last_[i]);
            network.outputs.push_back(q_.outputs[i].tensor);
        }
    }

    NetworkLayer layer_of(const RealNode& node)
    {
        NetworkLayer layer;
        layer.output = tensor_of_.at(node.output);
        layer.name = q_.network.tensors[layer.output].name;
        layer.where = g_.file + ": " + node.label;
        for (const std::size_t input : node.inputs) layer.inputs.push_back(tensor_of_.at(input));
        LayerNumbers& n = layer.numbers.emplace();
        n.clamp = node.clamp;
        n.bias = node.bias;
        const Quantisation in = quantisation(node.inputs.front()), out = quantisation(node.output);
        switch (node.op) {
            case RealOp::Convolution:
            case RealOp::Deconvolution:
            case RealOp::Connected:
                layer.op = node.op == RealOp::Convolution     ? NetworkOp::Convolution
                           : node.op == RealOp::Deconvolution ? NetworkOp::Deconvolution
                                                              : NetworkOp::FullyConnected;
                layer.layer = node.geometry;
                layer.layer.name = layer.name;
                if (fp16_) layer.layer.precision = layer.layer.output.precision = Precision::Fp16;
                if (node.op == RealOp::Deconvolution && in.zero != 0)
                    problems_.add(node.label, "reads integers with a zero point, expected 0: its padding has no value");
                quantise_weights(node, n);
                break;
            case RealOp::Pool:
                layer.op = NetworkOp::Pool;
                layer.pool = node.pool;
                n.exclusive = node.exclusive;
                break;
            case RealOp::Add:
                layer.op = NetworkOp::Add;
                n.sign = node.sign;
                break;
            case RealOp::Multiply:
                layer.op = NetworkOp::Multiply;
                if (quantisation(node.inputs.back()).zero != 0) std::swap(layer.inputs.front(), layer.inputs.back());
                break;
            case RealOp::Affine:
                layer.op = NetworkOp::Affine;
                n.factor = node.factor;
                break;
            case RealOp::Lrn:
                layer.op = NetworkOp::Lrn;
                layer.lrn = node.lrn;
                if (fp16_) layer.lrn.precision = Precision::Fp16;
                layer.lrn.input_scale = in.scale;
                layer.lrn.output_scale = out.scale;
                if (in.zero != 0 || out.zero != 0)
                    problems_.add(node.label, "has integers with a zero point, expected 0 on both sides of CDP");
                break;
            case RealOp::Concat:
                layer.op = NetworkOp::Concat;
                break;
            case RealOp::Upsample:
                layer.op = NetworkOp::Upsample;
                layer.factor = node.times;
                n.copies = node.copies;
                break;
            case RealOp::Softmax:
                layer.op = NetworkOp::Softmax;
                if (node.logarithm) problems_.add(node.label, "is followed by other nodes, expected it last");
                break;
            case RealOp::Function:
                layer.op = NetworkOp::Function;
                n.function = node.function;
                break;
            case RealOp::Reshape:
                layer.op = NetworkOp::Reshape;
                n.move = node.move;
                break;
            case RealOp::Compute:
                layer.op = NetworkOp::Compute;
                n.compute = node.compute;
                if (node.compute.kind == Compute::Kind::ArgMax)
                    problems_.add(node.label, "is not the end of the model, expected it last: no step reads indices");
                break;
        }
        return layer;
    }

    /// None of fp16.
    Quantisation quantisation(std::size_t value) const { return g_.values[value].quantisation.value_or(Quantisation{}); }

    void quantise_weights(const RealNode& node, LayerNumbers& n)
    {
        const Layer& l = node.geometry;
        n.weights = Tensor(l.kernels, l.kernel_channels(), l.kernel_height, l.kernel_width);
        if (n.weights.values.size() != node.weights.size())
            return problems_.add(node.label, "has weights of another shape than its kernels");
        if (fp16_) return round_weights(node, n);
        n.weight_scale = node.weight_scale.empty() ? scales_of(node.weights, l.kernels) : node.weight_scale;
        const std::size_t length = node.weights.size() / l.kernels;
        for (std::size_t i = 0; i < node.weights.size(); ++i) {
            const double q =
                std::nearbyint(static_cast<double>(node.weights[i]) / n.weight_scale[n.weight_scale.size() == 1 ? 0 : i / length]);
            if (!(q >= -128 && q <= 127))
                return problems_.add(node.label, "has weights that are not int8 after their zero point: found " +
                                                     std::to_string(static_cast<std::int64_t>(std::clamp(q, -1e9, 1e9))) +
                                                     ", expected -128..127");
            n.weights.values[i] = static_cast<std::int16_t>(q);
        }
    }

    void round_weights(const RealNode& node, LayerNumbers& n)
    {
        for (std::size_t i = 0; i < node.weights.size(); ++i) {
            const std::uint16_t half = fp16_from_double(static_cast<double>(node.weights[i]));
            if (!std::isfinite(double_from_fp16(half)))
                return problems_.add(node.label, "has weights beyond 65504, expected what fp16 holds");
            n.weights.values[i] = static_cast<std::int16_t>(half);
        }
    }

    /// Multiples of one step, so that 16-bit multipliers have them exactly.
    static std::vector<double> scales_of(const std::vector<float>& weights, std::size_t kernels)
    {
        const std::size_t length = weights.size() / kernels;
        std::vector<double> scales(kernels);
        for (std::size_t i = 0; i < weights.size(); ++i)
            scales[i / length] = std::max(scales[i / length], std::abs(static_cast<double>(weights[i])) / kMaxInt8);
        const double step = *std::max_element(scales.begin(), scales.end()) / kMaxMultiplier;
        if (!(step > 0)) return {1};
        for (double& scale : scales) scale = step * std::clamp(std::ceil(scale / step - 1e-9), 1.0, kMaxMultiplier);
        return scales;
    }

    RealGraph& g_;
    const Ranges& ranges_;
    const bool fp16_;
    QuantisedNetwork q_;
    Problems problems_;
    std::vector<bool> given_;                                // by value: its grid is the model's
    std::vector<std::size_t> last_;                          // by output: the value that the machine makes of it
    std::vector<std::pair<std::size_t, std::size_t>> tied_;  // values of one grid
    std::map<std::size_t, std::size_t> source_;              // of copies
    std::vector<std::size_t> parent_;                        // of values, towards the representative of a grid
    std::map<std::size_t, std::size_t> tensor_of_;           // by value
    std::set<std::string> names_;
    std::set<std::size_t> repeats_;  // values that hold another one several times
};

}  // namespace

QuantisedNetwork quantised(RealGraph& graph, const Ranges& ranges) { return Quantiser(graph, ranges, false).network(); }

QuantisedNetwork fp16_network(RealGraph& graph) { return Quantiser(graph, Ranges(graph), true).network(); }

}  // namespace dlasim
