// What runs from memory to memory, beside the convolution pipeline, as the user describes it: blocks that are copied,
// a cube that is reshaped, a cube that is normalised.
//
//   copy    blocks of surfaces of lines, between and within the two memories; launched in groups
//   reshape split     feature cube [C][H][W] ──► planes
//           merge     planes ──► feature cube
//           contract  sub-cubes ──► one cube: place (x, y) is place (x / sx, y / sy) of sub-cube (y % sy) * sx + x % sx
//   lrn     every channel over a power of the squares around it (config/model/lrn.h)
//
// Source  section 1 of the page of each unit in docs/hardware.
#pragma once
#include <utility>
#include <variant>
#include <vector>

#include "base/place.h"
#include "config/model/layer.h"
#include "config/model/lrn.h"

namespace dlasim {

/// One end of a block.
struct BlockEnd {
    Place place;
    Strides strides;
    Address line_address(std::uint32_t surface, std::uint32_t line) const
    {
        return place.address + surface * strides.surface + line * strides.line;
    }
};

/// A descriptor of BDMA.
struct CopyBlock {
    unsigned group = 0;
    bool wait = false;  // for everything launched before
    BlockEnd source, destination;
    std::uint32_t line_bytes = 32, lines = 1, surfaces = 1;
    std::uint64_t bytes() const { return std::uint64_t{line_bytes} * lines * surfaces; }
};

struct Copy {
    std::vector<CopyBlock> blocks;
};

struct Reshape : TransferCube {
    enum class Mode : std::uint8_t { Contract, Split, Merge };  // as D_MISC_CFG has them

    Mode mode = Mode::Split;
    Extent stride;  // contract

    std::uint32_t sub_cubes() const { return mode == Mode::Contract ? stride.x * stride.y : 1; }
    std::uint32_t out_channels() const { return channels / sub_cubes(); }
    std::uint32_t out_width() const { return mode == Mode::Contract ? width * stride.x : width; }
    std::uint32_t out_height() const { return mode == Mode::Contract ? height * stride.y : height; }
    CubeSize out_cube() const { return {out_width(), out_height(), out_channels()}; }
};

struct Transfer {
    std::string name;
    std::string file, pointer;  // it was read from, for messages
    std::uint64_t seed = 1;
    std::variant<Copy, Reshape, Lrn> what;

    std::string where(const std::string& below = "") const;
    const Copy* copy() const { return std::get_if<Copy>(&what); }
    const Reshape* reshape() const { return std::get_if<Reshape>(&what); }
    const Lrn* lrn() const { return std::get_if<Lrn>(&what); }
    /// What it makes a cube of; null where it makes none.
    const TransferCube* cube() const
    {
        if (const Reshape* r = reshape()) return r;
        return lrn();
    }
    TransferCube* cube() { return const_cast<TransferCube*>(std::as_const(*this).cube()); }
};

inline const char* mode_name(Reshape::Mode mode)
{
    constexpr const char* kNames[] = {"contract", "split", "merge"};
    return kNames[static_cast<int>(mode)];
}

}  // namespace dlasim
