// WL, the weight loader: takes the kernels of a package from the weight ring of the CBUF, a byte
// stream without gaps inside a layer, and expands compressed ones with the mask stream.
//
//   mask ring ─► residual mask entry ─► bits ──┐
//   weight ring ─► residual entry ─► bytes ────┴► expand ─► [kernels][lanes]
//
// Entries are read one by one as bytes run out; what is left of the last one stays in a register, so
// that a group can be read again for the next stripe although its first entry has been released.
//
// Source  csc.md 1.10, 1.11.
#pragma once
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "base/quantity.h"
#include "links/probe.h"
#include "units/cbuf/cbuf.h"
#include "units/csc/package.h"

namespace dlasim::csc {

/// The kernels of a package as CMAC gets them.
struct WeightSet {
    std::vector<std::uint8_t> bytes;  // [kernels][pitch]
    std::uint32_t pitch = 0;
};

class WeightLoader {
public:
    WeightLoader(const Hardware& hardware, Cbuf& cbuf, bool values);

    /// Ring starts go back to 0: the pending handshake.
    void reset_ring();
    /// Releases what the previous layer kept; also moves the start of the next layer.
    void release_kept(Entries entries, MaskEntries mask_entries);
    void start_layer(const LayerConfig& layer);

    struct Released {
        Entries entries;
        MaskEntries mask_entries;
    };
    /// Loads a package popped in cycle `at`; returns what a complete kernel group releases.
    Released load(const Package& package, Cycle at, WeightSet& out);

    std::uint64_t reads() const { return reads_; }
    Probe *read_probe = nullptr, *mask_probe = nullptr;  // sc2buf_wt_rd, sc2buf_wmb_rd

private:
    /// A stream of entries: the next one to read, and what is left of the last one read.
    struct Stream {
        std::uint32_t next = 0;  // entry in the ring
        std::uint32_t left = 0;  // bytes (bits, for the mask) of `residual` not used yet
        std::vector<std::uint8_t> residual;
        std::uint32_t fetched = 0;  // entries read since the group began
        std::uint64_t turn = 0;     // of `next`
    };
    void read_entry(Stream& stream, bool mask);
    void tell(Stream& stream, std::uint32_t entry, Held kind) const;
    void take_bytes(std::uint8_t* to, std::uint32_t count, Cycle enable);
    void take_run(std::uint8_t* to, std::uint32_t count);
    void count_run(std::uint32_t count);
    void load_plain(const Package& package, Cycle at, WeightSet& out);
    void load_compressed(const Package& package, Cycle at, WeightSet& out);
    /// Places the rows of a kernel on their lanes.
    void place(const Package& package, const std::uint8_t* elements, std::uint8_t* lanes) const;

    const std::uint32_t entry_bytes_, bank_depth_, mask_bank_, lanes_;
    const bool values_;
    Cbuf& cbuf_;
    const LayerConfig* layer_ = nullptr;
    std::uint32_t ring_entries_ = 1, ring_base_ = 0;
    std::uint32_t ring_start_ = 0, mask_ring_start_ = 0;
    std::uint64_t turns_ = 0, mask_turns_ = 0;  // entries that the rings have released
    Stream weights_, masks_, saved_weights_, saved_masks_;
    bool first_pass_ = true;  // over the kernel group: its entries are counted
    std::uint32_t group_entries_ = 0, group_mask_entries_ = 0;
    std::vector<std::uint8_t> row_, compact_;
    std::uint64_t reads_ = 0;
};

}  // namespace dlasim::csc
