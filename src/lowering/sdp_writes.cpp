// The registers of SDP and SDP_RDMA. [spec] sdp.md 1.3
#include "lowering/register_writer.h"

namespace dlasim {
namespace {

class SdpWriter {
public:
    SdpWriter(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address)
        : out_(out), p_(pass), g_(geometry), a_(address)
    {
    }

    void sdp()
    {
        const char* u = "SDP";
        put(u, "D_DATA_CUBE_WIDTH", g_.out_width - 1);
        put(u, "D_DATA_CUBE_HEIGHT", g_.out_height - 1);
        put(u, "D_DATA_CUBE_CHANNEL", p_.kernels - 1);
        put(u, "D_DST_BASE_ADDR_HIGH", high_word(a_.output));
        put(u, "D_DST_BASE_ADDR_LOW", low_word(a_.output));
        put(u, "D_DST_LINE_STRIDE", g_.out_strides.line);
        put(u, "D_DST_SURFACE_STRIDE", g_.out_strides.surface);
        x_engine("BS", p_.post.engines[0]);
        x_engine("BN", p_.post.engines[1]);
        y_engine(p_.post.ew());
        put(u, "D_FEATURE_MODE_CFG",
            (alone() ? 0u : 1u) | (p_.to_pdp ? 2u : 0u) | (winograd() ? 4u : 0u) | (p_.post.flush_nan ? 8u : 0u) | (p_.batch - 1) << 8);
        put(u, "D_DST_DMA_CFG", p_.output_primary);
        put(u, "D_DST_BATCH_STRIDE", g_.out_strides.batch);
        put(u, "D_DATA_FORMAT", processing() | static_cast<std::uint32_t>(p_.output.precision) << 2);
        put(u, "D_CVT_OFFSET", static_cast<std::uint32_t>(p_.output.offset));
        put(u, "D_CVT_SCALE", half_word(p_.output.scale));
        put(u, "D_CVT_SHIFT", p_.output.shift);
        // Stalls, table hits, saturated outputs, NaN and infinity: counting costs no cycle.
        put(u, "D_PERF_ENABLE", 1u | (p_.post.ew().lut ? 2u : 0u) | 4u | (processing() == 2 ? 8u : 0u));
    }

    /// The read engines: features where SDP works alone, operands of BS, BN and EW.
    void sdp_rdma()
    {
        const char* u = "SDP_RDMA";
        put(u, "D_DATA_CUBE_WIDTH", g_.out_width - 1);
        put(u, "D_DATA_CUBE_HEIGHT", g_.out_height - 1);
        put(u, "D_DATA_CUBE_CHANNEL", p_.kernels - 1);
        if (alone()) {
            put(u, "D_SRC_BASE_ADDR_LOW", low_word(a_.input));
            put(u, "D_SRC_BASE_ADDR_HIGH", high_word(a_.input));
            put(u, "D_SRC_LINE_STRIDE", g_.in_strides.line);
            put(u, "D_SRC_SURFACE_STRIDE", g_.in_strides.surface);
        }
        constexpr const char* kCfg[] = {"D_BRDMA_CFG", "D_NRDMA_CFG", "D_ERDMA_CFG"};
        constexpr const char* kOf[] = {"D_BS", "D_BN", "D_EW"};
        for (std::size_t i = 0; i < p_.post.engines.size(); ++i) {
            const PointEngine& e = p_.post.engines[i];
            constexpr std::uint32_t kDisabled = 1, kMul = 0, kAlu = 1 << 1, kBoth = 2 << 1, kTwoBytes = 1 << 3, kPerElement = 1 << 4,
                                    kPrimary = 1 << 5;
            if (!e.streams()) {
                put(u, kCfg[i], kDisabled);
                continue;
            }
            put(u, kCfg[i],
                (!e.alu.streamed()  ? kMul
                 : e.mul.streamed() ? kBoth
                                    : kAlu) |
                    (e.operand_bytes == 2 ? kTwoBytes : 0) | (e.per() == OperandPer::Element ? kPerElement : 0) |
                    (p_.operands_primary[i] ? kPrimary : 0));
            const std::string of = kOf[i];
            put(u, of + "_BASE_ADDR_LOW", low_word(a_.operands[i]));
            put(u, of + "_BASE_ADDR_HIGH", high_word(a_.operands[i]));
            put(u, of + "_LINE_STRIDE", g_.operands[i].strides.line);
            put(u, of + "_SURFACE_STRIDE", g_.operands[i].strides.surface);
        }
        put(u, "D_FEATURE_MODE_CFG",
            (alone() ? 0u : 1u) | (winograd() ? 2u : 0u) | (alone() ? g_.in_precision : processing()) << 2 | processing() << 4 |
                static_cast<std::uint32_t>(p_.output.precision) << 6 | (p_.batch - 1) << 8);
        put(u, "D_SRC_DMA_CFG", alone() ? p_.input_primary : true);
    }

private:
    static constexpr std::uint32_t kBypass = 1, kNoAlu = 2, kNoMul = 0x10, kPrelu = 0x20,
                                   kNoLast = 0x40;  // kNoLast: ReLU of BS and BN, table of EW
    static std::uint32_t engine_cfg(const PointEngine& e, bool last)
    {
        if (!e.on()) return kBypass;
        return (e.alu.on ? static_cast<std::uint32_t>(e.function) << 2 : kNoAlu) | (e.mul.on ? (e.prelu ? kPrelu : 0) : kNoMul) |
               (last ? 0 : kNoLast);
    }

