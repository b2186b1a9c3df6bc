#include "units/cdma/weight/weight_side.h"

namespace dlasim::cdma {

WeightSide::WeightSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values)
    : silicon_(facts::cdma::of(hw)),
      links_{secondary ? secondary : &no_port_.link, &primary},
      link_(&primary),
      csc_(csc),
      requests_(hw, layer_, fifos_),
      values_(hw, layer_, fifos_, cbuf, values),
      responses_(hw, layer_, fifos_, values_, cbuf),
      status_(hw, layer_, fifos_, csc.weight_filled)
{
}

void WeightSide::start(const LayerConfig& layer)
{
    layer_ = layer;
    link_ = links_[layer.weight_primary];
    performance_.start(layer.performance);
    requests_.start();
    responses_.start();
    values_.start();
    status_.start();
}

void WeightSide::busy(Cycle)
{
    busy_ = awake_ = true;
    requests_.disturb();
}

[[gnu::flatten]] bool WeightSide::step(Cycle at, bool clear)
{
    WeightWrites written;
    bool changed = responses_.step(link_->response, at, written);
    if (busy_) changed |= status_.step(at);
    else status_.quiet();
    if (status_.completed() && layer_.compressed) requests_.group_size_used();
    const bool rests = requests_.rests(link_->request, at);
    if (!rests) changed |= requests_.step(link_->request, at, busy_);

    performance_.step(requests_.stalled(), requests_.accepted(), responses_.completed());
    moved_ = responses_.moved() || requests_.accepted();
    blocked_ = requests_.stalled() || (busy_ && requests_.weights_wait_for_space());

    changed |= account(at, written);
    if (clear) {
        requests_.forget_available();
        values_.restart_rings();
    }
    changed |= fifos_.info.step();
    if (silicon_.weight_streams) changed |= fifos_.sizes.step();
    awake_ = changed;
    const std::array shown{response_waits(), in_flight(), queue_full()};
    tells_ = !rests || !requests_.still() || shown != shown_;
    shown_ = shown;
    return changed;
}

/// End of the cycle: space. True if anything changed.
bool WeightSide::account(Cycle at, const WeightWrites& written)
{
    bool changed = written.weights.any() || written.mask.any();
    if (changed) {
        requests_.written(written);
        status_.written(written);
    }
    if (status_.completed()) requests_.announced(status_.announced());
    if (release_due_) {
        requests_.released(released_);
        responses_.released(released_.weights);
        released_ = {};
        release_due_ = false;
        changed = true;
    }
    changed |= take_releases(at);
    return changed;
}

/// What CSC releases reaches the counters one cycle later.
bool WeightSide::take_releases(Cycle at)
{
    while (csc_.weight_released.available(at)) {
        const WeightUpdate release = csc_.weight_released.take();
        released_.weights += release.entries;
        released_.mask += release.mask_entries;
        release_due_ = true;
    }
    return release_due_;
}

std::string WeightSide::waiting_for() const
{
    if (!busy_) return "weights: not started";
    if (link_ == &no_port_.link) return "weights: a secondary port that the machine lacks";
    if (requests_.stalled()) return "weights: the memory interface does not take a request";
    if (fifos_.info.size() != 0) return "weights: " + std::to_string(fifos_.info.size()) + " requests in flight";
    if (requests_.waits_for_space()) return "weights: space in the ring";
    return "weights: nothing";
}

}  // namespace dlasim::cdma
