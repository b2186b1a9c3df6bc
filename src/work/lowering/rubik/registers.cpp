// The registers of Rubik: rubik.md 1.1 to 1.4.
#include "facts/rubik.h"
#include "lowering/program/reshape_pass.h"
#include "registers/fields/rbk.h"
#include "registers/interrupts.h"

namespace dlasim {

std::uint32_t longest_contracted_line(const Hardware& hardware) { return hardware.rubik ? facts::rubik::kMaxLine : UINT32_MAX; }

std::uint32_t contraction_interrupt(const Hardware& hardware, unsigned group) { return hardware.rubik ? reg::glb::kRubik.bit(group) : 0; }

PassRegisters reshape_writes(const ReshapePass& p, unsigned group, const Hardware& hardware)
{
    using namespace reg::rbk;
    RegisterWriter out(hardware);
    out.unit("RBK", group);
    out.put({D_MISC_CFG::RUBIK_MODE(static_cast<unsigned>(p.mode)), D_MISC_CFG::IN_PRECISION(static_cast<unsigned>(p.precision))});
    out.put(D_DAIN_RAM_TYPE, p.source.primary);
    out.put({D_DATAIN_SIZE_0::DATAIN_WIDTH(p.width - 1), D_DATAIN_SIZE_0::DATAIN_HEIGHT(p.height - 1)});
    out.put(D_DATAIN_SIZE_1, p.channels - 1);
    out.put(D_DAIN_ADDR_HIGH, high_word(p.source.address));
    out.put(D_DAIN_ADDR_LOW, low_word(p.source.address));
    out.put(D_DAIN_LINE_STRIDE, p.in.line);
    out.put(D_DAIN_SURF_STRIDE, p.in.surface);
    out.put(D_DAIN_PLANAR_STRIDE, p.in.plane);
    out.put(D_DAOUT_RAM_TYPE, p.target.primary);
    out.put(D_DATAOUT_SIZE_1, p.out_channels - 1);
    out.put(D_DAOUT_ADDR_HIGH, high_word(p.target.address));
    out.put(D_DAOUT_ADDR_LOW, low_word(p.target.address));
    out.put(D_DAOUT_LINE_STRIDE, p.out.line);
    out.put(D_CONTRACT_STRIDE_0, p.cube);
    out.put(D_CONTRACT_STRIDE_1, p.cube * p.stride.x);
    out.put(D_DAOUT_SURF_STRIDE, p.out.surface);
    out.put(D_DAOUT_PLANAR_STRIDE, p.out.plane);
    out.put({D_DECONV_STRIDE::DECONV_X_STRIDE(p.stride.x - 1), D_DECONV_STRIDE::DECONV_Y_STRIDE(p.stride.y - 1)});
    out.put(D_PERF_ENABLE, 1);
    out.enable("RBK");
    return out.take();
}

}  // namespace dlasim
