// Layers whose ends may meet in CACC: of a measured program that hangs, of programs that wait in one way or another, and of those that the
// lowering writes.
#include "lint/layer_ends.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "config/layer/layer_reader.h"
#include "facts/presets.h"
#include "lowering/plan.h"
#include "lowering/program/layer_program.h"
#include "lowering/program/program_writer.h"

namespace dlasim {
namespace layer_ends_test {

const Hardware& small() { return *find_preset("nv_small"); }
Layer layer_of(const std::string& text) { return layer_from_json(parse_json(text, "l.json"), "l.json", "", ""); }

/// Two fully connected layers of one place, eight kernels a part: one result each.
std::string fully_connected(std::uint32_t kernels)
{
    return R"({"input": {"width": 1, "height": 1, "channels": 64}, "kernel": {"width": 1, "height": 1, "count": )" +
           std::to_string(kernels) + R"(}, "partition": {"kernels": 8}, "post": {"output": {"shift": 4}}})";
}

Program program_of(const std::string& text, const Hardware& hw)
{
    const Layer layer = layer_of(text);
    return layer_program(layer, plan_shape(layer, hw), hw);
}

/// Parts one after the other through both groups, with `between` after the enables of each.
Program parts_with(const std::string& text, const std::function<void(ProgramWriter&, unsigned group)>& between)
{
    const Layer layer = layer_of(text);
    const LayerPlan plan = plan_shape(layer, small());
    Program program;
    ProgramWriter writer(small(), program);
    unsigned group = 0;
    for (const PlannedPass& pass : plan.passes) {
        writer.write(registers_of(pass, UnitGroups::all(group), small()));
        between(writer, group);
        group ^= 1;
    }
    return program;
}

TEST(LayerEnds, ASmallLayerThatIsNotWaitedForIsNamed)
{
    const std::vector<lint::EarlyLayer> early =
        lint::early_layers(small(), parts_with(fully_connected(24), [](ProgramWriter&, unsigned) {}));
    ASSERT_EQ(early.size(), 2u);
    EXPECT_EQ(early[0].convolution, 1u);
    EXPECT_EQ(early[0].results, 1u);
    EXPECT_EQ(early[0].entries, 16u);
}

TEST(LayerEnds, EveryWayToKnowTheEndOfTheLayerBeforeIsTaken)
{
    const std::string text = fully_connected(32);
    const auto none = [&](const std::function<void(ProgramWriter&, unsigned)>& between) {
        return lint::early_layers(small(), parts_with(text, between)).empty();
    };
    const auto name = [](const char* unit, unsigned group) { return std::string(unit) + std::to_string(group); };
    EXPECT_TRUE(none([](ProgramWriter& w, unsigned group) { w.add(WaitStatus{1u << group}); }));
    EXPECT_TRUE(none([&](ProgramWriter& w, unsigned group) { w.add(WaitInterrupt{name("SDP_", group)}); }));
    EXPECT_TRUE(none([&](ProgramWriter& w, unsigned group) { w.add(WaitInterrupt{name("CACC_", group)}); }));
    EXPECT_TRUE(none([](ProgramWriter& w, unsigned group) { w.poll("GLB.S_INTR_STATUS", 1u << group); }));
    EXPECT_TRUE(none([](ProgramWriter& w, unsigned group) {
        w.add(WaitPin{});
        w.write("GLB.S_INTR_STATUS", 1u << group);
    }));
    EXPECT_TRUE(none([](ProgramWriter& w, unsigned group) {
        w.add(PollRegister{"SDP.S_STATUS", program_address(small(), "SDP.S_STATUS"), 3u << 16 * group, 0});
    }));
    EXPECT_FALSE(none([](ProgramWriter& w, unsigned) { w.add(WaitPin{}); }));
    EXPECT_FALSE(none([&](ProgramWriter& w, unsigned group) { w.add(WaitInterrupt{name("CDMA_DAT_", group)}); }));
    EXPECT_FALSE(none([](ProgramWriter& w, unsigned group) { w.add(WaitStatus{1u << (group ^ 1)}); }));
}

// CACC holds 16 results on nv_small: a layer of so many cannot end before the one before has left.
TEST(LayerEnds, ALayerThatFillsTheBufferIsSafe)
{
    const auto of = [](std::uint32_t places) {
        return R"({"input": {"width": )" + std::to_string(places) +
               R"(, "height": 1, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 16}, "partition": {"kernels": 8}})";
    };
    const auto nothing = [](ProgramWriter&, unsigned) {};
    EXPECT_EQ(lint::early_layers(small(), parts_with(of(15), nothing)).size(), 1u);
    EXPECT_EQ(lint::early_layers(small(), parts_with(of(16), nothing)).size(), 0u);
}

// Groups take turns: what is enabled in front of its turn runs after the other group.
TEST(LayerEnds, LayersRunInTheOrderOfTheirGroups)
{
    const auto passes = [](const std::string& text) { return plan_shape(layer_of(text), small()).passes; };
    const std::vector<PlannedPass> one = passes(fully_connected(16));
    const std::vector<PlannedPass> full =
        passes(R"({"input": {"width": 16, "height": 1, "channels": 8}, "kernel": {"width": 1, "height": 1, "count": 16},
                   "partition": {"kernels": 8}})");
    const auto early = [](const PlannedPass& first, const PlannedPass& third, const PlannedPass& second) {
        Program program;
        ProgramWriter writer(small(), program);
        writer.write(registers_of(first, UnitGroups::all(0), small()));
        writer.add(WaitStatus{1});
        writer.write(registers_of(third, UnitGroups::all(0), small()));
        writer.write(registers_of(second, UnitGroups::all(1), small()));
        return lint::early_layers(small(), program);
    };
    EXPECT_TRUE(early(one[0], full[0], one[1]).empty());
    const std::vector<lint::EarlyLayer> found = early(one[0], one[1], full[0]);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].convolution, 1u);  // the second that is enabled, the third that runs
    EXPECT_EQ(found[0].results, 1u);
}

TEST(LayerEnds, TheLoweringWaitsWithCscAlone)
{
    const Program program = program_of(fully_connected(24), small());
    EXPECT_TRUE(lint::early_layers(small(), program).empty());
    // CDMA of the second part is enabled before the wait, CSC after it.
    std::vector<std::string> order;
    for (const ProgramEntry& entry : program) {
        if (const auto* write = std::get_if<RegisterWrite>(&entry); write && write->name.ends_with(".D_OP_ENABLE"))
            order.push_back(write->name.substr(0, write->name.find('.')));
        else if (std::holds_alternative<WaitStatus>(entry)) order.push_back("wait");
    }
    const std::vector<std::string> second{"SDP", "CACC", "CMAC_A", "CMAC_B", "CDMA", "wait", "CSC"};
    EXPECT_NE(std::ranges::search(order, second).begin(), order.end());
    // nv_full clears first: nothing is waited for.
    const std::string wide = R"({"input": {"width": 1, "height": 1, "channels": 64}, "kernel": {"width": 1, "height": 1, "count": 64},
                               "partition": {"kernels": 32}, "post": {"output": {"shift": 4}}})";
    EXPECT_TRUE(lint::early_layers(*find_preset("nv_full"), program_of(wide, *find_preset("nv_full"))).empty());
}

}  // namespace layer_ends_test
}  // namespace dlasim
