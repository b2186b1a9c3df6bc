#include <algorithm>

#include "base/bits.h"
#include "facts/abilities.h"
#include "facts/cdp.h"
#include "lowering/lrn_tables.h"
#include "lowering/register_writer.h"
#include "lowering/transfer_planner.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMostBytes = 1u << 28;                        // of the cube
constexpr std::uint32_t kWriteTable = 1u << 17, kLo = 1u << 16;       // S_LUT_ACCESS_CFG
constexpr std::uint32_t kUnderflowLo = 1u << 4, kHybridLo = 1u << 6;  // S_LUT_CFG; overflows take LE
constexpr std::uint64_t kLeEnd = std::uint64_t{1} << 36;              // nothing depends on it: the slopes are 0

std::uint32_t byte(int value) { return static_cast<std::uint8_t>(value); }

ReshapeLayout lay_out(const Lrn& lrn, std::uint32_t atom)
{
    const std::uint32_t bytes = lrn.element_bytes(), per_atom = atom / bytes, surfaces = ceil_div(lrn.channels, per_atom);
    const std::uint64_t line = std::uint64_t{lrn.width} * atom;
    ReshapeLayout layout;
    layout.padded_channels = surfaces * per_atom;
    layout.padded_width = lrn.width;
    layout.input = layout.output = Cube{line, line * lrn.height, line * lrn.height * surfaces, atom, bytes};
    layout.input_bytes = layout.output_bytes = line * lrn.height * surfaces;
    return layout;
}

void write_table(ProgramWriter& program, std::span<const std::uint16_t> entries, bool lo)
{
    program.write("CDP.S_LUT_ACCESS_CFG", kWriteTable | (lo ? kLo : 0));
    for (const std::uint16_t entry : entries) program.write("CDP.S_LUT_ACCESS_DATA", entry);
}

void write_tables(ProgramWriter& program, const LrnTables& tables)
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

void write_layer(ProgramWriter& program, const Lrn& lrn, const LrnTables& tables, const ReshapeLayout& layout)
{
    const auto format = static_cast<std::uint32_t>(lrn.precision);
    const std::uint32_t line = low_word(layout.input.line_stride), surface = low_word(layout.input.surface_stride);
    program.write("CDP.S_POINTER", 0);
    program.write("CDP_RDMA.S_POINTER", 0);
    program.write({{"CDP_RDMA.D_DATA_CUBE_WIDTH", lrn.width - 1},
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
                   {"CDP.D_PERF_ENABLE", 1},
                   {"CDP.D_OP_ENABLE", 1},
                   {"CDP_RDMA.D_OP_ENABLE", 1}});
}

/// [spec] cdp.md 4.3 to 4.5.
std::vector<UnitBound> bounds_of(const Lrn& lrn, const Hardware& hardware)
{
    const facts::cdp::Facts cdp = facts::cdp::of(hardware);
    const std::uint64_t surfaces = ceil_div(lrn.channels * lrn.element_bytes(), hardware.memory.atom_bytes);
    const std::uint32_t blocks = ceil_div(lrn.width, facts::cdp::kBlock), last = lrn.width - (blocks - 1) * facts::cdp::kBlock;
    const std::uint64_t beats = surfaces * cdp.chunks * lrn.width * lrn.height;
    const std::uint64_t narrow = blocks > 1 ? std::uint64_t{lrn.height} * cdp.lag * (facts::cdp::kBlock - last) : 0;
    const auto words = [&](std::uint32_t atoms) { return std::uint64_t{1} + ceil_div(atoms, cdp.word_atoms); };
    const std::uint64_t line = (blocks - 1) * words(facts::cdp::kBlock) + words(last);
    return {{"cdp_core", beats + narrow + std::uint64_t{cdp.lag} * last}, {"cdp_write", surfaces * lrn.height * line}};
}

}  // namespace

TransferPlan plan_lrn(const Transfer& transfer, const Hardware& hardware)
{
    const Lrn& lrn = *transfer.lrn();
    if (lrn.precision != Precision::Int8 && !facts::abilities(hardware).words)
        throw ConfigError(transfer.where("/precision"), std::string("found \"") + precision_name(lrn.precision) +
                                                            "\", expected \"int8\": the only precision of " + hardware.name);
    TransferPlan plan;
    plan.layout = lay_out(lrn, hardware.memory.atom_bytes);
    // In place works: an address is written after it was read.
    place_cubes(plan, transfer, {.input = lrn.input, .output = lrn.output, .most_bytes = kMostBytes, .in_place = true}, hardware);
    plan.lrn = lrn_tables(lrn, transfer.where("/lrn/output_scale"));
    plan.bounds = bounds_of(lrn, hardware);

    ProgramWriter program(hardware, plan.program);
    program.begin(facts::csb::interrupts_of(facts::cdp::kInterruptBit));
    write_tables(program, plan.lrn);
    write_layer(program, lrn, plan.lrn, plan.layout);
    program.add(MarkT0{});
    program.add(WaitInterrupt{"CDP_0"});
    return plan;
}

}  // namespace dlasim
