// Register programs against the measured cases: what write_pass() says for a case's layer must
// be what the case's program writes into that register group.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "case_program.h"
#include "config/machine/hardware.h"
#include "facts/abilities.h"
#include "facts/presets.h"
#include "lowering/program/register_writer.h"
#include "registers/fields/cdma.h"

namespace dlasim {
namespace lowering_test {

std::uint32_t number(const json& d, const char* key, std::uint32_t fallback) { return d.value(key, fallback); }

const PixelFormat* format_of(std::uint32_t code)
{
    static const char* const kNames[] = {"T_R8", "T_R16", "T_A16B16G16R16", "T_A8B8G8R8"};
    for (const char* name : kNames)
        if (find_pixel_format(name)->code == code) return find_pixel_format(name);
    for (const char* name : {"T_R10",
                             "T_R12",
                             "T_R16_I",
                             "T_R16_F",
                             "T_X16B16G16R16",
                             "T_A16B16G16R16_F",
                             "T_A16Y16U16V16",
                             "T_V16U16Y16A16",
                             "T_A16Y16U16V16_F",
                             "T_A8R8G8B8",
                             "T_B8G8R8A8",
                             "T_R8G8B8A8",
                             "T_X8B8G8R8",
                             "T_X8R8G8B8",
                             "T_B8G8R8X8",
                             "T_R8G8B8X8",
                             "T_A2B10G10R10",
                             "T_A2R10G10B10",
                             "T_B10G10R10A2",
                             "T_R10G10B10A2",
                             "T_A2Y10U10V10",
                             "T_V10U10Y10A2",
                             "T_A8Y8U8V8",
                             "T_V8U8Y8A8",
                             "T_Y8___U8V8_N444",
                             "T_Y8___V8U8_N444",
                             "T_Y10___U10V10_N444",
                             "T_Y10___V10U10_N444",
                             "T_Y12___U12V12_N444",
                             "T_Y12___V12U12_N444",
                             "T_Y16___U16V16_N444",
                             "T_Y16___V16U16_N444"})
        if (find_pixel_format(name)->code == code) return find_pixel_format(name);
    return nullptr;
}

Address address(const Group& g, const char* high, const char* low)
{
    const auto value = [&](const char* name) { return g.count(name) ? g.at(name) : 0u; };
    return Address{std::uint64_t{value(high)} << 32 | value(low)};
}

Operand operand_of(const json& d, const char* key)
{
    Operand operand;
    if (!d.contains(key)) return operand;
    operand.on = true;
    operand.per = d[key] == "reg" ? OperandPer::Layer : d.value("mode", "kernel") == "element" ? OperandPer::Element : OperandPer::Kernel;
    operand.value = d.value(std::string(key) + "_val", 0);
    const std::string conversion = std::string(1, *key) + "cvt";
    if (d.contains(conversion)) operand.conversion = {true, d[conversion][0], d[conversion][1], d[conversion][2]};
    return operand;
}

/// "bs", "bn" and "ew" of a case of SDP.
SdpConfig post_of(const json& d)
{
    SdpConfig post;
    for (std::size_t i = 0; i < kEngineNames.size(); ++i) {
        if (!d.contains(kEngineNames[i])) continue;
        const json& e = d[kEngineNames[i]];
        PointEngine& engine = post.engines[i];
        engine.alu = operand_of(e, "alu");
        engine.mul = operand_of(e, "mul");
        engine.function = static_cast<AluFunction>(number(e, "algo", 2));
        engine.prelu = number(e, "prelu", 0) != 0;
        engine.alu_shift = number(e, "alu_shift", 0);
        engine.mul_shift = number(e, i == 2 ? "trunc" : "mul_shift", 0);
        engine.relu = number(e, "relu", 0) != 0;
        engine.operand_bytes = number(e, "bytes", 2);
    }
    return post;
}

Precision precision_of(const std::string& name)
{
    return name == "int8" ? Precision::Int8 : name == "int16" ? Precision::Int16 : Precision::Fp16;
}

/// A case's short keys: the table at the head of programming.py.
Pass pass_of(const json& d)
{
    Pass p;
    const std::string mode = d.value("mode", "dc"), precision = d.value("prec", "int8");
    p.mode = mode == "img" ? PassMode::Image : mode == "wg" ? PassMode::Winograd : PassMode::Direct;
    p.precision = precision_of(precision);
    if (number(d, "fly", 1) == 0) p.mode = PassMode::Sdp;
    p.input_precision = precision_of(d.value("iprec", precision));
    p.width = d.at("w");
    p.height = d.at("h");
    p.channels = d.at("c");
    p.kernels = p.mode == PassMode::Sdp ? p.channels : number(d, "k", 0);
    p.kernel_height = number(d, "r", 1);
    p.kernel_width = number(d, "s", 1);
    p.stride = {number(d, "sx", 1), number(d, "sy", 1)};
    p.dilation = {number(d, "dx", 1), number(d, "dy", 1)};
    p.pad = {number(d, "pl", 0), number(d, "pr", 0), number(d, "pt", 0), number(d, "pb", 0), d.value("padv", 0)};
    if (p.mode == PassMode::Winograd) {  // a case gives the kernel of a phase
        p.kernel_width *= p.stride.x;
        p.kernel_height *= p.stride.y;
    }
    p.batch = number(d, "batch", 1);
    p.data_banks = number(d, "db", 0);
    p.weight_banks = number(d, "wb", 0);
    p.grain = number(d, "grain", 1);
    if (d.contains("pack")) {
        p.lines_packed = reg::cdma::D_DAIN_MAP::LINE_PACKED.get(d["pack"]);
        p.surfaces_packed = reg::cdma::D_DAIN_MAP::SURF_PACKED.get(d["pack"]);
    }
    p.in_strides.line = number(d, "line", 0);
    p.in_strides.surface = number(d, "surf", 0);
    p.out_strides.surface = number(d, "osurf", 0);
    const std::uint32_t ram = number(d, "ram", 1);
    p.input_primary = number(d, "iram", ram) != 0;
    p.weights_primary = number(d, "wram", ram) != 0;
    p.output_primary = number(d, "oram", ram) != 0;
    if (p.mode == PassMode::Image) p.format = format_of(number(d, "fmt", 0x0c));
    p.x_offset = number(d, "xo", 0);
    p.signed_pixels = number(d, "sign", 1) != 0;
    p.y_extension = number(d, "yext", 0);
    if (d.contains("cvt") && p.mode == PassMode::Image) {
        p.conversion.on = true;
        p.conversion.offset = d["cvt"][0];
        p.conversion.scale = d["cvt"][1];
        p.conversion.shift = d["cvt"][2];
    }
    if (d.contains("mean")) {
        p.conversion.per_component = true;
        for (std::size_t i = 0; i < d["mean"].size(); ++i) p.conversion.mean[i] = d["mean"][i];
    }
    p.reuse = {number(d, "data_reuse", 0) != 0,
               number(d, "weight_reuse", 0) != 0,
               number(d, "skip_data", 0) != 0,
               number(d, "skip_weight", 0) != 0,
               number(d, "h_fetch", 0),
               number(d, "h_total", 0),
               number(d, "rls", 0)};
    if (d.contains("wcomp")) p.compressed = {true, d["wcomp"]["weight_bytes"], d["wcomp"]["wmb_bytes"]};
    p.post = post_of(d);
    if (number(d, "relu", 0) != 0) p.post.bs().relu = true;
    p.output.precision = precision_of(d.value("oprec", precision));
    p.output.shift = number(d, "shift", 0);
    if (d.contains("cvt") && d.contains("seed")) p.output = {p.output.precision, d["cvt"][0], d["cvt"][1], d["cvt"][2]};
    return p;
}

/// Where the tensors stand is the program's choice.
Addresses addresses_of(const Group& written, PassMode mode)
{
    Addresses a;
    a.input = mode == PassMode::Sdp ? address(written, "SDP_RDMA.D_SRC_BASE_ADDR_HIGH", "SDP_RDMA.D_SRC_BASE_ADDR_LOW")
                                    : address(written, "CDMA.D_DAIN_ADDR_HIGH_0", "CDMA.D_DAIN_ADDR_LOW_0");
    a.input_uv = address(written, "CDMA.D_DAIN_ADDR_HIGH_1", "CDMA.D_DAIN_ADDR_LOW_1");
    a.weights = address(written, "CDMA.D_WEIGHT_ADDR_HIGH", "CDMA.D_WEIGHT_ADDR_LOW");
    a.mask = address(written, "CDMA.D_WMB_ADDR_HIGH", "CDMA.D_WMB_ADDR_LOW");
    a.group_sizes = address(written, "CDMA.D_WGS_ADDR_HIGH", "CDMA.D_WGS_ADDR_LOW");
    constexpr const char* kOf[][2] = {{"SDP_RDMA.D_BS_BASE_ADDR_HIGH", "SDP_RDMA.D_BS_BASE_ADDR_LOW"},
                                      {"SDP_RDMA.D_BN_BASE_ADDR_HIGH", "SDP_RDMA.D_BN_BASE_ADDR_LOW"},
                                      {"SDP_RDMA.D_EW_BASE_ADDR_HIGH", "SDP_RDMA.D_EW_BASE_ADDR_LOW"}};
    for (std::size_t i = 0; i < a.operands.size(); ++i) a.operands[i] = address(written, kOf[i][0], kOf[i][1]);
    a.output = address(written, "SDP.D_DST_BASE_ADDR_HIGH", "SDP.D_DST_BASE_ADDR_LOW");
    return a;
}

struct Tally {
    int cases = 0, layers = 0, registers = 0;
};

/// Its registers follow from its layers: not made from registers alone, not reduced from a random program.
bool describes_its_layers(const std::string& name, const json& c)
{
    for (const char* reduced : {"sdp_prefetch_", "sdp_record_", "cvsram_write_interval_", "perf_mrdma_"})
        if (name.starts_with(reduced)) return false;
    return !c.at("layers").empty() && c["layers"][0].at("descriptor").contains("w");
}

void compare_case(const std::filesystem::path& file, const Hardware& hw, Tally& tally)
{
    std::ifstream in(file);
    const json c = json::parse(in);
    if (!describes_its_layers(file.filename().string(), c)) return;
    const bool alone = c.at("layers").at(0).at("descriptor").value("fly", 1) == 0;
    const std::vector<Group> written = layers_of(c.at("program"), alone ? "SDP.D_OP_ENABLE" : "CDMA.D_OP_ENABLE");
    ASSERT_EQ(written.size(), c.at("layers").size()) << file;
    ++tally.cases;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const json& d = c["layers"][i].at("descriptor");
        const Pass pass = pass_of(d);
        // Measured defects of the silicon: the lowering makes no such pass.
        if (pass.mode == PassMode::Image && facts::abilities(hw).sums_wrongly(pass.kernel_width * pass.channels, d.value("ow", 0)))
            continue;
        RegisterWriter out(hw);
        write_pass(out, pass, size_pass(pass, hw, file.string()), addresses_of(written[i], pass.mode),
                   UnitGroups::all(written[i].at("SDP.S_POINTER")));
        ++tally.layers;
        for (const RegisterValue& value : out.take().writes) {
            const struct {
                std::string name;
                std::uint32_t value;
            } mine{value.name(), value.value};
            const auto theirs = written[i].find(mine.name);
            if (theirs == written[i].end()) continue;
            if (mine.name == "CDMA.S_ARBITER" && d.contains("arb")) continue;
            if (mine.name.starts_with("SDP_RDMA.D_") && mine.name.ends_with("STRIDE") && mine.value == 0)
                continue;                                                            // of operands per kernel: not used
            if (mine.name == "SDP.D_DST_BATCH_STRIDE" && pass.batch == 1) continue;  // not used
            // The function of an ALU that is bypassed is not used.
            const std::uint32_t used = mine.name.starts_with("SDP.D_DP_") && mine.name.size() == 15 && (mine.value & 2) != 0 ? ~0xcu : ~0u;
            if (mine.name == "SDP.D_PERF_ENABLE") continue;  // perf_ cases switch the counters on
            // Older cases round the weights up to 128 bytes; programming.md 2 says why that is wrong.
            if (mine.name.ends_with("D_WEIGHT_BYTES") && theirs->second == (mine.value + 127) / 128 * 128) continue;
            ++tally.registers;
            EXPECT_EQ(mine.value & used, theirs->second & used) << file.filename() << " layer " << i << ": " << mine.name;
        }
    }
}

class MeasuredPrograms : public testing::TestWithParam<const char*> {};

TEST_P(MeasuredPrograms, AreWhatTheLoweringWrites)
{
    const std::filesystem::path folder = std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / GetParam();
    const Hardware hw = *find_preset(GetParam());
    Tally tally;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        for (const char* prefix : {"dc_", "img_", "wg_", "batch_", "wcomp_", "partial_", "reuse_", "cvsram_", "stall_", "perf_", "sdp_"})
            if (name.starts_with(prefix)) compare_case(entry.path(), hw, tally);
    }
    EXPECT_GT(tally.layers, 40);
    RecordProperty("registers", tally.registers);
    std::cout << GetParam() << ": " << tally.registers << " registers of " << tally.layers << " layers in " << tally.cases << " cases\n";
}

INSTANTIATE_TEST_SUITE_P(Presets, MeasuredPrograms, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small_256", "nv_small"));

}  // namespace lowering_test
}  // namespace dlasim