    void x_engine(const std::string& name, const PointEngine& e)
    {
        const auto write = [&](const char* what, std::uint32_t value) { put("SDP", "D_DP_" + name + what, value); };
        write("_CFG", engine_cfg(e, e.relu));
        if (!e.on()) return;
        // A shift left by an earlier layer would act even with the multiplier off.
        if (e.alu.on) write("_ALU_CFG", (e.alu.streamed() ? 1u : 0u) | e.alu_shift << 8);
        if (e.alu.on && !e.alu.streamed()) write("_ALU_SRC_VALUE", half_word(e.alu.value));
        write("_MUL_CFG", (e.mul.streamed() ? 1u : 0u) | e.mul_shift << 8);
        if (e.mul.on && !e.mul.streamed()) write("_MUL_SRC_VALUE", half_word(e.mul.value));
    }

    void y_engine(const PointEngine& e)
    {
        put("SDP", "D_DP_EW_CFG", engine_cfg(e, e.lut.has_value()));
        if (!e.on()) return;
        y_operand("ALU", e.alu);
        y_operand("MUL", e.mul);
        put("SDP", "D_DP_EW_TRUNCATE_VALUE", e.mul_shift);
    }

    void y_operand(const std::string& name, const Operand& operand)
    {
        const auto write = [&](const char* what, std::uint32_t value) { put("SDP", "D_DP_EW_" + name + what, value); };
        const OperandConversion& c = operand.conversion;
        write("_CFG", (operand.streamed() ? 1u : 0u) | (c.on ? 0u : 2u));
        if (operand.on && !operand.streamed()) write("_SRC_VALUE", static_cast<std::uint32_t>(operand.value));
        if (!c.on) return;
        write("_CVT_OFFSET_VALUE", static_cast<std::uint32_t>(c.offset));
        write("_CVT_SCALE_VALUE", half_word(c.scale));
        write("_CVT_TRUNCATE_VALUE", c.truncate);
    }

    void put(const char* unit, const std::string& name, std::uint64_t value) { out_.put(unit, name, value); }
    bool alone() const { return p_.mode == PassMode::Sdp; }
    bool winograd() const { return p_.mode == PassMode::Winograd; }
    std::uint32_t processing() const { return static_cast<std::uint32_t>(p_.precision); }

    RegisterWriter& out_;
    const Pass& p_;
    const Geometry& g_;
    const Addresses& a_;
};

}  // namespace

void write_sdp(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address)
{
    SdpWriter writer(out, pass, geometry, address);
    writer.sdp();
    if (sdp_reads(pass)) writer.sdp_rdma();
}

}  // namespace dlasim
