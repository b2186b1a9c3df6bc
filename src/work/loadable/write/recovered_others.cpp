// PDP, CDP and BDMA from their registers: loadable.md 6.3 to 6.5.
#include "base/bits.h"
#include "loadable/write/recovered_units.h"
#include "registers/fields/bdma.h"
#include "registers/fields/cdp.h"
#include "registers/fields/pdp.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kBdmaGrain = 32;  // bytes that BDMA counts lines in

}  // namespace

RecoveredOperation recover_pdp(const RegisterGroup& pdp, const RegisterGroup& rdma, const Hardware& hw)
{
    using namespace reg::pdp;
    RecoveredOperation o;
    o.operation.kind = Kind::Pdp;
    o.places.resize(2);
    PdpOperation& op = o.operation.pdp;
    Cube &in = op.source, &out = op.destination;
    const bool from_memory = pdp.get(D_OPERATION_MODE_CFG::FLYING_MODE) != 0;
    op.precision = byte_of(pdp.get(D_DATA_FORMAT::INPUT_DATA));
    in.width = plus_one(pdp.get(D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH));
    in.height = plus_one(pdp.get(D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT));
    in.channels = plus_one(pdp.get(D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL));
    out.width = plus_one(pdp.get(D_DATA_CUBE_OUT_WIDTH::CUBE_OUT_WIDTH));
    out.height = plus_one(pdp.get(D_DATA_CUBE_OUT_HEIGHT::CUBE_OUT_HEIGHT));
    out.channels = plus_one(pdp.get(D_DATA_CUBE_OUT_CHANNEL::CUBE_OUT_CHANNEL));
    op.splits = byte_of(plus_one(pdp.get(D_OPERATION_MODE_CFG::SPLIT_NUM)));
    op.method = byte_of(pdp.get(D_OPERATION_MODE_CFG::POOLING_METHOD));
    if (op.splits > 1) {
        using In = struct reg::pdp::D_PARTIAL_WIDTH_IN;
        using Out = struct reg::pdp::D_PARTIAL_WIDTH_OUT;
        const auto width = [&](reg::Field field) { return static_cast<std::uint16_t>(plus_one(pdp.get(field))); };
        op.partial_in = {width(In::PARTIAL_WIDTH_IN_FIRST), width(In::PARTIAL_WIDTH_IN_MID), width(In::PARTIAL_WIDTH_IN_LAST)};
        op.partial_out = {width(Out::PARTIAL_WIDTH_OUT_FIRST), width(Out::PARTIAL_WIDTH_OUT_MID), width(Out::PARTIAL_WIDTH_OUT_LAST)};
    }
    op.kernel_width = byte_of(pdp.get(D_POOLING_KERNEL_CFG::KERNEL_WIDTH));
    op.kernel_height = byte_of(pdp.get(D_POOLING_KERNEL_CFG::KERNEL_HEIGHT));
    op.stride_x = byte_of(plus_one(pdp.get(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH)));
    op.stride_y = byte_of(plus_one(pdp.get(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_HEIGHT)));
    op.pad_left = byte_of(pdp.get(D_POOLING_PADDING_CFG::PAD_LEFT));
    op.pad_right = byte_of(pdp.get(D_POOLING_PADDING_CFG::PAD_RIGHT));
    op.pad_top = byte_of(pdp.get(D_POOLING_PADDING_CFG::PAD_TOP));
    op.pad_bottom = byte_of(pdp.get(D_POOLING_PADDING_CFG::PAD_BOTTOM));
    constexpr std::uint32_t kNext = D_POOLING_PADDING_VALUE_2_CFG - D_POOLING_PADDING_VALUE_1_CFG;
    for (std::uint32_t i = 0; i < op.pad_values.size(); ++i)
        op.pad_values[i] = pdp.get_signed(D_POOLING_PADDING_VALUE_1_CFG::PAD_VALUE_1X + i * kNext);
    in.memory = CubeMemory::Unit;
    in.line_stride = in.width * hw.memory.atom_bytes;
    in.surface_stride = in.height * in.line_stride;
    if (from_memory) {
        in.memory = port(rdma.get(reg::pdp_rdma::D_SRC_RAM_CFG::SRC_RAM_TYPE));
        in.line_stride = rdma.get(reg::pdp_rdma::D_SRC_LINE_STRIDE);
        in.surface_stride = rdma.get(reg::pdp_rdma::D_SRC_SURFACE_STRIDE);
        o.places[0] = place_behind(in, rdma.wide(reg::pdp_rdma::D_SRC_BASE_ADDR_HIGH, reg::pdp_rdma::D_SRC_BASE_ADDR_LOW));
    }
    out.memory = port(pdp.get(D_DST_RAM_CFG::DST_RAM_TYPE));
    out.line_stride = pdp.get(D_DST_LINE_STRIDE);
    out.surface_stride = pdp.get(D_DST_SURFACE_STRIDE);
    o.places[1] = place_behind(out, pdp.wide(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW));
    in.size = feature_extent(in, op.precision, hw);
    out.size = feature_extent(out, op.precision, hw);
    keep(pdp, o.registers);
    if (from_memory) keep(rdma, o.registers);
    return o;
}

