#include "units/pdp/layer.h"

#include <algorithm>

#include "base/bits.h"
#include "registers/offsets.h"

namespace dlasim::pdp {
namespace {

constexpr unsigned kFp16 = 2;

/// A partial width of the registers and what its neighbour overlaps; a program without sense gets one column.
std::uint32_t overlapped(std::uint32_t width, std::int32_t overlap)
{
    return static_cast<std::uint32_t>(std::max(1, static_cast<std::int32_t>(width) + overlap));
}

/// D_PARTIAL_WIDTH_*: first [9:0], last [19:10], mid [29:20], minus 1 each.
struct Partial {
    std::uint32_t first, last, mid;
    explicit Partial(std::uint32_t value) : first(bits(value, 0, 10) + 1), last(bits(value, 10, 10) + 1), mid(bits(value, 20, 10) + 1) {}
};

Passes input_passes(std::uint32_t count, std::uint32_t width, const Partial& partial, std::int32_t overlap)
{
    if (count == 1) return {1, width, width, width};
    return {count, partial.first, overlapped(partial.mid, overlap), overlapped(partial.last, overlap)};
}

std::uint32_t surfaces_of(std::uint32_t channels, std::uint32_t element_bytes, std::uint32_t atom_bytes)
{
    return ceil_div(channels * element_bytes, atom_bytes);
}

std::uint64_t address(const RegisterFile& registers, std::uint32_t high, std::uint32_t low)
{
    return std::uint64_t{registers.get(high)} << 32 | registers.get(low);
}

}  // namespace

ReadLayer ReadLayer::decode(const facts::pdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::pdp_rdma;
    const auto get = [&](std::uint32_t offset) { return registers.get(offset); };
    const std::uint32_t kernel = get(D_POOLING_KERNEL_CFG);
    const auto overlap = static_cast<std::int32_t>(bits(kernel, 0, 3)) - static_cast<std::int32_t>(bits(kernel, 4, 4));
    const Partial partial(get(D_PARTIAL_WIDTH_IN));
    const std::uint32_t element_bytes = silicon.formats && bits(get(D_DATA_FORMAT), 0, 2) != 0 ? 2 : 1;
    ReadLayer layer;
    layer.passes = input_passes(bits(get(D_OPERATION_MODE_CFG), 0, 8) + 1, bits(get(D_DATA_CUBE_IN_WIDTH), 0, 13) + 1, partial, overlap);
    layer.second_start = std::int64_t{partial.first} - overlap;
    layer.step = partial.mid;
    layer.height = bits(get(D_DATA_CUBE_IN_HEIGHT), 0, 13) + 1;
    layer.surfaces = surfaces_of(bits(get(D_DATA_CUBE_IN_CHANNEL), 0, 13) + 1, element_bytes, silicon.atom_bytes);
    layer.base = address(registers, D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW);
    layer.line_stride = get(D_SRC_LINE_STRIDE);
    layer.surface_stride = get(D_SRC_SURFACE_STRIDE);
    layer.from_primary = bits(get(D_SRC_RAM_CFG), 0, 1);
    return layer;
}

Layer Layer::decode(const facts::pdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::pdp;
    const auto get = [&](std::uint32_t offset) { return registers.get(offset); };
    const std::uint32_t mode = get(D_OPERATION_MODE_CFG), kernel = get(D_POOLING_KERNEL_CFG), padding = get(D_POOLING_PADDING_CFG);
    const std::uint32_t format = silicon.formats ? bits(get(D_DATA_FORMAT), 0, 2) : 0;
    Layer layer;
    layer.stride_x = bits(kernel, 16, 4) + 1;
    layer.stride_y = bits(kernel, 20, 4) + 1;
    layer.pad_left = bits(padding, 0, 3);
    layer.pad_top = bits(padding, 4, 3);
    layer.pad_right = bits(padding, 8, 3);
    layer.pad_bottom = bits(padding, 12, 3);
    layer.flying = bits(mode, 4, 1) == 0;
    layer.to_primary = bits(get(D_DST_RAM_CFG), 0, 1);
    layer.base = address(registers, D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW);
    layer.line_stride = get(D_DST_LINE_STRIDE);
    layer.surface_stride = get(D_DST_SURFACE_STRIDE);

    numerics::PoolConfig& pool = layer.pool;
    pool.precision = format == 0 ? Precision::Int8 : format == kFp16 ? Precision::Fp16 : Precision::Int16;
    pool.method = static_cast<numerics::PoolMethod>(std::min(bits(mode, 0, 2), 2u));
    pool.kernel_width = bits(kernel, 0, 3) + 1;
    pool.kernel_height = bits(kernel, 8, 3) + 1;
    pool.padded_bits = silicon.padded_bits;
    pool.nan_to_zero = !layer.flying && pool.precision == Precision::Fp16 && bits(get(D_NAN_FLUSH_TO_ZERO), 0, 1);
    for (std::uint32_t n = 1; n < pool.pad.size(); ++n) pool.pad[n] = get(D_POOLING_PADDING_VALUE_1_CFG + 4 * (n - 1));
    pool.recip_width = get(D_RECIP_KERNEL_WIDTH);
    pool.recip_height = get(D_RECIP_KERNEL_HEIGHT);
    layer.fp16_average = pool.precision == Precision::Fp16 && pool.method == numerics::PoolMethod::Average;

    const std::uint32_t passes = bits(mode, 8, 8) + 1;
    const std::int32_t overlap = static_cast<std::int32_t>(pool.kernel_width) - static_cast<std::int32_t>(layer.stride_x);
    layer.width = bits(get(D_DATA_CUBE_IN_WIDTH), 0, 13) + 1;
    layer.in = input_passes(passes, layer.width, Partial(get(D_PARTIAL_WIDTH_IN)), overlap);
    const Partial out(get(D_PARTIAL_WIDTH_OUT));
    const std::uint32_t out_width = bits(get(D_DATA_CUBE_OUT_WIDTH), 0, 13) + 1;
    layer.out = passes == 1 ? Passes{1, out_width, out_width, out_width} : Passes{passes, out.first, out.mid, out.last};
    layer.height = bits(get(D_DATA_CUBE_IN_HEIGHT), 0, 13) + 1;
    layer.out_height = bits(get(D_DATA_CUBE_OUT_HEIGHT), 0, 13) + 1;
    const auto element_bytes = static_cast<std::uint32_t>(pool.element_bytes());
    layer.surfaces = surfaces_of(bits(get(D_DATA_CUBE_IN_CHANNEL), 0, 13) + 1, element_bytes, silicon.atom_bytes);
    layer.out_surfaces = surfaces_of(bits(get(D_DATA_CUBE_OUT_CHANNEL), 0, 13) + 1, element_bytes, silicon.atom_bytes);
    return layer;
}

}  // namespace dlasim::pdp
