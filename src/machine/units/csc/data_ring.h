// The data ring of the CBUF as DL reads it: addresses and requests.
//
//   row, column ─► address: ring start + channel slice + row + column, wrapped once
//                     └─► requested last by this kernel row? ── no ──► CBUF read enable
//                                                            └─ yes ──► the entry is still there
//
// Up to four kernel rows are in flight, each remembers its last request; padding makes it forget.
//
// Shapes  entry of the CBUF's entry bytes; addresses count entries from the start of the ring.
// Source  csc.md 1.8.1 (cb, cop), 1.8.2, 1.11.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "base/quantity.h"
#include "facts/csc.h"
#include "links/probe.h"
#include "units/cbuf/cbuf.h"
#include "units/csc/layer.h"

namespace dlasim::csc {

class DataRing {
public:
    static constexpr std::uint32_t kRows = 4;

    DataRing(const Hardware& hardware, Cbuf& cbuf);

    /// The pending handshake.
    void reset() { start_ = 0; }
    void start_layer(const LayerConfig& layer);
    /// The ring starts `slices` of that layer later: the entries that are free.
    Entries release(const LayerConfig& of, Slices slices);

    /// The entry of a column of a row, `batches`: entries of the previous batches.
    std::uint32_t address(std::int64_t row, std::uint32_t batches, std::uint32_t column) const
    {
        const auto line = static_cast<std::uint32_t>(row * row_entries_) + batches;
        return wrap(start_ + slice_address_ + (line & silicon_.address_mask) + column);
    }
    /// Kernel row `h` requests an entry in cycle `enable`; true if it is read, which `forced` makes sure of. `used`: by the sums too.
    bool request(std::uint32_t h, std::uint32_t address, bool forced, Cycle enable, bool used = true);
    /// Whether nobody needs to know which entries are read when: only their number counts.
    bool counts() const { return !cbuf_.watch && !probe_; }
    /// Kernel row 0 requests `count` entries one after the other, each another one than that before it; these are the ends.
    void request_run(std::uint32_t first, std::uint32_t last, std::uint32_t count)
    {
        reads_ += count - (first == last_[0]);
        last_[0] = last;
    }
    std::uint32_t entries() const { return entries_; }
    /// Kernel row `h` has padding instead of an entry.
    void forget(std::uint32_t h) { last_[h] = kNoAddress; }

    /// What an address holds: zeros beyond the buffer.
    const std::uint8_t* entry(std::uint32_t address) const { return address < cbuf_.entries() ? cbuf_.entry(address) : zeros_.data(); }
    /// The entry before it, for those that are read in pairs.
    const std::uint8_t* entry_before(std::uint32_t address) const;
    const std::uint8_t* padding() const { return padding_.data(); }
    const std::uint8_t* zeros() const { return zeros_.data(); }

    /// Two channel slices share an entry: int8 in nv_full.
    bool paired() const { return paired_; }
    /// cop: channel slices of the stripe that are done.
    std::uint32_t slice() const { return slice_; }
    /// The last kernel position of a channel slice is done; `channel_end`: of the last slice.
    void end_block(bool channel_end);
    /// What was read for a package is accounted.
    void end_package();

    std::uint64_t reads() const { return reads_; }
    void attach(Probe* probe) { probe_ = probe; }  // sc2buf_dat_rd

private:
    static constexpr std::uint32_t kNoAddress = UINT32_MAX;
    /// Wraps an address once, as the silicon does.
    std::uint32_t wrap(std::uint32_t address) const { return address >= entries_ ? address - entries_ : address; }
    void record(Cycle enable);

    const facts::csc::Facts silicon_;
    const std::uint32_t entry_bytes_, bank_depth_, lanes_;
    Cbuf& cbuf_;
    const LayerConfig* layer_ = nullptr;

    std::uint32_t start_ = 0, entries_ = 1;  // of the ring
    std::uint32_t row_entries_ = 0;          // from input row to input row
    bool paired_ = false;
    std::uint32_t slice_ = 0, slice_address_ = 0;  // cop, cb
    std::array<std::uint32_t, kRows> last_{};      // requests

    std::vector<std::uint8_t> padding_, zeros_;  // an entry of them, and what a window reads beyond
    std::uint64_t reads_ = 0, accounted_ = 0;
    Probe* probe_ = nullptr;
    Cycle run_start_ = 0, run_length_ = 0;  // read enables in a row, for the probe
};

}  // namespace dlasim::csc
