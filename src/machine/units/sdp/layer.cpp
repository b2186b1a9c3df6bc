#include "units/sdp/layer.h"

#include "base/bits.h"
#include "registers/sdp_engines.h"

namespace dlasim::sdp {
namespace {

EngineLayer decode_engine(const RegisterFile& registers, const reg::sdp::Engine& at)
{
    EngineLayer engine;
    engine.on = !registers.get(at.bypass);
    engine.alu = engine.on && !registers.get(at.alu_bypass);
    engine.mul = engine.on && !registers.get(at.mul_bypass);
    engine.alu_stream = engine.alu && registers.get(at.alu_src);
    engine.mul_stream = engine.mul && registers.get(at.mul_src);
    return engine;
}

}  // namespace

LayerConfig LayerConfig::decode(const facts::sdp::Facts& silicon, const RegisterFile& registers)
{
    using namespace reg::sdp;
    LayerConfig layer;
    layer.atom = silicon.atom_bytes;
    layer.processing = sdp::precision(registers.get(D_DATA_FORMAT::PROC_PRECISION));
    layer.output = sdp::precision(registers.get(D_DATA_FORMAT::OUT_PRECISION));
    layer.width = registers.get(D_DATA_CUBE_WIDTH) + 1;
    layer.height = registers.get(D_DATA_CUBE_HEIGHT) + 1;
    const std::uint32_t channels = registers.get(D_DATA_CUBE_CHANNEL) + 1;
    layer.surfaces = ceil_div(channels, layer.processing == Precision::Int8 ? layer.atom : layer.atom / 2);
    layer.flying = registers.get(D_FEATURE_MODE_CFG::FLYING_MODE);
    layer.to_pdp = registers.get(D_FEATURE_MODE_CFG::OUTPUT_DST);
    layer.winograd = silicon.winograd && registers.get(D_FEATURE_MODE_CFG::WINOGRAD);
    layer.batch = silicon.batch ? registers.get(D_FEATURE_MODE_CFG::BATCH_NUMBER) + 1 : 1;
    layer.wide = silicon.words && layer.output != Precision::Int8;
    layer.widening = layer.wide && layer.processing == Precision::Int8;
    layer.single = layer.width == 1 && layer.height == 1 && layer.batch == 1 && !layer.winograd;
    layer.beat_bytes = silicon.result_lanes * (layer.wide ? 2 : 1);
    layer.beats_per_atom = layer.atom / layer.beat_bytes;
    layer.to_primary = registers.get(D_DST_DMA_CFG);
    // Addresses are atoms: their low bits do not exist.
    const auto aligned = [&](std::uint32_t offset) -> std::uint64_t { return registers.get(offset) / layer.atom * layer.atom; };
    layer.address_mask = silicon.address_mask;
    layer.base = (aligned(D_DST_BASE_ADDR_LOW) | std::uint64_t{registers.get(D_DST_BASE_ADDR_HIGH)} << 32) & silicon.address_mask;
    layer.line_stride = aligned(D_DST_LINE_STRIDE);
    layer.surface_stride = aligned(D_DST_SURFACE_STRIDE);
    layer.batch_stride = aligned(D_DST_BATCH_STRIDE);

    layer.compare = !registers.get(kEw.bypass) && !registers.get(kEw.alu_bypass) && registers.get(kEw.algorithm) == kEqual;
    layer.bs = decode_engine(registers, kBs);
    layer.bn = decode_engine(registers, kBn);
    if (silicon.ew) {
        layer.ew = decode_engine(registers, kEw);
        layer.ew.alu_convert = !registers.get(D_DP_EW_ALU_CFG::EW_ALU_CVT_BYPASS);
        layer.ew.mul_convert = !registers.get(D_DP_EW_MUL_CFG::EW_MUL_CVT_BYPASS);
        layer.ew.lut = layer.ew.on && silicon.lut && !registers.get(kEw.last_bypass);
    }
    return layer;
}

}  // namespace dlasim::sdp
