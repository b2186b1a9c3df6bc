#include "units/cdma/weights.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "units/cdma/convert.h"

namespace dlasim::cdma {

void BurstStream::start(std::uint64_t address, std::uint32_t bytes, std::uint32_t atom, std::int64_t limit)
{
    address_ = address;
    left_ = bytes / atom;
    atom_ = atom;
    limit_ = limit;
    d2_.valid = d3_.valid = false;
    d1_ = next(true);
}

BurstStream::Burst BurstStream::next(bool first)
{
    if (left_ == 0) return {};
    const std::uint64_t limit = first ? facts::cdma::kBurstAtoms - address_ / atom_ % facts::cdma::kBurstAtoms : facts::cdma::kBurstAtoms;
    const std::uint64_t n = std::min(limit, left_);
    const Burst burst{true, {address_, static_cast<std::uint32_t>(n)}};
    address_ += n * atom_;
    left_ -= n;
    return burst;
}

bool BurstStream::advance(bool taken)
{
    if (d3_.valid && !taken) return false;
    const bool any = d3_.valid || d2_.valid || d1_.valid;
    d3_ = d2_;
    if (d3_.valid) onfly_ += d3_.request.atoms;
    d2_ = d1_;
    d1_ = next(false);
    return any;
}

WeightSide::WeightSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values)
    : silicon_(facts::cdma::of(hw)),
      values_(values),
      atom_(hw.memory.atom_bytes),
      atoms_per_entry_(hw.atoms_per_entry()),
      unit_bytes_(silicon_.weight_unit * atom_),
      units_per_entry_(atoms_per_entry_ / silicon_.weight_unit),
      bank_depth_(hw.cbuf.bank_depth),
      first_atom_(std::uint64_t{silicon_.first_weight_entry} * atoms_per_entry_),
      last_atom_(std::uint64_t{hw.cbuf.banks} * bank_depth_ * atoms_per_entry_),
      mask_first_(last_atom_ - std::uint64_t{bank_depth_} * atoms_per_entry_),
      mask_last_(last_atom_),
      links_{secondary ? secondary : &no_port_.link, &primary},
      link_(&primary),
      csc_(csc),
      cbuf_(cbuf)
{
    mask_ring_ = {mask_first_, mask_last_, mask_first_};
}

void WeightSide::start(const Layer& layer)
{
    layer_ = layer;
    link_ = links_[layer.weight_primary];
    performance_.start(layer.performance);
    const std::int64_t ring = std::int64_t{layer.weight_banks} * bank_depth_ * atoms_per_entry_;
    weights_.start(layer.weight_address, layer.weight_bytes, atom_, ring + silicon_.weight_slack / atoms_per_entry_);
    mask_.start(layer.mask_address, layer.compressed ? layer.mask_bytes : 0, atom_, std::int64_t{bank_depth_} * atoms_per_entry_);
    groups_ = ceil_div(layer.kernels, layer.kernel_group);
    size_reads_total_ = layer.compressed ? ceil_div(groups_, facts::cdma::kGroupSizes) : 0;
    size_reads_ = sizes_answered_ = sizes_to_push_ = size_values_read_ = 0;
    size_values_.clear();
    group_ = 0;
    check_ = false;
    need_ = mask_need_ = 0;
    fetched_ = fetched_before_ = mask_fetched_ = mask_fetched_before_ = 0;
    held_[0] = held_[1] = 0;
    received_ = values_received_ = 0;
    values_ahead_ = 0;
    done_at_ = kNever;
    nans_ = infs_ = 0;
    ring_.begin = std::uint64_t{layer.data_banks} * bank_depth_ * atoms_per_entry_;
    ring_.end = ring_.begin + static_cast<std::uint64_t>(ring);
    if (!ring_set_) ring_.next = ring_.begin;
    ring_set_ = true;
}

void WeightSide::busy(Cycle) { busy_ = awake_ = true; }

std::uint32_t WeightSide::group_sizes_of_read(std::uint32_t read) const
{
    return std::min(facts::cdma::kGroupSizes, groups_ - read * facts::cdma::kGroupSizes);
}

void WeightSide::pop_info_after(std::uint32_t atoms)
{
    received_ += atoms;
    if (received_ < info_.head().atoms) return;
    received_ = 0;
    info_.pop();
    if (values_ahead_) --values_ahead_;
    completed_ = 1;
}

void WeightSide::buffer_write(Cycle at)
{
    ++cbuf_.weight_writes;
    if (write_probe) write_probe->run(at, 1);
}

