// Rules of SDP, PDP, CDP and their read DMAs. [spec] sdp.md 1.3 to 1.7, pdp.md, cdp.md 1.1.
#include "base/bits.h"
#include "lint/rules.h"
#include "registers/fields/cdp.h"
#include "registers/fields/pdp.h"
#include "registers/fields/sdp.h"
#include "registers/sdp_engines.h"

namespace dlasim::lint {
namespace {

using namespace units;
namespace pdp = reg::pdp;
namespace pdp_rdma = reg::pdp_rdma;
namespace sdp = reg::sdp;
namespace sdp_rdma = reg::sdp_rdma;

/// Windows of a pooling along one axis.
std::uint64_t windows(std::uint64_t size, std::uint64_t before, std::uint64_t after, std::uint64_t kernel, std::uint64_t stride)
{
    return size + before + after < kernel ? 0 : (size + before + after - kernel) / stride + 1;
}

}  // namespace

void OperationRules::check()
{
    for (const Launched unit : {Launched::Cdma, Launched::Csc, Launched::CmacA, Launched::CmacB, Launched::Cacc})
        if (has(unit)) {
            check_convolution();
            break;
        }
    if (has(kSdp)) check_sdp();
    else if (has(kSdpRdma)) missing(kSdp, "SDP_RDMA reads for SDP");
    if (has(kPdp)) check_pdp();
    else if (has(kPdpRdma)) missing(kPdp, "PDP_RDMA reads for PDP");
    if (has(kCdp) || has(kCdpRdma)) check_cdp();
}

void OperationRules::check_sdp()
{
    const bool flying = get(kSdp, sdp::D_FEATURE_MODE_CFG::FLYING_MODE);
    if (flying && !has(Launched::Cacc))
        report(Rule::MissingUnit, kSdp, sdp::D_FEATURE_MODE_CFG, "FLYING_MODE takes the results of a convolution, which is not launched");
    if (get(kSdp, sdp::D_FEATURE_MODE_CFG::OUTPUT_DST) && !has(kPdp))
        report(Rule::MissingUnit, kSdp, sdp::D_FEATURE_MODE_CFG, "OUTPUT_DST sends the results to PDP, which is not launched with it");
    if (!flying && !has(kSdpRdma)) missing(kSdpRdma, "SDP takes its input from memory (FLYING_MODE is 0)");
    check_operands();
    const std::uint32_t atom = hw.memory.atom_bytes;
    const auto surfaces = [&](std::uint64_t channels, bool words) { return ceil_div(channels * (words ? 2 : 1), std::uint64_t{atom}); };
    const std::uint64_t width = get(kSdp, sdp::D_DATA_CUBE_WIDTH::WIDTH) + std::uint64_t{1},
                        height = get(kSdp, sdp::D_DATA_CUBE_HEIGHT::HEIGHT) + std::uint64_t{1},
                        channels = get(kSdp, sdp::D_DATA_CUBE_CHANNEL::CHANNEL) + std::uint64_t{1};
    const bool compares =
        hw.sdp.has_ew && !get(kSdp, sdp::kEw.bypass) && !get(kSdp, sdp::kEw.alu_bypass) && get(kSdp, sdp::kEw.algorithm) == sdp::kEqual;
    if (!get(kSdp, sdp::D_FEATURE_MODE_CFG::OUTPUT_DST) && !compares) {
        expect_port(kSdp, sdp::D_DST_DMA_CFG::DST_RAM_TYPE);
        expect_strides({kSdp, sdp::D_DST_LINE_STRIDE, sdp::D_DST_SURFACE_STRIDE, width, height,
                        surfaces(channels, hw.full() && get(kSdp, sdp::D_DATA_FORMAT::OUT_PRECISION) != 0), false});
    }
    if (!has(kSdpRdma)) return;
    if (!flying) {
        expect_port(kSdpRdma, sdp_rdma::D_SRC_DMA_CFG::SRC_RAM_TYPE);
        expect_strides({kSdpRdma, sdp_rdma::D_SRC_LINE_STRIDE, sdp_rdma::D_SRC_SURFACE_STRIDE, width, height,
                        surfaces(channels, hw.full() && get(kSdpRdma, sdp_rdma::D_FEATURE_MODE_CFG::IN_PRECISION) != 0), true});
    }
    equal("FLYING_MODE", {kSdpRdma, sdp_rdma::D_FEATURE_MODE_CFG::FLYING_MODE}, {kSdp, sdp::D_FEATURE_MODE_CFG::FLYING_MODE});
    equal("width", {kSdpRdma, sdp_rdma::D_DATA_CUBE_WIDTH::WIDTH}, {kSdp, sdp::D_DATA_CUBE_WIDTH::WIDTH});
    equal("height", {kSdpRdma, sdp_rdma::D_DATA_CUBE_HEIGHT::HEIGHT}, {kSdp, sdp::D_DATA_CUBE_HEIGHT::HEIGHT});
    equal("channels", {kSdpRdma, sdp_rdma::D_DATA_CUBE_CHANNEL::CHANNEL}, {kSdp, sdp::D_DATA_CUBE_CHANNEL::CHANNEL});
    if (hw.winograd) equal("Winograd mode", {kSdpRdma, sdp_rdma::D_FEATURE_MODE_CFG::WINOGRAD}, {kSdp, sdp::D_FEATURE_MODE_CFG::WINOGRAD});
    if (hw.batch) equal("batches", {kSdpRdma, sdp_rdma::D_FEATURE_MODE_CFG::BATCH_NUMBER}, {kSdp, sdp::D_FEATURE_MODE_CFG::BATCH_NUMBER});
    if (hw.full())
        equal("processing precision", {kSdpRdma, sdp_rdma::D_FEATURE_MODE_CFG::PROC_PRECISION}, {kSdp, sdp::D_DATA_FORMAT::PROC_PRECISION});
}

void OperationRules::check_operands()
{
    constexpr const char* kNames[] = {"BS", "BN", "EW"};
    for (std::size_t i = 0; i < 3; ++i) {
        const sdp::Engine& engine = sdp::kEngines[i];
        const sdp_rdma::Operands& read = sdp_rdma::kOperands[i];
        if (i == 2 && !hw.sdp.has_ew) continue;
        const bool on = !get(kSdp, engine.bypass);
        const bool alu = on && !get(kSdp, engine.alu_bypass) && get(kSdp, engine.alu_src);
        const bool mul = on && !get(kSdp, engine.mul_bypass) && get(kSdp, engine.mul_src);
        const bool reads = has(kSdpRdma) && !get(kSdpRdma, read.disable);
        if ((alu || mul) && !reads) {
            const std::string problem = fmt::format("{} uses operands from memory, but SDP_RDMA reads none", kNames[i]);
            if (has(kSdpRdma)) report(Rule::UnitsDisagree, kSdpRdma, read.disable.offset, problem);
            else missing(kSdpRdma, problem);
        } else if (reads && !alu && !mul) {
            report(Rule::UnitsDisagree, kSdpRdma, read.disable.offset, fmt::format("operands of {} are read, but it uses none", kNames[i]));
        } else if (reads) {
            const std::uint32_t use = alu && mul ? 2 : alu ? 1 : 0, found = get(kSdpRdma, read.use);
            constexpr const char* kUses[] = {"of the multiplier", "of the ALU", "of both", "of neither"};
            if (found != use)
                report(Rule::UnitsDisagree, kSdpRdma, read.use.offset,
                       fmt::format("{} is given operands {}, expected {}", kNames[i], kUses[found], kUses[use]));
        }
    }
}

void OperationRules::check_pdp()
{
    using K = decltype(pdp::D_POOLING_KERNEL_CFG);
    using P = decltype(pdp::D_POOLING_PADDING_CFG);
    const bool flying = get(kPdp, pdp::D_OPERATION_MODE_CFG::FLYING_MODE) == 0;
    if (flying && !has(kSdp))
        report(Rule::MissingUnit, kPdp, pdp::D_OPERATION_MODE_CFG, "PDP takes the results of SDP, which sends none (OUTPUT_DST)");
    if (!flying && !has(kPdpRdma)) missing(kPdpRdma, "PDP takes its input from memory (FLYING_MODE is 1)");
    const auto size = [&](reg::Field field) { return get(kPdp, field) + std::uint64_t{1}; };
    expect({kPdp, pdp::D_DATA_CUBE_OUT_WIDTH::CUBE_OUT_WIDTH},
           windows(size(pdp::D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH), get(kPdp, P::PAD_LEFT), get(kPdp, P::PAD_RIGHT), size(K::KERNEL_WIDTH),
                   size(K::KERNEL_STRIDE_WIDTH)) -
               1,
           "the result of input width, padding, kernel and stride, less one");
    expect({kPdp, pdp::D_DATA_CUBE_OUT_HEIGHT::CUBE_OUT_HEIGHT},
           windows(size(pdp::D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT), get(kPdp, P::PAD_TOP), get(kPdp, P::PAD_BOTTOM),
                   size(K::KERNEL_HEIGHT), size(K::KERNEL_STRIDE_HEIGHT)) -
               1,
           "the result of input height, padding, kernel and stride, less one");
    const bool words = hw.full() && get(kPdp, pdp::D_DATA_FORMAT::INPUT_DATA) != 0;
    const std::uint64_t surfaces =
        ceil_div(size(pdp::D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL) * (words ? 2 : 1), std::uint64_t{hw.memory.atom_bytes});
    expect_port(kPdp, pdp::D_DST_RAM_CFG::DST_RAM_TYPE);
    expect_strides({kPdp, pdp::D_DST_LINE_STRIDE, pdp::D_DST_SURFACE_STRIDE, size(pdp::D_DATA_CUBE_OUT_WIDTH::CUBE_OUT_WIDTH),
                    size(pdp::D_DATA_CUBE_OUT_HEIGHT::CUBE_OUT_HEIGHT), surfaces, false});
    equal("output channels", {kPdp, pdp::D_DATA_CUBE_OUT_CHANNEL::CUBE_OUT_CHANNEL}, {kPdp, pdp::D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL});
    if (flying && has(kSdp)) {
        equal("width", {kPdp, pdp::D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH}, {kSdp, sdp::D_DATA_CUBE_WIDTH::WIDTH});
        equal("height", {kPdp, pdp::D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT}, {kSdp, sdp::D_DATA_CUBE_HEIGHT::HEIGHT});
        equal("channels", {kPdp, pdp::D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL}, {kSdp, sdp::D_DATA_CUBE_CHANNEL::CHANNEL});
        if (hw.full()) equal("precision", {kPdp, pdp::D_DATA_FORMAT::INPUT_DATA}, {kSdp, sdp::D_DATA_FORMAT::OUT_PRECISION});
    }
    if (flying || !has(kPdpRdma)) return;
    expect_port(kPdpRdma, pdp_rdma::D_SRC_RAM_CFG::SRC_RAM_TYPE);
    expect_strides({kPdpRdma, pdp_rdma::D_SRC_LINE_STRIDE, pdp_rdma::D_SRC_SURFACE_STRIDE, size(pdp::D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH),
                    size(pdp::D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT), surfaces, true});
    using R = decltype(pdp_rdma::D_POOLING_KERNEL_CFG);
    equal("width", {kPdpRdma, pdp_rdma::D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH}, {kPdp, pdp::D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH});
    equal("height", {kPdpRdma, pdp_rdma::D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT}, {kPdp, pdp::D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT});
    equal("channels", {kPdpRdma, pdp_rdma::D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL}, {kPdp, pdp::D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL});
    equal("parts", {kPdpRdma, pdp_rdma::D_OPERATION_MODE_CFG::SPLIT_NUM}, {kPdp, pdp::D_OPERATION_MODE_CFG::SPLIT_NUM});
    if (hw.full()) equal("precision", {kPdpRdma, pdp_rdma::D_DATA_FORMAT::INPUT_DATA}, {kPdp, pdp::D_DATA_FORMAT::INPUT_DATA});
    if (get(kPdp, pdp::D_OPERATION_MODE_CFG::SPLIT_NUM) == 0) return;
    equal("kernel width", {kPdpRdma, R::KERNEL_WIDTH}, {kPdp, K::KERNEL_WIDTH});
    equal("stride", {kPdpRdma, R::KERNEL_STRIDE_WIDTH}, {kPdp, K::KERNEL_STRIDE_WIDTH});
}

void OperationRules::check_cdp()
{
    if (!has(kCdp)) return missing(kCdp, "CDP_RDMA reads for CDP");
    if (!has(kCdpRdma)) return missing(kCdpRdma, "CDP takes its input from memory");
    namespace rdma = reg::cdp_rdma;
    const auto size = [&](reg::Field field) { return get(kCdpRdma, field) + std::uint64_t{1}; };
    const bool words = hw.full() && get(kCdpRdma, rdma::D_DATA_FORMAT::INPUT_DATA) != 0;
    const std::uint64_t surfaces =
        ceil_div(size(rdma::D_DATA_CUBE_CHANNEL::CHANNEL) * (words ? 2 : 1), std::uint64_t{hw.memory.atom_bytes});
    const std::uint64_t width = size(rdma::D_DATA_CUBE_WIDTH::WIDTH), height = size(rdma::D_DATA_CUBE_HEIGHT::HEIGHT);
    expect_port(kCdp, reg::cdp::D_DST_DMA_CFG::DST_RAM_TYPE);
    expect_port(kCdpRdma, rdma::D_SRC_DMA_CFG::SRC_RAM_TYPE);
    expect_strides({kCdp, reg::cdp::D_DST_LINE_STRIDE, reg::cdp::D_DST_SURFACE_STRIDE, width, height, surfaces, false});
    expect_strides({kCdpRdma, rdma::D_SRC_LINE_STRIDE, rdma::D_SRC_SURFACE_STRIDE, width, height, surfaces, true});
    if (hw.full())
        equal("precision", {kCdpRdma, reg::cdp_rdma::D_DATA_FORMAT::INPUT_DATA}, {kCdp, reg::cdp::D_DATA_FORMAT::INPUT_DATA_TYPE});
}

void OperationRules::equal(const char* what, FieldOf a, FieldOf b)
{
    if (!has(a.unit) || !has(b.unit) || get(a) == get(b)) return;
    report(a.unit == b.unit ? Rule::Size : Rule::UnitsDisagree, a.unit, a.field.offset,
           fmt::format("{} {}, but {} in {}", what, get(a), get(b), name(b)));
}

void OperationRules::expect(FieldOf at, std::uint64_t value, const std::string& because)
{
    if (get(at) != value) report(Rule::Size, at.unit, at.field.offset, fmt::format("found {}, expected {}: {}", get(at), value, because));
}

void OperationRules::report(Rule rule, Launched unit, std::uint32_t offset, std::string problem)
{
    const LaunchedUnit& launched = *op.of(unit);
    breaches_.push_back({rule, launched.registers.entry(offset).value_or(launched.entry), launched.registers.name(offset),
                         launched.registers.get(offset), std::move(problem), op.number, 0});
}

void OperationRules::expect_strides(const Cube& cube)
{
    if (cube.width == 1 && cube.height == 1) return;  // atoms side by side
    const std::uint64_t line = word(cube.unit, cube.line), surface = word(cube.unit, cube.surface);
    const std::uint64_t needed = cube.width * hw.memory.atom_bytes;
    if (cube.height * cube.surfaces > 1 && line < needed)
        report(Rule::Size, cube.unit, cube.line,
               fmt::format("expected at least {}: {} atoms of {} bytes a line", needed, cube.width, hw.memory.atom_bytes));
    else if (!cube.read && cube.surfaces > 1 && surface < (cube.height - 1) * line + needed)
        report(Rule::Size, cube.unit, cube.surface,
               fmt::format("expected at least {}: {} lines, {} bytes apart", (cube.height - 1) * line + needed, cube.height, line));
}

void OperationRules::expect_port(Launched unit, reg::Field ram_type)
{
    if (hw.memory.has_secondary || get(unit, ram_type)) return;
    report(Rule::Size, unit, ram_type.offset,
           fmt::format("selects the secondary memory port, which {} does not have; expected 1", hw.name));
}

void OperationRules::missing(Launched unit, const std::string& because)
{
    breaches_.push_back({Rule::MissingUnit, op.entry, std::string(kLaunchedNames[static_cast<std::size_t>(unit)]) + ".D_OP_ENABLE", 0,
                         "not written for this operation: " + because, op.number, 0});
}

}  // namespace dlasim::lint
