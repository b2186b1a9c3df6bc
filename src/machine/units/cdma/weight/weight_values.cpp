#include "units/cdma/weight/weight_values.h"

#include <cstring>

#include "numerics/fp.h"
#include "units/cdma/data/convert.h"

namespace dlasim::cdma {

WeightValues::WeightValues(const Hardware& hw, const LayerConfig& layer, const WeightFifos& fifos, Cbuf& cbuf, bool values)
    : fp16_(facts::cdma::of(hw).words),
      values_(values),
      atom_bytes_(hw.memory.atom_bytes),
      atoms_per_entry_(hw.atoms_per_entry()),
      bank_atoms_(hw.cbuf.bank_depth * atoms_per_entry_),
      first_atom_(std::uint64_t{facts::cdma::of(hw).first_weight_entry} * atoms_per_entry_),
      last_atom_(std::uint64_t{hw.cbuf.banks} * bank_atoms_),
      layer_(layer),
      fifos_(fifos),
      cbuf_(cbuf)
{
    mask_ = {last_atom_ - bank_atoms_, last_atom_, last_atom_ - bank_atoms_};
}

void WeightValues::start()
{
    weights_.begin = std::uint64_t{layer_.data_banks} * bank_atoms_;
    weights_.end = weights_.begin + std::uint64_t{layer_.weight_banks} * bank_atoms_;
    if (!begun_) weights_.next = weights_.begin;
    begun_ = true;
    ahead_ = 0;
    received_ = size_reads_ = 0;
    sizes_.clear();
    nans_ = infs_ = 0;
}

void WeightValues::restart_rings()
{
    weights_.next = weights_.begin;
    mask_.next = mask_.begin;
    weights_.taken = mask_.taken = 0;
}

std::uint64_t WeightValues::AtomRing::take()
{
    const std::uint64_t at = next;
    if (++next >= end) next = begin;
    ++taken;
    return at;
}

void WeightValues::take(const ReadBeat& beat)
{
    atoms_read_ += beat.atoms;
    if (ahead_ >= fifos_.info.size()) return;
    const RequestInfo& request = fifos_.info.at(ahead_);
    const auto stream = static_cast<Stream>(request.source);
    if (stream == Stream::GroupSizes) take_group_sizes(beat);
    else if (stream == Stream::Mask) store(mask_, beat.data.data(), beat.atoms);
    else if (values_) store(weights_, beat.data.data(), beat.atoms);
    received_ += beat.atoms;
    if (received_ >= request.atoms) {
        received_ = 0;
        ++ahead_;
    }
}

void WeightValues::take_group_sizes(const ReadBeat& beat)
{
    const std::uint32_t count = group_sizes(layer_, size_reads_++);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t size;
        std::memcpy(&size, beat.data.data() + 4 * i, 4);
        sizes_.push_back(size);
    }
}

std::uint32_t WeightValues::take_group_size()
{
    if (sizes_.empty()) return 0;
    const std::uint32_t size = sizes_.front();
    sizes_.pop_front();
    return size;
}

void WeightValues::store(AtomRing& ring, const std::uint8_t* data, std::uint32_t atoms)
{
    const bool flush = fp16_ && layer_.precision == 2 && &ring == &weights_;
    const Held kind = &ring == &weights_ ? Held::Weights : Held::Masks;
    for (std::uint32_t i = 0; i < atoms; ++i, data += atom_bytes_) {
        alignas(32) std::uint8_t clean[kMaxBeatBytes];
        const std::uint8_t* from = flush ? flush_nans(data, clean) : data;
        const std::uint64_t turn = ring.taken / atoms_per_entry_, at = ring.take();
        if (at < first_atom_ || at >= last_atom_) continue;
        cbuf_.write(Entries(static_cast<std::uint32_t>(at / atoms_per_entry_)),
                    static_cast<std::uint32_t>(at % atoms_per_entry_) * atom_bytes_, from, atom_bytes_, kind, turn);
    }
}

/// Counts what is no number; NaN becomes 0 where the layer says so.
const std::uint8_t* WeightValues::flush_nans(const std::uint8_t* atom, std::uint8_t* clean)
{
    std::memcpy(clean, atom, atom_bytes_);
    for (std::uint32_t k = 0; k + 1 < atom_bytes_; k += 2) {
        const auto h = static_cast<std::uint16_t>(clean[k] | clean[k + 1] << 8);
        if (!numerics::Fp16::is_special(h)) continue;
        ++(numerics::Fp16::is_nan(h) ? nans_ : infs_);
        if (numerics::Fp16::is_nan(h) && layer_.nan_to_zero) clean[k] = clean[k + 1] = 0;
    }
    return clean;
}

}  // namespace dlasim::cdma
