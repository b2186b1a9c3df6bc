// The image fetcher (pixel data): a line at a time, in one or two planes.
//
//   request()   line > bundles of atoms > left dummies, real atoms, right dummies    -> request register
//   consume()   atoms in order, dummies produced here; a full bundle goes to the packer
//   packer      bundle after bundle, in closed form: the cycle of every beat at the converter
//   convert     a whole line when its last atom is there: order, padding, mean, placement
//
// Shapes    line of pl + W + pr pixels of `components` elements; beat 64 B (nv_full) or an atom.
// Source    cdma.md 5; facts in facts/cdma.h.
// Not modelled: the element-group quirk of the mean beyond the padded line (cdma.md 16, point 8).
#pragma once
#include <vector>

#include "units/cdma/data/fetcher.h"

namespace dlasim::cdma {

class ImageFetcher final : public DataFetcher {
public:
    ImageFetcher(const Hardware& hw, DataContext& context);

    void start(const LayerConfig& layer, const Converter& converter) override;
    void busy(Cycle at) override;

    bool request(Cycle at, bool room, RequestSlot& slot) override;
    bool more() const override { return line_ < layer_.height; }
    bool waits_for_space() const override { return line_ < layer_.height && !space_ok_; }
    Cycle first_check() const override { return checked_ ? kNever : first_check_; }

    void consume(Cycle at, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values) override;
    void account(Entries added) override { onfly_ -= added.count(); }

private:
    struct Plane {
        std::uint32_t sections[3] = {};  // atoms: left dummies, real, right dummies
        std::uint32_t left[3] = {};      // of the current line
        std::uint32_t requested = 0;     // real atoms
        bool first = true;
        std::uint32_t total_left() const { return left[0] + left[1] + left[2]; }
    };
    void next_line();
    void generate(RequestSlot& slot);
    void pack(Cycle available, bool line_end);
    bool ends_early() const;
    void convert_line();
    void convert_line_beats();
    void store_half(std::uint64_t entry, std::uint32_t half, const std::uint8_t* data);
    void convert_line_atoms();
    void line_element(std::uint32_t index, std::uint16_t& raw, std::int16_t& mean, bool& pad) const;

    static constexpr std::uint32_t kHalf = 64;  // bytes of half of what the converter of nv_full writes
    const std::uint32_t atom_, atoms_per_entry_, entries_of_write_;
    const Hardware& hardware_;
    PixelFormat format_;
    BeatConverter converter_;

    // Requests
    Plane planes_[2];
    std::uint32_t line_ = 0, plane_ = 0, bundle_left_ = 0;
    bool line_start_ = false;
    Cycle first_check_ = kNever;
    bool checked_ = true, space_ok_ = false, offered_ = false, offered_line_end_ = false;
    std::int64_t onfly_ = 0;

    // Packer
    std::int32_t bundle_[2] = {};
    Cycle packer_free_ = 0, last_beat_ = 0, write_latency_ = 0;
    std::vector<Cycle> beats_;  // of the line
    std::uint32_t lines_packed_ = 0;

    // Values
    std::vector<std::uint8_t> bytes_[2];  // real atoms of the line
    std::size_t filled_[2] = {};
    std::uint64_t ring_ = 0, line_base_ = 0;
};

}  // namespace dlasim::cdma
