// The values of a layer: atoms are kept as they arrive and computed a pass at a time, when the write DMA
// sends its command. By then everything the pass depends on has been through the core.
//
//   words ──► atoms of the blocks on their way ──► x of a surface and its neighbours ──► LUT ... ──► atoms out
//
// Source  cdp.md 1, 2; the arithmetic in numerics/cdp.h.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/ring.h"
#include "traffic/memory.h"
#include "units/cdp/layer.h"

namespace dlasim::cdp {

class Values {
public:
    explicit Values(const facts::cdp::Facts& silicon) : atom_bytes_(silicon.atom_bytes) {}

    void compute(bool on) { on_ = on; }
    /// With the first beat of a layer: nothing of the last one is left.
    void start(const Cube& cube, const numerics::CdpConfig& config, const numerics::LutTables& tables);
    void arrive(const ReadBeat& word);

    /// The atoms of a pass. Passes come in order.
    void pass(const Pass& pass);
    /// Atom `pixel` of it.
    const std::uint8_t* atom(std::uint32_t pixel) const { return out_[pixel].data(); }

    const numerics::CdpCounts& counts() const { return lanes_.counts(); }
    std::uint64_t elements() const { return elements_; }

private:
    using Atom = std::array<std::uint8_t, kMaxBeatBytes>;
    void convert(const Atom& atom, std::uint32_t surface, std::uint32_t first, std::uint32_t count, std::int32_t* x) const;

    const std::uint32_t atom_bytes_;
    bool on_ = true;
    Cube cube_;
    std::uint32_t lanes_of_atom_ = 1;
    numerics::CdpLanes lanes_;
    Ring<Atom> atoms_{256};  // from the first surface of the oldest block on
    std::array<Atom, facts::cdp::kBlock> out_{};
    std::uint64_t elements_ = 0;  // of the layer, computed
};

}  // namespace dlasim::cdp
