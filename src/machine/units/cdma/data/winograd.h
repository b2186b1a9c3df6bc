// The Winograd fetcher (nv_full): row blocks of four extended lines, cut into cubes of 4 x 4 atoms.
//
//   request()   row block > surface > phase row > sections of the line > chunks of 8 atoms > 4 rows
//   consume()   atoms in order, dummies (padding) produced here; a chunk's fourth row completes cubes
//   read()      8 cycles a cube; at most about 8 cubes wait, then responses are blocked
//   store       values: an atom's four channel quarters go to four entries
//
// Source    cdma.md 6; facts in facts/cdma.h.
// Not modelled: input and processing precision of different width (cdma.md 16, point 2).
#pragma once
#include "units/cdma/data/fetcher.h"

namespace dlasim::cdma {

class WinogradFetcher final : public DataFetcher {
public:
    WinogradFetcher(const Hardware& hw, DataContext& context);

    void start(const LayerConfig& layer, const Converter& converter) override;
    void busy(Cycle at) override;

    bool request(Cycle at, bool room, RequestSlot& slot) override;
    bool more() const override { return block_ < blocks_; }
    bool waits_for_space() const override { return block_ < blocks_ && !space_ok_; }

    bool ready() const override { return !blocked_; }
    void consume(Cycle at, const RequestInfo& info, const ReadBeat* beat, std::uint32_t atoms, bool complete, bool values) override;

    bool read(Cycle at) override;
    bool commit() override;
    void account(Entries added) override { onfly_ -= added.count(); }

private:
    void generate(RequestSlot& slot);
    std::uint32_t section_width(unsigned section) const;
    void first_section();
    void store_atom(const std::uint8_t* data, std::uint64_t position, std::uint32_t row);

    const std::uint32_t atom_;
    Converter converter_;
    std::uint32_t columns_ = 1, blocks_ = 1;  // groups of four columns, row blocks
    std::uint32_t block_entries_ = 0, block_cubes_ = 0;

    // Requests
    std::uint32_t block_ = 0, surface_ = 0, phase_ = 0, section_ = 0, x_ = 0, row_ = 0;
    bool space_ok_ = false;
    RequestSlot stage_;
    std::int64_t onfly_ = 0;

    // Responses and cubes
    std::uint64_t position_ = 0;  // horizontal atoms of the completed chunks
    std::uint32_t in_chunk_ = 0;  // atoms of the current chunk row
    std::uint32_t available_ = 0, completed_now_ = 0, completed_before_ = 0, read_cycle_ = 0, taken_ = 0, block_read_ = 0;
    std::uint32_t blocks_read_ = 0;
    bool blocked_ = false;
    Cycle write_latency_ = 0;

    std::uint64_t ring_ = 0, base_ = 0;
};

}  // namespace dlasim::cdma
