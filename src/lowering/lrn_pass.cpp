#include "lowering/lrn_pass.h"

#include <span>

#include "lowering/register_writer.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kWriteTable = 1u << 17, kLo = 1u << 16;       // S_LUT_ACCESS_CFG
constexpr std::uint32_t kUnderflowLo = 1u << 4, kHybridLo = 1u << 6;  // S_LUT_CFG; overflows take LE
constexpr std::uint64_t kLeEnd = std::uint64_t{1} << 36;              // nothing depends on it: the slopes are 0

std::uint32_t byte(int value) { return static_cast<std::uint8_t>(value); }

void write_table(ProgramWriter& program, std::span<const std::uint16_t> entries, bool lo)
{
    program.write("CDP.S_LUT_ACCESS_CFG", kWriteTable | (lo ? kLo : 0));
    for (const std::uint16_t entry : entries) program.write("CDP.S_LUT_ACCESS_DATA", entry);
}

}  // namespace

void write_lrn_tables(ProgramWriter& program, const LrnTables& tables)
{
    write_table(program, tables.le, false);
    write_table(program, tables.lo, true);
    program.write("CDP.S_LUT_CFG", kUnderflowLo | kHybridLo);
    program.write("CDP.S_LUT_INFO", byte(tables.le_offset) | byte(tables.lo_select) << 16);
    const std::uint64_t lo_end = tables.precision == Precision::Fp16 ? 0 : std::uint64_t{256} << tables.lo_select;
    const struct {
        const char* name;
        std::uint64_t end;
    } ends[] = {{"LE", tables.precision == Precision::Fp16 ? 0 : kLeEnd}, {"LO", lo_end}};
    for (const auto& [name, end] : ends) {
        const std::string prefix = std::string("CDP.S_LUT_") + name;
        program.write(prefix + "_START_LOW", 0);
        program.write(prefix + "_START_HIGH", 0);
        program.write(prefix + "_END_LOW", low_word(end));
        program.write(prefix + "_END_HIGH", high_word(end));
        program.write(prefix + "_SLOPE_SCALE", 0);
        program.write(prefix + "_SLOPE_SHIFT", 0);
    }
}

PassRegisters lrn_writes(const LrnPass& pass, unsigned group)
{
    const Lrn& lrn = pass.lrn;
    const LrnTables& tables = pass.tables;
    const auto format = static_cast<std::uint32_t>(lrn.precision);
    const std::uint32_t line = low_word(pass.cube.strides.line), surface = low_word(pass.cube.strides.surface);
    PassRegisters out;
    out.writes = {{"CDP.S_POINTER", group},
                  {"CDP_RDMA.S_POINTER", group},
                  {"CDP_RDMA.D_DATA_CUBE_WIDTH", lrn.width - 1},
                  {"CDP_RDMA.D_DATA_CUBE_HEIGHT", lrn.height - 1},
                  {"CDP_RDMA.D_DATA_CUBE_CHANNEL", lrn.channels - 1},
                  {"CDP_RDMA.D_SRC_BASE_ADDR_LOW", low_word(lrn.input.address)},
                  {"CDP_RDMA.D_SRC_BASE_ADDR_HIGH", high_word(lrn.input.address)},
                  {"CDP_RDMA.D_SRC_LINE_STRIDE", line},
                  {"CDP_RDMA.D_SRC_SURFACE_STRIDE", surface},
                  {"CDP_RDMA.D_SRC_DMA_CFG", lrn.input.primary},
                  {"CDP_RDMA.D_DATA_FORMAT", format},
                  {"CDP_RDMA.D_PERF_ENABLE", 1},
                  {"CDP.D_FUNC_BYPASS", 0},
                  {"CDP.D_DST_BASE_ADDR_LOW", low_word(lrn.output.address)},
                  {"CDP.D_DST_BASE_ADDR_HIGH", high_word(lrn.output.address)},
                  {"CDP.D_DST_LINE_STRIDE", line},
                  {"CDP.D_DST_SURFACE_STRIDE", surface},
                  {"CDP.D_DST_DMA_CFG", lrn.output.primary},
                  {"CDP.D_DATA_FORMAT", format},
                  {"CDP.D_NAN_FLUSH_TO_ZERO", lrn.precision == Precision::Fp16},
                  {"CDP.D_LRN_CFG", (lrn.size - 3) / 2},
                  {"CDP.D_DATIN_OFFSET", 0},
                  {"CDP.D_DATIN_SCALE", 1},
                  {"CDP.D_DATIN_SHIFTER", 0},
                  {"CDP.D_DATOUT_OFFSET", 0},
                  {"CDP.D_DATOUT_SCALE", low_word(tables.scale)},
                  {"CDP.D_DATOUT_SHIFTER", tables.shift},
                  {"CDP.D_PERF_ENABLE", 1}};
    out.enables = {{"CDP.D_OP_ENABLE", 1}, {"CDP_RDMA.D_OP_ENABLE", 1}};
    return out;
}

}  // namespace dlasim
