// Networks: shapes, steps, where tensors stand. Expected values by hand.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "config/network_reader.h"
#include "facts/presets.h"
#include "network/host.h"
#include "network/plan.h"
#include "refusal.h"
#include "registers/tables.h"

namespace dlasim {
namespace network_test {

using testing::ElementsAre;
using testing::HasSubstr;

Network network_of(const std::string& layers, const std::string& input = R"({"width": 8, "height": 8, "channels": 16})")
{
    return network_from_json(parse_json(R"({"name": "n", "input": )" + input + R"(, "layers": [)" + layers + "]}", "n.json"), "n.json");
}
NetworkPlan planned_as_it_is(const Network& network, const char* hardware, bool values = false)
{
    return plan_network(network, *find_preset(hardware), MemorySpec{}, {.seed = 1, .values = values});
}
/// Layers that fit are one tile: what is looked at here is the structure of a program.
NetworkPlan planned(Network network, const char* hardware, bool values = false)
{
    network.minimise = Minimise::Parts;
    return planned_as_it_is(network, hardware, values);
}
std::vector<std::string> names(const NetworkPlan& plan)
{
    std::vector<std::string> list;
    for (const Step& step : plan.steps.list) list.push_back(step.name);
    return list;
}
std::size_t tensor(const NetworkPlan& plan, const std::string& name)
{
    for (std::size_t t = 0; t < plan.steps.tensors.size(); ++t)
        if (plan.steps.tensors[t].name == name) return t;
    ADD_FAILURE() << name;
    return 0;
}

std::string conv(const std::string& name, int kernels, const std::string& more = "")
{
    return R"({"name": ")" + name + R"(", "op": "conv2d", "kernel": {"width": 1, "height": 1, "count": )" + std::to_string(kernels) + "}" +
           more + "}";
}

TEST(NetworkReader, ShapesFollowFromTheInput)
{
    const Network n = network_of(
        R"({"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 6}, "stride": {"x": 2, "y": 1}, "pads": [1, 1, 1, 1]},
           {"name": "p", "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}},
           {"name": "u", "op": "upsample", "factor": {"x": 3, "y": 1}},
           {"name": "j", "op": "concat", "inputs": ["u", "u"]},
           {"name": "f", "op": "fully_connected", "kernel": {"count": 5}})");
    const auto shape = [&](std::size_t t) {
        const NetworkTensor& x = n.tensors[t];
        return std::to_string(x.width) + "x" + std::to_string(x.height) + "x" + std::to_string(x.channels);
    };
    EXPECT_EQ(shape(1), "4x8x6");
    EXPECT_EQ(shape(2), "2x4x6");
    EXPECT_EQ(shape(3), "6x4x6");
    EXPECT_EQ(shape(4), "6x4x12");
    EXPECT_EQ(shape(5), "1x1x5");
    EXPECT_EQ(n.macs(), 4u * 8 * 6 * 9 * 16 + 6u * 4 * 12 * 5);
}

TEST(NetworkReader, CountsAndSizesHaveLimits)
{
    EXPECT_THAT(refusal([] { network_of(conv("a", 2), R"({"width": 8192, "height": 8192, "channels": 2})"); }),
                HasSubstr("at most 67108864"));
    EXPECT_THAT(refusal([] { network_of(conv("", 2)); }), HasSubstr("expected 1 to 100"));
    std::string layers = conv("l0", 1);
    for (int i = 1; i <= 2048; ++i) layers += "," + conv("l" + std::to_string(i), 1);
    EXPECT_THAT(refusal([&] { network_of(layers); }), HasSubstr("1 to 2048 layers"));
}

TEST(NetworkSteps, AnAdditionJoinsTheConvolutionOfItsLastTensor)
{
    const std::string sum = R"(, {"name": "s", "op": "add", "inputs": ["b", "data"], "activation": "relu"})";
    EXPECT_THAT(names(planned(network_of(conv("a", 16) + "," + conv("b", 16) + sum), "nv_small")), ElementsAre("a", "s"));
    // Somebody else reads what the convolution makes, or it does something behind its sums.
    EXPECT_THAT(names(planned(network_of(conv("b", 16) + sum + "," + conv("c", 4, R"(, "inputs": ["b"])")), "nv_small")),
                ElementsAre("b", "s", "c"));
    EXPECT_THAT(names(planned(network_of(conv("b", 16, R"(, "activation": "relu")") + sum), "nv_small")), ElementsAre("b", "s"));
}

TEST(NetworkSteps, OfTwoConvolutionsThatAreAddedTheOneWithTheOlderInputRunsFirst)
{
    const std::string sum = R"(, {"name": "s", "op": "add", "inputs": ["b", "c"], "activation": "relu"})";
    const NetworkPlan plan = planned(
        network_of(conv("a", 16, R"(, "activation": "relu")") + "," + conv("b", 16) + "," + conv("c", 16, R"(, "inputs": ["data"])") + sum),
        "nv_small");
    ASSERT_THAT(names(plan), ElementsAre("a", "c", "s"));
    EXPECT_EQ(plan.steps.tensors[plan.steps.list[2].inputs.front()].name, "a");
    EXPECT_EQ(plan.steps.tensors[*plan.steps.list[2].addend].name, "c");
}

TEST(NetworkSteps, PoolingFollowsOnTheWayWhereItsWindowsFit)
{
    const auto pool = [](int kernel, int stride) {
        return R"(, {"name": "p", "op": "pool", "pool": {"function": "max", "kernel_shape": [)" + std::to_string(kernel) + "," +
               std::to_string(kernel) + R"(], "strides": [)" + std::to_string(stride) + "," + std::to_string(stride) + "]}}";
    };
    EXPECT_THAT(names(planned(network_of(conv("a", 8) + pool(2, 2)), "nv_small")), ElementsAre("p"));
    // A row and a column are left over: they are not computed.
    const NetworkPlan plan = planned(network_of(conv("a", 8) + pool(3, 2)), "nv_small");
    EXPECT_THAT(names(plan), ElementsAre("p"));
    EXPECT_EQ(plan.plans.front().passes.front().geometry.out_height % 2, 1u);
}

// As features the input would take more than half of the convolution buffer: the first layer stands as pixels, and its pooling joins it.
TEST(NetworkSteps, PoolingJoinsAFirstLayerOfPixels)
{
    const std::string layers =
        R"({"name": "c", "op": "conv2d", "kernel": {"width": 7, "height": 7, "count": 64}, "strides": [2, 2], "pads": [3, 3, 3, 3]},
        {"name": "p", "op": "pool", "pool": {"function": "max", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}})";
    const auto steps = [&](const char* size) {
        return names(planned(network_of(layers, R"({"width": )" + std::string(size) + R"(, "height": )" + size + R"(, "channels": 3})"),
                             "nv_large"));
    };
    EXPECT_THAT(steps("100"), ElementsAre("p"));
    EXPECT_THAT(steps("224"), ElementsAre("p"));
}

