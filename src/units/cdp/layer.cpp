#include "units/cdp/layer.h"

#include <algorithm>

#include "base/bits.h"
#include "registers/offsets.h"

namespace dlasim::cdp {
namespace {

Precision precision_of(const Hardware& hardware, std::uint32_t format)
{
    if (!facts::cdp::of(hardware).words || format == 0) return Precision::Int8;
    return format == 2 ? Precision::Fp16 : Precision::Int16;
}

numerics::LutSlope slope(std::uint32_t scale, std::uint32_t shift, bool overflow)
{
    const unsigned lsb = overflow ? 16 : 0;
    const auto five = static_cast<std::int8_t>(bits(shift, overflow ? 5 : 0, 5) << 3);
    return {static_cast<std::int16_t>(bits(scale, lsb, 16)), static_cast<std::int8_t>(five >> 3)};
}

numerics::CdpLut read_lut(const RegisterFile& r)
{
    using namespace reg::cdp;
    numerics::CdpLut lut;
    const std::uint32_t cfg = r.get(S_LUT_CFG), info = r.get(S_LUT_INFO);
    lut.le_linear = bits(cfg, 0, 1);
    lut.underflow_lo = bits(cfg, 4, 1);
    lut.overflow_lo = bits(cfg, 5, 1);
    lut.hybrid_lo = bits(cfg, 6, 1);
    lut.le_index_offset = static_cast<std::uint8_t>(bits(info, 0, 8));
    lut.le_select = static_cast<std::uint8_t>(bits(info, 8, 8));
    lut.lo_select = static_cast<std::uint8_t>(bits(info, 16, 8));
    lut.le_start = r.pair(S_LUT_LE_START_HIGH, S_LUT_LE_START_LOW);
    lut.le_end = r.pair(S_LUT_LE_END_HIGH, S_LUT_LE_END_LOW);
    lut.lo_start = r.pair(S_LUT_LO_START_HIGH, S_LUT_LO_START_LOW);
    lut.lo_end = r.pair(S_LUT_LO_END_HIGH, S_LUT_LO_END_LOW);
    const std::uint32_t le_scale = r.get(S_LUT_LE_SLOPE_SCALE), le_shift = r.get(S_LUT_LE_SLOPE_SHIFT);
    const std::uint32_t lo_scale = r.get(S_LUT_LO_SLOPE_SCALE), lo_shift = r.get(S_LUT_LO_SLOPE_SHIFT);
    lut.le_underflow = slope(le_scale, le_shift, false);
    lut.le_overflow = slope(le_scale, le_shift, true);
    lut.lo_underflow = slope(lo_scale, lo_shift, false);
    lut.lo_overflow = slope(lo_scale, lo_shift, true);
    return lut;
}

}  // namespace

ReadLayer ReadLayer::decode(const Hardware& hardware, const RegisterFile& r)
{
    using namespace reg::cdp_rdma;
    ReadLayer layer;
    Cube& cube = layer.cube;
    cube.width = r.get(D_DATA_CUBE_WIDTH) + 1;
    cube.height = r.get(D_DATA_CUBE_HEIGHT) + 1;
    cube.channels = r.get(D_DATA_CUBE_CHANNEL) + 1;
    const std::uint32_t element = precision_of(hardware, r.get(D_DATA_FORMAT)) == Precision::Int8 ? 1 : 2;
    cube.surfaces = ceil_div(cube.channels * element, hardware.memory.atom_bytes);
    layer.source = {r.pair(D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW), r.get(D_SRC_LINE_STRIDE), r.get(D_SRC_SURFACE_STRIDE),
                    r.field(D_SRC_DMA_CFG, 0, 1) != 0};
    layer.counts_stalls = r.field(D_PERF_ENABLE, 0, 1);
    return layer;
}

Layer Layer::decode(const Hardware& hardware, const RegisterFile& r)
{
    using namespace reg::cdp;
    Layer layer;
    layer.destination = {r.pair(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW), r.get(D_DST_LINE_STRIDE), r.get(D_DST_SURFACE_STRIDE),
                         r.field(D_DST_DMA_CFG, 0, 1) != 0};
    layer.counts_stalls = r.field(D_PERF_ENABLE, 0, 1);
    numerics::CdpConfig& values = layer.values;
    values.silicon = facts::cdp::of(hardware).arithmetic;
    values.precision = precision_of(hardware, r.get(D_DATA_FORMAT));
    values.window = 3 + 2 * r.field(D_LRN_CFG, 0, 2);
    values.sum_bypass = r.field(D_FUNC_BYPASS, 0, 1);
    values.multiply_bypass = r.field(D_FUNC_BYPASS, 1, 1);
    values.nan_to_zero = r.field(D_NAN_FLUSH_TO_ZERO, 0, 1);
    values.in = {r.get(D_DATIN_OFFSET), static_cast<std::int16_t>(r.get(D_DATIN_SCALE)), r.field(D_DATIN_SHIFTER, 0, 5)};
    values.out = {r.get(D_DATOUT_OFFSET), static_cast<std::int16_t>(r.get(D_DATOUT_SCALE)), r.field(D_DATOUT_SHIFTER, 0, 6)};
    values.lut = read_lut(r);
    return layer;
}

PassWalk::PassWalk(const Cube& cube, const Place& place, std::uint32_t atom_bytes, std::uint64_t address_mask)
    : cube_(cube), place_(place), atom_(atom_bytes), mask_(address_mask), more_(true)
{
    line_ = block_ = surface_address_ = place.base;
}

Pass PassWalk::next()
{
    Pass pass;
    const std::uint32_t left = cube_.width - x_;
    pass.address = surface_address_ & mask_;
    pass.surface = surface_;
    pass.pixels = static_cast<std::uint8_t>(std::min(facts::cdp::kBlock, left));
    pass.last_surface = surface_ + 1 == cube_.surfaces;
    pass.last_block = left <= facts::cdp::kBlock;
    pass.last_line = y_ + 1 == cube_.height;
    more_ = !pass.last();

    surface_address_ += place_.surface_stride;
    if (!pass.last_surface) {
        ++surface_;
        return pass;
    }
    surface_ = 0;
    x_ += pass.pixels;
    block_ += std::uint64_t{pass.pixels} * atom_;
    if (pass.last_block) {
        x_ = 0;
        ++y_;
        line_ += place_.line_stride;
        block_ = line_;
    }
    surface_address_ = block_;
    return pass;
}

void BeatWalk::start(const Cube& cube, std::uint32_t chunks)
{
    passes_ = PassWalk(cube, {}, 0, 0);
    chunks_ = chunks;
    fresh_ = true;
}

void BeatWalk::open(const Pass& pass)
{
    beat_ = {0, pass.pixels, 0, pass.last_surface, pass.last_block, pass.last_line};
    fresh_ = false;
}

void BeatWalk::step()
{
    if (fresh_) return open(passes_.next());
    if (!beat_.last_pixel()) {
        ++beat_.pixel;
        return;
    }
    beat_.pixel = 0;
    if (beat_.chunk + 1u < chunks_) ++beat_.chunk;
    else if (passes_.more()) open(passes_.next());
}

}  // namespace dlasim::cdp
