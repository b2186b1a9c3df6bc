// What moves data, lowered: programs of the measured cases, launches, layouts, and what is refused.
#include "lowering/transfer/transfer_plan.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "config/layer/transfer_reader.h"
#include "facts/presets.h"
#include "refusal.h"
#include "registers/fields/rbk.h"

namespace dlasim {
namespace transfer_plan_test {

using testing::ElementsAre;
using testing::HasSubstr;

const Hardware& full() { return *find_preset("nv_full"); }
Transfer read(const std::string& text) { return transfer_from_json(parse_json(text, "t.json"), "t.json", "", ""); }
std::string refused(const std::string& text, const Hardware& hardware = full())
{
    return refusal([&] { plan_transfer(read(text), hardware); });
}

/// A program as a measured case has it.
OrderedJson program_json(const Program& program)
{
    OrderedJson json = OrderedJson::array();
    for (const ProgramEntry& entry : program) {
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) json.push_back({write->name, write->value});
        if (std::holds_alternative<MarkT0>(entry)) json.push_back({"MARK", "t0"});
        if (const auto* wait = std::get_if<WaitInterrupt>(&entry)) json.push_back({"WAIT_INTR", wait->name});
        if (const auto* wait = std::get_if<WaitStatus>(&entry)) json.push_back({"WAIT_STATUS", wait->bits});
        if (const auto* poll = std::get_if<PollRegister>(&entry)) json.push_back({"POLL", poll->name});
    }
    return json;
}

/// The descriptor that a measured program was made of.
Json descriptor_of(const Json& program)
{
    std::map<std::string, std::uint32_t> value;
    Json blocks = Json::array();
    unsigned group = 0;
    for (const Json& entry : program) {
        const std::string name = entry[0];
        if (!name.starts_with("BDMA.")) continue;
        if (name.starts_with("BDMA.CFG_LAUNCH")) group = name.back() == '1';
        value[name.substr(5)] = entry[1];
        if (name != "BDMA.CFG_OP") continue;
        const auto end = [&](const std::string& side, unsigned bit) {
            return Json{{"memory", value["CFG_CMD"] >> bit & 1 ? "dbb" : "cvsram"},
                        {"address", value["CFG_" + side + "_ADDR_LOW"]},
                        {"line_stride", value["CFG_" + side + "_LINE"]},
                        {"surface_stride", value["CFG_" + side + "_SURF"]}};
        };
        blocks.push_back({{"source", end("SRC", 0)},
                          {"destination", end("DST", 1)},
                          {"line_bytes", 32 * (value["CFG_LINE"] + 1)},
                          {"lines", value["CFG_LINE_REPEAT"] + 1},
                          {"surfaces", value["CFG_SURF_REPEAT"] + 1}});
    }
    for (Json& block : blocks) block["group"] = group;
    return {{"op", "bdma"}, {"blocks", blocks}};
}

TEST(TransferPlan, ProgramsAreThoseOfTheMeasuredCases)
{
    int cases = 0;
    for (const auto& file : std::filesystem::directory_iterator(DLASIM_TEST_DATA "/rtl/nv_full")) {
        if (!file.path().filename().string().starts_with("bdma_")) continue;
        SCOPED_TRACE(file.path());
        std::ifstream in(file.path());
        const Json test = Json::parse(in);
        if (test.at("layers").empty() || !test["layers"][0].contains("bdma")) continue;  // other units work beside BDMA
        const Json& measured = test.at("program");
        const TransferPlan plan = plan_transfer(transfer_from_json(descriptor_of(measured), "t.json", "", ""), full());
        OrderedJson program = program_json(plan.program);
        EXPECT_EQ(program[0], (OrderedJson{"POLL", "CDMA.S_CBUF_FLUSH_STATUS"}));  // not measured: cases begin without
        program.erase(0);
        EXPECT_EQ(Json(program), measured);
        ++cases;
    }
    EXPECT_EQ(cases, 13);
}

/// Blocks of one line, 4096 bytes apart, with these keys each.
std::string blocks_of(const std::vector<std::string>& keys)
{
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::string("{\"source\": ") + std::to_string(4096 * i) +
                ", \"destination\": " + std::to_string(0x40000000 + 4096 * i) + ", \"line_bytes\": 64" + (keys[i].empty() ? "" : ", ") +
                keys[i] + "}";
    return R"({"op": "bdma", "blocks": [)" + text + "]}";
}

/// What the program does to launches: pushes, launches, waits.
std::string outline(const std::string& text)
{
    std::string steps;
    for (const OrderedJson& entry : program_json(plan_transfer(read(text), full()).program)) {
        const std::string name = entry[0];
        if (name == "BDMA.CFG_OP") steps += "p";
        if (name == "BDMA.CFG_LAUNCH0") steps += "L0 ";
        if (name == "BDMA.CFG_LAUNCH1") steps += "L1 ";
        if (name == "MARK") steps += "t0 ";
        if (name == "WAIT_INTR") steps += "w" + entry[1].get<std::string>().substr(5) + " ";
        if (name == "WAIT_STATUS") steps += entry[1] == 64 ? "s0 " : entry[1] == 128 ? "s1 " : "?";
    }
    return steps;
}

TEST(TransferPlan, ALaunchEndsWhereTheGroupChanges)
{
    EXPECT_EQ(outline(blocks_of({"", "", ""})), "pppL0 t0 w0 ");
    EXPECT_EQ(outline(blocks_of({R"("group": 1)", "", R"("group": 0)"})), "ppL1 t0 pL0 s1 s0 ");
}

TEST(TransferPlan, AtMostTwoLaunchesAreUnderWay)
{
    EXPECT_EQ(outline(blocks_of({"", R"("group": 1)", R"("group": 0)", R"("group": 1)"})), "pL0 t0 pL1 s0 pL0 s1 pL1 s0 s1 ");
}

TEST(TransferPlan, ABlockThatWaitsIsPushedWhenEverythingBeforeIsDone)
{
    EXPECT_EQ(outline(blocks_of({"", R"("wait": true)", ""})), "pL0 t0 w0 ppL0 w0 ");
    EXPECT_EQ(outline(blocks_of({R"("wait": true)", R"("group": 1)", R"("wait": true)"})), "pL0 t0 pL1 s0 s1 pL1 w1 ");
}

TEST(TransferPlan, TheQueueNeverHoldsMoreThanTwentyDescriptors)
{
    const std::string twenty(20, 'p');
    EXPECT_EQ(outline(blocks_of(std::vector<std::string>(20))), twenty + "L0 t0 w0 ");
    EXPECT_EQ(outline(blocks_of(std::vector<std::string>(21))), twenty + "L0 t0 w0 pL0 w0 ");
    std::vector<std::string> keys(20);
    keys.push_back(R"("group": 1)");
    EXPECT_EQ(outline(blocks_of(keys)), twenty + "L0 t0 w0 pL1 w1 ");  // otherwise 21 could be in the queue
    keys.erase(keys.begin());
    EXPECT_EQ(outline(blocks_of(keys)), twenty.substr(1) + "L0 t0 pL1 s0 s1 ");
}

/// Two blocks by their source and destination, in bytes from 0x10000 on, of two lines of 64 bytes each.
std::string two(const std::string& first, const std::string& second, const std::string& keys = "")
{
    return R"({"op": "bdma", "blocks": [{)" + first + R"(, "line_bytes": 64, "lines": 2}, {)" + second +
           R"(, "line_bytes": 64, "lines": 2)" + keys + "}]}";
}

TEST(TransferPlan, WhatIsWrittenTwiceOrReadMeanwhileIsRefused)
{
    const std::string first = R"("source": 65536, "destination": 131072)";
    EXPECT_EQ(refused(two(first, R"("source": 65536, "destination": 131200)")), "nothing was refused");
    EXPECT_EQ(refused(two(first, R"("source": 65536, "destination": 131168)")),
              "t.json: /blocks/1/destination: writes address 131168 of dbb a second time, expected lines apart, or \"wait\": true");
    EXPECT_EQ(refused(two(first, R"("source": 65536, "destination": {"memory": "cvsram", "address": 131168})")), "nothing was refused");
    EXPECT_EQ(refused(two(first, R"("source": 131008, "destination": 196608)")),
              "t.json: /blocks/1/source: reads address 131072 of dbb, which is written at the same time, expected lines apart, or "
              "\"wait\": true");
    EXPECT_THAT(refused(two(first, R"("source": 131072, "destination": 196608)", R"(, "group": 1)")),
                HasSubstr("/blocks/1/source: reads address 131072"));
    EXPECT_EQ(refused(two(first, R"("source": 131072, "destination": 196608)", R"(, "wait": true)")), "nothing was refused");
    EXPECT_EQ(refused(two(first, R"("source": 131072, "destination": 65536)", R"(, "wait": true)")), "nothing was refused");
    // A block of its own: onto itself, and lines onto lines.
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": [{"source": 4096, "destination": 4160, "line_bytes": 96}]})"),
                HasSubstr("/blocks/0/source: reads address 4160"));
    EXPECT_THAT(
        refused(
            R"({"op": "bdma", "blocks": [{"source": 4096, "destination": {"address": 0, "line_stride": 32}, "line_bytes": 64, "lines": 2}]})"),
        HasSubstr("/blocks/0/destination: writes address 32 of dbb a second time"));
    // Sources may repeat.
    EXPECT_EQ(
        refused(
            R"({"op": "bdma", "blocks": [{"source": {"address": 4096, "line_stride": 0}, "destination": 0, "line_bytes": 64, "lines": 9}]})"),
        "nothing was refused");
    // Lines of two surfaces may interleave.
    EXPECT_EQ(refused(R"({"op": "bdma", "blocks": [{"source": 4096, "destination": {"address": 0, "line_stride": 128, "surface_stride": 64},
                         "line_bytes": 64, "lines": 3, "surfaces": 2}]})"),
              "nothing was refused");
}

