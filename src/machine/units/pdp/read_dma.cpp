#include "units/pdp/read_dma.h"

#include <algorithm>

namespace dlasim::pdp {

ReadDma::ReadDma(const facts::pdp::Facts& silicon, Values& values)
    : silicon_(silicon),
      values_(values),
      ports_{PortStages<ReadRequest>(silicon.interface_stages, silicon.stalls),
             PortStages<ReadRequest>(silicon.interface_stages, silicon.stalls)},
      lines_(silicon.commands)
{
    out_.stalls = silicon.stalls;
}

void ReadDma::connect(ReadLink& primary, ReadLink* secondary)
{
    links_ = {secondary, &primary};
    for (std::size_t port = 0; port < links_.size(); ++port)
        if (links_[port]) ports_[port].connect(&links_[port]->request);
}

void ReadDma::start(const ReadLayer& layer, bool count_stall)
{
    layer_ = layer;
    link_ = links_[layer.from_primary];
    pass_ = surface_ = line_ = 0;
    requests_left_ = std::uint64_t{layer.passes.count} * layer.surfaces * layer.height;
    beats_left_ = layer.atoms() * silicon_.beats;
    count_stall_ = count_stall;
    moving_ = true;
}

ReadRequest ReadDma::request() const
{
    const std::uint64_t address = layer_.base + static_cast<std::uint64_t>(layer_.start(pass_)) * silicon_.atom_bytes +
                                  surface_ * layer_.surface_stride + line_ * layer_.line_stride;
    return {Address{address & silicon_.address_mask}, layer_.passes.width(pass_)};
}

void ReadDma::next_request()
{
    --requests_left_;
    if (++line_ < layer_.height) return;
    line_ = 0;
    if (++surface_ < layer_.surfaces) return;
    surface_ = 0;
    ++pass_;
}

bool ReadDma::receive(Cycle now)
{
    bool any = false;
    for (ReadLink* link : links_) {
        if (!link || !link->response.fires(now)) continue;
        const ReadBeat& beat = link->response.item(now);
        const std::uint32_t atoms = std::min(beat.atoms, silicon_.word_atoms);
        words_.push_back({now + facts::pdp::kResponseWait, static_cast<std::uint8_t>(atoms)});
        values_.feed(false, beat.data.data(), atoms * silicon_.atom_bytes);
        any = true;
    }
    return any;
}

/// All reorder FIFOs that the word at the output of the latency FIFO goes to have a place.
bool ReadDma::room() const
{
    const std::uint32_t places = silicon_.atom_fifo + 1;
    return atoms_[0] < places && (words_.front().atoms < 2 || atoms_[1] < places);
}

ReadDma::Answer ReadDma::sweep(Cycle now, elements::Flow& flow)
{
    Answer answer;
    const bool leaves = word_leaves(now);
    if (out_.valid() && flow.ready) answer.finished = --beats_left_ == 0;
    const bool line_taken = sweep_beats(flow);
    if (leaves) take_word(now);
    flow.changed |= leaves || (!words_.empty() && words_.front().from > now);
    answer.all_asked_for = sweep_requests(now, line_taken, flow);
    return answer;
}

/// From the latency FIFO to the reorder FIFOs.
void ReadDma::take_word(Cycle at)
{
    ++atoms_[0];
    if (words_.front().atoms == 2) ++atoms_[1];
    words_.pop_front();
    if (scheduled_credits_ == 0) link_->credit.put(at + 1, true);
    else --scheduled_credits_;
}

void ReadDma::flow(Cycle from, Cycle cycles)
{
    if (blocked_ && count_stall_) stall_ += cycles;
    beats_left_ -= cycles;
    line_left_ -= cycles;
    for (const Cycle end = from + cycles; from != end;) {
        const Cycle part = std::min(end - from, Cycle{silicon_.beats - beat_}), atom_end = from + part;
        // as space and words allow, one per cycle
        while (from < atom_end && !words_.empty() && room()) {
            const Cycle leaves = std::max(from, words_.front().from);
            if (leaves >= atom_end) break;
            take_word(leaves);
            from = leaves + 1;
        }
        from = atom_end;
        beat_ += static_cast<std::uint32_t>(part);
        if (beat_ == silicon_.beats) end_atom();
    }
}

/// Reorder FIFOs and output stage. True if the line counter takes the next line.
bool ReadDma::sweep_beats(elements::Flow& flow)
{
    const bool have = atoms_[group_] != 0, offered = have && line_left_ != 0;
    out_.sweep(offered, flow);
    const bool accepted = offered && flow.ready;
    if (accepted) {
        flow.changed = true;
        if (++beat_ == silicon_.beats) end_atom();
        if (--line_left_ != 0) return false;
    } else if (line_left_ != 0 || !have) {
        return false;
    }
    beat_ = group_ = 0;
    if (lines_.valid()) line_left_ = std::uint64_t{lines_.head().atoms} * silicon_.beats;
    return true;
}

/// True with the last request of the layer.
bool ReadDma::sweep_requests(Cycle now, bool line_taken, elements::Flow& flow)
{
    // What did not move in the last cycle does not move in this one, unless something new is known.
    if (!moving_ && !line_taken && !ports_[0].leaves() && !ports_[1].leaves()) {
        if (blocked_ && count_stall_) ++stall_;
        return false;
    }
    bool all_asked_for = false;
    PortStages<ReadRequest>& port = ports_[layer_.from_primary];
    const bool offered = requests_left_ != 0 && lines_.ready();
    const bool issued = offered && port.ready();
    blocked_ = offered && !issued;
    if (blocked_ && count_stall_) ++stall_;
    Line line;
    if (issued) {
        const ReadRequest& request = port.push() = this->request();
        line.atoms = request.atoms;
        atoms_read_ += request.atoms;
        next_request();
        all_asked_for = requests_left_ == 0;
    }
    moving_ = lines_.clock(issued ? &line : nullptr, line_taken);
    for (PortStages<ReadRequest>& stages : ports_) moving_ |= stages.step(now);
    flow.changed |= moving_;
    return all_asked_for;
}

void ReadDma::schedule_credits(Cycle now, const Prediction& prediction, Cycle words)
{
    Cycle leaves = now + prediction.cycles + 1;
    for (; words != 0 && words_[scheduled_credits_].from <= leaves; --words, ++scheduled_credits_) {
        link_->credit.put(leaves + 1, true);
        leaves += silicon_.beats;
    }
}

Cycle ReadDma::quiet(Cycle next) const
{
    if (moving_) return 0;
    Cycle cycles = beats_left_ ? beats_left_ - 1 : kNever;
    if (requests_left_ != 0 && !lines_.ready()) cycles = std::min(cycles, line_left_);
    if (!words_wait()) return cycles;
    // until the first word without a promise can leave: one leaves immediately if there is space, and one after the end of every atom
    const Cycle comes = words_[scheduled_credits_].from > next ? words_[scheduled_credits_].from - next : 0;
    Cycle fits = 0;
    if (!room()) fits = Cycle{scheduled_credits_ + 1} * silicon_.beats - beat_;
    else if (scheduled_credits_ != 0) fits = Cycle{scheduled_credits_} * silicon_.beats - beat_;
    return std::min(cycles, std::max(comes, fits));
}

}  // namespace dlasim::pdp
