#include "lowering/lut_writes.h"

namespace dlasim {
namespace {

std::uint32_t low(std::int32_t value, unsigned width) { return static_cast<std::uint32_t>(value) & ((1u << width) - 1); }

}  // namespace

void write_lut(ProgramWriter& program, const Lut& lut)
{
    constexpr std::uint32_t kLo = 1 << 16, kWrite = 1 << 17;
    for (const bool lo : {false, true}) {
        program.write("SDP.S_LUT_ACCESS_CFG", kWrite | (lo ? kLo : 0));
        const LutTable& table = lo ? lut.lo : lut.le;
        for (std::size_t i = 0; i < (lo ? Lut::kLoEntries : Lut::kLeEntries); ++i)
            program.write("SDP.S_LUT_ACCESS_DATA", low(table.entries[i], 16));
        const std::string name = lo ? "SDP.S_LUT_LO_" : "SDP.S_LUT_LE_";
        program.write(name + "START", static_cast<std::uint32_t>(table.start));
        program.write(name + "END", static_cast<std::uint32_t>(table.end));
        program.write(name + "SLOPE_SCALE", low(table.underflow.scale, 16) | low(table.overflow.scale, 16) << 16);
        program.write(name + "SLOPE_SHIFT", low(table.underflow.shift, 5) | low(table.overflow.shift, 5) << 5);
    }
    program.write("SDP.S_LUT_CFG", (lut.le.exponential ? 0u : 1u) | (lut.underflow_lo ? 1u << 4 : 0) | (lut.overflow_lo ? 1u << 5 : 0) |
                                       (lut.hybrid_lo ? 1u << 6 : 0));
    program.write("SDP.S_LUT_INFO", low(lut.le.index_offset, 8) | low(lut.le.index_select, 8) << 8 | low(lut.lo.index_select, 8) << 16);
}

}  // namespace dlasim
