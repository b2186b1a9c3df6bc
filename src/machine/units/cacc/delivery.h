// The delivery buffer of CACC: a ring of entries. Atoms append theirs with the cycle from which the
// output side may take them; with several batches two horizontally adjacent positions are interleaved
// (SDP writes them as one atom of 64 bytes), which leaves holes that the second one fills.
//
//   one batch, or a position without a partner    b0 b1 b2 ...             available as they come
//   a position and its partner                    b0 b0' b1 b1' b2 b2' ... available with the partner
//
// Shapes  entry: 16 results in nv_full, AK results elsewhere.
// Source  cacc.md 3.1-3.3, 3.5.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "base/ring.h"
#include "units/cacc/end_tags.h"

namespace dlasim::cacc {

/// Registers the reorder of nv_full depends on; counters end at these values.
struct DeliveryOrder {
    std::uint32_t last_batch = 0;  // 0: no reorder
    std::uint32_t last_column = 0, last_row = 0, last_group = 0;
    bool address_odd = false, line_odd = false, surface_odd = false;  // granule parity of address and strides
};

class Delivery {
public:
    /// `available`: cycles from writing an entry to its place in the count of the output side. `clears_first`: EndTags.
    Delivery(std::uint32_t capacity, std::uint32_t lanes, Cycle available, bool clears_first);

    void start_layer(const DeliveryOrder& order);

    /// Appends the results of one atom, `entries` of them, which is delivered so that they are available
    /// in cycle `at`. `last`: the last atom of the layer.
    void append(const std::int32_t* results, std::uint32_t entries, Cycle at, bool last);

    /// The same of `atoms` atoms, one a cycle from `at` on, whose results nobody asks for. pre: in_order()
    void append_run(std::uint32_t atoms, std::uint32_t entries, Cycle at, bool last);
    /// Entries are appended in the order in which they leave.
    bool in_order() const { return order_.last_batch == 0; }

    // ---- output side: entries in ring order
    bool any() const { return !available_.empty(); }
    /// First cycle in which the next entry may be popped. pre: any()
    Cycle available_at() const { return available_.front().at + taken_ / available_.front().per_cycle; }
    const std::int32_t* entry() const { return results_.data() + std::size_t{read_} * lanes_; }
    /// The next entry is read in cycle `at`: what had been written by then is known.
    void read(Cycle at) { ends_layer_ = tags_.pop(at, read_); }
    /// The entry that was read is taken for the last one of its layer.
    bool ends_layer() const { return ends_layer_; }
    /// It has left.
    void pop();
    const EndTags& tags() const { return tags_; }

    std::uint32_t lanes() const { return lanes_; }

private:
    /// Entries that become available, `per_cycle` in every cycle from `at` on.
    struct Available {
        Cycle at = 0;
        std::uint32_t entries = 0, per_cycle = 1;
    };
    void write(std::uint32_t position, const std::int32_t* results, std::uint32_t entries);
    void pass(std::uint32_t entries);
    /// The last entry of a layer is written at `position`, and available in cycle `at`.
    void end_layer(Cycle at, std::uint32_t position) { tags_.set(at - until_available_, position % capacity_); }
    void publish(Cycle at, std::uint32_t entries);
    void append_reordered(const std::int32_t* results, std::uint32_t entries, Cycle at, bool last);

    const std::uint32_t capacity_, lanes_;
    const Cycle until_available_;
    std::vector<std::int32_t> results_;
    EndTags tags_;
    bool ends_layer_ = false;
    std::uint32_t base_ = 0;  // write pointer, kept between layers
    std::uint32_t read_ = 0;
    Ring<Available> available_;
    std::uint32_t taken_ = 0;  // entries of available_.front() popped

    DeliveryOrder order_;
    std::array<std::uint32_t, 4> counters_{};  // batch, column, row, kernel group
    bool skip_ = false;                        // this position fills the holes of the one before
    std::uint32_t back_ = 0;                   // the first hole
    bool parity_ = false, line_parity_ = false, surface_parity_ = false;
};

}  // namespace dlasim::cacc
