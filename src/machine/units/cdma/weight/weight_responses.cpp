#include "units/cdma/weight/weight_responses.h"

namespace dlasim::cdma {

WeightResponses::WeightResponses(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos, WeightValues& values, Cbuf& cbuf)
    : silicon_(facts::cdma::of(hw)),
      atoms_per_entry_(hw.atoms_per_entry()),
      bank_entries_(hw.cbuf.bank_depth),
      layer_(layer),
      fifos_(fifos),
      values_(values),
      cbuf_(cbuf)
{
}

void WeightResponses::start()
{
    received_ = held_weights_ = held_mask_ = 0;
    sizes_to_push_ = size_reads_ = 0;
}

bool WeightResponses::step(Channel<ReadBeat>& port, Cycle at, WeightWrites& written)
{
    completed_ = moved_ = false;
    return silicon_.weight_streams ? step_half_entries(port, at, written) : step_atoms(port, at, written);
}

bool WeightResponses::step_half_entries(Channel<ReadBeat>& port, Cycle at, WeightWrites& written)
{
    elements::Stage<std::uint8_t>& stage = stages_[0];
    const bool takes = sizes_to_push_ == 0 && fifos_.info.valid();
    bool changed = push_group_size();
    if (takes && stage.valid()) {
        const std::uint32_t atoms = stage.head();
        unpack(atoms, at, written);
        answered(atoms);
        moved_ = true;
    }
    const bool offered = port.valid(at), was_ready = stage.ready();
    std::uint8_t atoms = 0;
    if (offered) {
        const ReadBeat& beat = port.item(at);
        atoms = static_cast<std::uint8_t>(beat.atoms);
        if (was_ready) values_.take(beat);
    }
    changed |= stage.step(offered ? &atoms : nullptr, takes, silicon_.stages_stall);
    if (stage.ready() != was_ready) port.set_ready(at + 1, stage.ready());
    return changed;
}

/// (2) True while there are sizes left.
bool WeightResponses::push_group_size()
{
    if (sizes_to_push_ == 0) return false;
    fifos_.sizes.attempt();
    if (fifos_.sizes.ready()) {
        fifos_.sizes.push(values_.take_group_size());
        --sizes_to_push_;
    }
    return true;
}

/// (1), (2) A beat of the stream at the head of the info FIFO.
void WeightResponses::unpack(std::uint32_t atoms, Cycle at, WeightWrites& written)
{
    const auto stream = static_cast<Stream>(fifos_.info.head().source);
    if (stream == Stream::GroupSizes) {
        sizes_to_push_ = group_sizes(layer_, size_reads_++);
        return;
    }
    const bool mask = stream == Stream::Mask;
    std::uint32_t& held = mask ? held_mask_ : held_weights_;
    held += atoms;
    if (held < silicon_.weight_unit) return;
    held -= silicon_.weight_unit;
    (mask ? written.mask : written.weights) = Atoms{silicon_.weight_unit};
    buffer_write(at + 1);
}

bool WeightResponses::step_atoms(Channel<ReadBeat>& port, Cycle at, WeightWrites& written)
{
    bool changed = false;
    const bool stored = stages_[1].valid();
    bool down = fifo_.ready();
    // (3) [spec] 7.1: complete entries
    const bool takes = fifo_.valid() && fifos_.info.valid() && guard_written_ / atoms_per_entry_ - guard_released_ < room();
    if (takes) {
        written.weights = Atoms{silicon_.weight_unit};
        ++guard_written_;
        moved_ = true;
        buffer_write(at + 1);
        values_.take(beats_.front());
        beats_.pop_front();
        answered(1);
    }
    changed |= fifo_.step(stored, takes);
    const bool second_ready = stages_[1].ready();
    changed |= stages_[1].step(offer(stages_[0]), down, silicon_.stages_stall);
    down = second_ready;
    const bool offered = port.valid(at), was_ready = stages_[0].ready();
    if (offered && was_ready) beats_.extend() = port.item(at);
    const std::uint8_t atoms = 1;
    changed |= stages_[0].step(offered ? &atoms : nullptr, down, silicon_.stages_stall);
    if (stages_[0].ready() != was_ready) port.set_ready(at + 1, stages_[0].ready());
    return changed;
}

/// Atoms of the request at the head have left the stages.
void WeightResponses::answered(std::uint32_t atoms)
{
    received_ += atoms;
    if (received_ < fifos_.info.head().atoms) return;
    received_ = 0;
    fifos_.info.pop();
    values_.request_done();
    completed_ = true;
}

void WeightResponses::buffer_write(Cycle at)
{
    ++cbuf_.weight_writes;
    if (write_probe) write_probe->run(at, 1);
}

}  // namespace dlasim::cdma
