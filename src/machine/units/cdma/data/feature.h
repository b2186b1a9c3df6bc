// The feature fetcher (direct convolution): lines of a cube, in grains of a few lines, surface group
// by surface group.
//
//   request()  grain > batch > group of surfaces > round robin of bursts     -> request register
//   consume()  beats fill the shared buffer, one counter a surface
//   read()     grain > batch > group > line > pixel: frees the counters, makes the messages
//   store()    values: every atom's place in the ring in closed form
//
// Source  cdma.md 4; facts in facts/cdma.h.
#pragma once
#include "units/cdma/data/fetcher.h"

namespace dlasim::cdma {

class FeatureFetcher final : public DataFetcher {
public:
    FeatureFetcher(const Hardware& hw, DataContext& context);

    void start(const LayerConfig& layer, const Converter& converter) override;
    void busy(Cycle at) override;

    bool request(Cycle at, bool room, RequestSlot& slot) override;
    bool more() const override { return !requests_done_; }
    bool waits_for_space() const override { return !requests_done_ && !space_ok_; }
    Cycle first_check() const override { return checked_ ? kNever : first_check_; }

    bool ready() const override { return !blocked_; }
    void consume(Cycle at, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values) override;
    bool stores_early() const override { return true; }
    void store(const ReadBeat& beat, std::uint32_t source) override;

    bool read(Cycle at) override;
    bool commit() override;
    void account(Entries added) override;

private:
    void next_group();
    void store_atom(const std::uint8_t* data, std::uint32_t source);
    void next_store_group();
    std::uint32_t lines_of_grain(std::uint32_t lines_done) const;

    const std::uint32_t atom_, entry_bytes_, atoms_per_entry_;
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
    Cycle write_latency_ = 0;

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
