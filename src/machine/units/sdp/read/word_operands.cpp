#include <algorithm>

#include "units/sdp/read/operands.h"

namespace dlasim::sdp {

void WordOperandStream::start(const ReadLayer& layer)
{
    walk_.start(layer);
    per_element_ = layer.per_element;
    int8_ = layer.int8();
    half_ = rod_ = 0;
    replay_.start(layer);
}

bool WordOperandStream::room() const
{
    return std::all_of(rods_.begin(), rods_.end(), [](const elements::Rod& rod) { return rod.ready(); });
}

bool WordOperandStream::sweep(bool out, unsigned write, unsigned size, bool& changed)
{
    if (replay_.on()) rod_ = replay_.second() * (int8_ ? 2 : 1);
    const unsigned select = (rod_ + half_) & 3;
    const bool goes = walk_.on() && !replay_.stuck(), offered = goes && rods_[select].valid();
    const bool half_ends = half_ == (int8_ ? 1u : 0u), surface_ends = half_ends && walk_.surface_ends();
    const bool left = out_.valid() && out, finished = left && out_last_;
    elements::Flow flow{out};
    out_.sweep(offered, flow);
    const bool room = flow.ready, accepted = offered && room;
    if (room) out_last_ = half_ends && walk_.on() && walk_.ends();
    const bool group_ends = rod_ == (int8_ || groups_.empty() ? 0u : groups_.front());
    // Rods that are read: per kernel all of them, with the last element of a surface.
    unsigned read = 0;
    if (goes && room) {
        if (replay_.on()) read = replay_.last_pass() ? 1u << select : 0;
        else if (per_element_) read = 1u << select;
        else read = surface_ends && group_ends ? (1u << facts::sdp::kRods) - 1 : 0;
    }
    for (unsigned i = 0; i < facts::sdp::kRods; ++i) {
        const elements::Rod before = rods_[i];
        rods_[i].clock(write >> i & 1, read >> i & 1);
        changed |= !(before == rods_[i]);
    }
    if (write && !int8_ && !replay_.on()) groups_.push_back(static_cast<std::uint8_t>(size));
    if (accepted) step(half_ends, surface_ends, group_ends);
    changed |= accepted || left;
    return finished;
}

/// A beat was accepted.
void WordOperandStream::step(bool half_ends, bool surface_ends, bool group_ends)
{
    half_ = half_ends ? 0 : 1;
    if (replay_.on()) {
        if (half_ends) replay_.step();
    } else if (per_element_ ? half_ends : surface_ends) {
        if (group_ends) {
            rod_ = 0;
            if (!int8_ && !groups_.empty()) groups_.pop_front();
        } else {
            rod_ += int8_ ? 2 : 1;
        }
    }
    if (half_ends) walk_.step();
}

void WordOperands::start(const ReadLayer& layer)
{
    OperandReader::start(layer);
    if (layer.uses_alu()) alu.start(layer);
    if (layer.uses_mul()) mul.start(layer);
    step_ = x_ = 0;
    pairs_ = layer.per_element && layer.batch > 1;
}

ReaderAnswer WordOperands::sweep(Cycle at, bool alu_out, bool mul_out)
{
    const bool finished = ends();
    bool changed = finished;
    const unsigned word = front_.word();
    const bool write = word && alu.room() && mul.room();
    const bool both = layer_.use == OperandUse::Both;
    bool pop = write;
    unsigned rods = (1u << word) - 1, size = word ? word - 1 : 0;
    if (!both && layer_.operand_bytes == 1) {
        // A word is 64 operands: its halves go to the same two rods, in sequence.
        rods = 3;
        size = 1;
        pop = write && (step_ == 1 || word == 1);
        if (write) step_ = pop ? 0 : 1;
    } else if (both && layer_.operand_bytes == 2) {
        // A word is 16 operands of each stream: of int8 two words make a pixel.
        rods = layer_.int8() ? 1u << (step_ & 1) : 1;
        size = 0;
        if (write) step_ ^= 1;
    }
    if (pairs_) {
        const bool second = x_ & 1;
        // All but the first half of a pixel end one; a word of 16-bit single use brings two.
        const bool pixel_ends = !(both && layer_.operand_bytes == 2 && layer_.int8() && (step_ & 1));
        if (second && (layer_.int8() || both)) rods <<= layer_.int8() ? 2 : 1;
        if (write && pixel_ends) x_ += layer_.int8() || both ? 1 : word;
        if (x_ >= PairReplay::pixels_of_command(layer_)) x_ = 0;
    }
    if (layer_.uses_alu()) alu_done_ |= alu.sweep(alu_out, write ? rods : 0, size, changed);
    if (layer_.uses_mul()) mul_done_ |= mul.sweep(mul_out, write ? rods : 0, size, changed);
    if (pop && leave(at)) step_ = 0;
    changed |= front_.sweep_words(at, pop) || write;
    return {changed, finished};
}

}  // namespace dlasim::sdp
