#include "units/cdma/data_side.h"

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

void DataSide::start(const Layer& layer)
{
    layer_ = layer;
    link_ = links_[layer.data_primary];
    performance_.start(layer.performance);
    const Converter converter = Converter::of(layer, silicon_.words);
    switch (layer.fetcher) {
        case Fetcher::Feature:
            feature_.start(layer, converter);
            break;
        case Fetcher::Image:
            image_.start(layer, converter);
            break;
        case Fetcher::Winograd:
            winograd_.start(layer, converter);
            break;
        case Fetcher::None:
            break;
    }
}

void DataSide::busy(Cycle at)
{
    busy_ = awake_ = true;
    received_ = values_received_ = 0;
    values_ahead_ = 0;
    switch (layer_.fetcher) {
        case Fetcher::Feature:
            feature_.busy(at);
            break;
        case Fetcher::Image:
            image_.busy(at);
            break;
        case Fetcher::Winograd:
            winograd_.busy(at);
            break;
        case Fetcher::None:
            break;
    }
}

Cycle DataSide::done_at() const
{
    if (!busy_) return kNever;
    switch (layer_.fetcher) {
        case Fetcher::Feature:
            return feature_.done_at();
        case Fetcher::Image:
            return image_.done_at();
        case Fetcher::Winograd:
            return winograd_.done_at();
        case Fetcher::None:
            break;
    }
    return kNever;
}

std::uint32_t DataSide::nans() const
{
    return layer_.fetcher == Fetcher::Feature ? feature_.nans : layer_.fetcher == Fetcher::Image ? image_.nans : winograd_.nans;
}
std::uint32_t DataSide::infs() const
{
    return layer_.fetcher == Fetcher::Feature ? feature_.infs : layer_.fetcher == Fetcher::Image ? image_.infs : winograd_.infs;
}

/// The read side of the fetcher, with the counters of the start of the cycle.
bool DataSide::read(Cycle at)
{
    if (layer_.fetcher == Fetcher::Feature) return feature_.read(at);
    return layer_.fetcher == Fetcher::Winograd && winograd_.read(at);
}

bool DataSide::ready() const
{
    if (!busy_) return false;
    if (layer_.fetcher == Fetcher::Feature) return feature_.wants_response();
    return layer_.fetcher == Fetcher::Image || winograd_.ready();
}

bool DataSide::commit()
{
    if (layer_.fetcher == Fetcher::Feature) return feature_.commit();
    return layer_.fetcher == Fetcher::Winograd && winograd_.commit();
}

bool DataSide::request(Cycle at)
{
    const bool room = !slot_.valid;
    switch (layer_.fetcher) {
        case Fetcher::Feature:
            blocked_ |= feature_.waits_for_space();
            return feature_.request(at, room, slot_);
        case Fetcher::Image:
            blocked_ |= image_.waits_for_space();
            return image_.request(at, room, slot_);
        case Fetcher::Winograd:
            blocked_ |= winograd_.waits_for_space();
            return winograd_.request(at, room, slot_);
        case Fetcher::None:
            break;
    }
    return false;
}

void DataSide::account(std::uint32_t added)
{
    switch (layer_.fetcher) {
        case Fetcher::Feature:
            feature_.account(added);
            break;
        case Fetcher::Image:
            image_.account(added);
            break;
        case Fetcher::Winograd:
            winograd_.account(added);
            break;
        case Fetcher::None:
            break;
    }
}

/// `atoms` of the request at the head of the info FIFO reach the fetcher; null: it makes them itself.
void DataSide::consume(Cycle at, const ReadBeat* beat, std::uint32_t atoms)
{
    const RequestInfo& head = info_.head();
    received_ += atoms;
    const bool complete = received_ >= head.atoms;
    switch (layer_.fetcher) {
        case Fetcher::Feature:
            feature_.accept(atoms, head.source);
            break;
        case Fetcher::Image:
            image_.consume(at, head, beat, atoms, complete, values_);
            break;
        case Fetcher::Winograd:
            winograd_.consume(at, head, beat, atoms, complete, values_);
            break;
        case Fetcher::None:
            break;
    }
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
    if (layer_.fetcher != Fetcher::Feature) {
        beats_.extend() = beat;
        return;
    }
    if (!values_ || values_ahead_ >= info_.size()) return;
    const RequestInfo& request = info_.at(values_ahead_);
    feature_.store(beat, beat.atoms, request.source);
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
    if (info_.valid() && ready()) {
        if (info_.head().dummy) {
            consume(at, nullptr, std::min<std::uint32_t>(beat_atoms_, info_.head().atoms - received_));
            changed = true;
        } else {
            down = true;
            if (last.valid()) {
                const bool kept = layer_.fetcher != Fetcher::Feature && !beats_.empty();
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
    if (busy_) changed |= request(at);
    return changed;
}

bool DataSide::step(Cycle at, bool clear)
{
    moved_ = false;
    bool changed = false;
    if (busy_ && read(at)) moved_ = changed = true;
    changed |= step_responses(at);
    if (busy_) changed |= commit();
    changed |= step_requests(at);

    std::uint32_t added = 0, released = 0;
    Ring<PendingUpdate>& updates = context_.updates;
    while (!updates.empty() && updates.front().at <= at) {
        added += updates.front().entries;
        updates.pop_front();
    }
    while (csc_.data_released.available(at)) released += csc_.data_released.take().entries;
    account(added);
    changed |= status_.step(added, released, clear);
    changed |= info_.step();
    awake_ = changed || added || released;
    return awake_;
}

Cycle DataSide::horizon() const
{
    Cycle next = csc_.data_released.next();
    if (!context_.updates.empty()) next = std::min(next, context_.updates.front().at);
    if (busy_ && layer_.fetcher == Fetcher::Feature && feature_.before_first_check()) next = std::min(next, feature_.first_work());
    if (busy_ && layer_.fetcher == Fetcher::Image && image_.before_first_check()) next = std::min(next, image_.first_work());
    return next;
}

std::string DataSide::waiting_for() const
{
    if (!busy_) return "data: not started";
    if (link_ == &no_port_.link) return "data: a secondary port that is not there";
    if (slot_.valid) return "data: the memory interface does not take a request";
    if (info_.size() != 0) return "data: " + std::to_string(info_.size()) + " requests in flight";
    if (blocked_) return "data: " + std::to_string(status_.free()) + " entries free of " + std::to_string(status_.capacity());
    return "data: nothing";
}

}  // namespace dlasim::cdma
