// The golden layer in two steps is the golden layer.
#include "golden/staged.h"

#include <gtest/gtest.h>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "golden/reference.h"

namespace dlasim {
namespace staged_test {

constexpr const char* kLayers[] = {
    R"({"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}, "pad": {"left": 1},
        "post": {"bias": true, "activation": "relu", "output": {"shift": 7}}})",
    R"({"input": {"width": 8, "height": 6, "channels": 16}, "kernel": {"width": 1, "height": 1, "count": 16},
        "post": {"bn": {"alu": {"per": "element", "shift": 5}, "operand_bytes": 1}, "output": {"shift": 8},
                 "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}}})",
    R"({"op": "sdp", "input": {"width": 5, "height": 4, "channels": 24}, "post": {"bs": {"alu": {"per": "element"}, "operand_bytes": 1}}})"};

TEST(StagedReference, EqualsTheReferenceInOneStep)
{
    const Hardware& hardware = *find_preset("nv_small");
    for (const char* text : kLayers) {
        const Layer layer = layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
        const LayerTensors tensors = load_tensors(layer);
        StagedReference staged(layer, tensors.input, tensors.weights);
        EXPECT_EQ(staged.output(layer, hardware, tensors), reference_output(layer, hardware, tensors, {})) << text;
    }
}

TEST(StagedReference, SamplesAreWhatComesToTheConverter)
{
    const Hardware& hardware = *find_preset("nv_small");
    Layer layer = layer_from_json(parse_json(kLayers[0], "l.json"), "l.json", "", "");
    const LayerTensors tensors = load_tensors(layer);
    const StagedReference staged(layer, tensors.input, tensors.weights);
    const std::vector<std::int64_t> all = staged.sample(layer, hardware, tensors, SIZE_MAX);
    EXPECT_EQ(all.size(), std::size_t{10} * layer.out_width() * layer.out_height());
    EXPECT_LE(staged.sample(layer, hardware, tensors, 50).size(), 50u);
    // As int16 nothing is cut off but beyond 16 bits: the converter shows them.
    layer.output = {.precision = Precision::Int16, .offset = 0, .scale = 1, .shift = 4};
    const Tensor wide = reference_output(layer, *find_preset("nv_full"), tensors, {});
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(wide.values[i], static_cast<std::int16_t>(std::min<std::int64_t>((all[i] + 8) / 16, 32767)));
}

}  // namespace staged_test
}  // namespace dlasim
