// Topologies of SCALE-Sim: read as networks, and the networks read as ours.
#include "config/description.h"
#include "config/network_reader.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_topology {

using namespace fuzz;

std::vector<std::string> seeds()
{
    return {
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
        "Conv1, 227, 227, 11, 11, 3, 96, 4,\nConv2, 31, 31, 5, 5, 96, 256, 1,\n",
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides, Sparsity\n"
        "a,8,9,3,3,16,16,1,1:1\nb,8,8,1,1,4,4,1\n",
        "Layer, M, N, K,\nfc6, 1, 4096, 8192,\nqk, 16384, 64, 512,\n"};
}

std::vector<std::string> words() { return {"Layer", "M", "N", "K", "Strides", "Channels", ",", "\n", "1:1", "8192", "Sparsity"}; }

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        Json network = scale_sim_network({reinterpret_cast<const char*>(data), size}, "topology.csv");
        network["name"] = "topology";
        fuzz::taken_or_refused([&] { network_from_json(network, "topology.csv"); });
    });
}

const Target target("topology", seeds, words, input);

}  // namespace fuzz_topology
}  // namespace dlasim
