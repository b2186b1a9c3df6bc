// Registers of SDP, and the lookup tables of SDP and CDP: loadable.md 6.2, 6.7.
#include <fmt/format.h>

#include "loadable/programmer.h"

namespace dlasim::loadable {
namespace {

struct Engine {
    std::size_t stage;
    const char *dma, *registers;
};
constexpr Engine kEngines[] = {{0, "B", "BS"}, {1, "N", "BN"}, {2, "E", "EW"}};
constexpr unsigned kTableOnly = 2, kPrelu = 3, kRelu = 1;  // activations

}  // namespace

void Programmer::write_sdp(const SdpOperation& op, bool rdma)
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
    const bool flying = in.flies(), to_memory = !out.flies();
    const unsigned processed = op.source_precision == 1 && op.precision == 0 ? 0 : op.source_precision;

    put("SDP_RDMA.D_FEATURE_MODE_CFG", {{0, 0, 1}});
    for (const Engine& engine : kEngines) put(fmt::format("SDP_RDMA.D_{}RDMA_CFG", engine.dma), {{0, 0, 1}});
    put("SDP_RDMA.D_FEATURE_MODE_CFG",
        {{flying, 0, 1}, {op.mode, 1, 1}, {op.source_precision, 2, 2}, {processed, 4, 2}, {op.precision, 6, 2}, {op.batch - 1, 8, 5}});
    if (rdma) write_sdp_rdma(op);
    if (op.table >= 0) write_table("SDP", op.table, op.source_precision);
    write_all(
        {{"SDP.D_DATA_CUBE_WIDTH", in.width - 1}, {"SDP.D_DATA_CUBE_HEIGHT", in.height - 1}, {"SDP.D_DATA_CUBE_CHANNEL", in.channels - 1}});
    if (to_memory) {
        check_size(out, "destination");
        wide("SDP.D_DST_BASE_ADDR_HIGH", "SDP.D_DST_BASE_ADDR_LOW", feature_address(out, "destination", op.precision));
        write_all({{"SDP.D_DST_LINE_STRIDE", out.line_stride}, {"SDP.D_DST_SURFACE_STRIDE", out.surface_stride}});
    }
    write_sdp_x(op.stages[0], "BS");
    write_sdp_x(op.stages[1], "BN");
    write_sdp_y(op.stages[2]);
    put("SDP.D_FEATURE_MODE_CFG", {{flying, 0, 1}, {!to_memory, 1, 1}, {op.mode, 2, 1}, {op.batch - 1, 8, 5}});
    write("SDP.D_DST_DMA_CFG", out.memory == CubeMemory::Primary);
    if (op.batch > 1) write("SDP.D_DST_BATCH_STRIDE", op.batch_stride);
    put("SDP.D_DATA_FORMAT", {{processed, 0, 2}, {op.precision, 2, 2}});
    write_all({{"SDP.D_CVT_OFFSET", static_cast<std::uint32_t>(op.output_converter.offset)},
               {"SDP.D_CVT_SCALE", static_cast<std::uint32_t>(op.output_converter.scale)},
               {"SDP.D_CVT_SHIFT", op.output_converter.truncate}});
}

void Programmer::write_sdp_rdma(const SdpOperation& op)
{
    const Cube& in = op.source;
    write_all({{"SDP_RDMA.D_DATA_CUBE_WIDTH", in.width - 1},
               {"SDP_RDMA.D_DATA_CUBE_HEIGHT", in.height - 1},
               {"SDP_RDMA.D_DATA_CUBE_CHANNEL", in.channels - 1}});
    if (!in.flies()) {
        wide("SDP_RDMA.D_SRC_BASE_ADDR_HIGH", "SDP_RDMA.D_SRC_BASE_ADDR_LOW", feature_address(in, "source", op.source_precision));
        write_all({{"SDP_RDMA.D_SRC_LINE_STRIDE", in.line_stride},
                   {"SDP_RDMA.D_SRC_SURFACE_STRIDE", in.surface_stride},
                   {"SDP_RDMA.D_SRC_DMA_CFG", in.memory == CubeMemory::Primary}});
    }
    for (const Engine& engine : kEngines) {
        const SdpStage& stage = op.stages[engine.stage];
        const Cube& cube = op.operands[engine.stage];
        put(fmt::format("SDP_RDMA.D_{}RDMA_CFG", engine.dma), {{!stage.reads(), 0, 1},
                                                               {stage.adds() ? stage.type - 1 : 0, 1, 2},
                                                               {stage.precision != 0, 3, 1},
                                                               {stage.mode != 1, 4, 1},
                                                               {cube.memory == CubeMemory::Primary, 5, 1}});
        if (!stage.reads()) continue;
        const std::string name = fmt::format("SDP_RDMA.D_{}", engine.registers);
        wide(name + "_BASE_ADDR_HIGH", name + "_BASE_ADDR_LOW", address(cube, "operands", 1));
        write(name + "_LINE_STRIDE", cube.line_stride);
        write(name + "_SURFACE_STRIDE", cube.surface_stride);
    }
}

