// PDP, CDP and BDMA from their registers: loadable.md 6.3 to 6.5.
#include "loadable/register_layout.h"
#include "loadable/write/recovered_units.h"

namespace dlasim::loadable {
RecoveredOperation recover_pdp(const RegisterGroup& pdp, const RegisterGroup& rdma, const Hardware& hw)
{
    using namespace reg::pdp;
    RecoveredOperation o;
    o.operation.kind = Kind::Pdp;
    o.places.resize(2);
    PdpOperation& op = o.operation.pdp;
    Cube &in = op.source, &out = op.destination;
    const bool from_memory = pdp.get(D_OPERATION_MODE_CFG::FLYING_MODE) != 0;
    RegisterReader registers(pdp);
    RegisterLayout::pdp(registers, op, from_memory, {});
    in.memory = CubeMemory::Unit;
    in.line_stride = in.width * hw.memory.atom_bytes;
    in.surface_stride = in.height * in.line_stride;
    if (from_memory) {
        in.memory = port(rdma.get(reg::pdp_rdma::D_SRC_RAM_CFG::SRC_RAM_TYPE));
        in.line_stride = rdma.get(reg::pdp_rdma::D_SRC_LINE_STRIDE);
        in.surface_stride = rdma.get(reg::pdp_rdma::D_SRC_SURFACE_STRIDE);
        o.places[0] = place_behind(in, rdma.wide(reg::pdp_rdma::D_SRC_BASE_ADDR_HIGH, reg::pdp_rdma::D_SRC_BASE_ADDR_LOW));
    }
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
    RegisterReader read(rdma), registers(cdp);
    RegisterLayout::cdp_rdma(read, op, {});
    out = in;
    RegisterLayout::cdp(registers, op, {});
    o.places[0] = place_behind(in, rdma.wide(reg::cdp_rdma::D_SRC_BASE_ADDR_HIGH, reg::cdp_rdma::D_SRC_BASE_ADDR_LOW));
    o.places[1] = place_behind(out, cdp.wide(reg::cdp::D_DST_BASE_ADDR_HIGH, reg::cdp::D_DST_BASE_ADDR_LOW));
    op.window = byte_of(2 * cdp.get(reg::cdp::D_LRN_CFG::NORMALZ_LEN) + 3);
    op.input_converter.enable = op.output_converter.enable = 1;
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
    RegisterReader registers(bdma);
    RegisterLayout::transfer(registers, op, t, {}, {});
    t.line_bytes = plus_one(bdma.get(CFG_LINE::SIZE)) * kBdmaUnit;
    op.transfers.push_back(t);
    o.places.push_back(Place{op.from_primary, Address{bdma.wide(CFG_SRC_ADDR_HIGH, CFG_SRC_ADDR_LOW)}});
    o.places.push_back(Place{op.to_primary, Address{bdma.wide(CFG_DST_ADDR_HIGH, CFG_DST_ADDR_LOW)}});
}

}  // namespace dlasim::loadable
