#include "units/sdp/read_layer.h"

#include <algorithm>

#include "base/bits.h"
#include "facts/sdp.h"
#include "registers/offsets.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {
namespace {

struct Offsets {
    std::uint32_t cfg, base, base_high, line, surface;
};
constexpr Offsets kOffsets[kReadEngines] = {
    {reg::sdp_rdma::D_SRC_DMA_CFG, reg::sdp_rdma::D_SRC_BASE_ADDR_LOW, reg::sdp_rdma::D_SRC_BASE_ADDR_HIGH,
     reg::sdp_rdma::D_SRC_LINE_STRIDE, reg::sdp_rdma::D_SRC_SURFACE_STRIDE},
    {reg::sdp_rdma::D_BRDMA_CFG, reg::sdp_rdma::D_BS_BASE_ADDR_LOW, reg::sdp_rdma::D_BS_BASE_ADDR_HIGH, reg::sdp_rdma::D_BS_LINE_STRIDE,
     reg::sdp_rdma::D_BS_SURFACE_STRIDE},
    {reg::sdp_rdma::D_NRDMA_CFG, reg::sdp_rdma::D_BN_BASE_ADDR_LOW, reg::sdp_rdma::D_BN_BASE_ADDR_HIGH, reg::sdp_rdma::D_BN_LINE_STRIDE,
     reg::sdp_rdma::D_BN_SURFACE_STRIDE},
    {reg::sdp_rdma::D_ERDMA_CFG, reg::sdp_rdma::D_EW_BASE_ADDR_LOW, reg::sdp_rdma::D_EW_BASE_ADDR_HIGH, reg::sdp_rdma::D_EW_LINE_STRIDE,
     reg::sdp_rdma::D_EW_SURFACE_STRIDE},
};

}  // namespace

ReadLayer ReadLayer::decode(const facts::sdp::Facts& silicon, const RegisterFile& registers, ReadEngine engine)
{
    using namespace reg::sdp_rdma;
    const Offsets& at = kOffsets[static_cast<unsigned>(engine)];
    const std::uint32_t mode = registers.get(D_FEATURE_MODE_CFG), cfg = registers.get(at.cfg);
    ReadLayer layer;
    layer.atom = silicon.atom_bytes;
    layer.width = bits(registers.get(D_DATA_CUBE_WIDTH), 0, 13) + 1;
    layer.height = bits(registers.get(D_DATA_CUBE_HEIGHT), 0, 13) + 1;
    layer.winograd = silicon.winograd && bits(mode, 1, 1);
    layer.input = sdp::precision(bits(mode, 2, 2));
    layer.input_bytes = silicon.words && layer.input != Precision::Int8 ? 2 : 1;
    layer.processing = sdp::precision(bits(mode, 4, 2));
    layer.batch = silicon.batch ? bits(mode, 8, 5) + 1 : 1;
    const auto aligned = [&](std::uint32_t offset) -> std::uint64_t { return registers.get(offset) / layer.atom * layer.atom; };
    layer.address_mask = silicon.address_mask;
    layer.base = (aligned(at.base) | std::uint64_t{registers.get(at.base_high)} << 32) & silicon.address_mask;
    layer.line_stride = aligned(at.line);
    layer.surface_stride = aligned(at.surface);
    const std::uint32_t channels = bits(registers.get(D_DATA_CUBE_CHANNEL), 0, 13) + 1;
    if (engine == ReadEngine::Mrdma) {
        layer.features = true;
        layer.on = !bits(mode, 0, 1);
        layer.to_primary = bits(cfg, 0, 1);
        layer.narrowing = silicon.words && layer.input == Precision::Int16 && layer.int8();
        const bool bytes = layer.input == Precision::Int8 || layer.narrowing;
        layer.surfaces = ceil_div(channels, bytes ? layer.atom : layer.atom / 2);
        return layer;
    }
    layer.on = !bits(cfg, 0, 1) && (engine != ReadEngine::Erdma || silicon.ew);
    layer.use = static_cast<OperandUse>(std::min(bits(cfg, 1, 2), 2u));
    layer.operand_bytes = bits(cfg, 3, 1) + 1;
    layer.per_element = bits(cfg, 4, 1);
    layer.to_primary = bits(cfg, 5, 1);
    layer.surfaces = ceil_div(channels, layer.int8() ? layer.atom : layer.atom / 2);
    layer.atoms_per_atom = (layer.use == OperandUse::Both ? 2 : 1) * (layer.int8() ? layer.operand_bytes : 1);
    return layer;
}

std::uint64_t ReadLayer::total_atoms() const
{
    const std::uint64_t halves = narrowing ? 2 : 1;
    // Operands per kernel: one a surface. Features: every batch reads the same lines again.
    return halves * atoms_per_atom * surfaces * (features ? pixels() : per_element ? std::uint64_t{width} * height : 1);
}

}  // namespace dlasim::sdp