RecoveredOperation recover_cdp(const RegisterGroup& cdp, const RegisterGroup& rdma, const Hardware& hw)
{
    RecoveredOperation o;
    o.operation.kind = Kind::Cdp;
    o.places.resize(2);
    CdpOperation& op = o.operation.cdp;
    Cube &in = op.source, &out = op.destination;
    {
        using namespace reg::cdp_rdma;
        in.width = plus_one(rdma.get(D_DATA_CUBE_WIDTH::WIDTH));
        in.height = plus_one(rdma.get(D_DATA_CUBE_HEIGHT::HEIGHT));
        in.channels = plus_one(rdma.get(D_DATA_CUBE_CHANNEL::CHANNEL));
        in.memory = port(rdma.get(D_SRC_DMA_CFG::SRC_RAM_TYPE));
        in.line_stride = rdma.get(D_SRC_LINE_STRIDE);
        in.surface_stride = rdma.get(D_SRC_SURFACE_STRIDE);
        o.places[0] = place_behind(in, rdma.wide(D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW));
        op.input_precision = byte_of(rdma.get(D_DATA_FORMAT::INPUT_DATA));
    }
    using namespace reg::cdp;
    out = in;
    out.memory = port(cdp.get(D_DST_DMA_CFG::DST_RAM_TYPE));
    out.line_stride = cdp.get(D_DST_LINE_STRIDE);
    out.surface_stride = cdp.get(D_DST_SURFACE_STRIDE);
    o.places[1] = place_behind(out, cdp.wide(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW));
    op.precision = byte_of(cdp.get(D_DATA_FORMAT::INPUT_DATA_TYPE));
    op.window = byte_of(2 * cdp.get(D_LRN_CFG::NORMALZ_LEN) + 3);
    op.input_converter = {.scale = static_cast<std::int16_t>(cdp.get(D_DATIN_SCALE::DATIN_SCALE)),
                          .truncate = byte_of(cdp.get(D_DATIN_SHIFTER::DATIN_SHIFTER)),
                          .enable = 1,
                          .offset = cdp.get_signed(D_DATIN_OFFSET::DATIN_OFFSET)};
    op.output_converter = {.scale = static_cast<std::int16_t>(cdp.get(D_DATOUT_SCALE::DATOUT_SCALE)),
                           .truncate = byte_of(cdp.get(D_DATOUT_SHIFTER::DATOUT_SHIFTER)),
                           .enable = 1,
                           .offset = static_cast<std::int32_t>(cdp.get(D_DATOUT_OFFSET))};
    op.bypass_square_sum = byte_of(cdp.get(D_FUNC_BYPASS::SQSUM_BYPASS));
    op.bypass_multiplier = byte_of(cdp.get(D_FUNC_BYPASS::MUL_BYPASS));
    in.size = feature_extent(in, op.precision, hw);
    out.size = feature_extent(out, op.precision, hw);
    keep(cdp, o.registers);
    keep(rdma, o.registers);
    return o;
}

void recover_transfer(const RegisterGroup& bdma, RecoveredOperation& o)
{
    using namespace reg::bdma;
    BdmaOperation& op = o.operation.bdma;
    Transfer t;
    op.from_primary = bdma.get(CFG_CMD::SRC_RAM_TYPE) != 0;
    op.to_primary = bdma.get(CFG_CMD::DST_RAM_TYPE) != 0;
    t.line_bytes = plus_one(bdma.get(CFG_LINE::SIZE)) * kBdmaGrain;
    t.lines = plus_one(bdma.get(CFG_LINE_REPEAT::NUMBER));
    t.source_line = bdma.get(CFG_SRC_LINE);
    t.destination_line = bdma.get(CFG_DST_LINE);
    t.surfaces = plus_one(bdma.get(CFG_SURF_REPEAT::NUMBER));
    t.source_surface = bdma.get(CFG_SRC_SURF);
    t.destination_surface = bdma.get(CFG_DST_SURF);
    op.transfers.push_back(t);
    o.places.push_back(Place{op.from_primary, Address{bdma.wide(CFG_SRC_ADDR_HIGH, CFG_SRC_ADDR_LOW)}});
    o.places.push_back(Place{op.to_primary, Address{bdma.wide(CFG_DST_ADDR_HIGH, CFG_DST_ADDR_LOW)}});
}

}  // namespace dlasim::loadable