bool WeightSide::step_responses_with_masks(Cycle at, Written& written)
{
    elements::Stage<std::uint8_t>& stage = responses_[0];
    // [spec] cdma.md 7.4: while group sizes are moved to their FIFO the port takes nothing
    const bool takes = sizes_to_push_ == 0 && info_.valid();
    bool changed = false;
    if (sizes_to_push_ != 0) {
        sizes_.attempt();
        if (sizes_.ready()) {
            sizes_.push(size_values_.empty() ? 0 : size_values_.front());
            if (!size_values_.empty()) size_values_.pop_front();
            --sizes_to_push_;
        }
        changed = true;
    }
    if (takes && stage.valid()) {
        const std::uint32_t atoms = stage.head();
        const auto stream = static_cast<Stream>(info_.head().source);
        moved_ = true;
        if (stream == Stream::GroupSizes) {
            sizes_to_push_ = group_sizes_of_read(sizes_answered_++);
        } else {
            std::uint32_t& held = held_[stream == Stream::Mask];
            held += atoms;
            if (held >= 2) {
                held -= 2;
                (stream == Stream::Mask ? written.mask : written.weights) = 2;
                buffer_write(at + 1);
            }
        }
        pop_info_after(atoms);
    }
    Channel<ReadBeat>& port = link_->response;
    const bool offered = port.valid(at), was_ready = stage.ready();
    std::uint8_t atoms = 0;
    if (offered) {
        const ReadBeat& beat = port.item(at);
        atoms = static_cast<std::uint8_t>(beat.atoms);
        if (was_ready) value(beat);
    }
    changed |= stage.step(offered ? &atoms : nullptr, takes, silicon_.stages_stall);
    if (stage.ready() != was_ready) port.set_ready(at + 1, stage.ready());
    return changed;
}

bool WeightSide::step_responses_of_weights(Cycle at, Written& written)
{
    bool changed = false;
    const bool stored = responses_[1].valid();
    bool down = fifo_.ready();
    // [spec] cdma.md 7.1: the second guard counts complete entries, cleared by hardware reset only
    const bool takes = fifo_.valid() && info_.valid() &&
                       guard_written_ / atoms_per_entry_ - guard_released_ < std::uint64_t{layer_.weight_banks} * bank_depth_;
    if (takes) {
        written.weights = 1;
        ++guard_written_;
        moved_ = true;
        buffer_write(at + 1);
        value(beats_.front());
        beats_.pop_front();
        pop_info_after(1);
    }
    changed |= fifo_.step(stored, takes);
    const bool ready1 = responses_[1].ready();
    changed |= responses_[1].step(offer(responses_[0]), down, silicon_.stages_stall);
    down = ready1;
    Channel<ReadBeat>& port = link_->response;
    const bool offered = port.valid(at), was_ready = responses_[0].ready();
    // The requests may run a few entries ahead of the ring, what is accepted never does: values are stored then.
    if (offered && was_ready) beats_.extend() = port.item(at);
    const std::uint8_t atoms = 1;
    changed |= responses_[0].step(offered ? &atoms : nullptr, down, silicon_.stages_stall);
    if (responses_[0].ready() != was_ready) port.set_ready(at + 1, responses_[0].ready());
    return changed;
}

void WeightSide::value(const ReadBeat& beat)
{
    atoms_read += beat.atoms;
    if (values_ahead_ >= info_.size()) return;
    const RequestInfo& request = info_.at(values_ahead_);
    const auto stream = static_cast<Stream>(request.source);
    if (stream == Stream::GroupSizes) {
        for (std::uint32_t i = 0; i < facts::cdma::kGroupSizes; ++i) {
            std::uint32_t size;
            std::memcpy(&size, beat.data.data() + 4 * i, 4);
            if (i < group_sizes_of_read(size_values_read_)) size_values_.push_back(size);
        }
        ++size_values_read_;
    } else if (values_ || stream == Stream::Mask) {  // masks decide how many entries CSC reads
        store(stream == Stream::Mask ? mask_ring_ : ring_, beat.data.data(), beat.atoms);
    }
    values_received_ += beat.atoms;
    if (values_received_ >= request.atoms) {
        values_received_ = 0;
        ++values_ahead_;
    }
}

