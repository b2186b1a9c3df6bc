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
}

void BurstStream::released(Atoms atoms) { available_ -= atoms.count(); }

}  // namespace dlasim::cdma
