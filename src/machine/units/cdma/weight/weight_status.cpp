#include "units/cdma/weight/weight_status.h"

namespace dlasim::cdma {

WeightStatus::WeightStatus(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos, Pulse<WeightUpdate>& filled)
    : unit_atoms_(facts::cdma::of(hw).weight_unit),
      unit_bits_(8 * unit_atoms_ * hw.memory.atom_bytes),
      units_per_entry_(hw.atoms_per_entry() / unit_atoms_),
      layer_(layer),
      fifos_(fifos),
      filled_(filled)
{
}

void WeightStatus::start()
{
    group_ = 0;
    sized_ = false;
    weights_ = mask_ = {};
    done_at_ = kNever;
}

bool WeightStatus::step(Cycle at)
{
    quiet();
    if (sized_ && complete(weights_) && (!layer_.compressed || complete(mask_))) finish_group(at);
    const bool sized = group_ < layer_.kernel_groups && !completed_ && (sized_ || !layer_.compressed || fifos_.sizes.valid());
    if (sized && !sized_) size_group();
    const bool changed = sized != sized_ || completed_;
    sized_ = sized;
    return changed;
}

void WeightStatus::written(const WeightWrites& atoms)
{
    weights_.units += atoms.weights.count() / unit_atoms_;
    mask_.units += atoms.mask.count() / unit_atoms_;
}

bool WeightStatus::complete(const Fetched& fetched) const
{
    return fetched.units * unit_bits_ >= fetched.need && fetched.units % units_per_entry_ == 0;
}

/// Entries fetched since the last message.
std::uint32_t WeightStatus::announce(Fetched& fetched) const
{
    const auto entries = static_cast<std::uint32_t>((fetched.units - fetched.announced) / units_per_entry_);
    fetched.announced = fetched.units;
    return entries;
}

void WeightStatus::finish_group(Cycle at)
{
    completed_ = true;
    announced_ = {Entries{announce(weights_)}, MaskEntries{announce(mask_)}};
    ++group_;
    const bool last = group_ == layer_.kernel_groups;
    const std::uint32_t kernels = last ? (layer_.kernels - 1) % layer_.kernel_group + 1 : layer_.kernel_group;
    filled_.put(at + facts::cdma::kWeightMessage, {Kernels{kernels}, announced_.weights, announced_.mask});
    if (last) done_at_ = at + facts::cdma::kWeightDone;
    if (layer_.compressed) fifos_.sizes.pop();
}

/// What the next group needs, in the buffer's bits: masks have a bit an element.
void WeightStatus::size_group()
{
    const bool last = group_ + 1 == layer_.kernel_groups;
    const std::uint64_t plain = std::uint64_t{layer_.bytes_per_kernel} * layer_.kernel_group;
    weights_.need = last ? 8 * std::uint64_t{layer_.weight_bytes} : weights_.need + 8 * (layer_.compressed ? fifos_.sizes.head() : plain);
    mask_.need = last ? 8 * std::uint64_t{layer_.mask_bytes} : mask_.need + (layer_.output8() ? plain : plain / 2);
}

}  // namespace dlasim::cdma