void WeightSide::store(WeightRing& ring, const std::uint8_t* data, std::uint32_t atoms)
{
    const bool fp16 = silicon_.words && layer_.precision == 2 && &ring == &ring_;
    for (std::uint32_t i = 0; i < atoms; ++i, data += atom_) {
        alignas(32) std::uint8_t clean[kMaxBeatBytes];
        const std::uint8_t* from = data;
        if (fp16) {
            std::memcpy(clean, data, atom_);
            for (std::uint32_t k = 0; k + 1 < atom_; k += 2) {
                const auto h = static_cast<std::uint16_t>(clean[k] | clean[k + 1] << 8);
                if (!fp16_is_special(h)) continue;
                ++(fp16_is_nan(h) ? nans_ : infs_);
                if (fp16_is_nan(h) && layer_.nan_to_zero) clean[k] = clean[k + 1] = 0;
            }
            from = clean;
        }
        const std::uint64_t at = ring.take();
        if (at < first_atom_ || at >= last_atom_) continue;
        cbuf_.write(static_cast<std::uint32_t>(at / atoms_per_entry_), static_cast<std::uint32_t>(at % atoms_per_entry_) * atom_, from,
                    atom_);
    }
}

bool WeightSide::arbitrate()
{
    // Downstream first. Group sizes win over what the round robin chose.
    const bool ready2 = arbiter2_.ready(), ready1 = arbiter1_.ready();
    bool changed = false;
    const bool head = arbiter2_.valid();
    const WeightRequest request = arbiter2_.head();
    const bool info_ready = info_.ready(), port_ready = port_stage_ready_;
    bool accepted = false;
    if (head && port_ready) {
        info_.attempt();
        if (info_ready) {
            RequestInfo info;
            info.atoms = static_cast<std::uint8_t>(request.request.atoms);
            info.source = static_cast<std::uint8_t>(request.stream);
            info_.push(info);
            accepted = true;
        }
    }
    stalled_ = head && !accepted;
    accepted_ = accepted;

    const bool sizes_want = busy_ && size_reads_ < size_reads_total_ &&
                            sizes_onfly_ + group_sizes_of_read(size_reads_) <= std::int64_t{facts::cdma::kGroupSizeFifo};
    WeightRequest into2;
    if (sizes_want) {
        into2 = {{layer_.group_size_address + std::uint64_t{size_reads_} * 4 * facts::cdma::kGroupSizes, 1}, Stream::GroupSizes};
        if (ready2) {
            sizes_onfly_ += group_sizes_of_read(size_reads_);
            ++size_reads_;
        }
    } else if (arbiter1_.valid()) {
        into2 = arbiter1_.head();
    }
    changed |= arbiter2_.step(sizes_want || arbiter1_.valid() ? &into2 : nullptr, accepted, silicon_.stages_stall);

    // Weighted round robin of weights and masks, in bursts.
    const bool want[2] = {busy_ && weights_.eligible(), busy_ && mask_.eligible()};
    int grant = -1;
    if (ready1 && (want[0] || want[1])) {
        if (credit_ == 0 || last_grant_ < 0 || !want[last_grant_]) {
            const int preferred = last_grant_ == 1 ? 0 : 1;
            grant = want[preferred] ? preferred : 1 - preferred;
            credit_ = share_[grant];
        } else {
            grant = last_grant_;
            --credit_;
        }
        last_grant_ = grant;
    }
    WeightRequest into1;
    if (grant >= 0) into1 = {grant ? mask_.candidate() : weights_.candidate(), grant ? Stream::Mask : Stream::Weights};
    changed |= arbiter1_.step(grant >= 0 ? &into1 : nullptr, ready2 && !sizes_want, silicon_.stages_stall);
    if (busy_) {
        changed |= weights_.advance(grant == 0);
        changed |= mask_.advance(grant == 1);
    }
    return changed;
}

bool WeightSide::step_requests(Cycle at)
{
    Channel<ReadRequest>& port = link_->request;
    const bool port_ready = port.ready(at), was_valid = port_stage_.valid(), fires = was_valid && port_ready;
    port_stage_ready_ = port_stage_.ready();
    bool changed = false;
    if (silicon_.weight_streams) {
        const ReadRequest head = arbiter2_.head().request;
        changed |= arbitrate();
        changed |= port_stage_.step(accepted_ ? &head : nullptr, port_ready, silicon_.stages_stall);
    } else {
        const bool candidate = busy_ && weights_.eligible(), info_ready = info_.ready();
        accepted_ = candidate && info_ready && port_stage_ready_;
        stalled_ = candidate && !accepted_;
        const ReadRequest head = weights_.candidate();
        if (candidate && port_stage_ready_) info_.attempt();
        if (accepted_) {
            RequestInfo info;
            info.atoms = static_cast<std::uint8_t>(head.atoms);
            info_.push(info);
        }
        changed |= port_stage_.step(candidate && info_ready ? &head : nullptr, port_ready, silicon_.stages_stall);
        if (busy_) changed |= weights_.advance(accepted_);
    }
    if (port_stage_.valid()) {
        if (fires || !was_valid) port.offer(at + 1, port_stage_.head());
    } else if (was_valid) {
        port.withdraw(at + 1);
    }
    performance_.step(stalled_, accepted_, completed_);
    moved_ |= accepted_;
    blocked_ = stalled_ || (busy_ && weights_.waits_for_space());
    return changed;
}

