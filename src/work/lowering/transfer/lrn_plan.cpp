#include <algorithm>

#include "base/bits.h"
#include "facts/abilities.h"
#include "facts/cdp.h"
#include "lowering/program/lrn_pass.h"
#include "lowering/program/lrn_tables.h"
#include "lowering/transfer/transfer_planner.h"
#include "registers/interrupts.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxCubeBytes = 1u << 28;  // of the cube
ReshapeLayout lay_out(const Lrn& lrn, std::uint32_t atom)
{
    const std::uint32_t bytes = lrn.element_bytes(), per_atom = atom / bytes, surfaces = ceil_div(lrn.channels, per_atom);
    const std::uint64_t line = std::uint64_t{lrn.width} * atom;
    ReshapeLayout layout;
    layout.padded_channels = surfaces * per_atom;
    layout.padded_width = lrn.width;
    layout.input = layout.output = Cube{{line, line * lrn.height, line * lrn.height * surfaces}, atom, bytes};
    layout.input_bytes = layout.output_bytes = line * lrn.height * surfaces;
    return layout;
}

}  // namespace

std::vector<UnitBound> lrn_bounds(const Lrn& lrn, const Hardware& hardware)
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

TransferPlan plan_lrn(const Transfer& transfer, const Hardware& hardware)
{
    const Lrn& lrn = *transfer.lrn();
    if (lrn.precision != Precision::Int8 && !facts::abilities(hardware).words)
        throw ConfigError(transfer.where("/precision"), std::string("found \"") + precision_name(lrn.precision) +
                                                            "\", expected \"int8\": the only precision of " + hardware.name);
    TransferPlan plan;
    plan.layout = lay_out(lrn, hardware.memory.atom_bytes);
    // In place works: an address is written after it was read.
    place_cubes(plan, transfer, {.input = lrn.input, .output = lrn.output, .most_bytes = kMaxCubeBytes, .in_place = true}, hardware);
    plan.lrn = lrn_tables(lrn, transfer.where("/lrn/output_scale"));
    plan.bounds = lrn_bounds(lrn, hardware);

    ProgramWriter program(hardware, plan.program);
    program.begin(reg::glb::kCdp.bits());
    write_lrn_tables(program, plan.lrn);
    program.write(lrn_writes({lrn, plan.lrn, plan.layout.input}, 0, hardware));
    program.add(MarkT0{});
    program.add(WaitInterrupt{"CDP_0"});
    return plan;
}

}  // namespace dlasim
