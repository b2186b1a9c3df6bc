#include "dram/statistics.h"

#include <algorithm>

namespace dlasim::dram {
namespace {

/// What adds up over time and over channels.
constexpr std::array kSums{&Statistics::reads,       &Statistics::writes,     &Statistics::bytes_read,    &Statistics::bytes_written,
                           &Statistics::reads_done,  &Statistics::forwarded,  &Statistics::merged,        &Statistics::hits,
                           &Statistics::misses,      &Statistics::conflicts,  &Statistics::later_columns, &Statistics::same_group,
                           &Statistics::other_group, &Statistics::other_rank, &Statistics::turnarounds,   &Statistics::bus_cycles,
                           &Statistics::busy};
constexpr std::array kBankSums{&BankCounts::activations, &BankCounts::precharges, &BankCounts::reads, &BankCounts::writes,
                               &BankCounts::refreshes};

template <class T>
void add_up(T& to, const T& from)
{
    if constexpr (requires { to.resize(from.size()); }) to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

template <class T>
void take_away(T& from, const T& before)
{
    for (std::size_t i = 0; i < before.size(); ++i) from[i] -= before[i];
}

/// Lost cycles by owner: what an owner has lost again is taken from the one with the most.
void take_away(std::vector<Cycle>& rows, std::array<Cycle, 3>& lost, const Statistics& before)
{
    Cycle owed = 0;
    std::vector<Cycle*> all;
    const auto each = [&](Cycle& now, Cycle then) {
        owed += then - std::min(now, then);
        now -= std::min(now, then);
        all.push_back(&now);
    };
    for (std::size_t i = 0; i < rows.size(); ++i) each(rows[i], i < before.lost_to_row.size() ? before.lost_to_row[i] : 0);
    for (std::size_t i = 0; i < lost.size(); ++i) each(lost[i], before.lost[i]);
    while (owed != 0) {
        Cycle& most = **std::max_element(all.begin(), all.end(), [](const Cycle* a, const Cycle* b) { return *a < *b; });
        if (most == 0) break;
        const Cycle part = std::min(most, owed);
        most -= part;
        owed -= part;
    }
}

}  // namespace

Histogram Histogram::since(const Histogram& before) const
{
    if (before.count_ == 0) return *this;
    Histogram left = *this;
    take_away(left.exact_, before.exact_);
    take_away(left.beyond_, before.beyond_);
    left.count_ -= before.count_;
    left.sum_ -= before.sum_;
    const auto some = [](std::uint32_t n) { return n != 0; };
    const auto first = std::find_if(left.exact_.begin(), left.exact_.end(), some);
    const auto last = std::find_if(left.exact_.rbegin(), left.exact_.rend(), some);
    const bool beyond = std::any_of(left.beyond_.begin(), left.beyond_.end(), [](std::uint64_t n) { return n != 0; });
    if (first != left.exact_.end()) left.min_ = static_cast<Cycle>(first - left.exact_.begin());
    else if (!beyond) left.min_ = kNever;
    if (!beyond) left.max_ = last != left.exact_.rend() ? static_cast<Cycle>(left.exact_.rend() - last) - 1 : 0;
    return left;
}

Statistics Statistics::since(const Statistics& before) const
{
    Statistics s = *this;
    s.cycles -= before.cycles;
    for (const auto sum : kSums) s.*sum -= before.*sum;
    take_away(s.commands, before.commands);
    take_away(s.lost_to_row, s.lost, before);
    take_away(s.rank_cycles, before.rank_cycles);
    take_away(s.read_queue_cycles, before.read_queue_cycles);
    take_away(s.write_queue_cycles, before.write_queue_cycles);
    s.read_latency = read_latency.since(before.read_latency);
    for (std::size_t i = 0; i < before.banks.size(); ++i)
        for (const auto sum : kBankSums) s.banks[i].*sum -= before.banks[i].*sum;
    return s;
}

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
    for (const auto sum : kSums) this->*sum += other.*sum;
    add_up(commands, other.commands);
    add_up(lost_to_row, other.lost_to_row);
    add_up(lost, other.lost);
    add_up(rank_cycles, other.rank_cycles);
    add_up(read_queue_cycles, other.read_queue_cycles);
    add_up(write_queue_cycles, other.write_queue_cycles);
    read_latency.merge(other.read_latency);
    banks.insert(banks.end(), other.banks.begin(), other.banks.end());
}

}  // namespace dlasim::dram
