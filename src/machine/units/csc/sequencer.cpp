#include "units/csc/sequencer.h"

#include <algorithm>

#include "base/expects.h"
#include "facts/csc.h"

namespace dlasim::csc {

inline bool Sequencer::Fifo::step(bool push, bool pop)
{
    const bool push_taken = push && !busy, reserved = reserve();
    const bool fills = !pop && words + reserved == facts::csc::kFifoWords;
    const bool now_busy = push ? fills : input && fills && !reserved, now_input = (input && full) || push_taken;
    const bool changed = now_input != input || now_busy != busy || fills != full || reserved != pop;
    words = words + reserved - pop;
    busy = now_busy;
    input = now_input;
    full = fills;
    return changed;
}

void Sequencer::start(const LayerConfig& layer, Cycle first)
{
    layer_ = &layer;
    generator_ = PackageGenerator(layer);
    generated_ = weights_popped_ = data_popped_ = 0;
    package_valid_ = false;
    data_ = weights_ = Fifo{};
    pop_ = 0;
    need_ = 0;
    clock_ = first;
    quiet_ = false;
    popped_ = follows_ = false;
    finished_ = false;
}

void Sequencer::step(Cycle at, PackageSink& sink)
{
    DLASIM_EXPECTS(at == clock_);
    const LayerConfig& l = *layer_;

    const bool available = this->available();
    const bool data_ready = !data_.busy, weights_ready = !weights_.busy;
    const bool both_ready = data_ready && weights_ready;
    const bool generate = available && (!package_valid_ || both_ready);

    const bool data_valid = data_.valid(), weights_valid = weights_.valid();
    const Package& data_head = packages_[data_popped_ % kSlots];
    const Package& weight_head = packages_[weights_popped_ % kSlots];
    const bool same = data_valid && weights_valid && data_popped_ == weights_popped_;
    const bool credit_ok = !data_valid || credit_suffices(data_head);
    const bool pop_weights = weights_valid && ((pop_ == 0 && credit_ok) || same);
    const bool pop_data = data_valid && pop_ == 0 && credit_ok && !same;

    std::uint32_t next_pop = pop_ == 0 ? 0 : pop_ - 1;
    if (pop_data || pop_weights) {
        const std::uint32_t data_cycles = pop_data ? std::max(minimum_issue_, data_head.execution) : 0;
        std::uint32_t weight_cycles = 0;
        if (pop_weights)
            weight_cycles = weight_head.loads <= 1 && pop_ <= 1 ? static_cast<std::uint32_t>(facts::csc::kMinimumLoad)
                                                                : std::max(weight_head.loads, pop_);
        next_pop = std::max(data_cycles, weight_cycles) - 1;
    }
    const unsigned data_slot = data_popped_ % kSlots, weight_slot = weights_popped_ % kSlots;
    const bool pushes = package_valid_;
    bool changed = data_.step(pushes && weights_ready, pop_data);
    changed |= weights_.step(pushes && data_ready, pop_weights);

    if (available) {
        if (generate) {
            this->generate();
            changed = true;
        }
    } else if (package_valid_ && both_ready) {
        package_valid_ = false;
        changed = true;
    }
    pop_ = next_pop;
    clock_ = at + 1;
    popped_ = pop_data || pop_weights;
    quiet_ = !changed && !popped_;
    learn(popped_);

    // Data first: the weights that leave now belong to the next package.
    if (pop_data) {
        const Package& p = packages_[data_slot];
        if (p.channel_end) credit_ -= std::int64_t{p.size} * l.credit_unit;
        ++data_popped_;
        finished_ = p.layer_end;
        sink.pop_data(p, data_slot, at);
    }
    if (pop_weights) {
        ++weights_popped_;
        sink.pop_weights(packages_[weight_slot], weight_slot, at);
    }
}

/// The next package is in the register in front of the queues.
void Sequencer::generate()
{
    const Package& p = generator_.peek();
    if (p.group_end) {
        if (layer_->skip_weight_release) need_ = p.layer_end ? 0 : need_ + p.kernels;
        else kernels -= p.kernels;
    }
    if (p.layer_end && !layer_->skip_data_release) slices -= layer_->release_slices;
    packages_[generated_ % kSlots] = p;
    ++generated_;
    package_valid_ = true;
    generator_.next();
}

/// Remembers what the queues do from a pop until they are quiet. With one package generated and another one in the register at the end
/// they were full from then on: nothing depended on what else is available.
void Sequencer::learn(bool pops)
{
    if (pops) {
        follows_ = available();
        if (!follows_) return;
        begun_ = queues();
        begun_at_ = clock_;
        begun_generated_ = generated_;
    } else if (follows_ && quiet_) {
        follows_ = false;
        if (generated_ == begun_generated_ + 1 && package_valid_) refill_ = {begun_, queues(), clock_ - begun_at_};
    }
}

void Sequencer::refill()
{
    generate();
    data_ = refill_.end.data;
    weights_ = refill_.end.weights;
    pop_ -= static_cast<std::uint32_t>(refill_.cycles);
    clock_ += refill_.cycles;
    quiet_ = true;
    popped_ = follows_ = false;
}

void Sequencer::skip(Cycle to)
{
    const Cycle skipped = to - clock_;
    pop_ = skipped >= pop_ ? 0 : pop_ - static_cast<std::uint32_t>(skipped);
    clock_ = to;
}

Cycle Sequencer::next_pop() const
{
    if (head_ready()) return credit_suffices(head()) ? clock_ + pop_ : kNever;
    return quiet_ ? kNever : clock_;
}

Cycle Sequencer::next_end() const
{
    Cycle at = next_pop();
    if (!head_ready()) return at;
    // the weights of the next package leave together with the data of this one
    for (std::uint64_t i = data_popped_; i + 1 < generated_ && at != kNever; ++i) {
        const Package& p = packages_[i % kSlots];
        if (p.channel_end || packages_[(i + 1) % kSlots].group_end) break;
        at += std::max(minimum_issue_, p.execution);
    }
    return at;
}

}  // namespace dlasim::csc
