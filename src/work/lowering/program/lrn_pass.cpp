#include "lowering/program/lrn_pass.h"

#include <span>

#include "registers/lut_fields.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kLeEnd = std::uint64_t{1} << 36;  // nothing depends on it: the slopes are 0

void write_table(RegisterWriter& out, std::span<const std::uint16_t> entries, bool lo)
{
    using namespace reg::cdp;
    out.put({S_LUT_ACCESS_CFG::LUT_TABLE_ID(lo), S_LUT_ACCESS_CFG::LUT_ACCESS_TYPE(1)});
    for (const std::uint16_t entry : entries) out.put(S_LUT_ACCESS_DATA, entry);
}

void write_source(RegisterWriter& out, const Lrn& lrn, const Strides& strides)
{
    using namespace reg::cdp_rdma;
    out.put(D_DATA_CUBE_WIDTH, lrn.width - 1);
    out.put(D_DATA_CUBE_HEIGHT, lrn.height - 1);
    out.put(D_DATA_CUBE_CHANNEL, lrn.channels - 1);
    out.put(D_SRC_BASE_ADDR_LOW, low_word(lrn.input.address));
    out.put(D_SRC_BASE_ADDR_HIGH, high_word(lrn.input.address));
    out.put(D_SRC_LINE_STRIDE, strides.line);
    out.put(D_SRC_SURFACE_STRIDE, strides.surface);
    out.put(D_SRC_DMA_CFG, lrn.input.primary);
    out.put(D_DATA_FORMAT, static_cast<std::uint32_t>(lrn.precision));
    out.put(D_PERF_ENABLE, 1);
}

void write_normalisation(RegisterWriter& out, const Lrn& lrn, const Strides& strides, const LrnTables& tables)
{
    using namespace reg::cdp;
    out.put(D_FUNC_BYPASS, 0);
    out.put(D_DST_BASE_ADDR_LOW, low_word(lrn.output.address));
    out.put(D_DST_BASE_ADDR_HIGH, high_word(lrn.output.address));
    out.put(D_DST_LINE_STRIDE, strides.line);
    out.put(D_DST_SURFACE_STRIDE, strides.surface);
    out.put(D_DST_DMA_CFG, lrn.output.primary);
    out.put(D_DATA_FORMAT, static_cast<std::uint32_t>(lrn.precision));
    out.put(D_NAN_FLUSH_TO_ZERO, lrn.precision == Precision::Fp16);
    out.put(D_LRN_CFG, (lrn.size - 3) / 2);
    out.put(D_DATIN_OFFSET, 0);
    out.put(D_DATIN_SCALE, 1);
    out.put(D_DATIN_SHIFTER, 0);
    out.put(D_DATOUT_OFFSET, 0);
    out.put(D_DATOUT_SCALE::DATOUT_SCALE(tables.scale));
    out.put(D_DATOUT_SHIFTER, tables.shift);
    out.put(D_PERF_ENABLE::DMA_EN(1));
}

}  // namespace

void write_lrn_tables(ProgramWriter& program, const LrnTables& tables)
{
    using namespace reg::cdp;
    RegisterWriter out = program.unit("CDP");
    write_table(out, tables.le, false);
    write_table(out, tables.lo, true);
    out.put({S_LUT_CFG::LUT_UFLOW_PRIORITY(1), S_LUT_CFG::LUT_HYBRID_PRIORITY(1)});  // overflows take LE
    out.put({S_LUT_INFO::LUT_LE_INDEX_OFFSET(tables.le_offset), S_LUT_INFO::LUT_LO_INDEX_SELECT(tables.lo_select)});
    const bool fp16 = tables.precision == Precision::Fp16;
    const std::uint64_t ends[] = {fp16 ? 0 : kLeEnd, fp16 ? 0 : std::uint64_t{256} << tables.lo_select};
    for (const bool lo : {false, true}) {
        const reg::LutTable& at = kLutTables[lo];
        out.put(at.start, 0);
        out.put(at.start_high(0));
        out.put(at.end, low_word(ends[lo]));
        out.put(at.end_high(high_word(ends[lo])));
        out.put({at.underflow_scale(0), at.overflow_scale(0)});
        out.put({at.underflow_shift(0), at.overflow_shift(0)});
    }
    program.write(out.take().writes);
}

PassRegisters lrn_writes(const LrnPass& pass, unsigned group, const Hardware& hardware)
{
    const Lrn& lrn = pass.lrn;
    RegisterWriter out(hardware);
    out.unit("CDP", group);
    out.unit("CDP_RDMA", group);
    write_source(out, lrn, pass.cube.strides);
    out.unit("CDP");
    write_normalisation(out, lrn, pass.cube.strides, pass.tables);
    out.enable("CDP");
    out.enable("CDP_RDMA");
    return out.take();
}

}  // namespace dlasim
