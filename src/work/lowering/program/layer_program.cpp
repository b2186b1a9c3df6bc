#include "lowering/program/layer_program.h"

#include "lowering/program/lut_writes.h"
#include "lowering/program/sequence.h"

namespace dlasim {

// Flush, then the passes in turn; what puts their outputs together starts when all of them are done.
Program layer_program(const Layer& layer, const LayerPlan& plan, const Hardware& hardware)
{
    const std::vector<PlannedPass>& passes = plan.passes;
    Program entries;
    ProgramWriter program(hardware, entries);
    // Interrupts of the units that write the output only: each is the last of its operation to finish.
    std::uint32_t interrupts = layer.pool ? reg::glb::kPdp.bits() : reg::glb::kSdp.bits();
    for (const unsigned group : {0u, 1u})
        if (plan.contraction) interrupts |= contraction_interrupt(hardware, group);
    program.begin(interrupts);
    if (layer.post.ew().lut) write_lut(program, *layer.post.ew().lut);
    Sequence sequence(program, hardware, interrupts, layer.overlap);
    Sequence::Operations before;
    for (const PlannedPass& pass : passes) before.push_back(sequence.add(pass));
    for (const std::vector<PlannedPass>& stage : plan.packing) before = sequence.add(stage, before);
    if (plan.contraction) sequence.add(*plan.contraction, before);
    if (passes.size() == 1) program.add(WaitInterrupt{layer.pool ? "PDP_0" : "SDP_0"});
    else sequence.wait_for_all();
    if (layer.post.compares()) program.read("SDP.D_STATUS");
    return entries;
}

}  // namespace dlasim
