#include "report/network/network_steps.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "config/layer/layer_reader.h"
#include "config/layer/pool_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/model/tensors.h"
#include "config/npy.h"
#include "network/step_layer.h"
#include "replay/events.h"

namespace dlasim {
namespace {

const char* function_name(Function::Kind kind)
{
    constexpr std::array kWords{"Sigmoid",
                                "Tanh",
                                "Elu",
                                "Selu",
                                "Softplus",
                                "Softsign",
                                "HardSigmoid",
                                "HardSwish",
                                "Exp",
                                "Log",
                                "Sqrt",
                                "Abs",
                                "Reciprocal",
                                "Erf",
                                "Pow",
                                "Gelu",
                                "Gelu, approximate tanh",
                                "Mish"};
    static_assert(kWords.size() == static_cast<std::size_t>(Function::Kind::Mish) + 1);
    return kWords[static_cast<std::size_t>(kind)];
}

constexpr std::size_t kMaxOfName = 100;  // of a step, in the names of its files

struct TensorView {
    const NetworkTensor& tensor;
};
struct JoinView {
    const NetworkPlan& plan;
    const JoinedTensor& joined;
};
struct StepView {
    const NetworkPlan& plan;
    std::size_t i;
    const Step& step = plan.steps.list[i];
    const NetworkLayer& layer = plan.network.layers[step.layer];

