#include "units/pdp/input.h"

namespace dlasim::pdp {

void Input::start(const LayerConfig& layer)
{
    const auto element_bytes = static_cast<std::uint32_t>(layer.pool.element_bytes());
    ratio_ = silicon_.sdp_ratio(element_bytes);
    sdp_left_ = layer.atoms_in() * silicon_.beats / ratio_;
    fp16_average_ = layer.fp16_average;
    memory_open_ = !layer.flying;
    sdp_open_ = layer.flying;
}

Input::Answer Input::sweep(bool from_memory, bool memory_last, bool from_sdp, elements::Flow& flow)
{
    const bool from_fifo = ratio_ > 1 ? fifo_held_ != 0 : sdp_beat_valid();
    const bool source = flying_ ? from_fifo : nan_.valid();
    if (fp16_average_) {
        stage_.sweep(wider_.valid(), flow);
        wider_.sweep(source, flow);
    } else {
        stage_.sweep(source, flow);
    }
    const bool ready = flow.ready;

    Answer answer;
    elements::Flow memory{ready && !flying_};
    nan_.sweep(from_memory && memory_open_, memory);
    answer.memory_ready = memory.ready && memory_open_;
    answer.sdp_taken = from_sdp && sdp_ready();

    flow.changed |= memory.changed;
    if (from_sdp || fifo_held_ != 0 || !sdp_.at_rest()) {
        elements::Flow sdp{ready && flying_};
        sweep_sdp(from_sdp, sdp);
        flow.changed |= sdp.changed;
    }

    if (from_memory && answer.memory_ready) {
        flow.changed = true;
        if (memory_last && !flying_) memory_open_ = false;
    }
    if (answer.sdp_taken) {
        flow.changed = true;
        if (--sdp_left_ == 0) sdp_open_ = false;
    }
    return answer;
}

/// The FIFOs of the pieces, and the stage in front of them.
void Input::sweep_sdp(bool offered, elements::Flow& flow)
{
    const bool use = sdp_beat_valid();
    if (ratio_ > 1) {
        const bool room = fifo_held_ <= facts::pdp::kSdpFifo, reads = fifo_held_ != 0 && flow.ready;
        const bool pops = reads && piece_ + 1 == ratio_;
        if (reads) piece_ = pops ? 0 : piece_ + 1;
        flow.changed |= reads || (use && room);
        fifo_held_ += (use && room) - pops;
        flow.ready = room;
    }
    const bool leaves = sdp_.valid() && flow.ready, enters = offered && sdp_.ready();
    sdp_.sweep(offered, flow);
    if (leaves) {
        voids_[0] = voids_[1];
        --sdp_held_;
    }
    if (enters) voids_[sdp_held_++] = !sdp_open();
}

}  // namespace dlasim::pdp
