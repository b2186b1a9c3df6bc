#include "units/cdma/data/data_side.h"

#include <algorithm>

namespace dlasim::cdma {

DataSide::DataSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values)
    : silicon_(facts::cdma::of(hw)),
      values_(values),
      links_{secondary ? secondary : &no_port_.link, &primary},
      link_(&primary),
      csc_(csc),
      context_{status_, csc.data_filled, cbuf, write_probe},
      beat_atoms_(hw.atoms_per_beat()),
      feature_(hw, context_),
      image_(hw, context_),
      winograd_(hw, context_)
{
}

void DataSide::start(const LayerConfig& layer)
{
    layer_ = layer;
    link_ = links_[layer.data_primary];
    performance_.start(layer.performance);
    fetcher_ = layer.fetcher == Fetcher::Feature    ? static_cast<DataFetcher*>(&feature_)
               : layer.fetcher == Fetcher::Image    ? static_cast<DataFetcher*>(&image_)
               : layer.fetcher == Fetcher::Winograd ? static_cast<DataFetcher*>(&winograd_)
                                                    : nullptr;
    stores_early_ = fetcher_ && fetcher_->stores_early();
    if (fetcher_) fetcher_->start(layer, Converter::of(layer, silicon_.words));
}

void DataSide::busy(Cycle at)
{
    busy_ = awake_ = true;
    received_ = values_received_ = 0;
    values_ahead_ = 0;
    if (fetcher_) fetcher_->busy(at);
}

/// `atoms` of the request at the head of the info FIFO reach the fetcher; null: it makes them itself.
void DataSide::consume(Cycle at, const ReadBeat* beat, std::uint32_t atoms)
{
    const RequestInfo& head = info_.head();
    received_ += atoms;
    const bool complete = received_ >= head.atoms;
    fetcher_->consume(at, head, beat, atoms, complete, values_);
    moved_ = true;
    if (!complete) return;
    completed_ = !head.dummy;
    received_ = 0;
    info_.pop();
    if (values_ahead_) --values_ahead_;
}

/// A beat passes the port.
void DataSide::arrive(const ReadBeat& beat)
{
    atoms_read += beat.atoms;
    if (!stores_early_) {
        beats_.extend() = beat;
        return;
    }
    if (!values_ || values_ahead_ >= info_.size()) return;
    const RequestInfo& request = info_.at(values_ahead_);
    fetcher_->store(beat, request.source);
    values_received_ += beat.atoms;
    if (values_received_ >= request.atoms) {
        values_received_ = 0;
        ++values_ahead_;
    }
}

bool DataSide::step_responses(Cycle at)
{
    elements::Stage<std::uint8_t>& last = responses_[silicon_.response_stages - 1];
    bool down = false, changed = false;
    completed_ = 0;
    if (busy_ && fetcher_ && info_.valid() && fetcher_->ready()) {
        if (info_.head().dummy) {
            consume(at, nullptr, std::min<std::uint32_t>(beat_atoms_, info_.head().atoms - received_));
            changed = true;
        } else {
            down = true;
            if (last.valid()) {
                const bool kept = !stores_early_ && !beats_.empty();
                consume(at, kept ? &beats_.front() : nullptr, last.head());
                if (kept) beats_.pop_front();
            }
        }
    }
    for (unsigned k = silicon_.response_stages - 1; k > 0; --k) {
        const bool ready = responses_[k].ready();
        changed |= responses_[k].step(offer(responses_[k - 1]), down, silicon_.stages_stall);
        down = ready;
    }
    Channel<ReadBeat>& port = link_->response;
    const bool offered = port.valid(at), was_ready = responses_[0].ready();
    std::uint8_t atoms = 0;
    if (offered) {
        const ReadBeat& beat = port.item(at);
        atoms = static_cast<std::uint8_t>(beat.atoms);
        if (was_ready) arrive(beat);
    }
    changed |= responses_[0].step(offered ? &atoms : nullptr, down, silicon_.stages_stall);
    if (responses_[0].ready() != was_ready) port.set_ready(at + 1, responses_[0].ready());
    return changed;
}

bool DataSide::step_requests(Cycle at)
{
    Channel<ReadRequest>& port = link_->request;
    const bool port_ready = port.ready(at), was_valid = requests_[1].valid(), fires = was_valid && port_ready;
    const bool ready1 = requests_[1].ready();
    bool changed = requests_[1].step(offer(requests_[0]), port_ready, silicon_.stages_stall);
    const bool ready0 = requests_[0].ready(), info_ready = info_.ready();
    const bool memory = slot_.valid && !slot_.info.dummy;
    changed |= requests_[0].step(memory && info_ready ? &slot_.request : nullptr, ready1, silicon_.stages_stall);
    if (requests_[1].valid()) {
        if (fires || !was_valid) port.offer(at + 1, requests_[1].head());
    } else if (was_valid) {
        port.withdraw(at + 1);
    }

    bool accepted = false;
    if (slot_.valid && (ready0 || slot_.info.dummy)) {
        info_.attempt();
        if (info_ready) {
            info_.push(slot_.info);
            accepted = true;
        }
    }
    const bool stalled = memory && !accepted;
    performance_.step(stalled, accepted && memory, completed_);
    blocked_ = slot_.valid && !accepted;
    if (accepted) {
        slot_.valid = false;
        moved_ = changed = true;
    }
    if (busy_ && fetcher_) {
        blocked_ |= fetcher_->waits_for_space();
        changed |= fetcher_->request(at, !slot_.valid, slot_);
    }
    return changed;
}

bool DataSide::step(Cycle at, bool clear)
{
    moved_ = false;
    bool changed = false;
    const bool fetches = busy_ && fetcher_;
    if (fetches && fetcher_->read(at)) moved_ = changed = true;
    changed |= step_responses(at);
    if (fetches) changed |= fetcher_->commit();
    changed |= step_requests(at);

    Entries added, released;
    Ring<PendingUpdate>& updates = context_.updates;
    while (!updates.empty() && updates.front().at <= at) {
        added += updates.front().entries;
        updates.pop_front();
    }
    while (csc_.data_released.available(at)) released += csc_.data_released.take().entries;
    if (fetcher_) fetcher_->account(added);
    changed |= status_.step(added, released, clear);
    changed |= info_.step();
    awake_ = changed || added.any() || released.any();
    return awake_;
}

Cycle DataSide::horizon() const
{
    Cycle next = csc_.data_released.next();
    if (!context_.updates.empty()) next = std::min(next, context_.updates.front().at);
    if (busy_ && fetcher_) next = std::min(next, fetcher_->first_check());
    return next;
}

std::string DataSide::waiting_for() const
{
    if (!busy_) return "data: not started";
    if (link_ == &no_port_.link) return "data: a secondary port that the machine lacks";
    if (slot_.valid) return "data: the memory interface does not take a request";
    if (info_.size() != 0) return "data: " + std::to_string(info_.size()) + " requests in flight";
    if (blocked_) return "data: " + std::to_string(status_.free()) + " entries free of " + std::to_string(status_.capacity());
    return "data: nothing";
}

}  // namespace dlasim::cdma
