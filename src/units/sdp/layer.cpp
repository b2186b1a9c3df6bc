#include "units/sdp/layer.h"

#include "base/bits.h"
#include "registers/offsets.h"

namespace dlasim::sdp {
namespace {

constexpr std::uint32_t kAlgorithmEql = 3;

EngineLayer decode_engine(const RegisterFile& registers, std::uint32_t cfg, std::uint32_t alu, std::uint32_t mul)
{
    EngineLayer engine;
    const std::uint32_t value = registers.get(cfg);
    engine.on = !bits(value, 0, 1);
    engine.alu = engine.on && !bits(value, 1, 1);
    engine.mul = engine.on && !bits(value, 4, 1);
    engine.alu_stream = engine.alu && bits(registers.get(alu), 0, 1);
    engine.mul_stream = engine.mul && bits(registers.get(mul), 0, 1);
    return engine;
}

}  // namespace

Layer Layer::decode(const facts::sdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::sdp;
    Layer layer;
    const std::uint32_t format = registers.get(D_DATA_FORMAT), mode = registers.get(D_FEATURE_MODE_CFG);
    layer.atom = silicon.atom_bytes;
    layer.processing = sdp::precision(bits(format, 0, 2));
    layer.output = sdp::precision(bits(format, 2, 2));
    layer.width = bits(registers.get(D_DATA_CUBE_WIDTH), 0, 13) + 1;
    layer.height = bits(registers.get(D_DATA_CUBE_HEIGHT), 0, 13) + 1;
    const std::uint32_t channels = bits(registers.get(D_DATA_CUBE_CHANNEL), 0, 13) + 1;
    layer.surfaces = ceil_div(channels, layer.processing == Precision::Int8 ? layer.atom : layer.atom / 2);
    layer.flying = bits(mode, 0, 1);
    layer.to_pdp = bits(mode, 1, 1);
    layer.winograd = silicon.winograd && bits(mode, 2, 1);
    layer.batch = silicon.batch ? bits(mode, 8, 5) + 1 : 1;
    layer.wide = silicon.words && layer.output != Precision::Int8;
    layer.widening = layer.wide && layer.processing == Precision::Int8;
    layer.single = layer.width == 1 && layer.height == 1 && layer.batch == 1 && !layer.winograd;
    layer.beat_bytes = silicon.result_lanes * (layer.wide ? 2 : 1);
    layer.beats_per_atom = layer.atom / layer.beat_bytes;
    layer.to_primary = bits(registers.get(D_DST_DMA_CFG), 0, 1);
    // Addresses are atoms: their low bits do not exist.
    const auto aligned = [&](std::uint32_t offset) -> std::uint64_t { return registers.get(offset) / layer.atom * layer.atom; };
    layer.address_mask = silicon.address_mask;
    layer.base = (aligned(D_DST_BASE_ADDR_LOW) | std::uint64_t{registers.get(D_DST_BASE_ADDR_HIGH)} << 32) & silicon.address_mask;
    layer.line_stride = aligned(D_DST_LINE_STRIDE);
    layer.surface_stride = aligned(D_DST_SURFACE_STRIDE);
    layer.batch_stride = aligned(D_DST_BATCH_STRIDE);

    const std::uint32_t ew = registers.get(D_DP_EW_CFG);
    layer.compare = !bits(ew, 0, 1) && !bits(ew, 1, 1) && bits(ew, 2, 2) == kAlgorithmEql;
    layer.bs = decode_engine(registers, D_DP_BS_CFG, D_DP_BS_ALU_CFG, D_DP_BS_MUL_CFG);
    layer.bn = decode_engine(registers, D_DP_BN_CFG, D_DP_BN_ALU_CFG, D_DP_BN_MUL_CFG);
    if (silicon.ew) {
        layer.ew = decode_engine(registers, D_DP_EW_CFG, D_DP_EW_ALU_CFG, D_DP_EW_MUL_CFG);
        layer.ew.alu_convert = !bits(registers.get(D_DP_EW_ALU_CFG), 1, 1);
        layer.ew.mul_convert = !bits(registers.get(D_DP_EW_MUL_CFG), 1, 1);
        layer.ew.lut = layer.ew.on && silicon.lut && !bits(ew, 6, 1);
    }
    return layer;
}

}  // namespace dlasim::sdp
