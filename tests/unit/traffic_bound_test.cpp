// Off-chip traffic of VGG-16 against the figures of the published procedure, and small cases by hand.
#include "jobs/traffic_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace dlasim {
namespace traffic_bound_test {

using Json = nlohmann::json;

/// 3 x 3, padding 1.
Layer convolution(std::uint32_t size, std::uint32_t channels, std::uint32_t kernels, std::uint32_t batch)
{
    Layer layer;
    layer.width = layer.height = size;
    layer.channels = channels;
    layer.kernels = kernels;
    layer.kernel_width = layer.kernel_height = 3;
    layer.pad = {1, 1, 1, 1, 0};
    layer.batch = batch;
    return layer;
}

std::vector<Layer> vgg16()
{
    std::vector<Layer> layers;
    std::uint32_t channels = 3;
    for (const auto& [size, kernels, count] : {std::tuple{224u, 64u, 2}, {112u, 128u, 2}, {56u, 256u, 3}, {28u, 512u, 3}, {14u, 512u, 3}})
        for (int i = 0; i < count; ++i) {
            layers.push_back(convolution(size, channels, kernels, 3));
            channels = kernels;
        }
    return layers;
}

double mebibytes(double words) { return words * 2 / (1 << 20); }

TEST(Dataflow, Vgg16IsWhatThePublishedProcedureSaysForEveryChipAndLayer)
{
    std::ifstream file(DLASIM_TEST_DATA "/workloads/hpca_vgg16.json");
    const Json published = Json::parse(file);
    const std::vector<Layer> layers = vgg16();
    ASSERT_EQ(published["results"].size(), 9u);
    for (const Json& chip : published["results"]) {
        const double words = chip["kb"].get<double>() * 1024 / 2;
        double bound = 0, best = 0, all_kernels = 0, all_places = 0, inputs_stay = 0, weights_stay = 0;
        ASSERT_EQ(chip["layers"].size(), layers.size());
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const Dataflows flows = dataflows_of(layers[i], words);
            const Json& row = chip["layers"][i];
            EXPECT_EQ(layers[i].macs(), row["macs"]);
            EXPECT_NEAR(mebibytes(flows.bound), row["lower_bound_mib"].get<double>(), 0.0006);
            ASSERT_TRUE(flows.best && flows.all_kernels && flows.all_places && flows.inputs_stay && flows.weights_stay);
            const TiledTraffic& t = *flows.best;
            EXPECT_EQ((std::vector{t.images, t.columns, t.rows, t.kernels, t.weights, t.inputs, t.outputs}),
                      (std::vector<std::uint64_t>{row["b"], row["x"], row["y"], row["z"], row["weights"], row["inputs"], row["outputs"]}));
            bound += flows.bound;
            best += static_cast<double>(t.all());
            all_kernels += static_cast<double>(*flows.all_kernels);
            all_places += static_cast<double>(*flows.all_places);
            inputs_stay += static_cast<double>(*flows.inputs_stay);
            weights_stay += static_cast<double>(*flows.weights_stay);
        }
        const std::pair<double, const char*> totals[] = {{bound, "lower_bound"},    {best, "proposed"},        {all_kernels, "out_kernels"},
                                                         {all_places, "out_plane"}, {inputs_stay, "in_reuse"}, {weights_stay, "wt_reuse"}};
        for (const auto& [words_moved, key] : totals)
            EXPECT_NEAR(mebibytes(words_moved), chip[key].get<double>(), 0.0051) << key << " " << chip["kb"];
    }
}

// Without halos and rounding, weights go with 1 / sqrt(B) and inputs with sqrt(B): beside the outputs a block of balance B moves
// (sqrt(B) + 1 / sqrt(B)) / 2 of what one of balance 1 does. The best one of an octave stands somewhere in it.
TEST(Dataflow, TrafficIsLeastAtABalanceOfOneAndGrowsAwayFromIt)
{
    const Dataflows flows = dataflows_of(convolution(112, 256, 1024, 3), 173.5 * 512);
    const double one = static_cast<double>(flows.balances.at(0)), moving = one - static_cast<double>(flows.best->outputs);
    const auto growth = [](double octave) { return (std::exp2(octave / 2) + std::exp2(-octave / 2)) / 2 - 1; };
    for (const int octave : {-4, -3, -2, -1, 1, 2, 3, 4}) {
        const double more = (static_cast<double>(flows.balances.at(octave)) - one) / moving;
        EXPECT_GE(more, 0.85 * growth(std::abs(octave) - 0.5)) << octave;
        EXPECT_LE(more, 1.15 * growth(std::abs(octave) + 0.5)) << octave;
    }
}

TEST(Dataflow, AChipThatHoldsAllMovesEverythingOnce)
{
    const Layer layer = convolution(8, 4, 4, 1);
    const Dataflows flows = dataflows_of(layer, 1 << 20);
    ASSERT_TRUE(flows.best);
    EXPECT_EQ(flows.best->weights, 9u * 4 * 4);
    EXPECT_EQ(flows.best->inputs, 8u * 8 * 4);
    EXPECT_EQ(flows.best->outputs, 8u * 8 * 4);
    EXPECT_EQ(flows.best->columns * flows.best->rows, 64u);
}

TEST(Dataflow, BlocksBesideEachOtherFetchTheirHaloTwiceAndNoPadding)
{
    // 8 + 16 * ... : sums of 4 x 8 places of one kernel, their window of 6 x 10 places, one tap.
    const Layer layer = convolution(8, 1, 1, 1);
    const Dataflows flows = dataflows_of(layer, 32 + 60 + 1);
    ASSERT_TRUE(flows.best);
    EXPECT_EQ(flows.best->inputs, 2u * 5 * 8);
    EXPECT_EQ(flows.best->weights, 2u * 9);
    EXPECT_FALSE(dataflows_of(layer, 10).best);  // one place takes 1 + 9 + 1
}

}  // namespace traffic_bound_test
}  // namespace dlasim
