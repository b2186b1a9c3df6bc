// The registers of Rubik, written and read back: loadable.md 6.6.
#include <fmt/format.h>

#include "base/bits.h"
#include "loadable/programmer.h"
#include "loadable/register_layout.h"
#include "loadable/write/recovered_units.h"
#include "registers/fields/rbk.h"

namespace dlasim::loadable {
namespace {

/// Of a cube of Rubik: features, or planes.
std::uint32_t rubik_extent(const Cube& cube, unsigned precision)
{
    constexpr std::uint32_t kAtom = 32;
    const std::uint32_t element = precision == 0 ? 1 : 2;
    if (cube.plane_stride != 0)
        return (cube.channels - 1) * cube.plane_stride + (cube.height - 1) * cube.line_stride + cube.width * element;
    return (ceil_div(cube.channels * element, kAtom) - 1) * cube.surface_stride + (cube.height - 1) * cube.line_stride + cube.width * kAtom;
}

template <class R, class O>
void registers_of(R& r, O& op, Address source, Address destination)
{
    using namespace reg::rbk;
    auto &in = op.source, &out = op.destination;
    r.unit("RBK");
    r.put({r(D_MISC_CFG::RUBIK_MODE, op.mode), r(D_MISC_CFG::IN_PRECISION, op.precision)});
    r.put(r(D_DAIN_RAM_TYPE::DATAIN_RAM_TYPE, in.memory));
    r.put({r.less_one(D_DATAIN_SIZE_0::DATAIN_WIDTH, in.width), r.less_one(D_DATAIN_SIZE_0::DATAIN_HEIGHT, in.height)});
    r.put(r.less_one(D_DATAIN_SIZE_1::DATAIN_CHANNEL, in.channels));
    r.wide_low(D_DAIN_ADDR_LOW, D_DAIN_ADDR_HIGH, source);
    if (op.mode == kMerge) r.word(D_DAIN_PLANAR_STRIDE, in.plane_stride);
    else r.word(D_DAIN_SURF_STRIDE, in.surface_stride);
    r.word(D_DAIN_LINE_STRIDE, in.line_stride);
    r.put(r(D_DAOUT_RAM_TYPE::DATAOUT_RAM_TYPE, out.memory));
    r.put(r.less_one(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL, out.channels));
    r.wide_low(D_DAOUT_ADDR_LOW, D_DAOUT_ADDR_HIGH, destination);
    r.word(D_DAOUT_LINE_STRIDE, out.line_stride);
    if (op.mode == kSplit) r.word(D_DAOUT_PLANAR_STRIDE, out.plane_stride);
    else r.word(D_DAOUT_SURF_STRIDE, out.surface_stride);
    if (op.mode != kContract) return;
    const std::uint32_t element = op.precision == 0 ? 1 : 2;
    r.put(D_CONTRACT_STRIDE_0, ceil_div(out.channels * element, 32u) * in.surface_stride);
    r.put(D_CONTRACT_STRIDE_1, std::uint64_t{op.stride_y} * out.line_stride);
    r.put({r.less_one(D_DECONV_STRIDE::DECONV_X_STRIDE, op.stride_x), r.less_one(D_DECONV_STRIDE::DECONV_Y_STRIDE, op.stride_y)});
}

}  // namespace

void Programmer::write(const RubikOperation& op, bool)
{
    const Cube &in = op.source, &out = op.destination;
    check(op.mode <= kMerge, fmt::format("has mode {}, expected 0 (contract), 1 (split) or 2 (merge)", op.mode));
    check_precision(op.precision);
    check_size(in, "source");
    check_size(out, "destination");
    const Address source = address(in, "source", 1);
    registers_of(*this, op, source, address(out, "destination", 1));
}

RecoveredOperation recover_rubik(const RegisterGroup& rubik, const RegisterGroup&, const Hardware&)
{
    using namespace reg::rbk;
    RecoveredOperation o;
    o.operation.kind = Kind::Rubik;
    o.places.resize(2);
    RubikOperation& op = o.operation.rubik;
    Cube &in = op.source, &out = op.destination;
    RegisterReader registers(rubik);
    registers_of(registers, op, {}, {});
    const bool contract = op.mode == kContract;
    out.width = in.width * (contract ? op.stride_x : 1);
    out.height = in.height * (contract ? op.stride_y : 1);
    o.places[0] = place_behind(in, rubik.wide(D_DAIN_ADDR_HIGH, D_DAIN_ADDR_LOW));
    o.places[1] = place_behind(out, rubik.wide(D_DAOUT_ADDR_HIGH, D_DAOUT_ADDR_LOW));
    in.size = rubik_extent(in, op.precision);
    out.size = rubik_extent(out, op.precision);
    keep(rubik, o.registers);
    if (!contract) std::erase_if(o.registers, [](const WrittenRegister& at) { return at.row->name.starts_with("D_CONTRACT"); });
    return o;
}

}  // namespace dlasim::loadable