// The interrupt of a launch comes with the answer to its last write.
TEST(TransferPlan, WhatNoInterruptVouchesForIsNotTouchedAgain)
{
    const auto three = [](const std::string& second, const std::string& third) {
        return R"({"op": "bdma", "blocks": [{"source": 0, "destination": 65536, "line_bytes": 64},
            {"source": 0, "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 64)" +
               second + R"(},
            {"wait": true, "line_bytes": 64, )" +
               third + "}]}";
    };
    const std::string reads = R"("source": 65536, "destination": 131072)", overwrites = R"("source": 0, "destination": 65536)";
    EXPECT_THAT(refused(three("", reads)),
                HasSubstr("/blocks/2/source: touches address 65536 of dbb, written by a launch that ends in the other memory"));
    EXPECT_THAT(refused(three("", overwrites)), HasSubstr("/blocks/2/destination: touches address 65536 of dbb"));
    EXPECT_EQ(refused(three(R"(, "group": 1)", reads)), "nothing was refused");
    EXPECT_EQ(refused(three("", R"("source": {"memory": "cvsram", "address": 0}, "destination": 131072)")), "nothing was refused");
    EXPECT_FALSE(plan_transfer(read(three("", R"("source": 0, "destination": {"memory": "cvsram", "address": 64})")), full()).settled);
    EXPECT_TRUE(
        plan_transfer(read(three("", R"("source": 0, "destination": 131072)")), full()).settled);  // the last launch vouches for both
}

TEST(TransferPlan, WhatTheMachineDoesNotHaveIsRefused)
{
    const std::string copy = blocks_of({""}),
                      reshape = R"({"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 2, "height": 2, "channels": 2},
        "placement": {"output": {"memory": "cvsram", "address": 0}}})";
    for (const Hardware& hardware : presets()) {
        if (hardware.full()) continue;
        EXPECT_EQ(refused(copy, hardware),
                  "t.json: /op: found a machine without BDMA (" + hardware.name + "), expected one that has it: nv_full");
        EXPECT_EQ(refused(reshape, hardware),
                  "t.json: /op: found a machine without Rubik (" + hardware.name + "), expected one that has it: nv_full");
    }
    Hardware one_port = full();
    one_port.memory.has_secondary = false;
    EXPECT_THAT(refused(reshape, one_port), HasSubstr("t.json: /placement/output: found the memory \"cvsram\", expected \"dbb\""));
    Hardware narrow = full();
    narrow.memory.address_bits = 32;
    EXPECT_THAT(
        refused(
            R"({"op": "bdma", "blocks": [{"source": 0, "destination": {"address": 4294967232, "line_stride": 64}, "line_bytes": 64, "lines": 2}]})",
            narrow),
        HasSubstr("t.json: /blocks/0/destination: ends at 4294967360, expected at most 4294967296: 32 address bits"));
}

