#include "units/cdma/data/burst_stream.h"

#include <algorithm>

#include "facts/cdma.h"

namespace dlasim::cdma {

using facts::cdma::kBurstAtoms;

void BurstStream::start(const Job& job)
{
    address_ = job.address;
    left_ = job.bytes / atom_bytes_;
    limit_ = job.limit;
    d2_.valid = d3_.valid = false;
    d1_ = next(true);
}

BurstStream::Burst BurstStream::next(bool first)
{
    if (left_ == 0) return {};
    const std::uint64_t limit = first ? kBurstAtoms - address_.byte() / atom_bytes_ % kBurstAtoms : kBurstAtoms;
    const std::uint64_t n = std::min(limit, left_);
    const Burst burst{true, {address_, static_cast<std::uint32_t>(n)}};
    address_ += n * atom_bytes_;
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

void BurstStream::written(Atoms atoms)
{
    onfly_ -= atoms.count();
    stored_ += atoms.count();
}

void BurstStream::announced(Atoms atoms)
{
    stored_ -= atoms.count();
    available_ += atoms.count();
    handed_ += atoms.count() != 0;
}

void BurstStream::released(Atoms atoms)
{
    available_ -= atoms.count();
    handed_ += atoms.count() != 0;
}

void BurstStream::state(State& s)
{
    for (Burst* burst : {&d1_, &d2_, &d3_}) {
        s.same(burst->valid);
        if (burst->valid) state_of(s, burst->request);
    }
    s.address(address_);
    s.position(left_, kBurstAtoms, INT64_MAX);  // the next burst is a whole one
    s.same(onfly_);
    const bool asks = left_ != 0 || d1_.valid || d2_.valid || d3_.valid;
    s.same(asks);
    s.count(handed_);
    if (asks) {
        const bool room = onfly_ + stored_ + available_ <= limit_;
        s.derived(room);
        s.inner_position(stored_, limit_ - onfly_ - available_, handed_);  // grows until some are announced
        s.same(available_);
    } else {
        s.count(stored_);  // it takes no more room
        s.count(available_);
    }
}

}  // namespace dlasim::cdma
