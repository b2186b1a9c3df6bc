#include "lowering/program/lut_writes.h"

#include "registers/lut_fields.h"

namespace dlasim {

void write_lut(ProgramWriter& program, const Lut& lut)
{
    using namespace reg::sdp;
    RegisterWriter out = program.unit("SDP");
    for (const bool lo : {false, true}) {
        out.put({S_LUT_ACCESS_CFG::LUT_TABLE_ID(lo), S_LUT_ACCESS_CFG::LUT_ACCESS_TYPE(1)});
        const LutTable& table = lo ? lut.lo : lut.le;
        const reg::LutTable& at = kLutTables[lo];
        for (std::size_t i = 0; i < (lo ? Lut::kLoEntries : Lut::kLeEntries); ++i) out.put(S_LUT_ACCESS_DATA::LUT_DATA(table.entries[i]));
        out.put(at.start, static_cast<std::uint32_t>(table.start));
        out.put(at.end, static_cast<std::uint32_t>(table.end));
        out.put({at.underflow_scale(table.underflow.scale), at.overflow_scale(table.overflow.scale)});
        out.put({at.underflow_shift(table.underflow.shift), at.overflow_shift(table.overflow.shift)});
    }
    out.put({S_LUT_CFG::LUT_LE_FUNCTION(!lut.le.exponential), S_LUT_CFG::LUT_UFLOW_PRIORITY(lut.underflow_lo),
             S_LUT_CFG::LUT_OFLOW_PRIORITY(lut.overflow_lo), S_LUT_CFG::LUT_HYBRID_PRIORITY(lut.hybrid_lo)});
    out.put({S_LUT_INFO::LUT_LE_INDEX_OFFSET(lut.le.index_offset), S_LUT_INFO::LUT_LE_INDEX_SELECT(lut.le.index_select),
             S_LUT_INFO::LUT_LO_INDEX_SELECT(lut.lo.index_select)});
    program.write(out.take().writes);
}

}  // namespace dlasim
