#include "units/cdma/data_side.h"

namespace dlasim::cdma {

DataSide::DataSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values)
    : full_(hw.full()), values_(values), links_{secondary ? secondary : &primary, &primary}, link_(&primary), csc_(csc),
      context_{status_, csc.data_filled, cbuf, write_probe},
      requests_{Stage<ReadRequest>(full_), Stage<ReadRequest>(full_)},
      responses_{Stage<std::uint8_t>(full_), Stage<std::uint8_t>(full_), Stage<std::uint8_t>(full_)},
      response_stages_(full_ ? 2 : 3), feature_(hw, context_)
{
}

void DataSide::start(const Layer& layer)
{
    layer_ = layer;
    link_ = links_[layer.data_primary];
    performance_.start(layer.performance);
    if (layer.fetcher == Fetcher::Feature) feature_.start(layer, Converter::of(layer, full_));
}

void DataSide::busy(Cycle at)
{
    busy_ = true;
    received_ = values_received_ = 0;
    values_ahead_ = 0;
    if (layer_.fetcher == Fetcher::Feature) feature_.busy(at);
}

Cycle DataSide::done_at() const
{
    if (!busy_) return kNever;
    return feature_.done_at();
}

std::uint32_t DataSide::nans() const { return feature_.nans; }
std::uint32_t DataSide::infs() const { return feature_.infs; }

bool DataSide::wants_response() const { return busy_ && feature_.wants_response(); }

bool DataSide::step_responses(Cycle at)
{
    Stage<std::uint8_t>& last = responses_[response_stages_ - 1];
    bool down = wants_response(), changed = false;
    unsigned completed = 0;
    if (down && last.valid() && info_.valid()) {
        const RequestInfo& head = info_.head();
        const std::uint32_t atoms = last.front();
        feature_.accept(atoms, head.source);
        received_ += atoms;
        moved_ = true;
        if (received_ >= head.atoms) {
            received_ = 0;
            info_.pop();
            if (values_ahead_) --values_ahead_;
            completed = 1;
        }
    } else if (last.valid()) {
        down = false;
    }
    for (unsigned k = response_stages_ - 1; k > 0; --k) {
        const bool ready = responses_[k].ready();
        changed |= responses_[k].step(down, responses_[k - 1].valid(), responses_[k - 1].front());
        down = ready;
    }
    Channel<ReadBeat>& port = link_->response;
    const bool offered = port.valid(at), was_ready = responses_[0].ready();
    std::uint8_t atoms = 0;
    if (offered) {
        const ReadBeat& beat = port.item(at);
        atoms = static_cast<std::uint8_t>(beat.atoms);
        if (was_ready) {
            atoms_read += atoms;
            value(beat);
        }
    }
    changed |= responses_[0].step(down, offered, atoms);
    if (responses_[0].ready() != was_ready) port.set_ready(at + 1, responses_[0].ready());
    completed_ = completed;
    return changed;
}

void DataSide::value(const ReadBeat& beat)
{
    if (values_ahead_ >= info_.size()) return;
    const RequestInfo& request = info_.at(values_ahead_);
    if (values_) feature_.store(beat, beat.atoms, request.source);
    values_received_ += beat.atoms;
    if (values_received_ >= request.atoms) {
        values_received_ = 0;
        ++values_ahead_;
    }
}

bool DataSide::step_requests(Cycle at)
{
    Channel<ReadRequest>& port = link_->request;
    const bool port_ready = port.ready(at), was_valid = requests_[1].valid(), fires = was_valid && port_ready;
    const bool ready1 = requests_[1].ready();
    bool changed = requests_[1].step(port_ready, requests_[0].valid(), requests_[0].front());
    const bool ready0 = requests_[0].ready(), info_ready = info_.ready();
    const bool memory = slot_.valid && !slot_.info.dummy;
    changed |= requests_[0].step(ready1, memory && info_ready, slot_.request);
    if (requests_[1].valid()) {
        if (fires || !was_valid) port.offer(at + 1, requests_[1].front());
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
    if (busy_) {
        changed |= feature_.request(at, !slot_.valid, slot_);
        blocked_ |= feature_.waits_for_space();
    }
    return changed;
}

bool DataSide::step(Cycle at, bool clear)
{
    moved_ = false;
    bool changed = false;
    if (busy_ && feature_.read(at)) moved_ = changed = true;
    changed |= step_responses(at);
    if (busy_) changed |= feature_.commit();
    changed |= step_requests(at);

    std::uint32_t added = 0, released = 0;
    Ring<PendingUpdate>& updates = context_.updates;
    while (!updates.empty() && updates.front().at <= at) {
        added += updates.front().entries;
        updates.pop_front();
    }
    while (csc_.data_released.available(at)) released += csc_.data_released.take().entries;
    feature_.account(added);
    changed |= status_.step(added, released, clear);
    changed |= info_.step();
    return changed || added || released;
}

Cycle DataSide::horizon() const
{
    Cycle next = csc_.data_released.next();
    if (!context_.updates.empty()) next = std::min(next, context_.updates.front().at);
    if (busy_ && feature_.before_first_check()) next = std::min(next, feature_.first_work());
    return next;
}

std::string DataSide::waiting_for() const
{
    if (!busy_) return "data: not started";
    if (slot_.valid) return "data: the memory interface does not take a request";
    if (info_.size() != 0) return "data: " + std::to_string(info_.size()) + " requests in flight";
    if (feature_.waits_for_space())
        return "data: " + std::to_string(status_.free()) + " entries free of " + std::to_string(status_.capacity());
    return "data: nothing";
}

}  // namespace dlasim::cdma
