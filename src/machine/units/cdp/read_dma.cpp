#include "units/cdp/read_dma.h"

namespace dlasim::cdp {

ReadDma::ReadDma(const facts::cdp::Facts& silicon, ReadLink& primary, ReadLink& secondary)
    : silicon_(silicon),
      links_{&secondary, &primary},
      interface_(secondary.request, primary.request, silicon.stalling_stages),
      context_fifo_(silicon.contexts),
      cutter_(silicon.chunks, silicon.reorder_depth)
{
    out_.stalls = silicon.stalling_stages;
}

void ReadDma::start(const ReadLayer& layer)
{
    layer_ = layer;
    passes_ = PassWalk(layer.cube, layer.source, silicon_.atom_bytes, silicon_.address_mask);
    pass_ = passes_.next();
    asking_ = true;
}

void ReadDma::begin(Cycle now)
{
    interface_.begin(now);
    const auto& response = links_[layer_.source.primary]->response;
    arriving_ = response.fires(now) ? &response.item(now) : nullptr;
    if (arriving_) words_.push_back(static_cast<std::uint8_t>(arriving_->atoms));
}

ReadDma::Answer ReadDma::cycle(Cycle now, bool taken)
{
    Answer answer;
    answer.finished = taken && last();
    if (answer.finished) ends_ = false;
    const bool ready = out_.ready();
    const bool word_moves = latency_.valid() && cutter_.ready(words_.front());
    // The sender sees the FIFOs as they are at the start of the cycle.
    const bool offers = chunks_left_ != 0 && cutter_.valid(half_, silicon_.chunks - chunks_left_);
    const bool finds = cutter_.valid(chunks_left_ == 0 ? 0 : half_, chunks_left_ == 0 ? 0 : silicon_.chunks - chunks_left_);
    const bool next = (chunks_left_ == 0 && finds) || (chunks_left_ == 1 && pixels_left_ == 1 && ready);
    const bool ends = next && sending_.last();

    // (3)
    elements::Flow flow{taken};
    out_.sweep(offers, flow);
    const bool sent = offers && ready;
    if (sent) cutter_.pop(half_, silicon_.chunks - chunks_left_);
    if (sent && ends) ends_ = true;

    // (1)
    const bool had_context = context_fifo_.valid();
    const bool requested = request(answer.asked_all);
    answer.changed |= context_fifo_.clock(requested, next);
    if (requested) contexts_.push_back(pass_);
    if (requested && passes_.more()) pass_ = passes_.next();

    if (next) {
        half_ = 0;
        if (!ends && had_context) {
            sending_ = contexts_.front();
            chunks_left_ = silicon_.chunks;
            pixels_left_ = sending_.pixels;
        } else {
            if (ends) sending_ = {};
            chunks_left_ = pixels_left_ = 0;
        }
        if (had_context) contexts_.pop_front();
    } else if (sent) {
        if (pixels_left_ == 1) {
            --chunks_left_;
            pixels_left_ = sending_.pixels;
            half_ = 0;
        } else {
            --pixels_left_;
            half_ = silicon_.word_atoms == 2 ? half_ ^ 1 : 0;
        }
    }

    // (2)
    if (word_moves) {
        cutter_.push(words_.front());
        words_.pop_front();
        links_[layer_.source.primary]->credit.put(now + 1, true);
    }
    const bool written = coming_ & 1;
    coming_ = static_cast<std::uint8_t>(coming_ >> 1 | (arriving_ != nullptr) << (silicon_.response_stages - 1));
    const bool was_waiting = latency_.valid();
    latency_.clock(written, word_moves);

    answer.changed |= flow.changed || taken || sent || next || requested || word_moves || written || arriving_ || coming_ != 0 ||
                      !latency_.idle() || latency_.valid() != was_waiting;
    answer.changed |= interface_.end(now);
    waits_for_memory_ = !sent && !out_.valid();
    return answer;
}

/// A request goes to the interface and to the context queue, or to neither.
bool ReadDma::request(bool& asked_all)
{
    blocked_ = false;
    if (!asking_ || !context_fifo_.ready()) return false;
    DmaOutput<ReadRequest>& port = interface_[layer_.source.primary];
    if (!port.ready()) {
        blocked_ = true;
        stalls_ += layer_.counts_stalls;
        return false;
    }
    port.push() = {Address{pass_.address}, pass_.pixels};
    atoms_ += pass_.pixels;
    if (pass_.last()) {
        asking_ = false;
        asked_all = true;
    }
    return true;
}

void ReadDma::account(Cycle cycles)
{
    if (blocked_ && layer_.counts_stalls) stalls_ += static_cast<std::uint32_t>(cycles);
}

}  // namespace dlasim::cdp
