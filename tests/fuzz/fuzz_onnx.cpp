// ONNX models: read, understood, quantised, and the small ones planned on three machines, with the golden tensors of an image.
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx.pb.h>

#include "facts/presets.h"
#include "fuzz.h"
#include "network/images.h"
#include "onnx/images.h"
#include "onnx/importer.h"
#include "onnx/quantise.h"
#include "onnx/simplify.h"

namespace dlasim {
namespace fuzz_onnx {

using namespace fuzz;

constexpr std::uint64_t kSmall = 1 << 13;  // elements of a tensor, weights of a network
constexpr std::uint64_t kFewMacs = 1 << 20;

class Maker {
public:
    Maker()
    {
        model_.set_ir_version(7);
        model_.add_opset_import()->set_version(13);
    }
    Maker& node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output)
    {
        node_ = model_.mutable_graph()->add_node();
        node_->set_op_type(op);
        node_->set_name("n_" + output);
        for (const std::string& input : inputs) node_->add_input(input);
        node_->add_output(output);
        return *this;
    }
    Maker& with(const std::string& name, const std::vector<std::int64_t>& values)
    {
        auto* attribute = node_->add_attribute();
        attribute->set_name(name);
        attribute->set_type(::onnx::AttributeProto::INTS);
        for (const std::int64_t value : values) attribute->add_ints(value);
        return *this;
    }
    Maker& with(const std::string& name, std::int64_t value)
    {
        auto* attribute = node_->add_attribute();
        attribute->set_name(name);
        attribute->set_type(::onnx::AttributeProto::INT);
        attribute->set_i(value);
        return *this;
    }
    Maker& reals(const std::string& name, const std::vector<std::int64_t>& shape)
    {
        auto* tensor = constant(name, shape, ::onnx::TensorProto::FLOAT);
        for (std::int64_t i = 0, n = elements(shape); i < n; ++i) tensor->add_float_data(static_cast<float>((i * 37) % 23 - 11) / 16.0F);
        return *this;
    }
    Maker& positive(const std::string& name, std::int64_t count)
    {
        auto* tensor = constant(name, {count}, ::onnx::TensorProto::FLOAT);
        for (std::int64_t i = 0; i < count; ++i) tensor->add_float_data(0.5F + static_cast<float>(i));
        return *this;
    }
    Maker& number(const std::string& name, float value)
    {
        constant(name, {}, ::onnx::TensorProto::FLOAT)->add_float_data(value);
        return *this;
    }
    Maker& zero(const std::string& name)
    {
        constant(name, {}, ::onnx::TensorProto::INT8)->add_int32_data(0);
        return *this;
    }
    Maker& bytes(const std::string& name, const std::vector<std::int64_t>& shape)
    {
        auto* tensor = constant(name, shape, ::onnx::TensorProto::INT8);
        for (std::int64_t i = 0, n = elements(shape); i < n; ++i) tensor->add_int32_data(static_cast<std::int32_t>((i * 91) % 255 - 127));
        return *this;
    }
    Maker& wholes(const std::string& name, const std::vector<std::int64_t>& values)
    {
        auto* tensor = constant(name, {static_cast<std::int64_t>(values.size())}, ::onnx::TensorProto::INT64);
        for (const std::int64_t value : values) tensor->add_int64_data(value);
        return *this;
    }
    std::string file(const std::vector<std::int64_t>& input)
    {
        port(*model_.mutable_graph()->add_input(), "x", input);
        port(*model_.mutable_graph()->add_output(), node_->output(0), {});
        return model_.SerializeAsString();
    }

private:
    static std::int64_t elements(const std::vector<std::int64_t>& shape)
    {
        std::int64_t all = 1;
        for (const std::int64_t size : shape) all *= size;
        return all;
    }
    ::onnx::TensorProto* constant(const std::string& name, const std::vector<std::int64_t>& shape, int type)
    {
        auto* tensor = model_.mutable_graph()->add_initializer();
        tensor->set_name(name);
        tensor->set_data_type(type);
        for (const std::int64_t size : shape) tensor->add_dims(size);
        return tensor;
    }
    static void port(::onnx::ValueInfoProto& info, const std::string& name, const std::vector<std::int64_t>& shape)
    {
        info.set_name(name);
        auto* tensor = info.mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(::onnx::TensorProto::FLOAT);
        for (const std::int64_t size : shape) tensor->mutable_shape()->add_dim()->set_dim_value(size);
    }

