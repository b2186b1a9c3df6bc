// What runs from memory to memory, beside the convolution pipeline, as the user describes it: blocks that are copied,
// a cube that is reshaped, a cube that is normalised.
//
//   copy    blocks of surfaces of lines, between and within the two memories; launched in groups
//   reshape split     feature cube [C][H][W] ──► planes
//           merge     planes ──► feature cube
//           contract  sub-cubes ──► one cube: place (x, y) is place (x / sx, y / sy) of sub-cube (y % sy) * sx + x % sx
//   lrn     every channel over a power of the squares around it (config/model/lrn.h)
//
// Source  bdma.md 1, rubik.md 1.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "base/place.h"
#include "config/model/layer.h"
#include "config/model/lrn.h"
#include "config/model/tolerance.h"

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

struct Reshape {
    enum class Mode : std::uint8_t { Contract, Split, Merge };  // as D_MISC_CFG has them

    Mode mode = Mode::Split;
    Extent stride;                                      // contract
    std::uint32_t width = 1, height = 1, channels = 1;  // of the input
    Precision precision = Precision::Int8;
    Place input{true, Address{0x80000000}}, output{true, Address{0xa0000000}};
    std::string data, data_where;          // NumPy file, and where it is named; empty: by seed
    std::string expected, expected_where;  // NumPy file of the output to compare with; empty: none
    Tolerance tolerance{};                 // of that comparison

    CubeSize cube() const { return {width, height, channels}; }
    std::uint32_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
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
    /// Of the cube that it makes; none where it makes no cube.
    std::optional<Precision> cube_precision() const
    {
        if (const Reshape* r = reshape()) return r->precision;
        if (const Lrn* l = lrn()) return l->precision;
        return std::nullopt;
    }
};

inline const char* mode_name(Reshape::Mode mode)
{
    constexpr const char* kNames[] = {"contract", "split", "merge"};
    return kNames[static_cast<int>(mode)];
}

}  // namespace dlasim