    bool host() const { return step.unit == StepUnit::Host; }
    bool host(NetworkOp op) const { return host() && layer.op == op; }
    std::string stem() const { return fmt::format("{:03}_{}", i, file_stem(step.name.substr(0, kMaxOfName))); }
};
OrderedJson taps_json(const Compute& compute)
{
    OrderedJson axes = OrderedJson::array();
    for (const ResampledAxis& axis : compute.axes) {
        OrderedJson outputs = OrderedJson::array();
        for (const std::vector<ResampledAxis::Tap>& output : axis.outputs) {
            OrderedJson taps = OrderedJson::array();
            for (const ResampledAxis::Tap& tap : output) taps.push_back({tap.from, tap.weight});
            outputs.push_back(std::move(taps));
        }
        axes.push_back(std::move(outputs));
    }
    return axes;
}

OrderedJson names_of(const NetworkPlan& plan, const std::vector<std::size_t>& tensors)
{
    OrderedJson names = OrderedJson::array();
    for (const std::size_t tensor : tensors) names.push_back(plan.steps.tensors[tensor].name);
    return names;
}

constexpr std::array kTensorKeys{
    Key<TensorView>{{"name", "text", "", "as in `tensors` of `result.json`"},
                    [](const TensorView& t) -> OrderedJson { return t.tensor.name; }},
    Key<TensorView>{{"shape", "list", "", "channels, rows and columns"},
                    [](const TensorView& t) -> OrderedJson {
                        return {t.tensor.channels, t.tensor.height, t.tensor.width};
                    }},
    Key<TensorView>{
        {"scale", "number", "", "real number of a step", "int8"},
        [](const TensorView& t) -> OrderedJson { return t.tensor.quantisation ? OrderedJson(t.tensor.quantisation->scale) : kAbsent; }},
    Key<TensorView>{
        {"zero_point", "integer", "", "integer that represents 0", "int8"},
        [](const TensorView& t) -> OrderedJson { return t.tensor.quantisation ? OrderedJson(t.tensor.quantisation->zero) : kAbsent; }},
};

constexpr std::array kJoinKeys{
    Key<JoinView>{{"output", "text", "", "tensor"},
                  [](const JoinView& j) -> OrderedJson { return j.plan.steps.tensors[j.joined.whole].name; }},
    Key<JoinView>{{"inputs", "list", "", "its parts, concatenated along channels"},
                  [](const JoinView& j) { return names_of(j.plan, j.joined.parts); }},
};

constexpr std::array kStepKeys{
    Key<StepView>{{"name", "text", "", "of the last layer in it"}, [](const StepView& s) -> OrderedJson { return s.step.name; }},
    Key<StepView>{{"op", "text", "", "of its first layer: NETWORK.md, or affine, multiply, function, reshape, compute"},
                  [](const StepView& s) -> OrderedJson { return network_op_name(s.layer.op); }},
    Key<StepView>{{"inputs", "list", "", "tensors that it reads; the one that SDP reads beside the last"},
                  [](const StepView& s) {
                      std::vector<std::size_t> all = s.step.inputs;
                      if (s.step.addend) all.push_back(*s.step.addend);
                      return names_of(s.plan, all);
                  }},
    Key<StepView>{{"output", "text", "", "tensor that it writes"},
                  [](const StepView& s) -> OrderedJson { return s.plan.steps.tensors[s.step.output].name; }},
    Key<StepView>{{"layer", "text", "", "file of the layer, for `dlasim run`", "steps of units"},
                  [](const StepView& s) -> OrderedJson { return s.host() ? kAbsent : OrderedJson(s.stem() + ".json"); }},
    Key<StepView>{{"weight_scale", "list", "", "real number of a step of the weights: one, or one per kernel", "steps of the array, int8"},
                  [](const StepView& s) -> OrderedJson {
                      if (!s.layer.convolves() || s.plan.network.is_fp16()) return kAbsent;
                      return s.layer.numbers->weight_scale;
                  }},
    Key<StepView>{{"function/name", "text", "", "operator of ONNX", "CPU fallback"},
                  [](const StepView& s) -> OrderedJson {
                      return s.host(NetworkOp::Function) ? OrderedJson(function_name(s.layer.numbers->function.kind)) : kAbsent;
                  }},
    Key<StepView>{{"function/alpha", "number", "", "its first parameter, 0 without one", "CPU fallback"},
                  [](const StepView& s) -> OrderedJson {
                      return s.host(NetworkOp::Function) ? OrderedJson(s.layer.numbers->function.alpha) : kAbsent;
                  }},
    Key<StepView>{{"function/beta", "number", "", "its second one; gamma of Selu", "CPU fallback"},
                  [](const StepView& s) -> OrderedJson {
                      return s.host(NetworkOp::Function) ? OrderedJson(s.layer.numbers->function.beta) : kAbsent;
                  }},
    Key<StepView>{{"factor", "list", "", "repetitions of channels, rows and columns", "CPU fallback"},
                  [](const StepView& s) -> OrderedJson {
                      if (!s.host(NetworkOp::Upsample)) return kAbsent;
                      return {s.layer.numbers->copies, s.layer.factor.y, s.layer.factor.x};
                  }},
    Key<StepView>{
        {"from", "list", "", "index of the input element per output element, -1: `fill`; empty: in order", "reshape"},
        [](const StepView& s) -> OrderedJson { return s.host(NetworkOp::Reshape) ? OrderedJson(s.layer.numbers->move.from) : kAbsent; }},
    Key<StepView>{
        {"fill", "number", "", "real number of the elements that `from` fills", "reshape"},
        [](const StepView& s) -> OrderedJson { return s.host(NetworkOp::Reshape) ? OrderedJson(s.layer.numbers->move.fill) : kAbsent; }},
    Key<StepView>{{"compute/name", "text", "", "matmul, divide, maximum, minimum, normalise, mean, resample or argmax", "compute"},
                  [](const StepView& s) -> OrderedJson {
                      return s.host(NetworkOp::Compute) ? OrderedJson(compute_name(s.layer.numbers->compute.kind)) : kAbsent;
                  }},
    Key<StepView>{{"compute/sizes", "list", "",
                   "outer, rows, count, inner, columns: the input is [outer, count, inner], of matmul [outer, rows, count]", "compute"},
                  [](const StepView& s) -> OrderedJson {
                      if (!s.host(NetworkOp::Compute)) return kAbsent;
                      const Compute& c = s.layer.numbers->compute;
                      return {c.outer, c.rows, c.count, c.inner, c.columns};
                  }},
    Key<StepView>{{"compute/epsilon", "number", "", "added to the variance", "compute"},
                  [](const StepView& s) -> OrderedJson {
                      return s.host(NetworkOp::Compute) ? OrderedJson(s.layer.numbers->compute.epsilon) : kAbsent;
                  }},
    Key<StepView>{
        {"compute/axes", "list", "", "of resample, by dimension and output: pairs of an element and its weight", "compute"},
        [](const StepView& s) -> OrderedJson { return s.host(NetworkOp::Compute) ? taps_json(s.layer.numbers->compute) : kAbsent; }},
    Key<StepView>{{"pool", "object", "", "as in a descriptor", "CPU fallback"},
                  [](const StepView& s) -> OrderedJson { return s.host(NetworkOp::Pool) ? pool_json(s.layer.pool) : kAbsent; }},
    Key<StepView>{
        {"exclusive", "flag", "", "an average divides by the elements of its window that are no padding", "CPU fallback"},
        [](const StepView& s) -> OrderedJson { return s.host(NetworkOp::Pool) ? OrderedJson(s.layer.numbers->exclusive) : kAbsent; }},
};

constexpr std::array kFileKeys{
    Key<NetworkPlan>{{"inputs", "list", "", "external tensors, including constants of the model in memory"},
                     [](const NetworkPlan& plan) {
                         std::vector<std::size_t> inputs;
                         for (std::size_t t = 0; t < plan.network.tensors.size(); ++t)
                             if (!plan.network.tensors[t].layer) inputs.push_back(t);
                         return names_of(plan, inputs);
                     }},
    Key<NetworkPlan>{{"outputs", "list", "", "tensors that are outputs of the model, or inputs of CPU fallback after it"},
                     [](const NetworkPlan& plan) { return names_of(plan, plan.network.outputs); }},
    Key<NetworkPlan>{{"tensors", "list", "", "that exist"},
                     [](const NetworkPlan& plan) {
                         OrderedJson list = OrderedJson::array();
                         for (std::size_t t = 0; t < plan.steps.tensors.size(); ++t)
                             if (plan.exists(t)) list.push_back(written(kTensorKeys, TensorView{plan.steps.tensors[t]}));
                         return list;
                     }},
    Key<NetworkPlan>{{"concatenations", "list", "", "tensors whose parts are written in place: no steps"},
                     [](const NetworkPlan& plan) {
                         return written_list(kJoinKeys, plan.steps.joined, [&](const JoinedTensor& joined) {
                             return JoinView{plan, joined};
                         });
                     }},
    Key<NetworkPlan>{{"steps", "list", "", "in execution order"},
                     [](const NetworkPlan& plan) {
                         return written_list(kStepKeys, plan.steps.list.size(), [&](std::size_t i) { return StepView{plan, i}; });
                     }},
};

using Write = std::function<void(const std::string& name, const std::string& contents)>;

void write_transfer(const StepView& s, const std::vector<Tensor>& tensors, const Write& write)
{
    Lrn lrn = s.layer.lrn;
    lrn.data = s.stem() + ".input.npy";
    lrn.expected = s.stem() + ".expected.npy";
    Transfer transfer;
    transfer.name = s.step.name;
    transfer.what = lrn;
    write(lrn.data, npy_file(tensors[s.step.inputs.front()], lrn.precision));
    write(lrn.expected, npy_file(tensors[s.step.output], lrn.precision));
    write(s.stem() + ".json", json_file_text(transfer_json(transfer), 2));
}

void write_layer(const StepView& s, const std::vector<Tensor>& tensors, const Write& write)
{
    ScaledStep numbered = numbered_step(s.plan.network, s.plan.steps, s.step);
    Layer& layer = numbered.layer;
    const auto file = [&](const char* key) { return s.stem() + "." + key + ".npy"; };
    layer.data = {};
    layer.data.input = file("input");
    write(layer.data.input, npy_file(tensors[s.step.inputs.front()], layer.precision));
    if (layer.convolves()) {
        layer.data.weights = file("weights");
        write(layer.data.weights, npy_file(numbered.tensors.weights, layer.precision));
    }
    for (std::size_t slot = 0; slot < kOperandNames.size(); ++slot) {
        const PointEngine& engine = layer.post.engines[slot / 2];
        const Operand& operand = slot % 2 == 0 ? engine.alu : engine.mul;
        if (!operand.streamed()) continue;
        const bool element = operand.per == OperandPer::Element;
        const Tensor& values = element ? tensors[*s.step.addend] : numbered.tensors.operands[slot];
        layer.data.operands[slot] = file(kOperandNames[slot]);
        const bool half = layer.precision == Precision::Fp16;
        std::vector<std::uint64_t> shape{values.c};
        if (element) shape = {values.n, values.c, values.h, values.w};
        write(layer.data.operands[slot], npy_bytes(half ? "<f2" : "<i2", shape, {values.values.begin(), values.values.end()}));
    }
    if (!layer.pool) {
        layer.data.expected = file("expected");
        write(layer.data.expected, npy_file(tensors[s.step.output], layer.precision));
    }
    write(s.stem() + ".json", json_file_text(layer_json(layer), 2));
}

}  // namespace

std::string file_stem(const std::string& name)
{
    std::string stem;
    for (const char c : name) stem += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ? c : '_';
    return stem;
}

void write_steps(const NetworkPlan& plan, const std::vector<Tensor>& tensors, const Write& write)
{
    for (std::size_t i = 0; i < plan.steps.list.size(); ++i) {
        const StepView step{plan, i};
        if (step.host()) continue;
        if (step.step.unit == StepUnit::Cdp) write_transfer(step, tensors, write);
        else write_layer(step, tensors, write);
    }
    write(kStepsFile, json_file_text(written(kFileKeys, plan), 2));
}

std::vector<PlacedKey> network_step_keys()
{
    return placed(kFileKeys, "", kTensorKeys, "tensors/[]/", kJoinKeys, "concatenations/[]/", kStepKeys, "steps/[]/");
}

}  // namespace dlasim
