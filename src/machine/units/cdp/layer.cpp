#include "units/cdp/layer.h"

#include <algorithm>

#include "base/bits.h"
#include "registers/lut_fields.h"

namespace dlasim::cdp {
namespace {

Precision precision_of(const Hardware& hardware, std::uint32_t format)
{
    if (!facts::cdp::of(hardware).words || format == 0) return Precision::Int8;
    return format == 2 ? Precision::Fp16 : Precision::Int16;
}

numerics::CdpLut read_lut(const RegisterFile& r)
{
    using namespace reg::cdp;
    numerics::CdpLut lut;
    lut.le_linear = r.get(S_LUT_CFG::LUT_LE_FUNCTION);
    lut.underflow_lo = r.get(S_LUT_CFG::LUT_UFLOW_PRIORITY);
    lut.overflow_lo = r.get(S_LUT_CFG::LUT_OFLOW_PRIORITY);
    lut.hybrid_lo = r.get(S_LUT_CFG::LUT_HYBRID_PRIORITY);
    lut.le_index_offset = static_cast<std::uint8_t>(r.get(S_LUT_INFO::LUT_LE_INDEX_OFFSET));
    lut.le_select = static_cast<std::uint8_t>(r.get(S_LUT_INFO::LUT_LE_INDEX_SELECT));
    lut.lo_select = static_cast<std::uint8_t>(r.get(S_LUT_INFO::LUT_LO_INDEX_SELECT));
    const auto slope = [&](reg::Field scale, reg::Field shift) {
        return numerics::LutSlope{static_cast<std::int16_t>(r.get(scale)), static_cast<std::int8_t>(r.get_signed(shift))};
    };
    const auto table = [&](const reg::LutTable& at, std::uint64_t& start, std::uint64_t& end, numerics::LutSlope& underflow,
                           numerics::LutSlope& overflow) {
        start = r.pair(at.start_high.offset, at.start);
        end = r.pair(at.end_high.offset, at.end);
        underflow = slope(at.underflow_scale, at.underflow_shift);
        overflow = slope(at.overflow_scale, at.overflow_shift);
    };
    table(kLutTables[0], lut.le_start, lut.le_end, lut.le_underflow, lut.le_overflow);
    table(kLutTables[1], lut.lo_start, lut.lo_end, lut.lo_underflow, lut.lo_overflow);
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
                    r.get(D_SRC_DMA_CFG) != 0};
    layer.counts_stalls = r.get(D_PERF_ENABLE::DMA_EN);
    return layer;
}

LayerConfig LayerConfig::decode(const Hardware& hardware, const RegisterFile& r)
{
    using namespace reg::cdp;
    LayerConfig layer;
    layer.destination = {r.pair(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW), r.get(D_DST_LINE_STRIDE), r.get(D_DST_SURFACE_STRIDE),
                         r.get(D_DST_DMA_CFG) != 0};
    layer.counts_stalls = r.get(D_PERF_ENABLE::DMA_EN);
    numerics::CdpConfig& values = layer.values;
    values.silicon = facts::cdp::of(hardware).arithmetic;
    values.precision = precision_of(hardware, r.get(D_DATA_FORMAT));
    values.window = 3 + 2 * r.get(D_LRN_CFG);
    values.sum_bypass = r.get(D_FUNC_BYPASS::SQSUM_BYPASS);
    values.multiply_bypass = r.get(D_FUNC_BYPASS::MUL_BYPASS);
    values.nan_to_zero = r.get(D_NAN_FLUSH_TO_ZERO);
    values.in = {r.get(D_DATIN_OFFSET), static_cast<std::int16_t>(r.get(D_DATIN_SCALE)), r.get(D_DATIN_SHIFTER)};
    values.out = {r.get(D_DATOUT_OFFSET), static_cast<std::int16_t>(r.get(D_DATOUT_SCALE)), r.get(D_DATOUT_SHIFTER)};
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
