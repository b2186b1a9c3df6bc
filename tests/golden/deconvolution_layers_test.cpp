// The deconvolutions of two generators through the whole machine: the layers of the 64 x 64 DCGAN in every
// precision, those of the paper's network in int8. Expected values from the scatter form, shapes from tests/data/workloads,
// traffic by hand: every phase reads the input, Rubik reads and writes the output once.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "simulated.h"

namespace dlasim {
namespace deconvolution_layers_test {

const std::string kModels = std::string(DLASIM_SOURCE) + "/models/";

std::uint64_t bytes_of(const std::vector<std::pair<std::string, std::uint64_t>>& clients, const std::string& name)
{
    std::uint64_t bytes = 0;
    for (const auto& [client, count] : clients)
        if (client == name) bytes += count;
    return bytes;
}

void set_precision(Layer& layer, Precision precision)
{
    layer.precision = layer.output.precision = precision;
    if (precision == Precision::Int8) return;
    // int16: inputs and weights are larger by 4 bits each, results by 8.
    layer.output.shift = precision == Precision::Int16 ? layer.output.shift : 0;
}

void verify(const Layer& layer)
{
    const Hardware& hw = *find_preset("nv_full");
    const LayerPlan plan = plan_shape(layer, hw);
    const Simulation s = simulated(job_of(layer, hw, MemorySpec{}));
    ASSERT_FALSE(s.run.hung) << s.run.diagnosis;
    EXPECT_TRUE(s.comparison->equal()) << s.comparison->mismatches << " of " << s.comparison->compared << " differ; "
                                       << (s.comparison->examples.empty() ? "" : s.comparison->examples[0]);
    const bool strided = layer.stride.x * layer.stride.y > 1;
    const std::uint64_t phases = layer.stride.x * layer.stride.y, es = layer.element_bytes();
    const auto surfaces = [&](std::uint64_t channels) { return (channels * es + 31) / 32; };
    const std::uint64_t copied = strided ? surfaces(layer.kernels) * 32 * layer.out_width() * layer.out_height() : 0;
    EXPECT_EQ(plan.passes.size(), phases);
    EXPECT_EQ(bytes_of(s.run.dbb.read_bytes_by_client, "RBK"), copied);
    EXPECT_EQ(bytes_of(s.run.dbb.write_bytes_by_client, "RBK"), copied);
    const std::uint64_t beats = (surfaces(layer.channels) * layer.width * layer.height + 1) / 2;  // of 64 bytes
    EXPECT_EQ(bytes_of(s.run.dbb.read_bytes_by_client, "CDMA_DAT"), phases * beats * 64);
    EXPECT_EQ(s.run.interrupt_cycles.size(), phases + (strided ? 1 : 0));
    std::printf("%s %s: %lld cycles to the last interrupt, %lld to the last convolution's; %llu MACs, %llu bytes through Rubik each way\n",
                layer.name.c_str(), precision_name(layer.precision), static_cast<long long>(s.run.interrupt_cycles.back()),
                static_cast<long long>(s.run.interrupt_cycles[phases - 1]), static_cast<unsigned long long>(layer.macs()),
                static_cast<unsigned long long>(copied));
}

/// Layers of a workload as descriptors.
std::vector<Layer> workload(const std::string& name)
{
    std::ifstream file(std::string(DLASIM_TEST_DATA) + "/workloads/" + name + ".json");
    std::vector<Layer> layers;
    if (!file) return layers;
    const nlohmann::json network = nlohmann::json::parse(file);
    for (const auto& entry : network["layers"]) {
        const auto number = [&](const char* object, const char* key) { return entry[object][key].get<std::uint32_t>(); };
        Layer l;
        l.op = Op::Deconvolution;
        l.name = name + "." + entry["name"].get<std::string>();
        l.width = number("in", "w"), l.height = number("in", "h"), l.channels = number("in", "c");
        l.kernel_width = number("kernel", "w"), l.kernel_height = number("kernel", "h"), l.kernels = number("out", "k");
        l.stride = {number("stride", "x"), number("stride", "y")};
        l.pad = {number("pad", "left"), number("pad", "right"), number("pad", "top"), number("pad", "bottom"), 0};
        if (entry["bias"]) l.post.add_bias();
        l.post.bs().relu = entry["activation"] == "relu";
        l.output.shift = 12;
        EXPECT_EQ(l.out_width(), number("out", "w")) << l.name;
        EXPECT_EQ(l.out_height(), number("out", "h")) << l.name;
        layers.push_back(l);
    }
    return layers;
}

class Generator : public testing::TestWithParam<std::tuple<int, Precision>> {};

TEST_P(Generator, IsExactInEveryLayerAndPrecision)
{
    const auto [number, precision] = GetParam();
    Layer layer = read_layer(kModels + "dcgan_deconv" + std::to_string(number) + ".json");
    set_precision(layer, precision);
    verify(layer);
}

INSTANTIATE_TEST_SUITE_P(Dcgan, Generator,
                         testing::Combine(testing::Range(1, 6), testing::Values(Precision::Int8, Precision::Int16, Precision::Fp16)),
                         [](const auto& info) {
                             return "deconv" + std::to_string(std::get<0>(info.param)) + "_" + precision_name(std::get<1>(info.param));
                         });

class PaperGenerator : public testing::TestWithParam<int> {};

TEST_P(PaperGenerator, IsExactInEveryLayer)
{
    const std::vector<Layer> layers = workload("dcgan_generator_paper");
    ASSERT_FALSE(layers.empty());
    verify(layers.at(static_cast<std::size_t>(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Dcgan, PaperGenerator, testing::Range(0, 5));

TEST(Models, HaveTheShapesOfTheWorkload)
{
    const std::vector<Layer> layers = workload("dcgan_generator");
    ASSERT_FALSE(layers.empty());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer model = read_layer(kModels + "dcgan_deconv" + std::to_string(i + 1) + ".json");
        const auto shape = [](const Layer& l) {
            return std::vector<std::uint32_t>{l.width,   l.height,     l.channels,    l.kernel_width,  l.kernel_height,
                                              l.kernels, l.stride.x,   l.stride.y,    l.pad.left,      l.pad.right,
                                              l.pad.top, l.pad.bottom, l.post.bias(), l.post.bs().relu};
        };
        EXPECT_EQ(shape(model), shape(layers[i])) << model.name;
    }
}

}  // namespace deconvolution_layers_test
}  // namespace dlasim
