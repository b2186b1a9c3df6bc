#include "units/cdma/weight/weight_requests.h"

#include "base/bits.h"
#include "registers/fields/cdma.h"

namespace dlasim::cdma {

WeightRequests::WeightRequests(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos)
    : silicon_(facts::cdma::of(hw)),
      atoms_per_entry_(hw.atoms_per_entry()),
      bank_atoms_(hw.cbuf.bank_depth * atoms_per_entry_),
      layer_(layer),
      fifos_(fifos),
      weights_(hw.memory.atom_bytes),
      mask_(hw.memory.atom_bytes)
{
}

void WeightRequests::start()
{
    // [spec] 7.1: requests may run ahead of the ring, what is accepted never does.
    const std::int64_t ring = std::int64_t{layer_.weight_banks} * bank_atoms_ + silicon_.weight_slack / atoms_per_entry_;
    weights_.start({.address = Address{layer_.weight_address}, .bytes = layer_.weight_bytes, .limit = ring});
    mask_.start({.address = Address{layer_.mask_address}, .bytes = layer_.compressed ? layer_.mask_bytes : 0, .limit = bank_atoms_});
    still_ = false;
    size_reads_ = 0;
    size_reads_total_ = layer_.compressed ? ceil_div(layer_.kernel_groups, facts::cdma::kGroupSizes) : 0;
}

void WeightRequests::set_arbiter(std::uint32_t arbiter)
{
    bursts_in_a_row_[kWeights] = reg::cdma::S_ARBITER::ARB_WEIGHT.get(arbiter) + 1;
    bursts_in_a_row_[kMask] = reg::cdma::S_ARBITER::ARB_WMB.get(arbiter) + 1;
}

bool WeightRequests::step(Channel<ReadRequest>& port, Cycle at, bool busy)
{
    const bool port_ready = port.ready(at), was_valid = stage_.valid();
    const bool streams = silicon_.weight_streams, offered = streams ? priority_out_.valid() : busy && weights_.eligible();
    const WeightRequest head = streams ? priority_out_.head() : WeightRequest{weights_.candidate(), Stream::Weights};

    accepted_ = false;
    if (offered && stage_.ready()) {
        const bool room = fifos_.info.ready();
        fifos_.info.attempt();
        if (room) {
            RequestInfo info;
            info.atoms = static_cast<std::uint8_t>(head.request.atoms);
            info.source = static_cast<std::uint8_t>(head.stream);
            fifos_.info.push(info);
            accepted_ = true;
        }
    }
    stalled_ = offered && !accepted_;

    bool changed = false;
    if (streams) changed = arbitrate(accepted_, busy);
    else if (busy) changed = weights_.advance(accepted_);
    changed |= stage_.step(accepted_ ? &head.request : nullptr, port_ready, silicon_.stages_stall);

    if (stage_.valid()) {
        if (port_ready || !was_valid) port.offer(at + 1, stage_.head());
    } else if (was_valid) {
        port.withdraw(at + 1);
    }
    still_ = !streams && !changed && !accepted_;
    return changed;
}

/// From the DMA request back to the streams: each stage sees the one before it as it was at the start of the cycle.
bool WeightRequests::arbitrate(bool taken, bool busy)
{
    bool passes = false;
    bool changed = step_priority(taken, busy, passes);
    changed |= step_round_robin(passes, busy);
    return changed;
}

/// (3) `from_round_robin`: what the round robin chose has its turn and is taken.
bool WeightRequests::step_priority(bool taken, bool busy, bool& from_round_robin)
{
    const bool room = priority_out_.ready();
    const bool sizes = busy && size_reads_ < size_reads_total_ &&
                       sizes_onfly_ + group_sizes(layer_, size_reads_) <= std::int64_t{facts::cdma::kGroupSizeFifo};
    WeightRequest in;
    if (sizes) {
        in = {{Address{layer_.group_size_address + std::uint64_t{size_reads_} * 4 * facts::cdma::kGroupSizes}, 1}, Stream::GroupSizes};
        if (room) sizes_onfly_ += group_sizes(layer_, size_reads_++);
    } else if (round_robin_out_.valid()) {
        in = round_robin_out_.head();
    }
    from_round_robin = room && !sizes;
    return priority_out_.step(sizes || round_robin_out_.valid() ? &in : nullptr, taken, silicon_.stages_stall);
}

/// (1), (2)
bool WeightRequests::step_round_robin(bool taken, bool busy)
{
    const std::uint32_t eligible = std::uint32_t{mask_.eligible()} << kMask | std::uint32_t{weights_.eligible()} << kWeights;
    WeightRequest in;
    unsigned granted = kRequesters;
    if (busy && eligible != 0 && round_robin_out_.ready()) {
        granted = arbiter_.pick(eligible);
        arbiter_.grant(granted, bursts_in_a_row_[granted]);
        in = granted == kMask ? WeightRequest{mask_.candidate(), Stream::Mask} : WeightRequest{weights_.candidate(), Stream::Weights};
    }
    bool changed = round_robin_out_.step(granted != kRequesters ? &in : nullptr, taken, silicon_.stages_stall);
    if (!busy) return changed;
    changed |= weights_.advance(granted == kWeights);
    changed |= mask_.advance(granted == kMask);
    return changed;
}

// ---- space

void WeightRequests::written(const WeightWrites& atoms)
{
    weights_.written(atoms.weights);
    mask_.written(atoms.mask);
}

void WeightRequests::announced(const WeightEntries& entries)
{
    weights_.announced(atoms_of(entries.weights));
    mask_.announced(atoms_of(entries.mask));
}

void WeightRequests::released(const WeightEntries& entries)
{
    still_ = false;
    weights_.released(atoms_of(entries.weights));
    mask_.released(atoms_of(entries.mask));
}

void WeightRequests::forget_available()
{
    still_ = false;
    weights_.forget_available();
    mask_.forget_available();
}

}  // namespace dlasim::cdma
