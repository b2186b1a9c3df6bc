#include "network/steps.h"

#include <algorithm>

#include "network/fp16_step.h"
#include "network/scaled.h"

namespace dlasim {
namespace {

const char* what_computes(Compute::Kind kind)
{
    switch (kind) {
        case Compute::Kind::MatMul:
            return "a product of two tensors: the array reads one of them as constant weights";
        case Compute::Kind::Divide:
            return "a quotient of two tensors";
        case Compute::Kind::Maximum:
        case Compute::Kind::Minimum:
            return "the larger or smaller of two tensors with different scales";
        case Compute::Kind::Normalise:
            return "a mean and a variance";
        case Compute::Kind::Mean:
            return "a mean over such dimensions";
        case Compute::Kind::Resample:
            return "an interpolation";
        case Compute::Kind::ArgMax:
            return "the index of a largest element";
    }
    return "";
}

class Joiner {
public:
    Joiner(const Network& network, const Hardware& hw, const std::function<bool(const Network&, const Step&)>& can_fuse)
        : n_(network), hw_(hw), can_fuse_(can_fuse)
    {
        steps_.tensors = network.tensors;
        readers_.resize(network.tensors.size());
        for (const NetworkLayer& layer : network.layers)
            for (const std::size_t tensor : layer.inputs) ++readers_[tensor];
        for (const std::size_t tensor : network.outputs) ++readers_[tensor];
    }

    Steps steps()
    {
        for (std::size_t i = 0; i < n_.layers.size(); ++i) add(i);
        return std::move(steps_);
    }

private:
    const NetworkLayer& layer(std::size_t i) const { return n_.layers[i]; }

    void add(std::size_t i)
    {
        const NetworkLayer& l = layer(i);
        switch (l.op) {
            case NetworkOp::Convolution:
            case NetworkOp::FullyConnected:
            case NetworkOp::Deconvolution:
                return activated({.name = l.name, .unit = StepUnit::Array, .layer = i, .inputs = l.inputs, .output = l.output},
                                 l.activation);
            case NetworkOp::Pool:
                return pool(i);
            case NetworkOp::Add:
                return addition(i);
            case NetworkOp::Lrn:
                return push({.name = l.name, .unit = StepUnit::Cdp, .layer = i, .inputs = l.inputs, .output = l.output});
            case NetworkOp::Concat:
                return concatenation(i);
            case NetworkOp::Upsample:
                return host(i, "no unit repeats elements");
            case NetworkOp::Softmax:
                return host(i, "no unit has an exponential of a sum");
            case NetworkOp::Affine:
                return push({.name = l.name, .unit = StepUnit::Sdp, .layer = i, .inputs = l.inputs, .output = l.output});
            case NetworkOp::Multiply:
                return push({.name = l.name,
                             .unit = StepUnit::Sdp,
                             .layer = i,
                             .inputs = {l.inputs.front()},
                             .addend = l.inputs.back(),
                             .output = l.output});
            case NetworkOp::Function:
                if (!n_.is_fp16() && hw_.sdp.has_lut)
                    return push({.name = l.name, .unit = StepUnit::Sdp, .layer = i, .inputs = l.inputs, .output = l.output});
                return host(
                    i, n_.is_fp16() ? "tables of SDP interpolate between fp16 numbers" : "SDP of " + hw_.name + " has no lookup table");
            case NetworkOp::Reshape:
                return host(i, "no unit moves elements between channels, rows and columns");
            case NetworkOp::Compute:
                return host(i, std::string("no unit computes ") + what_computes(l.numbers->compute.kind));
        }
    }

    void push(const Step& step) { steps_.list.push_back(step); }
    void host(std::size_t i, const std::string& why)
    {
        push({.name = layer(i).name, .unit = StepUnit::Host, .layer = i, .inputs = layer(i).inputs, .output = layer(i).output, .why = why});
    }
    std::size_t beside(const std::string& name, std::size_t like)
    {
        NetworkTensor tensor = steps_.tensors[like];
        tensor.name = name;
        steps_.tensors.push_back(tensor);
        readers_.push_back(1);
        return steps_.tensors.size() - 1;
    }

    /// SDP has no table for it everywhere: then the host applies it to what SDP writes.
    void activated(Step step, Activation activation)
    {
        if (activation != Activation::Tanh || hw_.sdp.has_lut) {
            step.activation = activation;
            return push(step);
        }
        const std::size_t made = step.output;
        step.output = beside(step.name + ".linear", made);
        Step table{.name = step.name,
                   .unit = StepUnit::Host,
                   .layer = step.layer,
                   .inputs = {step.output},
                   .output = made,
                   .activation = activation,
                   .why = "SDP of " + hw_.name + " has no lookup table"};
        step.name += ".linear";
        push(step);
        push(table);
    }

