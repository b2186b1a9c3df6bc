// What a Rubik layer reads and writes, request by request.
//
//   contract   atoms of xs * ys sub-cubes, interleaved to one cube: deconvolution put together
//   split      feature cube to planes
//   merge      planes to feature cube
//
// Requests are grouped in blocks: what one bank of the register file holds.
//
// Shapes  an atom is 32 bytes, 32 channels of a byte or 16 of two; strides and addresses are bytes.
// Source  rubik.md 1.
#pragma once
#include <algorithm>
#include <cstdint>

#include "registers/register_file.h"

namespace dlasim::rubik {

inline constexpr std::uint32_t kAtomBytes = 32;

enum class Mode : std::uint8_t { Contract, Split, Merge };

/// The registers of a layer, decoded.
struct LayerConfig {
    Mode mode = Mode::Contract;
    std::uint32_t element_bytes = 1;
    std::uint32_t width = 1, height = 1, channels = 1, channels_out = 1;
    std::uint32_t x_stride = 1, y_stride = 1;
    std::uint64_t source = 0, destination = 0;
    std::uint64_t in_line = 0, in_surface = 0, in_plane = 0, out_line = 0, out_surface = 0, out_plane = 0;
    std::uint64_t cube = 0;  // between the sub-cubes of contract
    bool from_mc = false, to_mc = false;

    static LayerConfig decode(const RegisterFile& registers);

    std::uint32_t channels_per_atom() const { return 32 / element_bytes; }
    std::uint32_t groups(std::uint32_t channel_count) const { return (channel_count + channels_per_atom() - 1) / channels_per_atom(); }
    std::uint32_t read_groups() const { return groups(mode == Mode::Contract ? channels_out : channels); }
    std::uint32_t write_groups() const { return groups(channels_out); }
    /// Planes of a channel group.
    std::uint32_t planes(std::uint32_t group) const;
    /// Columns of a block, and how many of them are left from column w0 on.
    std::uint32_t block_columns() const { return mode == Mode::Contract ? 8 : 64; }
    std::uint32_t columns(std::uint32_t w0) const;
    /// Atoms of a plane's part in a block that begins at column w0.
    std::uint32_t plane_atoms(std::uint32_t w0) const;
};

/// One bank's worth: `requests` reads of `atoms` each; a read's first atom is `pitch` after the previous one's.
struct Block {
    Mode mode = Mode::Contract;
    std::uint32_t element_bytes = 1;
    std::uint32_t requests = 0, atoms = 0, pitch = 0;
    std::uint32_t columns = 0;  // of the output: width positions
    std::uint32_t rows = 0;     // contract: sub-cubes; split, merge: planes
};

struct Read {
    std::uint64_t address = 0;
    std::uint32_t atoms = 0;
    bool opens_block = false;  // the first one of `block`
    Block block;
};

/// The reads of a layer in order.
class ReadWalk {
public:
    ReadWalk() = default;
    explicit ReadWalk(const LayerConfig& layer) : layer_(layer) {}
    Read current() const;
    /// False after the last one.
    bool next();

private:
    std::uint32_t inner_count() const;

    LayerConfig layer_;
    std::uint32_t group_ = 0, line_ = 0, dy_ = 0, w0_ = 0, inner_ = 0;  // inner: sub-cube or plane
};

struct Write {
    std::uint64_t address = 0;
    std::uint32_t atoms = 0;
    std::uint32_t opens_blocks = 0;  // blocks that may be drained from now on
    bool last = false;
};

/// The writes of a layer in order.
class WriteWalk {
public:
    WriteWalk() = default;
    explicit WriteWalk(const LayerConfig& layer) : layer_(layer) {}
    Write current() const;
    bool next();

private:
    /// contract with lines that are written in pieces, not at once
    bool in_pieces() const { return layer_.mode == Mode::Contract && layer_.x_stride > 8; }
    Write piece() const;
    std::uint32_t lines() const;
    bool last() const;

    LayerConfig layer_;
    std::uint32_t group_ = 0, line_ = 0, w0_ = 0, part_ = 0, inner_ = 0;  // part: sub-cube; inner: column or plane
};

}  // namespace dlasim::rubik