TEST(TransferPlan, MoreMemoryThanASimulationHasIsRefused)
{
    EXPECT_THAT(refused(R"({"op": "bdma", "blocks": [{"source": 0, "destination": 4294967296, "line_bytes": 262144, "lines": 2049}]})"),
                HasSubstr("/blocks: copy more than"));
    EXPECT_THAT(
        refused(
            R"({"op": "bdma", "blocks": [{"source": {"address": 0, "line_stride": 65536}, "destination": 8589934592, "line_bytes": 32, "lines": 8192, "surfaces": 2}]})"),
        HasSubstr("/blocks/0/source: is spread over more than 8192 pages"));
    EXPECT_THAT(refused(R"({"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 1, "height": 8192, "channels": 1024}})"),
                HasSubstr("t.json: /input: makes an output of 268435456 bytes"));
}

TEST(TransferPlan, InputAndOutputOfAReshapeStandApart)
{
    const std::string text =
        R"({"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 4, "height": 2, "channels": 3}, "placement": {"input": 4096, "output": )";
    EXPECT_EQ(refused(text + "4352}}"), "nothing was refused");  // the input has 4 * 2 atoms
    EXPECT_THAT(refused(text + "4320}}"),
                HasSubstr("t.json: /placement: the input of 256 bytes at 4096 and the output of 192 bytes at 4320 overlap"));
    EXPECT_THAT(refused(text + "3936}}"), HasSubstr("overlap"));
    EXPECT_EQ(refused(text + "3904}}"), "nothing was refused");
    EXPECT_EQ(refused(text + R"({"memory": "cvsram", "address": 4096}}})"), "nothing was refused");
}

