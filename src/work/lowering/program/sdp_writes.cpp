// The registers of SDP and SDP_RDMA. [spec] sdp.md 1.3
#include "lowering/program/register_writer.h"
#include "registers/sdp_engines.h"

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
        using namespace reg::sdp;
        out_.unit("SDP");
        put(D_DATA_CUBE_WIDTH, g_.out_width - 1);
        put(D_DATA_CUBE_HEIGHT, g_.out_height - 1);
        put(D_DATA_CUBE_CHANNEL, p_.kernels - 1);
        put(D_DST_BASE_ADDR_HIGH, high_word(a_.output));
        put(D_DST_BASE_ADDR_LOW, low_word(a_.output));
        put(D_DST_LINE_STRIDE, g_.out_strides.line);
        put(D_DST_SURFACE_STRIDE, g_.out_strides.surface);
        x_engine(0);
        x_engine(1);
        y_engine(p_.post.ew());
        put({D_FEATURE_MODE_CFG::FLYING_MODE(!alone()), D_FEATURE_MODE_CFG::OUTPUT_DST(p_.pool.has_value()),
             D_FEATURE_MODE_CFG::WINOGRAD(winograd()), D_FEATURE_MODE_CFG::NAN_TO_ZERO(p_.post.flush_nan),
             D_FEATURE_MODE_CFG::BATCH_NUMBER(p_.batch - 1)});
        put(D_DST_DMA_CFG, p_.output_primary);
        put(D_DST_BATCH_STRIDE, g_.out_strides.batch);
        put({D_DATA_FORMAT::PROC_PRECISION(processing()), D_DATA_FORMAT::OUT_PRECISION(written())});
        put(D_CVT_OFFSET, static_cast<std::uint32_t>(p_.output.offset));
        put(D_CVT_SCALE::CVT_SCALE(p_.output.scale));
        put(D_CVT_SHIFT, p_.output.shift);
        // Counting costs no cycle.
        put({D_PERF_ENABLE::PERF_DMA_EN(1), D_PERF_ENABLE::PERF_LUT_EN(p_.post.ew().lut.has_value()), D_PERF_ENABLE::PERF_SAT_EN(1),
             D_PERF_ENABLE::PERF_NAN_INF_COUNT_EN(p_.precision == Precision::Fp16)});
    }

    /// The read engines: features where SDP works alone, operands of BS, BN and EW.
    void sdp_rdma()
    {
        using namespace reg::sdp_rdma;
        out_.unit("SDP_RDMA");
        put(D_DATA_CUBE_WIDTH, g_.out_width - 1);
        put(D_DATA_CUBE_HEIGHT, g_.out_height - 1);
        put(D_DATA_CUBE_CHANNEL, p_.kernels - 1);
        if (alone()) {
            put(D_SRC_BASE_ADDR_LOW, low_word(a_.input));
            put(D_SRC_BASE_ADDR_HIGH, high_word(a_.input));
            put(D_SRC_LINE_STRIDE, g_.in_strides.line);
            put(D_SRC_SURFACE_STRIDE, g_.in_strides.surface);
        }
        for (std::size_t i = 0; i < p_.post.engines.size(); ++i) {
            const PointEngine& e = p_.post.engines[i];
            const Operands& at = kOperands[i];
            if (!e.streams()) {
                put(at.disable(1));
                continue;
            }
            constexpr std::uint32_t kMul = 0, kAlu = 1, kBoth = 2;
            put({at.disable(0),
                 at.use(!e.alu.streamed()  ? kMul
                        : e.mul.streamed() ? kBoth
                                           : kAlu),
                 at.size(e.operand_bytes == 2), at.per_element(e.per() == OperandPer::Element), at.primary(p_.operands_primary[i])});
            put(at.base_low, low_word(a_.operands[i]));
            put(at.base_high, high_word(a_.operands[i]));
            put(at.line_stride, g_.operands[i].strides.line);
            put(at.surface_stride, g_.operands[i].strides.surface);
        }
        put({D_FEATURE_MODE_CFG::FLYING_MODE(!alone()), D_FEATURE_MODE_CFG::WINOGRAD(winograd()),
             D_FEATURE_MODE_CFG::IN_PRECISION(alone() ? g_.in_precision : processing()), D_FEATURE_MODE_CFG::PROC_PRECISION(processing()),
             D_FEATURE_MODE_CFG::OUT_PRECISION(written()), D_FEATURE_MODE_CFG::BATCH_NUMBER(p_.batch - 1)});
        put(D_SRC_DMA_CFG, alone() ? p_.input_primary : true);
    }

private:
    /// `last`: ReLU of BS and BN, table of EW.
    void engine_cfg(const reg::sdp::Engine& at, const PointEngine& e, bool last)
    {
        if (!e.on()) return put(at.bypass(1));
        put({at.alu_bypass(!e.alu.on), at.algorithm(e.alu.on ? static_cast<std::uint32_t>(e.function) : 0), at.mul_bypass(!e.mul.on),
             at.prelu(e.mul.on && e.prelu), at.last_bypass(!last)});
    }

    void x_engine(std::size_t i)
    {
        const PointEngine& e = p_.post.engines[i];
        const reg::sdp::Engine& engine = reg::sdp::kEngines[i];
        const reg::sdp::XEngine& at = reg::sdp::kXEngines[i];
        engine_cfg(engine, e, e.relu);
        if (!e.on()) return;
        // A shift left by an earlier layer would act even with the multiplier off.
        if (e.alu.on) put({engine.alu_src(e.alu.streamed()), at.alu_shift(e.alu_shift)});
        if (e.alu.on && !e.alu.streamed()) put(at.alu_operand(e.alu.value));
        put({engine.mul_src(e.mul.streamed()), at.mul_shift(e.mul_shift)});
        if (e.mul.on && !e.mul.streamed()) put(at.mul_operand(e.mul.value));
    }

    void y_engine(const PointEngine& e)
    {
        engine_cfg(reg::sdp::kEw, e, e.lut.has_value());
        if (!e.on()) return;
        y_operand(reg::sdp::kEw.alu_src, reg::sdp::kYOperands[0], e.alu);
        y_operand(reg::sdp::kEw.mul_src, reg::sdp::kYOperands[1], e.mul);
        put(reg::sdp::D_DP_EW_TRUNCATE_VALUE, e.mul_shift);
    }

    void y_operand(reg::Field src, const reg::sdp::YOperand& at, const Operand& operand)
    {
        const OperandConversion& c = operand.conversion;
        put({src(operand.streamed()), at.convert_bypass(!c.on)});
        if (operand.on && !operand.streamed()) put(at.operand, static_cast<std::uint32_t>(operand.value));
        if (!c.on) return;
        put(at.offset, static_cast<std::uint32_t>(c.offset));
        put(at.scale(c.scale));
        put(at.truncate(c.truncate));
    }

    void put(reg::Register at, std::uint64_t value) { out_.put(at, value); }
    void put(reg::FieldValue field) { out_.put(field); }
    void put(std::initializer_list<reg::FieldValue> fields) { out_.put(fields); }
    bool alone() const { return p_.mode == PassMode::Sdp; }
    bool winograd() const { return p_.mode == PassMode::Winograd; }
    std::uint32_t processing() const { return static_cast<std::uint32_t>(p_.precision); }
    std::uint32_t written() const { return static_cast<std::uint32_t>(p_.output.precision); }

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
