#include "units/sdp/read/read_layer.h"

#include <algorithm>

#include "base/bits.h"
#include "facts/sdp.h"
#include "registers/sdp_engines.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {
ReadLayer ReadLayer::decode(const facts::sdp::Facts& silicon, const RegisterFile& registers, ReadEngine engine)
{
    using namespace reg::sdp_rdma;
    ReadLayer layer;
    layer.atom = silicon.atom_bytes;
    layer.width = registers.get(D_DATA_CUBE_WIDTH) + 1;
    layer.height = registers.get(D_DATA_CUBE_HEIGHT) + 1;
    layer.winograd = silicon.winograd && registers.get(D_FEATURE_MODE_CFG::WINOGRAD);
    layer.input = sdp::precision(registers.get(D_FEATURE_MODE_CFG::IN_PRECISION));
    layer.input_bytes = silicon.words && layer.input != Precision::Int8 ? 2 : 1;
    layer.processing = sdp::precision(registers.get(D_FEATURE_MODE_CFG::PROC_PRECISION));
    layer.batch = silicon.batch ? registers.get(D_FEATURE_MODE_CFG::BATCH_NUMBER) + 1 : 1;
    const auto aligned = [&](std::uint32_t offset) -> std::uint64_t { return registers.get(offset) / layer.atom * layer.atom; };
    layer.address_mask = silicon.address_mask;
    const auto place = [&](std::uint32_t base_low, std::uint32_t base_high, std::uint32_t line, std::uint32_t surface) {
        layer.base = (aligned(base_low) | std::uint64_t{registers.get(base_high)} << 32) & silicon.address_mask;
        layer.line_stride = aligned(line);
        layer.surface_stride = aligned(surface);
    };
    const std::uint32_t channels = registers.get(D_DATA_CUBE_CHANNEL) + 1;
    if (engine == ReadEngine::Mrdma) {
        layer.features = true;
        layer.on = !registers.get(D_FEATURE_MODE_CFG::FLYING_MODE);
        if (!layer.on) return layer;
        place(D_SRC_BASE_ADDR_LOW, D_SRC_BASE_ADDR_HIGH, D_SRC_LINE_STRIDE, D_SRC_SURFACE_STRIDE);
        layer.to_primary = registers.get(D_SRC_DMA_CFG);
        layer.narrowing = silicon.words && layer.input == Precision::Int16 && layer.int8();
        const bool bytes = layer.input == Precision::Int8 || layer.narrowing;
        layer.surfaces = ceil_div(channels, bytes ? layer.atom : layer.atom / 2);
        return layer;
    }
    const reg::sdp_rdma::Operands& at = kOperands[static_cast<unsigned>(engine) - 1];
    layer.on = !registers.get(at.disable) && (engine != ReadEngine::Erdma || silicon.ew);
    if (!layer.on) return layer;
    place(at.base_low, at.base_high, at.line_stride, at.surface_stride);
    layer.use = static_cast<OperandUse>(std::min(registers.get(at.use), 2u));
    layer.operand_bytes = registers.get(at.size) + 1;
    layer.per_element = registers.get(at.per_element);
    layer.to_primary = registers.get(at.primary);
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