bool WeightSide::step_status(Cycle at)
{
    announced_ = mask_announced_ = 0;
    if (!busy_) return false;
    bool complete = false;
    const std::uint64_t fetched = fetched_ / silicon_.weight_unit;
    if (check_) {
        const bool weights = fetched * unit_bytes_ >= need_ && fetched % units_per_entry_ == 0;
        const bool mask = !layer_.compressed || (mask_fetched_ * unit_bytes_ * 8 >= mask_need_ && mask_fetched_ % units_per_entry_ == 0);
        if (weights && mask) {
            complete = true;
            announced_ = static_cast<std::uint32_t>((fetched - fetched_before_) / units_per_entry_);
            mask_announced_ = static_cast<std::uint32_t>((mask_fetched_ - mask_fetched_before_) / units_per_entry_);
            fetched_before_ = fetched;
            mask_fetched_before_ = mask_fetched_;
            ++group_;
            const std::uint32_t kernels = group_ == groups_ ? (layer_.kernels - 1) % layer_.kernel_group + 1 : layer_.kernel_group;
            csc_.weight_filled.put(at + facts::cdma::kWeightMessage, {kernels, announced_, mask_announced_});
            if (group_ == groups_) done_at_ = at + facts::cdma::kWeightDone;
            if (layer_.compressed) {
                sizes_.pop();
                --sizes_onfly_;
            }
        }
    }
    const bool next = group_ < groups_ && !complete && (check_ || !layer_.compressed || sizes_.valid());
    if (next && !check_) {
        const bool last = group_ + 1 == groups_;
        const std::uint64_t plain = std::uint64_t{layer_.bytes_per_kernel} * layer_.kernel_group;
        need_ = last ? layer_.weight_bytes : need_ + (layer_.compressed ? sizes_.head() : plain);
        mask_need_ = last ? std::uint64_t{layer_.mask_bytes} * 8 : mask_need_ + (layer_.precision == 0 ? plain : plain / 2);
    }
    const bool changed = next != check_ || complete;
    check_ = next;
    return changed;
}

bool WeightSide::step(Cycle at, bool clear)
{
    moved_ = false;
    completed_ = 0;
    Written written;
    bool changed = silicon_.weight_streams ? step_responses_with_masks(at, written) : step_responses_of_weights(at, written);
    changed |= step_status(at);
    changed |= step_requests(at);

    if (written.weights) {
        weights_.written(written.weights);
        fetched_ += written.weights;
        changed = true;
    }
    if (written.mask) {
        mask_.written(written.mask);
        mask_fetched_ += written.mask / 2;
        changed = true;
    }
    weights_.announced(announced_ * atoms_per_entry_);
    mask_.announced(mask_announced_ * atoms_per_entry_);
    if (release_due_) {
        weights_.released(release_next_.entries * atoms_per_entry_);
        mask_.released(release_next_.mask_entries * atoms_per_entry_);
        guard_released_ += release_next_.entries;
        release_due_ = false;
        changed = true;
    }
    while (csc_.weight_released.available(at)) {
        const WeightUpdate release = csc_.weight_released.take();
        if (!release_due_) release_next_ = {};
        release_next_.entries += release.entries;
        release_next_.mask_entries += release.mask_entries;
        release_due_ = true;
        changed = true;
    }
    if (clear) {
        weights_.clear();
        mask_.clear();
        ring_.next = ring_.begin;
        mask_ring_.next = mask_ring_.begin;
    }
    changed |= info_.step();
    if (silicon_.weight_streams) changed |= sizes_.step();
    awake_ = changed;
    return changed;
}

std::string WeightSide::waiting_for() const
{
    if (!busy_) return "weights: not started";
    if (link_ == &no_port_.link) return "weights: a secondary port that is not there";
    if (stalled_) return "weights: the memory interface does not take a request";
    if (info_.size() != 0) return "weights: " + std::to_string(info_.size()) + " requests in flight";
    if (weights_.waits_for_space() || mask_.waits_for_space()) return "weights: space in the ring";
    return "weights: nothing";
}

}  // namespace dlasim::cdma
