#include "lowering/rubik_pass.h"

#include "lowering/register_writer.h"

namespace dlasim {

std::vector<RegisterValue> rubik_writes(const RubikPass& p, unsigned group)
{
    std::vector<RegisterValue> writes;
    const auto put = [&](const char* name, std::uint64_t value) {
        writes.push_back({std::string("RBK.") + name, static_cast<std::uint32_t>(value)});
    };
    put("S_POINTER", group);
    put("D_MISC_CFG", static_cast<unsigned>(p.mode) | static_cast<unsigned>(p.precision) << 8);
    put("D_DAIN_RAM_TYPE", p.source.primary);
    put("D_DATAIN_SIZE_0", (p.height - 1) << 16 | (p.width - 1));
    put("D_DATAIN_SIZE_1", p.channels - 1);
    put("D_DAIN_ADDR_HIGH", high_word(p.source.address));
    put("D_DAIN_ADDR_LOW", low_word(p.source.address));
    put("D_DAIN_LINE_STRIDE", p.in.line);
    put("D_DAIN_SURF_STRIDE", p.in.surface);
    put("D_DAIN_PLANAR_STRIDE", p.in.plane);
    put("D_DAOUT_RAM_TYPE", p.target.primary);
    put("D_DATAOUT_SIZE_1", p.out_channels - 1);
    put("D_DAOUT_ADDR_HIGH", high_word(p.target.address));
    put("D_DAOUT_ADDR_LOW", low_word(p.target.address));
    put("D_DAOUT_LINE_STRIDE", p.out.line);
    put("D_CONTRACT_STRIDE_0", p.cube);
    put("D_CONTRACT_STRIDE_1", p.cube * p.stride.x);
    put("D_DAOUT_SURF_STRIDE", p.out.surface);
    put("D_DAOUT_PLANAR_STRIDE", p.out.plane);
    put("D_DECONV_STRIDE", (p.stride.y - 1) << 16 | (p.stride.x - 1));
    put("D_PERF_ENABLE", 1);
    put("D_OP_ENABLE", 1);
    return writes;
}

}  // namespace dlasim