    void pool(std::size_t i)
    {
        const NetworkLayer& l = layer(i);
        if (!pdp_has(l.pool)) return host(i, "the window or its stride is larger than PDP's 8 x 8");
        if (l.numbers && l.numbers->exclusive) return host(i, "PDP divides by the whole window, padding included");
        if (const std::optional<std::size_t> before = steps_.maker(l.inputs.front()))
            if (!part_of_whole(l.inputs.front()) && hands_over(l.inputs.front(), i)) {
                Step& joined = steps_.list[*before];
                joined.pool = i;
                joined.name = l.name;
                joined.output = l.output;
                return;
            }
        if (pools_parts(i)) return;
        push({.name = l.name, .unit = StepUnit::Pdp, .layer = i, .inputs = l.inputs, .output = l.output});
    }

    /// The step that makes a tensor can hand it over to PDP, and nobody else reads it.
    bool hands_over(std::size_t tensor, std::size_t pool) const
    {
        const std::optional<std::size_t> maker = steps_.maker(tensor);
        if (!maker || readers_[tensor] != 1) return false;
        Step joined = steps_.list[*maker];
        if (joined.pool || (joined.unit != StepUnit::Array && joined.unit != StepUnit::Sdp)) return false;
        joined.pool = pool;
        return can_fuse_(n_, joined);
    }

    /// A concatenation is pooled part by part, where all of them are handed over: the whole is then one of pooled parts.
    bool pools_parts(std::size_t i)
    {
        const NetworkLayer& l = layer(i);
        const auto whole = std::find_if(steps_.joined.begin(), steps_.joined.end(),
                                        [&](const JoinedTensor& joined) { return joined.whole == l.inputs.front(); });
        if (n_.numbered() || whole == steps_.joined.end() || readers_[whole->whole] != 1 || part_of_whole(whole->whole)) return false;
        if (!std::all_of(whole->parts.begin(), whole->parts.end(), [&](std::size_t part) { return hands_over(part, i); })) return false;
        JoinedTensor pooled{l.output, {}};
        for (const std::size_t part : whole->parts) {
            Step& joined = steps_.list[*steps_.maker(part)];
            const std::uint32_t channels = steps_.tensors[part].channels;
            joined.pool = i;
            joined.output = beside(steps_.tensors[part].name + "." + l.name, l.output);
            steps_.tensors[joined.output].channels = channels;
            pooled.parts.push_back(joined.output);
        }
        *whole = pooled;
        return true;
    }

    bool part_of_whole(std::size_t tensor) const
    {
        return std::any_of(steps_.joined.begin(), steps_.joined.end(), [&](const JoinedTensor& joined) {
            return std::find(joined.parts.begin(), joined.parts.end(), tensor) != joined.parts.end();
        });
    }

    /// The step whose result is added, if SDP can add there: it does nothing after its sums, and nobody else reads them.
    bool adds(std::size_t step) const
    {
        const Step& s = steps_.list[step];
        return s.unit == StepUnit::Array && s.activation == Activation::None && !clamps(layer(s.layer)) &&
               !steps_.tensors[s.output].wanted && !s.add && !s.pool && readers_[s.output] == 1 &&
               layer(s.layer).op != NetworkOp::Deconvolution && !part_of_whole(s.output);
    }

    static bool clamps(const NetworkLayer& l) { return l.numbers && !l.numbers->clamp.none(); }

