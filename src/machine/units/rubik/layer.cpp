#include "units/rubik/layer.h"

#include <algorithm>

#include "base/bits.h"
#include "registers/fields/rbk.h"

namespace dlasim::rubik {
namespace {

constexpr std::uint32_t kRows = 8;               // sub-cubes of a block
constexpr std::uint32_t kLineSizeMask = 0x1fff;  // a contracted line's size is cut to 13 bits

}  // namespace

LayerConfig LayerConfig::decode(const RegisterFile& registers)
{
    using namespace reg::rbk;
    const auto get = [&](auto what) { return registers.get(what); };
    LayerConfig l;
    l.mode = static_cast<Mode>(std::min(get(D_MISC_CFG::RUBIK_MODE), 2u));
    l.element_bytes = get(D_MISC_CFG::IN_PRECISION) == 0 ? 1 : 2;
    l.width = get(D_DATAIN_SIZE_0::DATAIN_WIDTH) + 1;
    l.height = get(D_DATAIN_SIZE_0::DATAIN_HEIGHT) + 1;
    l.channels = get(D_DATAIN_SIZE_1) + 1;
    l.channels_out = get(D_DATAOUT_SIZE_1) + 1;
    l.x_stride = get(D_DECONV_STRIDE::DECONV_X_STRIDE) + 1;
    l.y_stride = get(D_DECONV_STRIDE::DECONV_Y_STRIDE) + 1;
    l.source = registers.pair(D_DAIN_ADDR_HIGH, D_DAIN_ADDR_LOW);
    l.destination = registers.pair(D_DAOUT_ADDR_HIGH, D_DAOUT_ADDR_LOW);
    l.in_line = get(D_DAIN_LINE_STRIDE);
    l.in_surface = get(D_DAIN_SURF_STRIDE);
    l.in_plane = get(D_DAIN_PLANAR_STRIDE);
    l.out_line = get(D_DAOUT_LINE_STRIDE);
    l.out_surface = get(D_DAOUT_SURF_STRIDE);
    l.out_plane = get(D_DAOUT_PLANAR_STRIDE);
    l.cube = get(D_CONTRACT_STRIDE_0);
    l.from_mc = get(D_DAIN_RAM_TYPE);
    l.to_mc = get(D_DAOUT_RAM_TYPE);
    return l;
}

std::uint32_t LayerConfig::planes(std::uint32_t group) const
{
    const std::uint32_t k = channels_per_atom(), before = group * k;
    return before < channels ? std::min(k, channels - before) : k;
}

std::uint32_t LayerConfig::columns(std::uint32_t w0) const { return std::min(block_columns(), width - w0); }

std::uint32_t LayerConfig::plane_atoms(std::uint32_t w0) const { return ceil_div(columns(w0) * element_bytes, kAtomBytes); }

std::uint32_t ReadWalk::inner_count() const
{
    switch (layer_.mode) {
        case Mode::Contract:
            return layer_.x_stride;
        case Mode::Split:
            return 1;
        case Mode::Merge:
            return layer_.planes(group_);
    }
    return 1;
}

Read ReadWalk::current() const
{
    const LayerConfig& l = layer_;
    const std::uint64_t line = l.source + line_ * l.in_line;
    const std::uint32_t columns = l.columns(w0_);
    Read read;
    switch (l.mode) {
        case Mode::Contract:
            read.address = line + group_ * l.in_surface + dy_ * l.cube * l.x_stride + inner_ * l.cube + std::uint64_t{w0_} * kAtomBytes;
            read.atoms = columns;
            read.opens_block = inner_ % kRows == 0;
            read.block.rows = std::min(kRows, l.x_stride - inner_ / kRows * kRows);
            read.block.requests = read.block.rows;
            read.block.pitch = kRows;
            break;
        case Mode::Split:
            read.address = line + group_ * l.in_surface + std::uint64_t{w0_} * kAtomBytes;
            read.atoms = columns;
            read.opens_block = true;
            read.block.rows = l.planes(group_);
            read.block.requests = 1;
            break;
        case Mode::Merge:
            read.address =
                line + group_ * (l.channels_per_atom() * l.in_plane) + inner_ * l.in_plane + std::uint64_t{w0_} * l.element_bytes;
            read.atoms = l.plane_atoms(w0_);
            read.opens_block = inner_ == 0;
            read.block.rows = read.block.requests = l.planes(group_);
            read.block.pitch = 2 * l.element_bytes;
            break;
    }
    read.block.mode = l.mode;
    read.block.element_bytes = l.element_bytes;
    read.block.atoms = read.atoms;
    read.block.columns = columns;
    return read;
}

bool ReadWalk::next()
{
    const LayerConfig& l = layer_;
    if (++inner_ < inner_count()) return true;
    inner_ = 0;
    if ((w0_ += l.block_columns()) < l.width) return true;
    w0_ = 0;
    if (++dy_ < (l.mode == Mode::Contract ? l.y_stride : 1)) return true;
    dy_ = 0;
    if (++line_ < l.height) return true;
    line_ = 0;
    return ++group_ < l.read_groups();
}

Write WriteWalk::current() const
{
    Write write = piece();
    WriteWalk after = *this;
    write.last = !after.next();
    return write;
}

Write WriteWalk::piece() const
{
    const LayerConfig& l = layer_;
    const std::uint64_t line = l.destination + line_ * l.out_line, feature = line + group_ * l.out_surface;
    if (in_pieces())
        return {feature + (std::uint64_t{w0_ + inner_} * l.x_stride + part_) * kAtomBytes, std::min(kRows, l.x_stride - part_), inner_ == 0,
                false};
    switch (l.mode) {
        case Mode::Contract:
            return {feature, ((l.width * l.x_stride - 1) & kLineSizeMask) + 1, ceil_div(l.width, l.block_columns()), false};
        case Mode::Split:
            return {line + group_ * (l.channels_per_atom() * l.out_plane) + inner_ * l.out_plane + std::uint64_t{w0_} * l.element_bytes,
                    l.plane_atoms(w0_), inner_ == 0, false};
        case Mode::Merge:
            return {feature + std::uint64_t{w0_} * kAtomBytes, l.columns(w0_), 1, false};
    }
    return {};
}

std::uint32_t WriteWalk::lines() const { return layer_.mode == Mode::Contract ? layer_.height * layer_.y_stride : layer_.height; }

bool WriteWalk::next()
{
    const LayerConfig& l = layer_;
    const bool contract = l.mode == Mode::Contract;
    if (l.mode == Mode::Split && ++inner_ < l.planes(group_)) return true;
    if (in_pieces()) {
        if (++inner_ < l.columns(w0_)) return true;
        inner_ = 0;
        if ((part_ += kRows) < l.x_stride) return true;
        part_ = 0;
    }
    inner_ = 0;
    if (!contract || in_pieces()) {
        if ((w0_ += l.block_columns()) < l.width) return true;
        w0_ = 0;
    }
    if (++line_ < lines()) return true;
    line_ = 0;
    return ++group_ < l.write_groups();
}

}  // namespace dlasim::rubik
