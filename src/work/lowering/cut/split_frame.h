// What all parts of a pass have in common, and what the layer asks of them.
#pragma once
#include "base/bits.h"
#include "base/error.h"
#include "lowering/cut/part_pass.h"

namespace dlasim {

inline constexpr std::uint32_t kMaxParts = 16384;

/// Of the convolution buffer, as many as a layer would take: fewer may fit.
using DataEntries = Quantity<struct EntryKind, std::uint64_t>;

struct SplitFrame {
    Pass pass;  // whole
    const Hardware& hw;
    const Partition& wish;
    bool by_kernels;    // they may be cut
    std::string where;  // of the partition, for messages
    Geometry geometry;  // with one row of output and one kernel: what does not depend on the part
    std::vector<Strip> strips;
    std::uint64_t bank_depth, bank_bytes, banks;  // without the one of the mask
    std::vector<DataEntries> line_entries;        // by strip, of all batches

    bool winograd() const { return pass.mode == PassMode::Winograd; }
    /// Fewest output rows of a part, and what they are a multiple of.
    std::uint32_t tile() const { return winograd() ? kTile : 1; }
    DataEntries entries_of(const RowPart& rows) const { return line_entries[rows.strip] * rows.lines(); }
    std::uint64_t banks_of(DataEntries entries) const { return ceil_div(entries.count(), bank_depth); }
    DataEntries room_of(std::uint64_t data_banks) const { return DataEntries{data_banks * bank_depth}; }
    std::uint32_t most_rows() const;  // of what is written of a strip
    /// As CDMA fetches them, uncompressed.
    std::uint64_t weight_bytes(std::uint32_t kernels) const;
    [[noreturn]] void refuse(const std::string& key, const std::string& problem) const { throw ConfigError(where + key, problem); }
};

/// None if not even the smallest part fits. `strips`: of `whole`.
Fit<SplitFrame> split_frame(const Pass& whole, std::vector<Strip> strips, const Hardware& hardware, const Partition& partition,
                            bool by_kernels, const std::string& where);

/// Of all ways the one that costs least: cycles by split_cost.h, or bytes. None if none fits. split_search.cpp.
std::optional<Split> cheapest_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels,
                                    const std::string& where);
/// Those that by estimate cost hardly more cycles than the best one, which is the first: which of them is the best, the machine says.
std::vector<CutWay> likely_ways(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels,
                                const std::string& where);
/// The fewest parts that fit; of those the fewest bytes, then the fewest data banks. auto_split.cpp.
Split automatic_split(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where);

}  // namespace dlasim