void Programmer::write_sdp_x(const SdpStage& stage, const std::string& name)
{
    const std::string prefix = "SDP.D_DP_" + name;
    const bool layer = stage.per_layer();
    put(prefix + "_CFG", {{stage.enable == 0, 0, 1},
                          {!stage.adds(), 1, 1},
                          {stage.alu, 2, 2},
                          {!stage.multiplies(), 4, 1},
                          {stage.activation == kPrelu, 5, 1},
                          {stage.activation != kRelu, 6, 1}});
    if (stage.enable == 0) return;
    if (stage.adds()) put(prefix + "_ALU_CFG", {{!layer, 0, 1}, {stage.shift, 8, 6}});
    if (layer) {
        write(prefix + "_ALU_SRC_VALUE", static_cast<std::uint32_t>(stage.alu_operand));
        write(prefix + "_MUL_SRC_VALUE", static_cast<std::uint32_t>(stage.multiplier_operand));
    }
    put(prefix + "_MUL_CFG", {{!layer, 0, 1}, {stage.truncate, 8, 8}});
}

void Programmer::write_sdp_y(const SdpStage& stage)
{
    const bool layer = stage.per_layer();
    put("SDP.D_DP_EW_CFG", {{stage.enable == 0, 0, 1},
                            {!stage.adds(), 1, 1},
                            {stage.alu, 2, 2},
                            {!stage.multiplies(), 4, 1},
                            {stage.activation == kPrelu, 5, 1},
                            {stage.activation != kTableOnly, 6, 1}});
    if (stage.enable == 0) return;
    const auto part = [&](const char* name, const Converter& converter, std::int32_t operand) {
        const std::string prefix = fmt::format("SDP.D_DP_EW_{}", name);
        put(prefix + "_CFG", {{!layer, 0, 1}, {converter.enable == 0, 1, 1}});
        if (layer) return write(prefix + "_SRC_VALUE", static_cast<std::uint32_t>(operand));
        write(prefix + "_CVT_OFFSET_VALUE", static_cast<std::uint32_t>(converter.offset));
        write(prefix + "_CVT_SCALE_VALUE", static_cast<std::uint32_t>(converter.scale));
        write(prefix + "_CVT_TRUNCATE_VALUE", converter.truncate);
    };
    if (stage.adds()) part("ALU", stage.alu_converter, stage.alu_operand);
    if (stage.multiplies()) part("MUL", stage.multiplier_converter, stage.multiplier_operand);
    write("SDP.D_DP_EW_TRUNCATE_VALUE", stage.truncate);
}

void Programmer::write_table(const std::string& unit, int table, unsigned precision)
{
    const LookupTable& t = task_->tables[static_cast<std::size_t>(table)];
    const std::string prefix = unit + ".S_LUT_";
    const auto load = [&](unsigned which, const auto& values) {
        put(prefix + "ACCESS_CFG", {{which, 16, 1}, {1, 17, 1}});
        for (const std::int16_t value : values) put(prefix + "ACCESS_DATA", {{value, 0, 16}});
    };
    load(0, t.le);
    load(1, t.lo);
    put(prefix + "CFG", {{t.method, 0, 1}, {t.underflow_priority, 4, 1}, {t.overflow_priority, 5, 1}, {t.hybrid_priority, 6, 1}});
    put(prefix + "INFO", {{t.le_offset, t.method == 0 ? 0u : 8u, 8}, {t.lo_select, 16, 8}});
    const auto limit = [&](const char* name, std::uint64_t value) {
        if (unit == "SDP") return write(prefix + name, value);
        write(prefix + name + "_LOW", value);
        put(prefix + name + "_HIGH", {{static_cast<std::int64_t>(value >> 32), 0, 6}});
    };
    limit("LE_START", t.le_start);
    limit("LE_END", t.le_end);
    limit("LO_START", t.lo_start);
    limit("LO_END", t.lo_end);
    const auto slopes = [&](const char* name, const Slope& under, const Slope& over) {
        put(prefix + name + "_SLOPE_SCALE", {{under.scale, 0, 16}, {over.scale, 16, 16}});
        if (precision != 2) put(prefix + name + "_SLOPE_SHIFT", {{under.shift, 0, 5}, {over.shift, 5, 5}});
    };
    slopes("LE", t.le_underflow, t.le_overflow);
    slopes("LO", t.lo_underflow, t.lo_overflow);
}

}  // namespace dlasim::loadable
