#include "lowering/layer_program.h"

#include "facts/pdp.h"
#include "facts/rubik.h"
#include "facts/sdp.h"
#include "lowering/program_writer.h"

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

// Flush, then each pass into its register group; a group is written again after the interrupt of the pass that used it. Rubik starts when
// all passes are done.
Program layer_program(const Layer& layer, const std::vector<PlannedPass>& passes, const std::optional<RubikPass>& contraction,
                      const Hardware& hardware)
{
    Program entries;
    ProgramWriter program(hardware, entries);
    // Interrupts of the unit that writes the output only, it is the last to finish; and Rubik's where there is one.
    const unsigned bit = layer.pool ? facts::pdp::kInterruptBit : facts::sdp::kInterruptBit;
    program.begin(facts::csb::interrupts_of(bit) | (contraction ? kRubikStatus : 0));
    if (layer.post.ew().lut) write_lut(program, *layer.post.ew().lut);
    const auto await = [&](std::size_t pass) { program.add(WaitStatus{1u << (bit + pass % 2)}); };
    const std::size_t count = passes.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (i >= 2) await(i);  // the pass before the last, of the same group
        program.write(passes[i].registers.writes);
        program.write(passes[i].registers.enables);
        if (i == 0) program.add(MarkT0{});
    }
    if (count == 1) program.add(WaitInterrupt{layer.pool ? "PDP_0" : "SDP_0"});
    else
        for (std::size_t i = count - 2; i < count; ++i) await(i);
    if (layer.post.compares()) program.read("SDP.D_STATUS");
    if (!contraction) return entries;
    program.write(rubik_writes(*contraction));
    program.add(WaitStatus{kRubikStatus});
    return entries;
}

}  // namespace dlasim