    void addition(std::size_t i)
    {
        const NetworkLayer& l = layer(i);
        const bool difference = l.numbers && l.numbers->sign < 0;
        if (difference)  // SDP multiplies the one that it does not add
            return push({.name = l.name,
                         .unit = StepUnit::Sdp,
                         .layer = i,
                         .inputs = {l.inputs.back()},
                         .addend = l.inputs.front(),
                         .output = l.output});
        const auto order = [&](std::size_t tensor) {
            const std::optional<std::size_t> step = last_maker(tensor);
            return step ? *step + 1 : 0;
        };
        std::vector<std::size_t> terms = l.inputs;
        std::stable_sort(terms.begin(), terms.end(), [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
        older_first(terms);
        std::size_t sum = terms.front();
        for (std::size_t t = 1; t < terms.size(); ++t) {
            const bool last = t + 1 == terms.size();
            const std::size_t target = last ? l.output : beside(l.name + "." + std::to_string(t), l.output);
            const std::optional<std::size_t> step = steps_.maker(terms[t]);
            if (step && adds(*step) && order(sum) <= *step && (!last || simple(l))) {
                Step& joined = steps_.list[*step];
                joined.add = i;
                joined.addend = sum;
                joined.output = target;
                joined.name = steps_.tensors[target].name;
                joined.activation = last ? l.activation : Activation::None;
            } else {
                Step alone{.name = steps_.tensors[target].name,
                           .unit = StepUnit::Sdp,
                           .layer = i,
                           .inputs = {sum},
                           .addend = terms[t],
                           .output = target};
                if (last) activated(alone, l.activation);
                else push(alone);
            }
            sum = target;
        }
    }
    /// Of two convolutions the one whose input is older runs while the input of the other is made; the other one adds.
    void older_first(std::vector<std::size_t>& terms)
    {
        if (terms.size() != 2) return;
        const std::optional<std::size_t> first = steps_.maker(terms.front()), second = steps_.maker(terms.back());
        if (!first || !second || !adds(*first) || steps_.list[*second].unit != StepUnit::Array ||
            inputs_made(*second) >= inputs_made(*first))
            return;
        const auto list = steps_.list.begin();
        std::rotate(list + static_cast<std::ptrdiff_t>(*first), list + static_cast<std::ptrdiff_t>(*second),
                    list + static_cast<std::ptrdiff_t>(*second) + 1);
        std::swap(terms.front(), terms.back());
    }
    /// Steps after which a step has its inputs.
    std::size_t inputs_made(std::size_t step) const
    {
        const Step& s = steps_.list[step];
        std::size_t made = 0;
        const auto wait = [&](std::size_t tensor) {
            if (const std::optional<std::size_t> maker = last_maker(tensor)) made = std::max(made, *maker + 1);
        };
        for (const std::size_t tensor : s.inputs) wait(tensor);
        if (s.addend) wait(*s.addend);
        return made;
    }
    bool simple(const NetworkLayer& l) const
    {
        if (l.numbers && n_.is_fp16()) return fp16_joins_addition(l.numbers->clamp);
        if (l.numbers) return joins_addition(l.numbers->clamp);
        return l.activation != Activation::Tanh || hw_.sdp.has_lut;
    }

    /// Of a concatenation the maker of its last part.
    std::optional<std::size_t> last_maker(std::size_t tensor) const
    {
        std::optional<std::size_t> last = steps_.maker(tensor);
        for (const JoinedTensor& joined : steps_.joined)
            if (joined.whole == tensor)
                for (const std::size_t part : joined.parts) last = std::max(last, last_maker(part));
        return last;
    }

    /// Its phases do not end with the output: lines in memory are longer than the tensor's.
    bool ends_ragged(std::size_t tensor) const
    {
        const std::optional<std::size_t> step = steps_.maker(tensor);
        if (!step || steps_.list[*step].unit != StepUnit::Array || layer(steps_.list[*step].layer).op != NetworkOp::Deconvolution)
            return false;
        const Layer& of = layer(steps_.list[*step].layer).layer;
        return of.out_width() % of.stride.x != 0 || of.out_height() % of.stride.y != 0;
    }

    void concatenation(std::size_t i)
    {
        const NetworkLayer& l = layer(i);
        std::vector<std::size_t> sorted = l.inputs;
        std::sort(sorted.begin(), sorted.end());
        const bool repeated = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
        const bool ours = std::all_of(l.inputs.begin(), l.inputs.end(),
                                      [&](std::size_t tensor) { return !part_of_whole(tensor) && last_maker(tensor).has_value(); });
        if (repeated || !ours) return host(i, "a part is already at another address");
        const bool apart = std::any_of(l.inputs.begin(), l.inputs.end(), [&](std::size_t tensor) { return ends_ragged(tensor); });
        if (apart) return host(i, "the phases of a deconvolution end beyond the lines of a part");
        steps_.joined.push_back({l.output, l.inputs});
    }

    const Network& n_;
    const Hardware& hw_;
    const std::function<bool(const Network&, const Step&)>& can_fuse_;
    Steps steps_;
    std::vector<std::size_t> readers_;
};

}  // namespace

std::optional<std::size_t> Steps::maker(std::size_t tensor) const
{
    for (std::size_t i = list.size(); i-- > 0;)
        if (list[i].output == tensor) return i;
    for (const JoinedTensor& of : joined)
        if (of.at_once && of.has(tensor)) return maker(of.whole);
    return std::nullopt;
}

Steps steps_of(const Network& network, const Hardware& hardware, const std::function<bool(const Network&, const Step&)>& can_fuse)
{
    return Joiner(network, hardware, can_fuse).steps();
}

// [spec] pdp.md 1.2; padding of five rows on top is always safe (2, point 9).
bool pdp_has(const Pool& pool)
{
    const auto has = [](const PoolAxis& axis) { return axis.kernel <= 8 && axis.stride <= 8 && axis.before <= 5 && axis.after <= 7; };
    return has(pool.x) && has(pool.y);
}

}  // namespace dlasim
