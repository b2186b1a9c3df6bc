#include "units/dram/statistics.h"

#include <algorithm>

namespace dlasim::dram {
namespace {

template <class T>
void add_up(T& to, const T& from)
{
    if constexpr (requires { to.resize(from.size()); }) to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

void Histogram::merge(const Histogram& other)
{
    add_up(exact_, other.exact_);
    add_up(beyond_, other.beyond_);
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

Cycle Histogram::quantile(double share) const
{
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t v = 0; v < exact_.size(); ++v) {
        seen += exact_[v];
        if (seen != 0 && static_cast<double>(seen) >= wanted) return v;
    }
    return max_;
}

std::array<std::uint64_t, 65> Histogram::log2() const
{
    std::array<std::uint64_t, 65> buckets = beyond_;
    for (std::size_t v = 0; v < exact_.size(); ++v) buckets[std::bit_width(v)] += exact_[v];
    return buckets;
}

void Statistics::merge(const Statistics& other)
{
    cycles = std::max(cycles, other.cycles);
    reads += other.reads;
    writes += other.writes;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    reads_done += other.reads_done;
    forwarded += other.forwarded;
    merged += other.merged;
    add_up(commands, other.commands);
    hits += other.hits;
    misses += other.misses;
    conflicts += other.conflicts;
    later_columns += other.later_columns;
    same_group += other.same_group;
    other_group += other.other_group;
    other_rank += other.other_rank;
    turnarounds += other.turnarounds;
    bus_cycles += other.bus_cycles;
    busy += other.busy;
    add_up(lost_to_row, other.lost_to_row);
    add_up(lost, other.lost);
    add_up(rank_cycles, other.rank_cycles);
    add_up(read_queue_cycles, other.read_queue_cycles);
    add_up(write_queue_cycles, other.write_queue_cycles);
    read_latency.merge(other.read_latency);
    banks.insert(banks.end(), other.banks.begin(), other.banks.end());
}

}  // namespace dlasim::dram
