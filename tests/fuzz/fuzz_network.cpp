// Networks: read, written and read again, and the small ones planned on three machines.
#include "config/network_reader.h"
#include "facts/presets.h"
#include "fuzz.h"
#include "network/plan.h"

namespace dlasim {
namespace fuzz_network {

using namespace fuzz;

constexpr std::uint64_t kSmall = 1 << 13;  // elements of a tensor, weights of a network
constexpr std::uint64_t kFewMacs = 1 << 20;

bool small(const Network& network)
{
    std::uint64_t weights = 0;
    for (const NetworkLayer& layer : network.layers) weights += layer.weights();
    for (const NetworkTensor& tensor : network.tensors)
        if (tensor.elements() > kSmall) return false;
    return weights <= kSmall && network.macs() <= kFewMacs;
}

bool take(const std::string& text)
{
    return fuzz::taken_or_refused([&] {
               const Network network = network_from_json(parse_json(text, "n.json"), "n.json");
               const std::string written = network_json(network).dump();
               const Network again = network_from_json(parse_json(written, "again.json"), "again.json");
               fuzz::expect(network_json(again).dump() == written, "a network read again is the same network");
               if (!small(network)) return;
               for (const char* preset : {"nv_full", "nv_small", "nv_large"})
                   fuzz::taken_or_refused([&] { plan_network(network, *find_preset(preset), MemorySpec{}, {}); });
           }) == 0;
}

std::vector<std::string> seeds()
{
    return {
        repository_file("models/networks/acri_mnist.json"), repository_file("models/networks/lenet5.json"),
        R"({ "name": "n", "source": "s", "input": {"width": 6, "height": 5, "channels": 12}, "layers": [
               {"name": "a", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 20}, "pads": [1, 1, 1, 1], "bias": true, "activation": "relu6"},
               {"name": "b", "op": "conv2d", "inputs": ["data"], "kernel": {"width": 1, "height": 1, "count": 20}, "normalised": true},
               {"name": "c", "op": "add", "inputs": ["a", "b"], "activation": "leaky"},
               {"name": "d", "op": "concat", "inputs": ["c", "a"], "output": {"width": 6, "height": 5, "channels": 40}},
               {"name": "e", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 40}, "groups": 4, "dilation": {"x": 1, "y": 2}, "activation": "tanh"},
               {"name": "f", "op": "upsample", "factor": {"x": 2, "y": 1}},
               {"name": "g", "op": "pool", "pool": {"function": "average", "kernel_shape": [1, 3], "strides": [1, 2]}},
               {"name": "h", "op": "deconv2d", "kernel": {"width": 2, "height": 2, "count": 3}, "stride": {"x": 2, "y": 2}},
               {"name": "i", "op": "softmax"}] })",
        R"({ "layers": [{"name": "x", "op": "lrn", "input": {"width": 3, "height": 2, "channels": 9}, "lrn": {"size": 5, "alpha": 0.001}},
               {"name": "y", "op": "pool", "pool": {"function": "max", "kernel": {"width": 2, "height": 2}, "pad": {"right": 1}, "ceil_mode": 1}},
               {"name": "z", "op": "fully_connected", "kernel": {"count": 4}, "bias": true}] })"};
}

std::vector<std::string> words()
{
    return {"conv2d", "deconv2d", "fully_connected", "pool", "add",  "lrn", "concat", "upsample", "softmax", "data",
            "none",   "relu",     "leaky",           "tanh", "data", "a",   "b",      "inputs",   "input",   "output"};
}

int input(const std::uint8_t* data, std::size_t size) { return take({reinterpret_cast<const char*>(data), size}) ? 0 : -1; }

const Target target("network", seeds, words, input);

}  // namespace fuzz_network
}  // namespace dlasim
