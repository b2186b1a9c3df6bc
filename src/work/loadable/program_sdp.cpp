// Registers of SDP, and the lookup tables of SDP and CDP: loadable.md 6.2, 6.7.
#include <fmt/format.h>

#include "loadable/programmer.h"

namespace dlasim::loadable {
namespace {

constexpr unsigned kTableOnly = 2, kPrelu = 3, kRelu = 1;  // activations

}  // namespace

void Programmer::write(const SdpOperation& op, bool rdma)
{
    const Cube &in = op.source, &out = op.destination;
    check_precision(op.source_precision);
    check_precision(op.precision);
    check_size(in, "source");
    check(op.batch == 1 || (op.batch >= 1 && hw_.batch), fmt::format("has a batch of {}, which {} does not have", op.batch, hw_.name));
    for (const SdpStage& stage : op.stages) {
        check(stage.type <= 3, fmt::format("has a stage of type {}, expected 0 to 3", stage.type));
        check(stage.mode <= 2, fmt::format("has a stage of mode {}, expected 0 to 2", stage.mode));
    }
    // A stage Y that is not there is bypassed, whatever its registers say: the compiler relies on it. What it would read nobody takes.
    check(!op.stages[2].reads() || hw_.sdp.has_ew, "reads operands for stage Y, which " + hw_.name + " does not have");
    const bool flying = in.on_the_fly(), to_memory = !out.on_the_fly();
    const unsigned processed = op.source_precision == 1 && op.precision == 0 ? 0 : op.source_precision;

    {
        using namespace reg::sdp_rdma;
        unit("SDP_RDMA");
        put(D_FEATURE_MODE_CFG::FLYING_MODE(0));
        for (const Operands& at : kOperands) put(at.disable(0));
        put({D_FEATURE_MODE_CFG::FLYING_MODE(flying), D_FEATURE_MODE_CFG::WINOGRAD(op.mode),
             D_FEATURE_MODE_CFG::IN_PRECISION(op.source_precision), D_FEATURE_MODE_CFG::PROC_PRECISION(processed),
             D_FEATURE_MODE_CFG::OUT_PRECISION(op.precision), D_FEATURE_MODE_CFG::BATCH_NUMBER(op.batch - 1)});
    }
    if (rdma) write_sdp_rdma(op);
    if (op.table >= 0) write_table("SDP", op.table, op.source_precision, reg::sdp::kLutTables);
    using namespace reg::sdp;
    unit("SDP");
    put(D_DATA_CUBE_WIDTH, in.width - 1);
    put(D_DATA_CUBE_HEIGHT, in.height - 1);
    put(D_DATA_CUBE_CHANNEL, in.channels - 1);
    if (to_memory) {
        check_size(out, "destination");
        wide(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW, feature_address(out, "destination", op.precision));
        put(D_DST_LINE_STRIDE, out.line_stride);
        put(D_DST_SURFACE_STRIDE, out.surface_stride);
    }
    write_sdp_x(op.stages[0], 0);
    write_sdp_x(op.stages[1], 1);
    write_sdp_y(op.stages[2]);
    put({D_FEATURE_MODE_CFG::FLYING_MODE(flying), D_FEATURE_MODE_CFG::OUTPUT_DST(!to_memory), D_FEATURE_MODE_CFG::WINOGRAD(op.mode),
         D_FEATURE_MODE_CFG::BATCH_NUMBER(op.batch - 1)});
    put(D_DST_DMA_CFG, out.memory == CubeMemory::Primary);
    if (op.batch > 1) put(D_DST_BATCH_STRIDE, op.batch_stride);
    put({D_DATA_FORMAT::PROC_PRECISION(processed), D_DATA_FORMAT::OUT_PRECISION(op.precision)});
    put(D_CVT_OFFSET, static_cast<std::uint32_t>(op.output_converter.offset));
    put(D_CVT_SCALE, static_cast<std::uint32_t>(op.output_converter.scale));
    put(D_CVT_SHIFT, op.output_converter.truncate);
}

void Programmer::write_sdp_rdma(const SdpOperation& op)
{
    using namespace reg::sdp_rdma;
    unit("SDP_RDMA");
    const Cube& in = op.source;
    put(D_DATA_CUBE_WIDTH, in.width - 1);
    put(D_DATA_CUBE_HEIGHT, in.height - 1);
    put(D_DATA_CUBE_CHANNEL, in.channels - 1);
    if (!in.on_the_fly()) {
        wide_low(D_SRC_BASE_ADDR_LOW, D_SRC_BASE_ADDR_HIGH, feature_address(in, "source", op.source_precision));
        put(D_SRC_LINE_STRIDE, in.line_stride);
        put(D_SRC_SURFACE_STRIDE, in.surface_stride);
        put(D_SRC_DMA_CFG, in.memory == CubeMemory::Primary);
    }
    for (std::size_t i = 0; i < op.stages.size(); ++i) {
        const SdpStage& stage = op.stages[i];
        const Cube& cube = op.operands[i];
        const Operands& at = kOperands[i];
        put({at.disable(!stage.reads()), at.use(stage.adds() ? stage.type - 1 : 0), at.size(stage.precision != 0),
             at.per_element(stage.mode != 1), at.primary(cube.memory == CubeMemory::Primary)});
        if (!stage.reads()) continue;
        wide_low(at.base_low, at.base_high, address(cube, "operands", 1));
        put(at.line_stride, cube.line_stride);
        put(at.surface_stride, cube.surface_stride);
    }
}

/// `last`: the activation of BS and BN, or EW's, that is not bypassed.
void Programmer::write_sdp_engine(const SdpStage& stage, const reg::sdp::Engine& at, unsigned last)
{
    put({at.bypass(stage.enable == 0), at.alu_bypass(!stage.adds()), at.algorithm(stage.alu), at.mul_bypass(!stage.multiplies()),
         at.prelu(stage.activation == kPrelu), at.last_bypass(stage.activation != last)});
}

void Programmer::write_sdp_x(const SdpStage& stage, std::size_t i)
{
    const reg::sdp::Engine& engine = reg::sdp::kEngines[i];
    const reg::sdp::XEngine& at = reg::sdp::kXEngines[i];
    const bool layer = stage.per_layer();
    write_sdp_engine(stage, engine, kRelu);
    if (stage.enable == 0) return;
    if (stage.adds()) put({engine.alu_src(!layer), at.alu_shift(stage.shift)});
    if (layer) {
        put(reg::Register{at.alu_operand.offset}, static_cast<std::uint32_t>(stage.alu_operand));
        put(reg::Register{at.mul_operand.offset}, static_cast<std::uint32_t>(stage.multiplier_operand));
    }
    put({engine.mul_src(!layer), at.mul_shift(stage.truncate)});
}

void Programmer::write_sdp_y(const SdpStage& stage)
{
    using namespace reg::sdp;
    const bool layer = stage.per_layer();
    write_sdp_engine(stage, kEw, kTableOnly);
    if (stage.enable == 0) return;
    const auto part = [&](reg::Field src, const YOperand& at, const Converter& converter, std::int32_t operand) {
        put({src(!layer), at.convert_bypass(converter.enable == 0)});
        if (layer) return put(at.operand, static_cast<std::uint32_t>(operand));
        put(at.offset, static_cast<std::uint32_t>(converter.offset));
        put(reg::Register{at.scale.offset}, static_cast<std::uint32_t>(converter.scale));
        put(reg::Register{at.truncate.offset}, converter.truncate);
    };
    if (stage.adds()) part(kEw.alu_src, kYOperands[0], stage.alu_converter, stage.alu_operand);
    if (stage.multiplies()) part(kEw.mul_src, kYOperands[1], stage.multiplier_converter, stage.multiplier_operand);
    put(D_DP_EW_TRUNCATE_VALUE, stage.truncate);
}

void Programmer::write_table(const char* name, int table, unsigned precision, std::span<const reg::LutTable> at)
{
    using namespace reg::sdp;  // CDP's are the same
    const LookupTable& t = task_->tables[static_cast<std::size_t>(table)];
    unit(name);
    const auto load = [&](unsigned which, const auto& values) {
        put({S_LUT_ACCESS_CFG::LUT_TABLE_ID(which), S_LUT_ACCESS_CFG::LUT_ACCESS_TYPE(1)});
        for (const std::int16_t value : values) put(S_LUT_ACCESS_DATA::LUT_DATA(value));
    };
    load(0, t.le);
    load(1, t.lo);
    put({S_LUT_CFG::LUT_LE_FUNCTION(t.method), S_LUT_CFG::LUT_UFLOW_PRIORITY(t.underflow_priority),
         S_LUT_CFG::LUT_OFLOW_PRIORITY(t.overflow_priority), S_LUT_CFG::LUT_HYBRID_PRIORITY(t.hybrid_priority)});
    put({(t.method == 0 ? S_LUT_INFO::LUT_LE_INDEX_OFFSET : S_LUT_INFO::LUT_LE_INDEX_SELECT)(t.le_offset),
         S_LUT_INFO::LUT_LO_INDEX_SELECT(t.lo_select)});
    const auto limit = [&](reg::Register low, reg::Field high, std::uint64_t value) {
        put(low, value);
        if (high.width != 0) put(high(value >> 32));
    };
    limit(at[0].start, at[0].start_high, t.le_start);
    limit(at[0].end, at[0].end_high, t.le_end);
    limit(at[1].start, at[1].start_high, t.lo_start);
    limit(at[1].end, at[1].end_high, t.lo_end);
    const auto slopes = [&](const reg::LutTable& of, const Slope& under, const Slope& over) {
        put({of.underflow_scale(under.scale), of.overflow_scale(over.scale)});
        if (precision != 2) put({of.underflow_shift(under.shift), of.overflow_shift(over.shift)});
    };
    slopes(at[0], t.le_underflow, t.le_overflow);
    slopes(at[1], t.lo_underflow, t.lo_overflow);
}

}  // namespace dlasim::loadable