// An input of 100 KB that is fetched whole delays the array; tiles of it cost no byte more where the weights stay.
TEST(NetworkPlan, LayersAreTiledWhereThatIsFasterAndMovesNoMoreBytes)
{
    const std::string input = R"({"width": 56, "height": 56, "channels": 64})";
    Network network = network_of(conv("a", 256), input);
    EXPECT_EQ(network.minimise, Minimise::Balanced);
    const NetworkPlan balanced = planned_as_it_is(network, "nv_large");
    network.minimise = Minimise::Parts;
    const NetworkPlan parts = planned(network, "nv_large");
    EXPECT_EQ(parts.plans.front().passes.size(), 1u);
    EXPECT_GT(balanced.plans.front().passes.size(), 1u);
    EXPECT_LE(balanced.plans.front().traffic.moved(), parts.plans.front().traffic.moved() * 101 / 100);
}

/// What the host makes of one line of a channel after the other.
std::vector<std::int16_t> hosted(const std::string& layer, std::uint32_t width, const std::vector<std::int16_t>& values,
                                 const char* hw = "nv_small")
{
    const auto channels = static_cast<std::uint32_t>(values.size()) / width;
    const std::string input = R"({"width": )" + std::to_string(width) + R"(, "height": 1, "channels": )" + std::to_string(channels) + "}";
    const NetworkPlan plan = planned(network_of(layer, input), hw);
    const Step& step = plan.steps.list.back();
    EXPECT_EQ(step.unit, StepUnit::Host);
    Tensor tensor(1, channels, 1, width);
    tensor.values = values;
    return host_output(plan.network, plan.steps, step, {&tensor}).values;
}