using namespace reg::rbk;

std::map<std::string, std::uint32_t> registers_of(const std::string& text)
{
    std::map<std::string, std::uint32_t> registers;
    for (const ProgramEntry& entry : plan_transfer(read(text), full()).program)
        if (const auto* write = std::get_if<RegisterWrite>(&entry)) registers[write->name] = write->value;
    return registers;
}

// 70 channels of int16 are five surfaces; 20 elements of two bytes take two atoms of a plane.
TEST(TransferPlan, ASplitReadsSurfacesAndWritesPlanes)
{
    auto r = registers_of(
        R"({"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 20, "height": 3, "channels": 70}, "precision": "int16",
        "placement": {"input": {"memory": "cvsram", "address": 64}, "output": 1099511627776}})");
    EXPECT_EQ(r["RBK.D_MISC_CFG"], D_MISC_CFG::RUBIK_MODE.put(1) | D_MISC_CFG::IN_PRECISION.put(1));
    EXPECT_EQ(r["RBK.D_DAIN_RAM_TYPE"], 0u);
    EXPECT_EQ(r["RBK.D_DAOUT_RAM_TYPE"], 1u);
    EXPECT_EQ(r["RBK.D_DATAIN_SIZE_0"], D_DATAIN_SIZE_0::DATAIN_WIDTH.put(19) | D_DATAIN_SIZE_0::DATAIN_HEIGHT.put(2));
    EXPECT_EQ(r["RBK.D_DATAIN_SIZE_1"], 69u);
    EXPECT_EQ(r["RBK.D_DATAOUT_SIZE_1"], 69u);
    EXPECT_EQ(r["RBK.D_DAIN_ADDR_LOW"], 64u);
    EXPECT_EQ(r["RBK.D_DAIN_LINE_STRIDE"], 20u * 32);
    EXPECT_EQ(r["RBK.D_DAIN_SURF_STRIDE"], 20u * 32 * 3);
    EXPECT_EQ(r["RBK.D_DAOUT_ADDR_HIGH"], 256u);
    EXPECT_EQ(r["RBK.D_DAOUT_ADDR_LOW"], 0u);
    EXPECT_EQ(r["RBK.D_DAOUT_LINE_STRIDE"], 64u);
    EXPECT_EQ(r["RBK.D_DAOUT_PLANAR_STRIDE"], 64u * 3);
    EXPECT_EQ(r["GLB.S_INTR_MASK"], 0x3ffcffu);
}

TEST(TransferPlan, AMergeReadsPlanesAndWritesSurfaces)
{
    auto r = registers_of(
        R"({"op": "rubik", "rubik": {"mode": "merge"}, "input": {"width": 20, "height": 3, "channels": 70}, "precision": "fp16"})");
    EXPECT_EQ(r["RBK.D_MISC_CFG"], D_MISC_CFG::RUBIK_MODE.put(2) | D_MISC_CFG::IN_PRECISION.put(2));
    EXPECT_EQ(r["RBK.D_DAIN_LINE_STRIDE"], 64u);
    EXPECT_EQ(r["RBK.D_DAIN_PLANAR_STRIDE"], 64u * 3);
    EXPECT_EQ(r["RBK.D_DAOUT_LINE_STRIDE"], 20u * 32);
    EXPECT_EQ(r["RBK.D_DAOUT_SURF_STRIDE"], 20u * 32 * 3);
}

