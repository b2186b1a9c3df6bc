// Layer descriptors: read, planned on three machines, and lowered where that is small.
#include "config/layer/layer_reader.h"
#include "config/layer/transfer_reader.h"
#include "config/model/tensors.h"
#include "facts/presets.h"
#include "fuzz.h"
#include "lowering/plan.h"

namespace dlasim {
namespace fuzz_layer {

using namespace fuzz;

constexpr std::uint64_t kSmall = 1 << 14;  // elements of a tensor that is made

/// Planned as it stands, and as the line of a network would.
bool planned(const Layer& layer, const char* preset)
{
    const Hardware& hardware = *find_preset(preset);
    return fuzz::taken_or_refused([&] {
               plan_shape(layer, hardware);
               const std::uint64_t input = std::uint64_t{layer.batch} * layer.width * layer.height * layer.channels;
               const std::uint64_t output = std::uint64_t{layer.batch} * layer.out_width() * layer.out_height() * layer.kernels;
               const std::uint64_t weights = std::uint64_t{layer.kernels} * layer.channels * layer.kernel_width * layer.kernel_height;
               if (std::max({input, output, weights}) > kSmall) return;
               plan_layer(layer, hardware, load_tensors(layer));
           }) == 0;
}

bool take(const std::string& text)
{
    return fuzz::taken_or_refused([&] {
               const Layer layer = layer_from_json(parse_json(text, "l.json"), "l.json", "", "");
               const std::string written = layer_json(layer).dump();
               const Layer again = layer_from_json(parse_json(written, "again.json"), "again.json", "", "");
               fuzz::expect(layer_json(again).dump() == written, "a layer read again is the same layer");
               bool any = false;
               for (const char* preset : {"nv_full", "nv_small", "nv_large"}) any |= planned(layer, preset);
               if (!any) throw ConfigError("l.json", "fits no machine");
           }) == 0;
}

std::vector<std::string> seeds()
{
    std::vector<std::string> all;
    for (const std::string& text : repository_files("models", ".json"))
        if (!is_transfer(parse_json(text, "model")) && take(text)) all.push_back(text);  // some fit larger machines only
    for (const char* text : {
             R"({ "name": "l", "op": "conv2d", "input": {"width": 28, "height": 28, "channels": 8, "batch": 1, "format": "feature"},
               "kernel": {"width": 3, "height": 3, "count": 16}, "stride": {"x": 1, "y": 1}, "dilation": {"x": 1, "y": 1}, "groups": 1,
               "pad": {"left": 1, "right": 1, "top": 1, "bottom": 1, "value": 0}, "precision": "int8", "mode": "auto",
               "post": {"bias": true, "activation": "relu", "output": {"precision": "int8", "offset": 0, "scale": 1, "shift": 8}},
               "data": {"seed": 1},
               "partition": {"rows": 9, "kernels": 8, "data_banks": 12, "weight_banks": 2, "reuse_data": true, "reuse_weights": true} })",
             R"({ "op": "conv2d", "input": {"width": 9, "height": 7, "channels": 8, "conversion": {"offset": 3, "scale": 5, "shift": 2}},
               "kernel": {"width": 1, "height": 1, "count": 16}, "precision": "int8",
               "placement": {"input": {"memory": "cvsram", "address": 0}, "bn": 3221225472},
               "post": {"bias": {"shift": 3}, "bn": {"alu": {"op": "max", "per": "element", "shift": 4},
                        "mul": {"per": "element", "prelu": true}, "shift": 7, "operand_bytes": 1},
                        "ew": {"mul": {"per": "layer", "value": 12}, "shift": 3,
                               "alu": {"per": "kernel", "conversion": {"offset": 1, "scale": 2, "truncate": 3}},
                               "lut": {"function": "tanh", "input_scale": 0.01, "output_scale": 0.001}}} })",
             R"({ "op": "sdp", "input": {"width": 9, "height": 7, "channels": 32, "precision": "int16"},
               "post": {"bs": {"mul": {"per": "layer", "value": 3}, "shift": 2, "relu": true},
                        "ew": {"alu": {"op": "equal", "per": "element"}}, "output": {"shift": 8}} })"})
        all.emplace_back(text);
    return all;
}

std::vector<std::string> words()
{
    return {"fp16", "int8", "int16", "deconv2d", "conv2d", "sdp", "T_R8", "winograd", "direct", "image", "auto", "relu", "dbb", "cvsram"};
}

int input(const std::uint8_t* data, std::size_t size) { return take({reinterpret_cast<const char*>(data), size}) ? 0 : -1; }

const Target target("layer", seeds, words, input);

}  // namespace fuzz_layer
}  // namespace dlasim