TEST(NetworkPlan, StepsThatFollowEachOtherHaveTheSameBanks)
{
    const char* const input = R"({"width": 56, "height": 56, "channels": 64})";
    const auto banks = [&](const std::string& partition) {
        const Network network =
            network_of(conv("a", 64, partition) +
                           R"(, {"name": "b", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 64}, "pads": [1, 1, 1, 1]})",
                       input);
        const NetworkPlan plan = planned_as_it_is(network, "nv_large");
        std::set<std::pair<std::uint32_t, std::uint32_t>> set;
        for (const StepPlan& step : plan.plans)
            for (const PlannedPass& pass : step.passes) set.emplace(pass.geometry.data_banks, pass.geometry.weight_banks);
        return set;
    };
    EXPECT_EQ(banks("").size(), 1u);
    const std::string told = R"(, "partition": {"rows": 8, "data_banks": 6, "weight_banks": 4})",
                      few = R"(, "partition": {"rows": 2, "data_banks": 1, "weight_banks": 1})";
    EXPECT_THAT(banks(told), ElementsAre(std::pair(6u, 4u)));
    EXPECT_EQ(banks(few).count({1, 1}), 1u);  // and more for the next one
    EXPECT_EQ(banks(few).size(), 2u);
}

TEST(NetworkHost, SoftmaxHasExponentialsOfSixteenthsIn127ths)
{
    // e / (e + 2) * 127 = 73.17, 1 / (e + 2) * 127 = 26.92
    EXPECT_THAT(hosted(R"({"name": "s", "op": "softmax"})", 1, {0, 16, 0}), ElementsAre(27, 73, 27));
    EXPECT_THAT(hosted(R"({"name": "s", "op": "softmax"})", 2, {5, -128, 5, 127}), ElementsAre(64, 0, 64, 127));  // by place
}

TEST(NetworkHost, TanhHasFourFor127)
{
    // tanh(32 * 4 / 127) * 127 = 97.15, tanh(-128 * 4 / 127) * 127 = -126.92, tanh(4 / 127) * 127 = 4.00
    EXPECT_THAT(hosted(conv("t", 4, R"(, "activation": "tanh")"), 1, {32, -128, 1, 0}), ElementsAre(97, -127, 4, 0));
}

