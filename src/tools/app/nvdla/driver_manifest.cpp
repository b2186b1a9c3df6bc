#include "app/nvdla/driver_manifest.h"

namespace dlasim {
namespace {

constexpr unsigned kHalfElements = 2, kWordElements = 3, kFirstFeatureFormat = 36;

const char* element_name(unsigned type) { return type == kHalfElements ? "fp16" : type == kWordElements ? "int16" : "int8"; }

const char* function_word(Function::Kind kind)
{
    constexpr const char* kWords[] = {"sigmoid", "tanh", "elu", "selu",       "softplus", "softsign", "hard_sigmoid", "hard_swish", "exp",
                                      "log",     "sqrt", "abs", "reciprocal", "erf",      "power",    "gelu",         "gelu_tanh",  "mish"};
    return kWords[static_cast<std::size_t>(kind)];
}

OrderedJson pool_parameters(const NetworkLayer& layer)
{
    const Pool& pool = layer.pool;
    const char* function = pool.function == PoolFunction::Average ? "average" : pool.function == PoolFunction::Max ? "max" : "min";
    return {{"function", function},
            {"kernel", {pool.y.kernel, pool.x.kernel}},
            {"stride", {pool.y.stride, pool.x.stride}},
            {"pad", {pool.y.before, pool.x.before}},
            {"padding_counts", !(layer.numbers && layer.numbers->exclusive)}};
}

}  // namespace

OrderedJson manifest_tensor(const ManifestTensor& of)
{
    const loadable::TensorEntry& t = of.tensor;
    const bool features = t.pixel_format >= kFirstFeatureFormat;
    OrderedJson json{{"name", t.name}, {"shape", {t.n, of.channels, t.h, t.w}}, {"type", element_name(t.type)}};
    if (of.quantisation) {
        json["scale"] = of.quantisation->scale;
        json["zero_point"] = of.quantisation->zero;
    }
    json["layout"] = {{"kind", features ? "features" : "pixels"}, {"pixel_format", t.pixel_format}};
    if (features) json["layout"]["atom_bytes"] = t.pixel_format == kFirstFeatureFormat ? 32 : 8;
    else json["layout"]["components"] = t.pixel_format <= 5 ? 1 : 4;
    json["layout"]["line_stride"] = t.line_stride;
    json["layout"]["surface_stride"] = t.surface_stride;
    json["layout"]["bytes"] = of.bytes;
    if (!of.pieces.empty()) {
        json["layout"]["pieces"] = OrderedJson::array();
        for (const ChannelPiece& piece : of.pieces) json["layout"]["pieces"].push_back({piece.first, piece.count, piece.at});
    }
    return json;
}

OrderedJson manifest_begin(const Hardware& hardware, const std::string& name)
{
    return {{"format", kManifestFormat}, {"version", 1}, {"name", name}, {"machine", hardware.name}};
}

OrderedJson manifest_file(const std::string& file, const std::vector<loadable::BoundTensor>& bound)
{
    OrderedJson json{{"file", file}, {"inputs", OrderedJson::array()}, {"outputs", OrderedJson::array()}};
    for (const loadable::BoundTensor& tensor : bound) json[tensor.output ? "outputs" : "inputs"].push_back(tensor.tensor.name);
    return json;
}

OrderedJson manifest_preprocessing(const std::string& input, const Preprocessing& p, std::uint32_t channels)
{
    OrderedJson json{{"input", input}, {"resize", nullptr}, {"crop", nullptr}};
    if (p.resize && p.resize->height == 0) json["resize"] = {{"shorter_side", p.resize->width}};
    else if (p.resize) json["resize"] = {{"width", p.resize->width}, {"height", p.resize->height}};
    if (p.resize) json["resize"]["filter"] = "bilinear of Pillow";
    if (p.crop) json["crop"] = {{"width", p.crop->width}, {"height", p.crop->height}, {"at", "centre"}};
    json["colours"] = colours_name(p.colours_of(channels));
    json["mean"] = json["norm"] = OrderedJson::array();
    for (std::uint32_t c = 0; c < channels; ++c) {
        json["mean"].push_back(p.mean_of(c));
        json["norm"].push_back(p.norm_of(c));
    }
    json["number"] = "(byte - mean) / norm";
    return json;
}

OrderedJson compute_parameters(const Compute& compute)
{
    OrderedJson axes = OrderedJson::array();
    for (const ResampledAxis& axis : compute.axes) {
        OrderedJson outputs = OrderedJson::array();
        for (const auto& output : axis.outputs) {
            OrderedJson taps = OrderedJson::array();
            for (const ResampledAxis::Tap& tap : output) taps.push_back({tap.from, tap.weight});
            outputs.push_back(std::move(taps));
        }
        axes.push_back(std::move(outputs));
    }
    return {{"name", compute_name(compute.kind)},
            {"sizes", {compute.outer, compute.rows, compute.count, compute.inner, compute.columns}},
            {"epsilon", compute.epsilon},
            {"axes", axes}};
}

OrderedJson function_parameters(const Function& function)
{
    return {{"function", function_word(function.kind)}, {"alpha", function.alpha}, {"beta", function.beta}};
}

OrderedJson reshape_parameters(const Move& move) { return {{"from", move.from}, {"fill", move.fill}}; }

void add_trailing(OrderedJson& manifest, const ModelOutput& output)
{
    for (const TrailingStep& step : output.steps) {
        OrderedJson json{{"cpu", "compute"},  {"step", step.output},    {"why", "the model ends without a scale"},
                         {"numbers", "real"}, {"inputs", {step.input}}, {"outputs", {step.output}}};
        if (step.node.op == RealOp::Softmax) {
            json["cpu"] = network_op_name(NetworkOp::Softmax);
            json["parameters"] = {{"logarithm", step.node.logarithm}};
        } else if (step.node.op == RealOp::Function) {
            json["cpu"] = network_op_name(NetworkOp::Function);
            json["parameters"] = function_parameters(step.node.function);
        } else if (step.node.op == RealOp::Reshape) {
            json["cpu"] = network_op_name(NetworkOp::Reshape);
            json["parameters"] = reshape_parameters(step.node.move);
        } else {
            json["parameters"] = compute_parameters(step.node.compute);
        }
        manifest["order"].push_back(std::move(json));
        manifest["tensors"].push_back(
            {{"name", step.output}, {"shape", {1, step.shape.c, step.shape.h, step.shape.w}}, {"type", "float32"}});
    }
}

OrderedJson manifest_cpu(const NetworkPlan& plan, const Step& step)
{
    const NetworkLayer& layer = plan.network.layers[step.layer];
    OrderedJson json{{"cpu", step.activation == Activation::Tanh && !layer.numbers ? "tanh" : network_op_name(layer.op)},
                     {"step", step.name},
                     {"why", step.why},
                     {"inputs", OrderedJson::array()},
                     {"outputs", {plan.steps.tensors[step.output].name}}};
    for (const std::size_t tensor : step.inputs) json["inputs"].push_back(plan.steps.tensors[tensor].name);
    if (layer.op == NetworkOp::Pool) json["parameters"] = pool_parameters(layer);
    if (layer.op == NetworkOp::Upsample)
        json["parameters"] = {{"factor", {layer.factor.y, layer.factor.x}}, {"copies", layer.numbers ? layer.numbers->copies : 1}};
    if (!layer.numbers) return json;
    if (layer.op == NetworkOp::Function) json["parameters"] = function_parameters(layer.numbers->function);
    if (layer.op == NetworkOp::Reshape) json["parameters"] = reshape_parameters(layer.numbers->move);
    if (layer.op == NetworkOp::Compute) json["parameters"] = compute_parameters(layer.numbers->compute);
    return json;
}

OrderedJson tensors_manifest(const Hardware& hardware, const std::string& name, const std::vector<loadable::BoundTensor>& bound)
{
    OrderedJson json = manifest_begin(hardware, name);
    const OrderedJson file = manifest_file(driver_file_name(name, 0, 1), bound);
    json["inputs"] = file["inputs"];
    json["outputs"] = file["outputs"];
    json["tensors"] = OrderedJson::array();
    for (const loadable::BoundTensor& tensor : bound)
        json["tensors"].push_back(manifest_tensor({tensor.tensor, tensor.bytes, {}, tensor.tensor.c}));
    json["order"] = {file};
    return json;
}

}  // namespace dlasim