// 6 sub-cubes of 40 channels of int8, two surfaces each.
TEST(TransferPlan, AContractionReadsSubCubes)
{
    auto r = registers_of(
        R"({"op": "rubik", "rubik": {"mode": "contract", "stride": {"x": 2, "y": 3}}, "input": {"width": 5, "height": 4, "channels": 240}})");
    EXPECT_EQ(r["RBK.D_MISC_CFG"], 0u);
    EXPECT_EQ(r["RBK.D_DATAOUT_SIZE_1"], 39u);
    EXPECT_EQ(r["RBK.D_DECONV_STRIDE"], D_DECONV_STRIDE::DECONV_X_STRIDE.put(1) | D_DECONV_STRIDE::DECONV_Y_STRIDE.put(2));
    EXPECT_EQ(r["RBK.D_DAIN_LINE_STRIDE"], 160u);
    EXPECT_EQ(r["RBK.D_DAIN_SURF_STRIDE"], 640u);
    EXPECT_EQ(r["RBK.D_CONTRACT_STRIDE_0"], 1280u);
    EXPECT_EQ(r["RBK.D_DAOUT_LINE_STRIDE"], 320u);
    EXPECT_EQ(r["RBK.D_DAOUT_SURF_STRIDE"], 320u * 12);
}

/// A memory in pieces, as the machine would have it.
struct Memories {
    std::map<std::pair<bool, Address>, std::uint8_t> bytes;
    std::uint8_t& at(const Place& place) { return bytes[{place.primary, place.address}]; }
    MemoryCheck::Write writer()
    {
        return [this](const Place& place, std::span<const std::uint8_t> data) {
            for (std::size_t i = 0; i < data.size(); ++i) at(place + i) = data[i];
        };
    }
    Comparison compare(const MemoryCheck& contents)
    {
        return contents
            .after({[this](const Place& place, std::uint64_t count) {
                std::vector<std::uint8_t> data;
                for (std::uint64_t i = 0; i < count; ++i) data.push_back(at(place + i));
                return data;
            }})
            .comparison;
    }
};

TEST(TransferContents, OnlyACopyOfEveryByteAndNothingElseIsACopy)
{
    const Transfer t = read(
        R"({"op": "bdma", "blocks": [{"source": {"address": 65504, "line_stride": 96}, "destination": {"memory": "cvsram", "address": 64, "line_stride": 128},
        "line_bytes": 64, "lines": 2}]})");
    const TransferPlan plan = plan_transfer(t, full());
    const auto contents = transfer_contents(t, plan);
    Memories m;
    contents->before(m.writer());
    EXPECT_GT(m.compare(*contents).mismatches, 100u);  // nothing has been copied: of 128 bytes half a byte is right by chance
    for (std::uint64_t line = 0; line < 2; ++line)
        for (std::uint64_t b = 0; b < 64; ++b) m.at({false, Address{64 + 128 * line + b}}) = m.at({true, Address{65504 + 96 * line + b}});
    EXPECT_TRUE(m.compare(*contents).equal());
    for (const std::uint64_t address : {0u, 63u, 64u, 127u, 128u, 191u, 255u, 256u, 300u}) {  // around, inside, between the lines
        m.at({false, Address{address}}) ^= 1;
        const Comparison wrong = m.compare(*contents);
        EXPECT_EQ(wrong.mismatches, 1u) << address;
        m.at({false, Address{address}}) ^= 1;
    }
    m.at({false, Address{100}}) = static_cast<std::uint8_t>(m.at({true, Address{65540}}) + 1);
    EXPECT_THAT(m.compare(*contents).examples, ElementsAre(HasSubstr("cvsram 0x64: found 0x")));
}

TEST(TransferContents, WhatWaitsSeesWhatWasCopiedBefore)
{
    const Transfer t = read(
        R"({"op": "bdma", "blocks": [{"source": 0, "destination": 4096, "line_bytes": 32}, {"wait": true, "source": 4096, "destination": 0, "line_bytes": 32},
        {"wait": true, "source": {"address": 8192}, "destination": 4096, "line_bytes": 32}]})");
    const TransferPlan plan = plan_transfer(t, full());
    const auto contents = transfer_contents(t, plan);
    Memories m;
    contents->before(m.writer());
    for (std::uint64_t b = 0; b < 32; ++b) m.at({true, Address{4096 + b}}) = m.at({true, Address{8192 + b}});
    EXPECT_TRUE(m.compare(*contents).equal());
}