TEST(NetworkHost, WideWindowsAreExactAndRoundAwayFromZero)
{
    const auto pool = [](const char* function) {
        return std::string(R"({"name": "p", "op": "pool", "pool": {"function": ")") + function +
               R"(", "kernel_shape": [1, 10], "strides": [1, 1]}})";
    };
    const std::vector<std::int16_t> half{5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, minus{0, 0, -9, 0, 0, 4, 0, 0, 0, 0},
        four{1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    EXPECT_THAT(hosted(pool("average"), 10, half), ElementsAre(1));
    EXPECT_THAT(hosted(pool("average"), 10, minus), ElementsAre(-1));
    EXPECT_THAT(hosted(pool("average"), 10, four), ElementsAre(0));
    EXPECT_THAT(hosted(pool("max"), 10, minus), ElementsAre(4));
    EXPECT_THAT(hosted(pool("min"), 10, minus), ElementsAre(-9));
}

TEST(NetworkHost, UpsamplingRepeats)
{
    EXPECT_THAT(hosted(R"({"name": "u", "op": "upsample", "factor": {"x": 2, "y": 2}})", 2, {1, 2, -3, 4}),
                ElementsAre(1, 1, 2, 2, 1, 1, 2, 2, -3, -3, 4, 4, -3, -3, 4, 4));
}

TEST(NetworkPlan, PartsOfAConcatenationStandInTheWhole)
{
    const Network n = network_of(conv("a", 24) + "," + conv("b", 8, R"(, "inputs": ["data"])") +
                                 R"(, {"name": "j", "op": "concat", "inputs": ["a", "b"]},)" + conv("c", 4));
    const NetworkPlan small = planned(n, "nv_small");  // atoms of 8 channels
    const Address whole = small.layouts[tensor(small, "j")].place.address;
    EXPECT_EQ(small.layouts[tensor(small, "a")].place.address, whole);
    EXPECT_EQ(small.layouts[tensor(small, "b")].place.address, whole + 3 * 8 * 8 * 8);
    EXPECT_THAT(small.layouts[tensor(small, "j")].pieces, ElementsAre(ChannelPiece{0, 32, 0}));
    const NetworkPlan large = planned(n, "nv_large");  // of 32: the second part begins with an atom of its own
    EXPECT_THAT(large.layouts[tensor(large, "j")].pieces, ElementsAre(ChannelPiece{0, 24, 0}, ChannelPiece{24, 8, 32}));
    EXPECT_EQ(large.plans.back().machine.channels, 40u);
}

TEST(NetworkPlan, TensorsThatAreThereAtTheSameTimeDoNotMeet)
{
    const Network n = read_network(std::string(DLASIM_SOURCE) + "/models/networks/squeezenet_v1_1.json");
    for (const char* machine : {"nv_large", "nv_small"}) {
        const NetworkPlan plan = planned(n, machine);
        std::size_t shared = 0;
        for (const Block& a : plan.blocks)
            for (const Block& b : plan.blocks) {
                if (&a == &b || a.place.primary != b.place.primary) continue;
                const bool apart = a.place.address + a.bytes <= b.place.address || b.place.address + b.bytes <= a.place.address;
                EXPECT_TRUE(apart || a.end <= b.begin || b.end <= a.begin);
                shared += !apart;
            }
        EXPECT_GT(shared, 10u);
        EXPECT_LT(plan.memory_use.tensors + plan.memory_use.cvsram, plan.memory_use.apart * 3 / 4);
    }
}

TEST(NetworkPlan, MemoryIsUsedAgainWhenItsReadersAreDone)
{
    // b reads a, c reads b: when c begins, the interrupt of b has been taken. The input and what the last layer makes stay.
    const NetworkPlan plan =
        planned(network_of(conv("a", 16) + "," + conv("b", 16) + "," + conv("c", 16) + "," + conv("d", 16)), "nv_small");
    const auto address = [&](const char* name) { return plan.layouts[tensor(plan, name)].place.address; };
    EXPECT_EQ(plan.marks.over, (std::vector<std::size_t>{1, 2, 3, 4}));
    EXPECT_EQ(address("c"), address("a"));
    EXPECT_NE(address("b"), address("a"));
    EXPECT_NE(address("d"), address("b"));
    EXPECT_EQ(plan.overwritten[2], std::vector<std::size_t>{tensor(plan, "a")});
    EXPECT_TRUE(plan.overwritten[3].empty());
    EXPECT_EQ(plan.memory_use.tensors, 4u * 16 * 64);
    EXPECT_EQ(plan.memory_use.apart, 5u * 16 * 64);
}

TEST(NetworkPlan, SdpAddsLaneByLane)
{
    // On nv_large "j" has a gap behind its first 24 channels, what the host makes of it has none; a tensor to itself has the same gaps.
    const std::string layers = conv("a", 24) + "," + conv("b", 8, R"(, "inputs": ["data"])") +
                               R"(, {"name": "j", "op": "concat", "inputs": ["a", "b"]}, {"name": "s", "op": "softmax"},)";
    const Network other = network_of(layers + R"({"name": "sum", "op": "add", "inputs": ["s", "j"]})"),
                  itself = network_of(layers + R"({"name": "sum", "op": "add", "inputs": ["j", "j"]})");
    EXPECT_THAT(refusal([&] { planned(other, "nv_large"); }), HasSubstr("same lanes"));
    EXPECT_EQ(planned(other, "nv_small").plans.size(), 4u);
    EXPECT_EQ(planned(itself, "nv_large").plans.back().machine.channels, 40u);
}

TEST(NetworkPlan, SdpReadsTheSurfacesOfOnePlaceOneBehindTheOther)
{
    // The surfaces of the deconvolution hold all three columns of its phases.
    const Network n = network_of(
        R"({"name": "u", "op": "deconv2d", "kernel": {"width": 1, "height": 1, "count": 54}, "stride": {"x": 3, "y": 1}},
           {"name": "sum", "op": "add", "inputs": ["u", "u"]})",
        R"({"width": 1, "height": 1, "channels": 54})");
    EXPECT_THAT(refusal([&] { planned(n, "nv_full"); }), HasSubstr("96 bytes apart"));
}

