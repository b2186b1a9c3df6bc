// The feature fetcher (direct convolution): lines of a cube, in grains of a few lines, surface group
// by surface group.
//
//   request()  grain > batch > group of surfaces > round robin of bursts     -> request register
//   accept()   beats fill the shared buffer, one counter a surface
//   read()     grain > batch > group > line > pixel: frees the counters, makes the messages
//   store()    values: every atom's place in the ring in closed form
//
// Source  cdma.md 4; facts in facts/cdma.h.
#pragma once
#include "facts/cdma.h"
#include "facts/hardware.h"
#include "units/cdma/convert.h"
#include "units/cdma/data_types.h"

namespace dlasim::cdma {

class FeatureFetcher {
public:
    FeatureFetcher(const Hardware& hw, DataContext& context);

    void start(const Layer& layer, const Converter& converter);
    void busy(Cycle at);
    Cycle done_at() const { return done_at_; }

    /// The request engine, one cycle; `room`: the request register is empty or emptied in this cycle.
    bool request(Cycle at, bool room, RequestSlot& slot);
    /// The first space check is still to come, in cycle first_work().
    bool before_first_check() const { return !checked_; }
    Cycle first_work() const { return first_check_; }
    bool wants_response() const { return !blocked_; }
    void accept(std::uint32_t atoms, std::uint32_t source) { fill_[source & 1] += atoms; }
    /// One cycle of the read side, with the counters of the start of the cycle. True if it read.
    bool read(Cycle at);
    /// End of the cycle: what was read is free.
    bool commit()
    {
        const bool changed = taken_[0] | taken_[1] | (blocked_ != block_next_);
        fill_[0] -= taken_[0];
        fill_[1] -= taken_[1];
        blocked_ = block_next_;
        return changed;
    }
    /// End of the cycle: `added` entries were accounted by the status unit.
    void account(std::uint32_t added)
    {
        onfly_ += onfly_add_;
        onfly_ -= added;
        onfly_add_ = 0;
    }
    bool waits_for_space() const { return !requests_done_ && !space_ok_; }

    void store(const ReadBeat& beat, std::uint32_t lane_atoms, std::uint32_t source);

    std::uint32_t nans = 0, infs = 0;

private:
    void next_group();
    void store_atom(const std::uint8_t* data, std::uint32_t source);
    void next_store_group();
    std::uint32_t lines_of_grain(std::uint32_t lines_done) const
    {
        const std::uint32_t left = layer_.height - lines_done;
        return left < layer_.grain ? left : layer_.grain;
    }

    const facts::cdma::Facts silicon_;
    const std::uint32_t atom_, entry_bytes_, atoms_per_entry_;
    DataContext& context_;
    Layer layer_;
    Converter converter_;
    std::uint32_t line_atoms_ = 0, loop_surfaces_ = 0, group_size_ = 1;

    // Request side
    Cycle first_check_ = kNever;
    bool checked_ = true, space_ok_ = false, end_of_group_ = false, requests_done_ = true;
    std::uint32_t lines_requested_ = 0, grain_lines_ = 0, batch_ = 0, surface_ = 0, in_group_ = 0, turn_ = 0;
    std::uint64_t grain_atoms_ = 0, grain_need_ = 0, grain_base_ = 0;
    std::uint64_t counted_[2] = {};
    std::int64_t onfly_ = 0;
    std::uint64_t onfly_add_ = 0;

    // Response and read side
    std::uint32_t fill_[2] = {}, taken_[2] = {};
    bool blocked_ = false, block_next_ = false, all_read_ = true;
    std::uint32_t read_lines_ = 0, read_grain_lines_ = 0, read_batch_ = 0, read_surface_ = 0, read_line_ = 0, read_pixel_ = 0,
                  read_group_ = 1;
    Cycle write_latency_ = 0, done_at_ = kNever;

    // Values
    struct Cursor {
        std::uint32_t line = 0, pixel = 0;
        std::uint64_t row = 0;  // entry of the line's first pixel, from the grain's base
    };
    Cursor cursor_[2];
    std::uint32_t store_lines_ = 0, store_grain_lines_ = 0, store_batch_ = 0, store_surface_ = 0, store_group_ = 1, store_open_ = 0;
    std::uint64_t store_base_ = 0, ring_ = 0;
};

}  // namespace dlasim::cdma
