// Convolution and SDP from their registers: loadable.md 6.1, 6.2.
#include "base/bits.h"
#include "config/model/layer.h"
#include "loadable/register_layout.h"
#include "loadable/write/recovered_units.h"
#include "registers/fields/cacc.h"
#include "registers/sdp_engines.h"

namespace dlasim::loadable {
namespace {

template <class T>
void set(T& field, std::uint64_t value)
{
    field = static_cast<T>(value);
}
/// A register that holds one less.
template <class T>
void set_more(T& field, std::uint64_t value)
{
    field = static_cast<T>(value + 1);
}

Cube absent_cube()
{
    Cube cube;
    cube.address = -1;
    return cube;
}

/// A stage of SDP; `place`: of its operands in memory.
SdpStage recover_stage(std::size_t i, const RegisterGroup& sdp, const RegisterGroup& rdma, MixedStage& mixed)
{
    using namespace reg::sdp;
    const Engine& at = kEngines[i];
    const bool y = i == 2;
    SdpStage stage;
    if (sdp.get(at.bypass) != 0) return stage;
    stage.enable = 1;
    const bool alu = sdp.get(at.alu_bypass) == 0, mul = sdp.get(at.mul_bypass) == 0;
    const bool alu_memory = alu && sdp.get(at.alu_src) != 0, mul_memory = mul && sdp.get(at.mul_src) != 0;
    set(stage.alu, sdp.get(at.algorithm));
    set(stage.type, (mul ? 1 : 0) + (alu ? 2 : 0));
    if (sdp.get(at.last_bypass) == 0) stage.activation = y ? 2 : 1;
    else if (sdp.get(at.prelu) != 0) stage.activation = 3;
    mixed = {alu && mul && alu_memory != mul_memory, alu_memory};
    if (alu_memory || mul_memory) {
        const reg::sdp_rdma::Operands& read = reg::sdp_rdma::kOperands[i];
        stage.mode = rdma.get(read.per_element) != 0 ? 2 : 1;
        stage.precision = rdma.get(read.size) != 0 ? 1 : 0;
    }
    if (!y) {
        const XEngine& x = kXEngines[i];
        if (alu) set(stage.shift, sdp.get(x.alu_shift));
        set(stage.truncate, sdp.get(x.mul_shift));
        if (alu && !alu_memory) stage.alu_operand = sdp.get_signed(x.alu_operand);
        if (mul && !mul_memory) stage.multiplier_operand = sdp.get_signed(x.mul_operand);
        return stage;
    }
    set(stage.truncate, sdp.get(D_DP_EW_TRUNCATE_VALUE));
    const auto part = [&](bool on, bool memory, const YOperand& from, Converter& converter, std::int32_t& operand) {
        if (!on) return;
        if (!memory) operand = static_cast<std::int32_t>(sdp.get(from.operand));
        if (sdp.get(from.convert_bypass) != 0) return;
        converter.enable = 1;
        converter.offset = static_cast<std::int32_t>(sdp.get(from.offset));
        set(converter.scale, sdp.get(from.scale));
        set(converter.truncate, sdp.get(from.truncate));
    };
    part(alu, alu_memory, kYOperands[0], stage.alu_converter, stage.alu_operand);
    part(mul, mul_memory, kYOperands[1], stage.multiplier_converter, stage.multiplier_operand);
    return stage;
}

void recover_operands(RecoveredOperation& o, std::size_t i, const RegisterGroup& rdma, const Hardware& hw)
{
    SdpOperation& op = o.operation.sdp;
    Cube& cube = op.operands[i];
    cube = absent_cube();
    const SdpStage& stage = op.stages[i];
    if (!stage.reads()) return;
    const reg::sdp_rdma::Operands& at = reg::sdp_rdma::kOperands[i];
    cube = op.source;
    cube.memory = rdma.get(at.primary) != 0 ? CubeMemory::Primary : CubeMemory::Secondary;
    cube.line_stride = rdma.get(at.line_stride);
    cube.surface_stride = rdma.get(at.surface_stride);
    const std::uint32_t bytes = (stage.precision != 0 ? 2 : 1) * (stage.type == 3 && !o.mixed[i].mixed ? 2 : 1);
    const std::uint32_t per_atom = hw.memory.atom_bytes / (op.source_precision == 0 ? 1 : 2);
    if (stage.mode == 1) {
        cube.size = op.source.channels * bytes;
        cube.width = cube.height = 1;
        if (cube.line_stride == 0) cube.line_stride = bytes * per_atom;
        if (cube.surface_stride == 0) cube.surface_stride = bytes * per_atom;
    } else {
        cube.size = (ceil_div(op.source.channels, per_atom) - 1) * cube.surface_stride + (op.source.height - 1) * cube.line_stride +
                    op.source.width * per_atom * bytes;
    }
    o.places[1 + i] = Place{cube.memory == CubeMemory::Primary, Address{rdma.wide(at.base_high, at.base_low)}};
}

}  // namespace

std::uint32_t feature_extent(const Cube& cube, unsigned precision, const Hardware& hw)
{
    const std::uint32_t atom = hw.memory.atom_bytes, per_atom = atom / (precision == 0 ? 1 : 2);
    return (ceil_div(cube.channels, per_atom) - 1) * cube.surface_stride + (cube.height - 1) * cube.line_stride + cube.width * atom;
}

void keep(const RegisterGroup& from, std::vector<WrittenRegister>& in)
{
    const UnitRegisters& unit = from.unit();
    for (const RegisterRow& row : unit.rows)
        if (unit.grouped(row.offset) && row.offset != unit.group_start && row.write_mask != 0)
            in.push_back({&unit, &row, from.get(row.offset) & row.write_mask});
}

RecoveredOperation recover_conv(const ConvUnits& from, const Hardware& hw)
{
    RecoveredOperation o;
    o.operation.kind = Kind::Conv;
    o.places.resize(5);
    ConvOperation& op = o.operation.conv;
    const RegisterGroup& cdma = from.cdma;
    for (Cube* cube : cubes_of(o.operation)) *cube = absent_cube();
    RegisterReader csc(from.csc), input(cdma);
    RegisterLayout::csc(csc, op);
    {
        using namespace reg::cdma;
        set(op.format, cdma.get(D_DATAIN_FORMAT::DATAIN_FORMAT) != 0 ? cdma.get(D_DATAIN_FORMAT::PIXEL_FORMAT) : 36);
        RegisterLayout::cdma(input, op, {}, {}, hw.memory.atom_bytes);
        Cube& in = op.source;
        if (!op.feature()) in.surface_stride = 0;
        const Address base{cdma.wide(D_DAIN_ADDR_HIGH_0, D_DAIN_ADDR_LOW_0)}, second{cdma.wide(D_DAIN_ADDR_HIGH_1, D_DAIN_ADDR_LOW_1)};
        o.places[3] = Place{in.memory == CubeMemory::Primary, base};
        if (second.byte() != 0) op.second_plane = static_cast<std::int64_t>(second - base);
        const PixelFormat* pixels = op.feature() ? nullptr : find_pixel_format(std::uint32_t{op.format});
        in.size =
            pixels ? (in.height - 1) * in.line_stride + in.width * pixels->plane_pixel_bytes : feature_extent(in, op.input_precision, hw);
        Cube& weights = op.weights;
        weights.width = op.kernel_width;
        weights.height = op.kernel_height;
        weights.channels = op.kernel_channels;
        o.places[0] = Place{weights.memory == CubeMemory::Primary, Address{cdma.wide(D_WEIGHT_ADDR_HIGH, D_WEIGHT_ADDR_LOW)}};
        if (op.weight_format != 0) {
            op.mask.memory = op.groups.memory = weights.memory;
            o.places[1] = Place{true, Address{cdma.wide(D_WMB_ADDR_HIGH, D_WMB_ADDR_LOW)}};
            const std::uint32_t kernels = cdma.get(D_WEIGHT_SIZE_1::WEIGHT_KERNEL) + 1;
            op.groups.size = 4 * ceil_div(kernels, hw.kernel_group(static_cast<Precision>(op.precision)));
            o.places[2] = Place{true, Address{cdma.wide(D_WGS_ADDR_HIGH, D_WGS_ADDR_LOW)}};
        }
    }
    using namespace reg::cacc;
    Cube& out = op.destination;
    out.memory = CubeMemory::Unit;
    set_more(out.width, from.cacc.get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH));
    set_more(out.height, from.cacc.get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT));
    set_more(out.channels, from.cacc.get(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL));
    // The driver refuses other strides of a single place, where they count for nothing.
    const bool single = out.width == 1 && out.height == 1;
    out.line_stride = single ? hw.memory.atom_bytes : from.cacc.get(D_LINE_STRIDE::LINE_STRIDE);
    out.surface_stride = from.cacc.get(D_SURF_STRIDE::SURF_STRIDE);
    op.output_converter = {.scale = 1, .truncate = static_cast<std::uint8_t>(from.cacc.get(D_CLIP_CFG::CLIP_TRUNCATE)), .enable = 1};
    for (const RegisterGroup* unit : {&from.cdma, &from.csc, &from.cmac_a, &from.cmac_b, &from.cacc}) keep(*unit, o.registers);
    return o;
}

