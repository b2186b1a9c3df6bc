// What a channel counts: commands, row hits, where every data-bus cycle went, latencies, the states
// of the ranks. Counters only; ratios and energies are computed from them (energy.h, report.h).
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "dram/config.h"

namespace dlasim::dram {

/// Cycles from acceptance to the last data, exact up to 16384 and in powers of two beyond.
class Histogram {
public:
    void add(Cycle value)
    {
        ++count_;
        sum_ += value;
        if (value < min_) min_ = value;
        if (value > max_) max_ = value;
        if (value >= kExact) {
            ++beyond_[std::bit_width(value)];
            return;
        }
        if (value >= exact_.size()) grow(value);
        ++exact_[value];
    }
    void merge(const Histogram& other);
    /// What was added after `before` was taken. Extremes of values beyond 16384 are those of all values.
    Histogram since(const Histogram& before) const;
    std::uint64_t count() const { return count_; }
    double mean() const { return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0.0; }
    Cycle min() const { return count_ ? min_ : 0; }
    Cycle max() const { return max_; }
    /// The least value that `share` of all values do not exceed.
    Cycle quantile(double share) const;
    /// Counts by powers of two: bucket i holds values of i significant bits.
    std::array<std::uint64_t, 65> log2() const;

private:
    [[gnu::cold, gnu::noinline]] void grow(Cycle value) { exact_.resize(std::bit_ceil(value + 1)); }

    static constexpr Cycle kExact = 16384;
    std::vector<std::uint32_t> exact_;  // up to the largest so far: copies are short
    std::array<std::uint64_t, 65> beyond_{};
    std::uint64_t count_ = 0, sum_ = 0;
    Cycle min_ = kNever, max_ = 0;
};

enum class RankState : std::uint8_t { Precharged, Active, PrechargedPowerDown, ActivePowerDown, SelfRefresh };
inline constexpr std::size_t kRankStates = 5;
inline constexpr std::array<std::string_view, kRankStates> kRankStateNames{"precharged", "active", "precharged_power_down",
                                                                           "active_power_down", "self_refresh"};

/// Owners of lost data-bus cycles beside the rows of the constraint table.
enum class Lost : std::uint8_t { NoRequest, Scheduling, Unfinished };

struct BankCounts {
    std::uint64_t activations = 0, precharges = 0, reads = 0, writes = 0, refreshes = 0;
    bool operator==(const BankCounts&) const = default;
};

struct Statistics {
    Cycle cycles = 0;
    std::uint64_t reads = 0, writes = 0;              // requests accepted
    std::uint64_t bytes_read = 0, bytes_written = 0;  // of them
    std::uint64_t reads_done = 0;                     // and answered
    std::uint64_t forwarded = 0, merged = 0;          // reads served from the write queue; requests that joined another
    std::array<std::uint64_t, kCommands> commands{};
    std::uint64_t hits = 0, misses = 0, conflicts = 0;              // each request once, when its first command is issued
    std::uint64_t later_columns = 0;                                // column commands that are not the first since the activation
    std::uint64_t same_group = 0, other_group = 0, other_rank = 0;  // column command after column command
    std::uint64_t turnarounds = 0;                                  // data-bus direction changes
    Cycle bus_cycles = 0;                                           // data-bus cycles seen: to the end or the last data
    Cycle busy = 0;                                                 // of these with data; the others are lost, each to one owner
    std::vector<Cycle> lost_to_row;                                 // by row of the constraint table
    std::array<Cycle, 3> lost{};                                    // by Lost
    std::array<Cycle, kRankStates> rank_cycles{};                   // summed over the ranks
    std::vector<Cycle> read_queue_cycles, write_queue_cycles;       // cycles with that many entries
    Histogram read_latency;
    std::vector<BankCounts> banks;

    void merge(const Statistics& other);
    /// What happened after `before` was taken of the same channel. A gap of the data bus that was open then belongs to the owner
    /// that it had in the end.
    Statistics since(const Statistics& before) const;
};

}  // namespace dlasim::dram