TEST(NetworkPlan, EveryLayerIsLoweredOnceAndTheRegistersOfEveryPassAreWrittenOnce)
{
    // A pooling that may go with a convolution, and an input that may stand as pixels, are tried first: here there are none.
    const Network n =
        network_of(conv("a", 48) + "," + conv("b", 512) + "," + conv("c", 16), R"({"width": 64, "height": 64, "channels": 48})");
    const LoweringCounters before = lowering_counters();
    const NetworkPlan plan = planned(n, "nv_small", true);
    std::size_t passes = 0, cut = 0;
    for (const StepPlan& step : plan.plans) {
        passes += step.passes.size();
        cut += step.cut ? 1 : 0;
    }
    EXPECT_NE(cut, 0u);
    EXPECT_EQ(lowering_counters().layers - before.layers, plan.plans.size());
    EXPECT_EQ(lowering_counters().passes - before.passes, passes);
}

TEST(NetworkPlan, AnOperationHasAllItsRegistersWhereTheProgramWritesThoseThatChangeAlone)
{
    const NetworkPlan plan =
        planned(network_of(conv("a", 16) + "," + conv("b", 16) + "," + conv("c", 16) + "," + conv("d", 16)), "nv_small");
    std::map<std::string, std::uint32_t> pointer, held;  // by unit; by register and group
    std::map<std::string, std::size_t> writes;
    std::size_t number = 0;
    for (const ProgramEntry& entry : plan.program) {
        const auto* write = std::get_if<RegisterWrite>(&entry);
        if (!write) continue;
        const std::string unit = write->name.substr(0, write->name.find('.'));
        if (write->name.ends_with(".S_POINTER")) pointer[unit] = write->value;
        held[write->name + std::to_string(pointer[unit])] = write->value;
        ++writes[write->name];
        if (write->name != "CDMA.D_OP_ENABLE") continue;
        const StepOperation& operation = plan.order.at(number++);
        const PlannedPass& pass = plan.plans[operation.step].passes[operation.number];
        for (const RegisterValue& value : registers_of(pass, UnitGroups::all(pointer[unit]), plan.hardware).writes)
            EXPECT_EQ(held[value.name() + std::to_string(pointer[std::string(value.unit->name)])], value.value) << value.name();
    }
    EXPECT_EQ(number, plan.order.size());
    // Of equal layers each group is written once, but for addresses and lines.
    EXPECT_EQ(writes["CDMA.D_DATAIN_FORMAT"], 2u);
    EXPECT_GE(writes["CDMA.D_WEIGHT_ADDR_LOW"], 4u);
}

TEST(NetworkPlan, ADepthwiseLayerOfStrideTwoReadsPairsOfLinesEachOnce)
{
    for (const char* pad : {R"({"right": 1, "bottom": 1})", R"({"left": 1, "right": 1, "top": 1, "bottom": 1})"}) {
        const std::string depthwise =
            R"({"name": "d", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 32}, "groups": 32, "stride": {"x": 2, "y": 2}, "pad": )" +
            std::string(pad) + "}";
        const NetworkPlan plan =
            planned(network_of(conv("a", 32) + "," + depthwise, R"({"width": 16, "height": 16, "channels": 16})"), "nv_large");
        const StepPlan& step = plan.plans.back();
        ASSERT_EQ(step.passes.size(), 1u);
        const Pass& pass = step.passes.front().pass;
        EXPECT_EQ(pass.height, 8u);
        EXPECT_EQ(pass.kernel_height, 2u);
        EXPECT_EQ(pass.stride.y, 1u);
        EXPECT_EQ(pass.in_strides.line, 2 * pass.in_strides.surface);
        for (const TensorTraffic& tensor : step.traffic.tensors)
            if (std::string(tensor.name) == "input") EXPECT_EQ(tensor.moved, 16u * 16 * 32);
    }
}

