// The golden operations beside a loadable find what is wrong: one byte, a machine that has written nothing, and what they cannot compare.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "config/machine/hardware.h"
#include "loadable/reference/loadable_host.h"
#include "platform/simulate.h"

namespace dlasim::loadable {
namespace loadable_reference_test {

LoadablePlan plan_of(const std::string& name, const std::string& hardware)
{
    return plan_loadable(read_loadable(DLASIM_TEST_DATA "/loadables/" + name), load_hardware(hardware, {}), MemorySpec{}, Options{});
}

ReadLine nothing()
{
    return [](const Place&, std::span<std::uint8_t> bytes) { std::fill(bytes.begin(), bytes.end(), std::uint8_t{0}); };
}

/// Runs a plan beside the golden operations.
class Ran final : public LoadableHost {
public:
    /// `look`: reads the memory of the machine at the end.
    explicit Ran(const LoadablePlan& plan, std::function<void(const ReadLine& left)> look = {})
        : LoadableHost(plan, true, true), look_(std::move(look))
    {
        const RunResult run = simulate(plan, *this, {});
        EXPECT_FALSE(run.hung) << run.diagnosis;
    }
    void after(const RunResult& run, const HostMemory& memory) override
    {
        LoadableHost::after(run, memory);
        if (look_)
            look_([&](const Place& from, std::span<std::uint8_t> bytes) {
                std::ranges::copy(memory.read(from, bytes.size()), bytes.begin());
            });
    }

private:
    std::function<void(const ReadLine& left)> look_;
};

TEST(LoadableReference, OneByteIsFound)
{
    const LoadablePlan plan = plan_of("onelayer_nv_full.nvdla", "nv_full");
    std::size_t lines = 0;
    Reference again(plan);
    const Ran machine(plan, [&](const ReadLine& left) {
        again.chain(0, [&](const Place& from, std::span<std::uint8_t> bytes) {
            left(from, bytes);
            if (++lines == 3) bytes[5] ^= 0x10;
        });
    });
    ASSERT_EQ(plan.chains.size(), 1u);
    ASSERT_TRUE(machine.verdicts()[0]);
    EXPECT_EQ(machine.verdicts()[0]->unchecked, "");
    EXPECT_EQ(machine.verdicts()[0]->comparison.mismatches, 0u);
    EXPECT_EQ(machine.verdicts()[0]->comparison.compared, 1024u);

    ASSERT_TRUE(again.verdicts()[0]);
    EXPECT_EQ(again.verdicts()[0]->comparison.mismatches, 1u);
    EXPECT_EQ(again.verdicts()[0]->comparison.examples.size(), 1u);
}

TEST(LoadableReference, AMachineThatWritesNothingIsFoundInEveryUnit)
{
    for (const char* name : {"CONV_D_L0_0", "SDP_X1_L0_0", "PDP_L0_0", "CDP_L0_0", "BDMA_L0_0", "RBK_L0_0"}) {
        const LoadablePlan plan = plan_of(std::string("regression/") + name + ".nvdla", "nv_full");
        Reference reference(plan);
        reference.chain(0, nothing());
        ASSERT_TRUE(reference.verdicts()[0]) << name;
        EXPECT_EQ(reference.verdicts()[0]->unchecked, "") << name;
        EXPECT_FALSE(reference.verdicts()[0]->comparison.equal()) << name;
    }
}

TEST(LoadableReference, WhatItCannotCompareSaysWhy)
{
    LoadablePlan plan = plan_of("onelayer_nv_full.nvdla", "nv_full");
    for (Operation& operation : plan.tasks[0].operations)
        if (operation.kind == Kind::Conv) operation.conv.mode = 1;
    Reference reference(plan);
    reference.chain(0, nothing());
    ASSERT_TRUE(reference.verdicts()[0]);
    EXPECT_NE(reference.verdicts()[0]->unchecked.find("Winograd"), std::string::npos);
    EXPECT_EQ(reference.verdicts()[0]->comparison.compared, 0u);
}

/// The file with the 32 bits at `at` of a blob set.
LoadablePlan changed(const std::string& name, const std::string& hardware, const std::string& blob, std::size_t at, std::uint32_t value)
{
    const Loadable good = read_loadable(DLASIM_TEST_DATA "/loadables/" + name);
    const auto found = std::find_if(good.blobs.begin(), good.blobs.end(), [&](const Blob& b) { return b.name == blob; });
    EXPECT_NE(found, good.blobs.end());
    std::string bytes = *good.bytes;
    const auto from = static_cast<std::size_t>(found->bytes.data() - reinterpret_cast<const std::uint8_t*>(good.bytes->data())) + at;
    std::memcpy(&bytes[from], &value, sizeof value);
    return plan_loadable(parse_loadable(std::move(bytes), name), load_hardware(hardware, {}), MemorySpec{}, Options{});
}

// Slots of the surface list, cubes of SDP in it: source, X1, X2, Y, destination; the offset of a cube. loadable.md 3.
constexpr std::size_t kSurface = 644, kCube = 32, kOffset = 4;

std::vector<std::optional<Verdict>> verdicts_of(const LoadablePlan& plan) { return Ran(plan).verdicts(); }

TEST(LoadableReference, AddressesAreCutAsRegistersCutThem)
{
    constexpr std::uint32_t kBias = 16384;  // of X1's operands in their memory
    const LoadablePlan plan = changed("onelayer_nv_full.nvdla", "nv_full", "task-0-surf_list", kSurface + kCube + kOffset, kBias - 1);
    const auto verdict = verdicts_of(plan)[0];
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->unchecked, "");
    EXPECT_EQ(verdict->comparison.compared, 1024u);
    EXPECT_EQ(verdict->comparison.mismatches, 0u);
}

TEST(LoadableReference, WhereNothingCutsThemNothingIsCompared)
{
    const LoadablePlan plan = changed("onelayer_nv_small.nvdla", "nv_small", "task-0-surf_list", kSurface + 4 * kCube + kOffset, 3);
    const auto verdict = verdicts_of(plan)[0];
    ASSERT_TRUE(verdict);
    EXPECT_NE(verdict->unchecked.find("no multiple of 8 bytes"), std::string::npos) << verdict->unchecked;
    EXPECT_EQ(verdict->comparison.compared, 0u);
}

TEST(LoadableReference, FieldsAreAsNarrowAsRegisters)
{
    const LoadablePlan plan = plan_of("onelayer_nv_full_int8.nvdla", "nv_full");
    LoadablePlan wide = plan_of("onelayer_nv_full_int8.nvdla", "nv_full");
    for (Operation& o : wide.tasks[0].operations) {
        o.conv.input_converter.offset += 1 << 16;
        o.sdp.output_converter.truncate = static_cast<std::uint8_t>(o.sdp.output_converter.truncate + 64);
        for (SdpStage& stage : o.sdp.stages) stage.shift = static_cast<std::uint8_t>(stage.shift + 64);
    }
    Reference reference(wide);
    const Ran machine(plan, [&](const ReadLine& left) { reference.chain(0, left); });
    ASSERT_TRUE(reference.verdicts()[0]);
    EXPECT_EQ(reference.verdicts()[0]->unchecked, "");
    EXPECT_GT(reference.verdicts()[0]->comparison.compared, 0u);
    EXPECT_EQ(reference.verdicts()[0]->comparison.mismatches, 0u);
}

TEST(LoadableReference, FieldsOfTablesAreAsNarrowAsRegisters)
{
    const char* const kName = "regression/CDP_L0_0_large.nvdla";
    const LoadablePlan plan = plan_of(kName, "nv_large");
    LoadablePlan wide = plan_of(kName, "nv_large");
    LookupTable& table = wide.tasks[0].tables.at(0);
    table.method |= 2;
    table.le_overflow.shift = static_cast<std::int8_t>(table.le_overflow.shift + 32);
    table.lo_select = static_cast<std::int8_t>(table.lo_select + 64);
    LoadablePlan wider = wide;  // a shift to the left: cdp.md 3.3
    wider.tasks[0].tables.at(0).lo_select = 50;
    Reference reference(wide), left_shift(wider);
    const Ran machine(plan, [&](const ReadLine& left) {
        reference.chain(0, left);
        left_shift.chain(0, left);
    });
    ASSERT_TRUE(reference.verdicts()[0]);
    EXPECT_EQ(reference.verdicts()[0]->unchecked, "");
    EXPECT_EQ(reference.verdicts()[0]->comparison.compared, 2048u);
    EXPECT_EQ(reference.verdicts()[0]->comparison.mismatches, 0u);

    ASSERT_TRUE(left_shift.verdicts()[0]);
    EXPECT_EQ(left_shift.verdicts()[0]->unchecked, "has steps of less than 1");
}

TEST(LoadableReference, PixelsHaveTheComponentsOfTheirFormat)
{
    LoadablePlan plan = plan_of("mobilenet_nopool_nv_full.nvdla", "nv_full");
    for (Operation& o : plan.tasks[0].operations)
        if (o.kind == Kind::Conv && !o.conv.feature()) o.conv.format = 5;  // T_R16_F
    Reference reference(plan);
    reference.chain(0, nothing());
    ASSERT_TRUE(reference.verdicts()[0]);
    EXPECT_EQ(reference.verdicts()[0]->unchecked, "has pixels of 4 components in a format of 1");
}

TEST(LoadableReference, ARuleThatIsBrokenIsNamedAndNothingBehindItIsCompared)
{
    struct Broken {
        const char* said;
        void (*change)(ConvOperation& conv, SdpOperation& sdp);
    };
    const Broken kBroken[] = {
        {"takes its sums in another shape", [](ConvOperation& conv, SdpOperation&) { ++conv.mac_width; }},
        {"takes its input from memory after a convolution",
         [](ConvOperation&, SdpOperation& sdp) { sdp.source.memory = CubeMemory::Primary; }},
        {"writes overlapping lines", [](ConvOperation&, SdpOperation& sdp) { sdp.destination.line_stride = 0; }},
        {"overwrites its input",
         [](ConvOperation& conv, SdpOperation& sdp) {
             sdp.destination.address = conv.source.address, sdp.destination.offset = conv.source.offset;
         }},
        {"reuses weights that the previous convolution did not keep", [](ConvOperation& conv, SdpOperation&) { conv.weight_reuse = 1; }},
        {"reuses data that the previous convolution did not keep", [](ConvOperation& conv, SdpOperation&) { conv.data_reuse = 1; }},
        {"has kernels larger than registers can encode", [](ConvOperation& conv, SdpOperation&) { conv.kernel_height += 32; }},
        {"has kernels of another size than it declares", [](ConvOperation& conv, SdpOperation&) { ++conv.bytes_per_kernel; }},
        {"has a stride or a dilation that registers cannot encode", [](ConvOperation& conv, SdpOperation&) { conv.stride_x += 8; }},
        {"has a padding, a batch or an extension that registers cannot encode",
         [](ConvOperation& conv, SdpOperation&) { conv.pad_top += 32; }},
    };
    for (const Broken& broken : kBroken) {
        LoadablePlan plan = plan_of("resblock_nv_full.nvdla", "nv_full");
        ASSERT_GE(plan.chains.size(), 2u);
        ConvOperation* conv = nullptr;
        SdpOperation* sdp = nullptr;
        for (const std::size_t i : plan.chains[0]) {
            Operation& o = plan.tasks[0].operations[i];
            if (o.kind == Kind::Conv) conv = &o.conv;
            if (o.kind == Kind::Sdp) sdp = &o.sdp;
        }
        ASSERT_TRUE(conv && sdp);
        broken.change(*conv, *sdp);
        Reference reference(plan);
        reference.chain(0, nothing());
        reference.chain(1, nothing());
        ASSERT_TRUE(reference.verdicts()[0] && reference.verdicts()[1]);
        EXPECT_EQ(reference.verdicts()[0]->unchecked, broken.said);
        EXPECT_NE(reference.verdicts()[1]->unchecked.find(std::string("which ") + broken.said), std::string::npos);
        EXPECT_EQ(reference.verdicts()[1]->comparison.compared, 0u);
    }
}

}  // namespace loadable_reference_test
}  // namespace dlasim::loadable
