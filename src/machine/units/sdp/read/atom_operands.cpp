#include "units/sdp/read/operands.h"

namespace dlasim::sdp {

void AtomOperandStream::start(const ReadLayer& layer)
{
    walk_.start(layer);
    per_element_ = layer.per_element;
    step_ = layer.operand_bytes == 1 || !layer.int8() ? 1 : 2;
    rod_ = 0;
    left_ = layer.pixels() * layer.surfaces;
}

bool AtomOperandStream::room(unsigned rods) const
{
    for (unsigned i = 0; i < rods; ++i)
        if (!rods_[i].ready()) return false;
    return true;
}

bool AtomOperandStream::sweep(bool out, unsigned written, bool& changed)
{
    if (written) groups_.push_back(static_cast<std::uint8_t>(written));
    const unsigned selected = ((1u << step_) - 1) << rod_ & ((1u << facts::sdp::kRods) - 1);
    const bool offered = walk_.on() && (selected & ~full_) == 0;
    const bool surface_ends = walk_.surface_ends();
    const bool left = out_.valid() && out;
    elements::Flow flow{out};
    out_.sweep(offered, flow);
    const bool accepted = flow.ready && offered;
    const bool advances = accepted && (per_element_ || surface_ends);
    if (!rest_ || advances || written) flow.changed |= sweep_rods(advances ? selected : 0, written);
    changed |= accepted || left || flow.changed;
    if (accepted) {
        if (advances) {
            const bool group_ends = rod_ + step_ >= (groups_.empty() ? 0u : groups_.front());
            rod_ = group_ends ? 0 : rod_ + step_;
            if (group_ends && !groups_.empty()) groups_.pop_front();
        }
        walk_.step();
    }
    if (left && left_) return --left_ == 0;
    return false;
}

/// The rods `read` lose their atoms, rods 0.. get one. True if any of them changed.
bool AtomOperandStream::sweep_rods(unsigned read, unsigned written)
{
    elements::Flow flow;
    full_ = 0;
    for (unsigned i = 0; i < facts::sdp::kRods; ++i) {
        flow.ready = read >> i & 1;
        rods_[i].sweep(i < written, flow);
        full_ |= unsigned{rods_[i].valid()} << i;
    }
    rest_ = !flow.changed && !read && !written;
    return flow.changed;
}

void AtomOperands::start(const ReadLayer& layer)
{
    OperandReader::start(layer);
    if (layer.uses_alu()) alu.start(layer);
    if (layer.uses_mul()) mul.start(layer);
    collected_ = group_ = 0;
}

ReaderAnswer AtomOperands::sweep(Cycle at, bool alu_out, bool mul_out)
{
    const bool finished = ends();
    bool changed = finished;
    // Of both streams the atoms of a group are pairs.
    const unsigned rods = layer_.use == OperandUse::Both ? (group_ + 1) / 2 : group_;
    const bool write = group_ && (!layer_.uses_alu() || alu.room(rods)) && (!layer_.uses_mul() || mul.room(rods));
    if (layer_.uses_alu()) alu_done_ |= alu.sweep(alu_out, write ? rods : 0, changed);
    if (layer_.uses_mul()) mul_done_ |= mul.sweep(mul_out, write ? rods : 0, changed);
    const bool pop = front_.word() && (!group_ || write);
    if (write) group_ = 0;
    if (pop) {
        ++collected_;
        if (leave(at) || collected_ == 4) {
            group_ = collected_;
            collected_ = 0;
        }
    }
    changed |= front_.sweep_words(at, pop) || write;
    return {changed, finished};
}

}  // namespace dlasim::sdp
