#include "lowering/layer_program.h"

#include "facts/pdp.h"
#include "facts/rubik.h"
#include "facts/sdp.h"
#include "lowering/sequence.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kRubikStatus = 1u << facts::rubik::kInterruptBit;

std::uint32_t low(std::int32_t value, unsigned width) { return static_cast<std::uint32_t>(value) & ((1u << width) - 1); }

/// [spec] sdp.md 1.3: the tables are no part of a register group, one writing serves all passes.
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

}  // namespace

// Flush, then the passes in turn; Rubik starts when all of them are done.
Program layer_program(const Layer& layer, const std::vector<PlannedPass>& passes, const std::optional<RubikPass>& contraction,
                      const Hardware& hardware)
{
    Program entries;
    ProgramWriter program(hardware, entries);
    // Interrupts of the unit that writes the output only, it is the last to finish; and Rubik's where there is one.
    const std::uint32_t interrupts = facts::csb::interrupts_of(layer.pool ? facts::pdp::kInterruptBit : facts::sdp::kInterruptBit);
    program.begin(interrupts | (contraction ? kRubikStatus : 0));
    if (layer.post.ew().lut) write_lut(program, *layer.post.ew().lut);
    Sequence sequence(program, hardware, interrupts);
    for (const PlannedPass& pass : passes) sequence.add(pass);
    if (passes.size() == 1) program.add(WaitInterrupt{layer.pool ? "PDP_0" : "SDP_0"});
    else sequence.wait_for_all();
    if (layer.post.compares()) program.read("SDP.D_STATUS");
    if (!contraction) return entries;
    program.write(rubik_writes(*contraction));
    program.add(WaitStatus{kRubikStatus});
    return entries;
}

}  // namespace dlasim
