// A machine that outlives its run has nothing left of it.
#include "app/simulate.h"

#include <gtest/gtest.h>

#include "config/network_reader.h"
#include "facts/presets.h"

extern "C" int sc_main(int, char*[]) { return 0; }

namespace dlasim {
namespace {

TEST(Simulate, LeavesNoCallsInTheMachineOfANetwork)
{
    const Network network = network_from_json(parse_json(R"({"input": {"width": 4, "height": 4, "channels": 8}, "layers": [
        {"name": "a", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": 8}},
        {"name": "b", "op": "softmax"}]})",
                                                         "n.json"),
                                              "n.json");
    NetworkPlan plan = plan_network(network, *find_preset("nv_small"), MemorySpec{}, {.seed = 1, .values = true});
    unsigned asked = 0;
    SimulateOptions options;
    options.keep_going = [&](Cycle, std::uint64_t) { return ++asked != 0; };
    const NetworkSimulation simulation = simulate(plan, options);
    ASSERT_FALSE(simulation.run.hung) << simulation.run.diagnosis;
    EXPECT_EQ(simulation.findings.size(), 2u);
    EXPECT_FALSE(simulation.machine->keep_going);
    EXPECT_FALSE(simulation.machine->on_host);
    EXPECT_EQ(simulation.read(Place{true, Address(0)}, 4).size(), 4u);  // its memory is there
}

}  // namespace
}  // namespace dlasim