RecoveredOperation recover_sdp(const RegisterGroup& sdp, const RegisterGroup& rdma, bool reads, const Hardware& hw)
{
    using namespace reg::sdp;
    RecoveredOperation o;
    o.operation.kind = Kind::Sdp;
    o.places.resize(5);
    SdpOperation& op = o.operation.sdp;
    Cube &in = op.source, &out = op.destination;
    const bool flying = sdp.get(D_FEATURE_MODE_CFG::FLYING_MODE) != 0, to_pdp = sdp.get(D_FEATURE_MODE_CFG::OUTPUT_DST) != 0;
    set_more(in.width, sdp.get(D_DATA_CUBE_WIDTH::WIDTH));
    set_more(in.height, sdp.get(D_DATA_CUBE_HEIGHT::HEIGHT));
    set_more(in.channels, sdp.get(D_DATA_CUBE_CHANNEL::CHANNEL));
    set(op.precision, sdp.get(D_DATA_FORMAT::OUT_PRECISION));
    set(op.source_precision, reads ? rdma.get(reg::sdp_rdma::D_FEATURE_MODE_CFG::IN_PRECISION) : sdp.get(D_DATA_FORMAT::PROC_PRECISION));
    set(op.mode, sdp.get(D_FEATURE_MODE_CFG::WINOGRAD));
    set_more(op.batch, sdp.get(D_FEATURE_MODE_CFG::BATCH_NUMBER));
    if (op.batch > 1) set(op.batch_stride, sdp.get(D_DST_BATCH_STRIDE));
    op.output_converter = {.scale = static_cast<std::int16_t>(sdp.get(D_CVT_SCALE::CVT_SCALE)),
                           .truncate = static_cast<std::uint8_t>(sdp.get(D_CVT_SHIFT::CVT_SHIFT)),
                           .enable = 1,
                           .offset = static_cast<std::int32_t>(sdp.get(D_CVT_OFFSET))};
    const std::uint32_t atom = hw.memory.atom_bytes;
    out = in;
    for (Cube* cube : {&in, &out}) {
        cube->memory = CubeMemory::Unit;
        cube->line_stride = in.width * atom;
        cube->surface_stride = in.height * cube->line_stride;
    }
    if (!flying) {
        using namespace reg::sdp_rdma;
        in.memory = rdma.get(D_SRC_DMA_CFG::SRC_RAM_TYPE) != 0 ? CubeMemory::Primary : CubeMemory::Secondary;
        in.line_stride = rdma.get(D_SRC_LINE_STRIDE);
        in.surface_stride = rdma.get(D_SRC_SURFACE_STRIDE);
        o.places[0] = Place{in.memory == CubeMemory::Primary, Address{rdma.wide(D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW)}};
    }
    if (!to_pdp) {
        out.memory = sdp.get(D_DST_DMA_CFG::DST_RAM_TYPE) != 0 ? CubeMemory::Primary : CubeMemory::Secondary;
        out.line_stride = sdp.get(D_DST_LINE_STRIDE);
        out.surface_stride = sdp.get(D_DST_SURFACE_STRIDE);
        o.places[4] = Place{out.memory == CubeMemory::Primary, Address{sdp.wide(D_DST_BASE_ADDR_HIGH, D_DST_BASE_ADDR_LOW)}};
    }
    in.size = feature_extent(in, op.source_precision, hw);
    out.size = feature_extent(out, op.precision, hw);
    for (std::size_t i = 0; i < op.stages.size(); ++i) {
        op.stages[i] = recover_stage(i, sdp, rdma, o.mixed[i]);
        if (op.stages[i].reads() && op.stages[i].precision != 0 && op.source_precision == 2) op.stages[i].precision = 2;
        recover_operands(o, i, rdma, hw);
    }
    keep(sdp, o.registers);
    if (reads) keep(rdma, o.registers);
    return o;
}

}  // namespace dlasim::loadable