    ::onnx::ModelProto model_;
    ::onnx::NodeProto* node_ = nullptr;
};

bool small(const Network& network)
{
    std::uint64_t weights = 0;
    for (const NetworkLayer& layer : network.layers) weights += layer.weights();
    for (const NetworkTensor& tensor : network.tensors)
        if (tensor.elements() > kSmall) return false;
    return weights <= kSmall && network.macs() <= kFewMacs;
}

bool small(const RealGraph& graph)
{
    for (const RealValue& value : graph.values)
        if (value.cube.elements() > kSmall) return false;
    std::uint64_t macs = 0;
    for (const RealNode& node : graph.nodes)
        if (node.convolves()) macs += node.geometry.macs();
    return macs <= kFewMacs;
}

/// A network that is planned has golden values of its output.
void run(const QuantisedNetwork& made, const char* preset, const std::vector<Tensor>& inputs)
{
    if (!small(made.network)) return;
    fuzz::taken_or_refused([&] {
        const NetworkPlan plan = plan_network(made.network, *find_preset(preset), MemorySpec{}, {});
        const auto golden = golden_tensors(plan, inputs);
        for (const QuantisedNetwork::Output& output : made.outputs)
            fuzz::expect(golden[output.tensor].has_value(), "a network that is planned has its outputs");
    });
}

bool take(const std::string& bytes)
{
    return fuzz::taken_or_refused([&] {
               RealGraph graph = real_graph(onnx_from_bytes(bytes, "m.onnx"));
               simplify(graph);
               if (!small(graph)) return;
               const Images images(graph, {}, "--input", 1);
               Ranges ranges(graph);
               ranges.see(evaluate(graph, images.reals(0)));
               RealGraph copy = graph;
               fuzz::taken_or_refused([&] { run(fp16_network(copy), "nv_full", images.fp16(0)); });
               const QuantisedNetwork quantised = dlasim::quantised(graph, ranges);
               for (const char* preset : {"nv_full", "nv_small", "nv_large"}) run(quantised, preset, images.integers(0));
           }) == 0;
}

std::vector<std::string> seeds()
{
    google::protobuf::SetLogHandler(nullptr);  // what it says of broken files
    return {Maker()
                .node("Conv", {"x", "w", "b"}, "c")
                .with("pads", {1, 1, 1, 1})
                .with("strides", {2, 1})
                .with("group", 1)
                .node("BatchNormalization", {"c", "g", "b", "b", "v"}, "n")
                .node("Relu", {"n"}, "r")
                .node("MaxPool", {"r"}, "p")
                .with("kernel_shape", {2, 2})
                .with("strides", {2, 2})
                .node("Flatten", {"p"}, "f")
                .node("Gemm", {"f", "w2", "b2"}, "y")
                .with("transB", 1)
                .node("Softmax", {"y"}, "z")
                .with("axis", -1)
                .reals("w", {4, 2, 3, 3})
                .reals("b", {4})
                .reals("g", {4})
                .reals("b2", {3})
                .positive("v", 4)
                .reals("w2", {3, 16})
                .file({1, 2, 8, 5}),
            Maker()
                .node("QuantizeLinear", {"x", "s", "z"}, "q")
                .node("DequantizeLinear", {"q", "s", "z"}, "d")
                .node("DequantizeLinear", {"w", "s", "z"}, "wd")
                .node("Conv", {"d", "wd"}, "c")
                .with("group", 2)
                .with("dilations", {2, 1})
                .node("Add", {"c", "d2"}, "a")
                .node("QuantizeLinear", {"a", "s2", "z"}, "aq")
                .number("s", 0.05F)
                .number("s2", 0.25F)
                .zero("z")
                .bytes("w", {6, 2, 1, 1})
                .reals("d2", {1, 6, 1, 1})
                .file({1, 4, 5, 5}),
            Maker()
                .node("ConvTranspose", {"x", "w"}, "t")
                .with("strides", {2, 2})
                .with("output_padding", {0, 0})
                .node("LeakyRelu", {"t"}, "l")
                .node("AveragePool", {"l"}, "p")
                .with("kernel_shape", {3, 3})
                .with("pads", {1, 1, 1, 1})
                .with("count_include_pad", 1)
                .node("Concat", {"p", "l"}, "j")
                .with("axis", 1)
                .node("LRN", {"j"}, "n")
                .with("size", 3)
                .node("Sigmoid", {"n"}, "s")
                .node("Mul", {"s", "n"}, "m")
                .node("Resize", {"m", "", "sc"}, "u")
                .node("Reshape", {"u", "to"}, "y")
                .reals("w", {3, 4, 2, 2})
                .reals("k", {1})
                .wholes("to", {1, 8, -1})
                .wholes("sc", {1, 1, 2, 2})
                .file({1, 3, 3, 4}),
            Maker()
                .node("Pad", {"x", "pads"}, "p")
                .node("Conv", {"p", "w"}, "c")
                .with("strides", {9, 9})
                .node("Slice", {"c", "from", "to", "axes"}, "s")
                .node("DepthToSpace", {"s"}, "d")
                .with("blocksize", 2)
                .node("Resize", {"d", "", "sc"}, "r")
                .node("InstanceNormalization", {"r", "g", "g"}, "n")
                .node("Gather", {"n", "i"}, "y")
                .with("axis", 2)
                .wholes("pads", {0, 0, 1, 1, 0, 0, 1, 1})
                .wholes("from", {0})
                .wholes("to", {4})
                .wholes("axes", {1})
                .wholes("i", {1, 0, -1})
                .wholes("sc", {1, 1, 2, 2})
                .reals("w", {5, 2, 3, 3})
                .reals("g", {1})
                .file({1, 2, 16, 17}),
            Maker()
                .node("Transpose", {"x"}, "t")
                .node("MatMul", {"x", "t"}, "m")
                .node("Softmax", {"m"}, "a")
                .with("axis", -1)
                .node("MatMul", {"a", "x"}, "c")
                .node("Flatten", {"c"}, "f")
                .with("axis", 0)
                .node("ArgMax", {"f"}, "y")
                .with("axis", 1)
                .file({4, 6}),
            Maker()
                .node("Transpose", {"x"}, "t")
                .with("perm", {0, 2, 3, 1})
                .node("GlobalAveragePool", {"t"}, "g")
                .node("Add", {"t", "g"}, "a")
                .node("MatMul", {"a", "w"}, "m")
                .node("Transpose", {"m"}, "y")
                .with("perm", {0, 1, 3, 2})
                .reals("w", {3, 5})
                .file({1, 3, 2, 4})};
}

std::vector<std::string> words()
{
    return {"Conv",   "Relu",  "Gemm",       "Add",     "Mul",       "Clip",   "pads", "group", "axis",
            "Tanh",   "PRelu", "Concat",     "Softmax", "Transpose", "MatMul", "Pad",  "Slice", "Split",
            "Gather", "Div",   "ReduceMean", "perm",    "x",         "w",      "b",    "c",     "d"};
}

int input(const std::uint8_t* data, std::size_t size) { return take({reinterpret_cast<const char*>(data), size}) ? 0 : -1; }

const Target target("onnx", seeds, words, input);

}  // namespace fuzz_onnx
}  // namespace dlasim