// [spec] csc.md 1.5.1: the stripes of pixels end with the row. One of 16 pixels waits for the credits of all results before it.
TEST(NetworkPlan, PixelsAreTiledByColumnsWhoseRowsAreShortStripes)
{
    const NetworkPlan plan = planned_as_it_is(
        network_of(
            R"({"name": "c", "op": "conv2d", "kernel": {"width": 5, "height": 5, "count": 6}, "pad": {"left": 2, "right": 2, "top": 2, "bottom": 2}})",
            R"({"width": 28, "height": 28, "channels": 1})"),
        "nv_small");
    EXPECT_EQ(plan.plans.front().mode, "image");
    EXPECT_GT(plan.plans.front().passes.back().first_column, 0u);
    for (const PlannedPass& pass : plan.plans.front().passes) EXPECT_LT(pass.geometry.out_width, 14u);
}

// The estimates that decide on it have the limits of the plan: tiles by columns of pixels, which no descriptor says, made it seem slow.
TEST(NetworkPlan, AFirstLayerIsPooledOnTheWayInFilesForTheDriverToo)
{
    const Network network = network_of(
        R"({"name": "c", "op": "conv2d", "kernel": {"width": 7, "height": 7, "count": 64}, "stride": {"x": 2, "y": 2},
            "pad": {"left": 3, "right": 3, "top": 3, "bottom": 3}, "activation": "relu"},
           {"name": "p", "op": "pool", "pool": {"function": "max", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}})",
        R"({"width": 224, "height": 224, "channels": 3})");
    for (const bool for_driver : {false, true})
        EXPECT_EQ(plan_network(network, *find_preset("nv_large"), MemorySpec{}, {.values = false, .for_driver = for_driver}).plans.size(),
                  1u)
            << for_driver;
}

// CACC delivers a result in nine cycles either way; the array has six operations for it as pixels, nine as features.
TEST(NetworkPlan, PixelsAreTakenWhereTheNextBoundIsLower)
{
    const std::string layer = R"({"name": "c", "op": "conv2d", "kernel": {"width": 3, "height": 3, "count": 8}, "pads": [1, 1, 1, 1]})";
    const NetworkPlan plan = planned_as_it_is(network_of(layer, R"({"width": 8, "height": 8, "channels": 3})"), "nv_small");
    EXPECT_EQ(plan.plans.front().mode, "image");
}

// The last operation of a step before writes columns, or lines: a first part of the next step that reads none of them starts before.
TEST(NetworkPlan, AStepIsTiledSoThatItsFirstPartReadsWhatIsThere)
{
    const std::string kernel = R"(, "kernel": {"width": 5, "height": 5, "count": )",
                      pool = R"(, "op": "pool", "pool": {"function": "max", "kernel_shape": [2, 2], "strides": [2, 2]}})";
    const NetworkPlan plan = planned_as_it_is(network_of(R"({"name": "a", "op": "conv2d", "pads": [2, 2, 2, 2])" + kernel + R"(6}},
        {"name": "p")" + pool + R"(, {"name": "b", "op": "conv2d")" +
                                                             kernel + R"(16}}, {"name": "q")" + pool,
                                                         R"({"width": 28, "height": 28, "channels": 1})"),
                                              "nv_small");
    EXPECT_GT(plan.plans[1].passes.size(), 1u);
    std::set<std::size_t> read;
    for (const StepOperation& maker : makers_of(plan, {1, 0})) read.insert(maker.number);
    EXPECT_FALSE(read.empty());
    EXPECT_LT(*read.rbegin(), plan.plans[0].passes.size() - 1);
}

TEST(NetworkPlan, ConvertersKeepTheRange)
{
    const NetworkPlan plan = planned(network_of(conv("a", 32) + "," + conv("b", 32)), "nv_small", true);
    for (const Step& step : plan.steps.list) {
        const Tensor& values = *plan.golden[step.output];
        const auto ends = std::count_if(values.values.begin(), values.values.end(), [](std::int16_t v) { return v == 127 || v == -128; });
        EXPECT_LT(ends, static_cast<std::ptrdiff_t>(values.values.size() / 100));
        EXPECT_GT(*std::max_element(values.values.begin(), values.values.end()), 60);
    }
}

}  // namespace network_test
}  // namespace dlasim
