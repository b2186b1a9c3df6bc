#include "units/pdp/layer.h"

#include <algorithm>

#include "base/bits.h"
#include "registers/fields/pdp.h"

namespace dlasim::pdp {
namespace {

constexpr unsigned kFp16 = 2;
constexpr std::uint32_t kKernels = 8;  // most columns and lines of a window; the register has a bit more

/// A partial width of the registers and what its neighbour overlaps; a program without sense gets one column.
std::uint32_t overlapped(std::uint32_t width, std::int32_t overlap)
{
    return static_cast<std::uint32_t>(std::max(1, static_cast<std::int32_t>(width) + overlap));
}

/// D_PARTIAL_WIDTH_IN and _OUT, laid out alike: minus 1 each.
struct Partial {
    std::uint32_t first, last, mid;
    explicit Partial(std::uint32_t value)
        : first(Fields::PARTIAL_WIDTH_IN_FIRST.get(value) + 1),
          last(Fields::PARTIAL_WIDTH_IN_LAST.get(value) + 1),
          mid(Fields::PARTIAL_WIDTH_IN_MID.get(value) + 1)
    {
    }

private:
    using Fields = decltype(reg::pdp::D_PARTIAL_WIDTH_IN);
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

}  // namespace

ReadLayer ReadLayer::decode(const facts::pdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::pdp_rdma;
    const auto get = [&](auto what) { return registers.get(what); };
    const auto overlap = static_cast<std::int32_t>(get(D_POOLING_KERNEL_CFG::KERNEL_WIDTH) % kKernels) -
                         static_cast<std::int32_t>(get(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH));
    const Partial partial(get(D_PARTIAL_WIDTH_IN));
    const std::uint32_t element_bytes = silicon.formats && get(D_DATA_FORMAT) != 0 ? 2 : 1;
    ReadLayer layer;
    layer.passes = input_passes(get(D_OPERATION_MODE_CFG) + 1, get(D_DATA_CUBE_IN_WIDTH) + 1, partial, overlap);
    layer.second_start = std::int64_t{partial.first} - overlap;
    layer.step = partial.mid;
    layer.height = get(D_DATA_CUBE_IN_HEIGHT) + 1;
    layer.surfaces = surfaces_of(get(D_DATA_CUBE_IN_CHANNEL) + 1, element_bytes, silicon.atom_bytes);
    layer.base = registers.pair(D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW);
    layer.line_stride = get(D_SRC_LINE_STRIDE);
    layer.surface_stride = get(D_SRC_SURFACE_STRIDE);
    layer.from_primary = get(D_SRC_RAM_CFG);
    return layer;
}

LayerConfig LayerConfig::decode(const facts::pdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::pdp;
    const auto get = [&](auto what) { return registers.get(what); };
    const std::uint32_t format = silicon.formats ? get(D_DATA_FORMAT) : 0;
    LayerConfig layer;
    layer.stride_x = get(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH) + 1;
    layer.stride_y = get(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_HEIGHT) + 1;
    layer.pad_left = get(D_POOLING_PADDING_CFG::PAD_LEFT);
    layer.pad_top = get(D_POOLING_PADDING_CFG::PAD_TOP);
    layer.pad_right = get(D_POOLING_PADDING_CFG::PAD_RIGHT);
    layer.pad_bottom = get(D_POOLING_PADDING_CFG::PAD_BOTTOM);
    layer.flying = get(D_OPERATION_MODE_CFG::FLYING_MODE) == 0;
    layer.to_primary = get(D_DST_RAM_CFG);
    layer.base = registers.pair(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW);
    layer.line_stride = get(D_DST_LINE_STRIDE);
    layer.surface_stride = get(D_DST_SURFACE_STRIDE);

    numerics::PoolConfig& pool = layer.pool;
    pool.precision = format == 0 ? Precision::Int8 : format == kFp16 ? Precision::Fp16 : Precision::Int16;
    pool.method = static_cast<numerics::PoolMethod>(std::min(get(D_OPERATION_MODE_CFG::POOLING_METHOD), 2u));
    pool.kernel_width = get(D_POOLING_KERNEL_CFG::KERNEL_WIDTH) % kKernels + 1;
    pool.kernel_height = get(D_POOLING_KERNEL_CFG::KERNEL_HEIGHT) % kKernels + 1;
    pool.padded_bits = silicon.padded_bits;
    pool.nan_to_zero = !layer.flying && pool.precision == Precision::Fp16 && get(D_NAN_FLUSH_TO_ZERO);
    for (std::uint32_t n = 1; n < pool.pad.size(); ++n) pool.pad[n] = get(D_POOLING_PADDING_VALUE_1_CFG + 4 * (n - 1));
    pool.recip_width = get(D_RECIP_KERNEL_WIDTH);
    pool.recip_height = get(D_RECIP_KERNEL_HEIGHT);
    layer.fp16_average = pool.precision == Precision::Fp16 && pool.method == numerics::PoolMethod::Average;

    const std::uint32_t passes = get(D_OPERATION_MODE_CFG::SPLIT_NUM) + 1;
    const std::int32_t overlap = static_cast<std::int32_t>(pool.kernel_width) - static_cast<std::int32_t>(layer.stride_x);
    layer.width = get(D_DATA_CUBE_IN_WIDTH) + 1;
    layer.in = input_passes(passes, layer.width, Partial(get(D_PARTIAL_WIDTH_IN)), overlap);
    const Partial out(get(D_PARTIAL_WIDTH_OUT));
    const std::uint32_t out_width = get(D_DATA_CUBE_OUT_WIDTH) + 1;
    layer.out = passes == 1 ? Passes{1, out_width, out_width, out_width} : Passes{passes, out.first, out.mid, out.last};
    layer.height = get(D_DATA_CUBE_IN_HEIGHT) + 1;
    layer.out_height = get(D_DATA_CUBE_OUT_HEIGHT) + 1;
    const auto element_bytes = static_cast<std::uint32_t>(pool.element_bytes());
    layer.surfaces = surfaces_of(get(D_DATA_CUBE_IN_CHANNEL) + 1, element_bytes, silicon.atom_bytes);
    layer.out_surfaces = surfaces_of(get(D_DATA_CUBE_OUT_CHANNEL) + 1, element_bytes, silicon.atom_bytes);
    return layer;
}

}  // namespace dlasim::pdp