/// Both sides of a reshape, element by element, by the formulas of rubik.md 1.4 and programming.md 3.
struct Reshaped {
    explicit Reshaped(const std::string& text)
        : transfer(read(text)), plan(plan_transfer(transfer, full())), contents(transfer_contents(transfer, plan))
    {
        contents->before(memory.writer());
    }
    std::uint8_t byte(const Place& base, std::uint64_t offset) { return memory.at(base + offset); }
    void put(const Place& base, std::uint64_t offset, std::uint8_t value) { memory.at(base + offset) = value; }

    Transfer transfer;
    TransferPlan plan;
    std::unique_ptr<const MemoryCheck> contents;
    Memories memory;
};

// 5 columns, 2 lines, 40 channels of int8: atoms of 32 channels; lines of a plane are one atom.
TEST(TransferContents, SplitPutsElementsIntoPlanesAndZerosBehindThem)
{
    Reshaped s(R"({"op": "rubik", "rubik": {"mode": "split"}, "input": {"width": 5, "height": 2, "channels": 40}})");
    const Place from = s.transfer.reshape()->input, to = s.transfer.reshape()->output;
    for (std::uint64_t c = 0; c < 40; ++c)
        for (std::uint64_t y = 0; y < 2; ++y)
            for (std::uint64_t x = 0; x < 32; ++x)
                s.put(to, c * 64 + y * 32 + x, x < 5 ? s.byte(from, c / 32 * 320 + y * 160 + x * 32 + c % 32) : 0);
    EXPECT_TRUE(s.memory.compare(*s.contents).equal());
    s.put(to, 3 * 64 + 32 + 7, 1);
    EXPECT_THAT(s.memory.compare(*s.contents).examples,
                ElementsAre("dbb 0xa00000e7 (channel 3 row 1 column 7): found 0x01, expected 0x00"));
    s.put(to, 3 * 64 + 32 + 7, 0);
    s.put({true, to.address - 1}, 0, 0);
    EXPECT_EQ(s.memory.compare(*s.contents).mismatches, 1u);
}

// 20 columns of int16: 40 bytes of a plane in two atoms; 18 channels in two surfaces of 16.
TEST(TransferContents, MergePutsElementsIntoAtomsAndZerosBehindTheChannels)
{
    Reshaped s(R"({"op": "rubik", "rubik": {"mode": "merge"}, "input": {"width": 20, "height": 2, "channels": 18}, "precision": "int16"})");
    const Place from = s.transfer.reshape()->input, to = s.transfer.reshape()->output;
    for (std::uint64_t c = 0; c < 32; ++c)
        for (std::uint64_t y = 0; y < 2; ++y)
            for (std::uint64_t x = 0; x < 20; ++x)
                for (std::uint64_t b = 0; b < 2; ++b)
                    s.put(to, c / 16 * 1280 + y * 640 + x * 32 + c % 16 * 2 + b, c < 18 ? s.byte(from, c * 128 + y * 64 + x * 2 + b) : 0);
    EXPECT_TRUE(s.memory.compare(*s.contents).equal());
    s.put(to, 1280 + 31 * 32, 9);
    EXPECT_EQ(s.memory.compare(*s.contents).mismatches, 1u);
}

// Two by two sub-cubes of 40 channels: whole atoms move, what pads the channels with them.
TEST(TransferContents, ContractInterleavesAtoms)
{
    Reshaped s(
        R"({"op": "rubik", "rubik": {"mode": "contract", "stride": {"x": 2, "y": 2}}, "input": {"width": 3, "height": 2, "channels": 160},
                   "placement": {"output": {"memory": "cvsram", "address": 0}}})");
    const Place from = s.transfer.reshape()->input, to = s.transfer.reshape()->output;
    const std::uint64_t surface = 3 * 2 * 32, cube = 2 * surface;
    for (std::uint64_t g = 0; g < 2; ++g)
        for (std::uint64_t y = 0; y < 4; ++y)
            for (std::uint64_t x = 0; x < 6; ++x)
                for (std::uint64_t b = 0; b < 32; ++b)
                    s.put(to, g * 4 * surface + y * 192 + x * 32 + b,
                          s.byte(from, (y % 2 * 2 + x % 2) * cube + g * surface + y / 2 * 96 + x / 2 * 32 + b));
    EXPECT_TRUE(s.memory.compare(*s.contents).equal());
    s.put(to, 5, static_cast<std::uint8_t>(s.byte(to, 5) + 1));
    EXPECT_FALSE(s.memory.compare(*s.contents).equal());
}

}  // namespace transfer_plan_test
}  // namespace dlasim
