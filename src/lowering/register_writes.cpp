// A pass as register values. The order is free (a group is armed by its op-enables); ours is unit
// by unit along the data. [spec] programming.md 1 and 2; SDP and SDP_RDMA: sdp.md 1.3.
#include "base/error.h"
#include "lowering/pass.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

std::uint32_t low(std::uint64_t address) { return static_cast<std::uint32_t>(address); }
std::uint32_t high(std::uint64_t address) { return static_cast<std::uint32_t>(address >> 32); }
std::uint32_t half(std::int32_t value) { return static_cast<std::uint32_t>(value) & 0xffff; }
std::uint32_t pair(std::uint32_t upper, std::uint32_t lower) { return upper << 16 | lower; }

class Writer {
public:
    Writer(const Pass& pass, const Geometry& geometry, const Addresses& address, unsigned group, const Hardware& hw)
        : p_(pass), g_(geometry), a_(address), group_(group), hw_(hw)
    {
    }

    PassRegisters write()
    {
        const bool reads = alone() || p_.post.streams();
        if (!alone())
            for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"}) put(unit, "S_POINTER", group_);
        put("SDP", "S_POINTER", group_);
        if (reads) put("SDP_RDMA", "S_POINTER", group_);
        if (!alone()) {
            cdma_input();
            cdma_weights();
            cdma_rest();
            csc();
            cmac_and_cacc();
        }
        sdp();
        if (reads) sdp_rdma();
        if (reads) enable("SDP_RDMA");
        enable("SDP");
        if (!alone())
            for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) enable(unit);
        return std::move(out_);
    }

private:
    void put(const char* unit, const std::string& name, std::uint64_t value)
    {
        const UnitRegisters* registers = find_unit(hw_.generation, unit);
        const RegisterRow* row = registers ? registers->find(name) : nullptr;
        const std::string full = std::string(unit) + "." + name;
        if (!row) throw ConfigError(full, hw_.name + " has no such register");
        // The atom bits of an address or stride are not stored; all others must be.
        const std::uint64_t kept = row->write_mask | (hw_.memory.atom_bytes - 1);
        if ((value & ~kept) != 0)
            throw ConfigError(full, "found " + std::to_string(value) + ", expected a value that its register can hold (mask " +
                                        std::to_string(row->write_mask) + ")");
        out_.writes.push_back({full, static_cast<std::uint32_t>(value)});
    }
    void enable(const char* unit) { out_.enables.push_back({std::string(unit) + ".D_OP_ENABLE", 1}); }
    bool alone() const { return p_.mode == PassMode::Sdp; }
    bool image() const { return p_.mode == PassMode::Image; }
    bool winograd() const { return p_.mode == PassMode::Winograd; }
    std::uint32_t processing() const { return static_cast<std::uint32_t>(p_.precision); }
    std::uint32_t fetched() const { return p_.reuse.fetched_lines != 0 ? p_.reuse.fetched_lines : p_.height; }
    std::uint32_t extended() const { return p_.reuse.extended_lines != 0 ? p_.reuse.extended_lines : g_.height_ext; }
    std::uint32_t misc(std::uint32_t in_precision) const
    {
        return in_precision << 8 | processing() << 12 | (winograd() ? 1u : 0u) | (p_.reuse.data ? 1u : 0u) << 16 |
               (p_.reuse.weights ? 1u : 0u) << 20 | (p_.reuse.keep_data ? 1u : 0u) << 24 | (p_.reuse.keep_weights ? 1u : 0u) << 28;
    }
    std::uint32_t banks() const { return pair(g_.weight_banks - 1, g_.data_banks - 1); }

    void cdma_input()
    {
        const char* u = "CDMA";
        put(u, "S_ARBITER", 0x3000f);
        put(u, "D_MISC_CFG", misc(g_.in_precision));
        put(u, "D_DATAIN_FORMAT", image() ? 1u | p_.format->code << 8 | (p_.signed_pixels ? 1u : 0u) << 20 : 0u);
        put(u, "D_DATAIN_SIZE_0", pair(fetched() - 1, p_.width - 1));
        put(u, "D_DATAIN_SIZE_1", p_.channels - 1);
        put(u, "D_DATAIN_SIZE_EXT_0", pair((winograd() ? extended() : fetched()) - 1, g_.width_ext - 1));
        put(u, "D_PIXEL_OFFSET", p_.x_offset);
        put(u, "D_DAIN_RAM_TYPE", p_.input_primary);
        put(u, "D_DAIN_ADDR_HIGH_0", high(a_.input));
        put(u, "D_DAIN_ADDR_LOW_0", low(a_.input));
        put(u, "D_DAIN_ADDR_HIGH_1", high(a_.input_uv));
        put(u, "D_DAIN_ADDR_LOW_1", low(a_.input_uv));
        put(u, "D_LINE_STRIDE", g_.line_stride);
        put(u, "D_LINE_UV_STRIDE", g_.uv_line_stride);
        put(u, "D_SURF_STRIDE", g_.surface_stride);
        put(u, "D_DAIN_MAP", p_.mode == PassMode::Direct ? p_.packing : 0);
        put(u, "D_RESERVED_X_CFG", 0);
        put(u, "D_RESERVED_Y_CFG", 0);
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        put(u, "D_BATCH_STRIDE", g_.batch_stride);
        put(u, "D_ENTRY_PER_SLICE", g_.entries_per_slice - 1);
        put(u, "D_FETCH_GRAIN", p_.grain - 1);
    }

    void cdma_weights()
    {
        const char* u = "CDMA";
        put(u, "D_WEIGHT_FORMAT", p_.compressed.on);
        put(u, "D_WEIGHT_SIZE_0", g_.kernel_bytes - 1);
        put(u, "D_WEIGHT_SIZE_1", p_.kernels - 1);
        put(u, "D_WEIGHT_RAM_TYPE", p_.weights_primary);
        put(u, "D_WEIGHT_ADDR_HIGH", high(a_.weights));
        put(u, "D_WEIGHT_ADDR_LOW", low(a_.weights));
        put(u, "D_WEIGHT_BYTES", g_.weight_bytes);
        if (!p_.compressed.on) return;
        put(u, "D_WGS_ADDR_HIGH", high(a_.group_sizes));
        put(u, "D_WGS_ADDR_LOW", low(a_.group_sizes));
        put(u, "D_WMB_ADDR_HIGH", high(a_.mask));
        put(u, "D_WMB_ADDR_LOW", low(a_.mask));
        put(u, "D_WMB_BYTES", p_.compressed.mask_bytes);
    }

    void cdma_rest()
    {
        const char* u = "CDMA";
        const InputConversion& c = p_.conversion;
        put(u, "D_MEAN_FORMAT", c.per_component);
        if (c.per_component) {
            put(u, "D_MEAN_GLOBAL_0", pair(half(c.mean[1]), half(c.mean[0])));
            put(u, "D_MEAN_GLOBAL_1", pair(half(c.mean[3]), half(c.mean[2])));
        }
        put(u, "D_CVT_CFG", c.on ? 1u | c.shift << 4 : 0u);
        put(u, "D_CVT_OFFSET", c.on ? half(c.offset) : 0u);
        put(u, "D_CVT_SCALE", c.on ? half(c.scale) : 1u);
        put(u, "D_CONV_STRIDE", pair(p_.stride.y - 1, p_.stride.x - 1));
        put(u, "D_ZERO_PADDING", p_.pad.bottom << 24 | p_.pad.top << 16 | g_.pad_right << 8 | p_.pad.left);
        put(u, "D_ZERO_PADDING_VALUE", half(p_.pad.value));
        put(u, "D_BANK", banks());
        put(u, "D_NAN_FLUSH_TO_ZERO", p_.flush_nan);
        put(u, "D_PERF_ENABLE", 1);
    }

    void csc()
    {
        const char* u = "CSC";
        put(u, "D_MISC_CFG", misc(processing()));
        put(u, "D_DATAIN_FORMAT", image());
        put(u, "D_DATAIN_SIZE_EXT_0", pair(g_.height_ext - 1, g_.width_ext - 1));
        put(u, "D_DATAIN_SIZE_EXT_1", g_.channels_ext - 1);
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        put(u, "D_POST_Y_EXTENSION", p_.y_extension);
        put(u, "D_ENTRY_PER_SLICE", g_.entries_per_slice - 1);
        put(u, "D_WEIGHT_FORMAT", p_.compressed.on);
        put(u, "D_WEIGHT_SIZE_EXT_0", pair(g_.kernel_height - 1, g_.kernel_width - 1));
        put(u, "D_WEIGHT_SIZE_EXT_1", pair(p_.kernels - 1, g_.kernel_channels - 1));
        put(u, "D_WEIGHT_BYTES", g_.weight_bytes);
        put(u, "D_WMB_BYTES", p_.compressed.on ? p_.compressed.mask_bytes : 0);
        put(u, "D_DATAOUT_SIZE_0", pair(g_.out_height - 1, g_.out_width - 1));
        put(u, "D_DATAOUT_SIZE_1", p_.kernels - 1);
        put(u, "D_ATOMICS", std::uint64_t{g_.out_width} * g_.out_height - 1);
        put(u, "D_RELEASE", (p_.reuse.released_lines != 0 ? p_.reuse.released_lines : g_.height_ext) - 1);
        put(u, "D_CONV_STRIDE_EXT", pair(g_.stride_ext.y - 1, g_.stride_ext.x - 1));
        put(u, "D_DILATION_EXT", pair(p_.dilation.y - 1, p_.dilation.x - 1));
        put(u, "D_ZERO_PADDING", winograd() ? 0 : pair(p_.pad.top, p_.pad.left));
        put(u, "D_ZERO_PADDING_VALUE", half(p_.pad.value));
        put(u, "D_BANK", banks());
        put(u, "D_PRA_CFG", p_.transform_truncate);
    }

    void cmac_and_cacc()
    {
        const std::uint32_t mode = processing() << 12 | (winograd() ? 1u : 0u);
        put("CMAC_A", "D_MISC_CFG", mode);
        put("CMAC_B", "D_MISC_CFG", mode);
        const char* u = "CACC";
        put(u, "D_MISC_CFG", mode);
        put(u, "D_DATAOUT_SIZE_0", pair(g_.out_height - 1, g_.out_width - 1));
        put(u, "D_DATAOUT_SIZE_1", p_.kernels - 1);
        put(u, "D_DATAOUT_ADDR", low(a_.output));
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        // Used by multi-batch only; elsewhere a stride of a wide layer is cut to what the register holds.
        const std::uint32_t mask =
            find_unit(hw_.generation, u)->find(std::string_view("D_LINE_STRIDE"))->write_mask | (hw_.memory.atom_bytes - 1);
        put(u, "D_LINE_STRIDE", p_.batch > 1 ? g_.out_line_stride : g_.out_line_stride & mask);
        // From one kernel group to the next: two surfaces where int8 is written as int16.
        const std::uint64_t step = g_.out_surface_stride * (p_.element_bytes() == 1 && g_.out_element_bytes == 2 ? 2 : 1);
        put(u, "D_SURF_STRIDE", p_.batch > 1 ? step : step & mask);
        put(u, "D_DATAOUT_MAP", 0);
        put(u, "D_CLIP_CFG", p_.accumulator_truncate);
    }

    void sdp()
    {
        const char* u = "SDP";
        put(u, "D_DATA_CUBE_WIDTH", g_.out_width - 1);
        put(u, "D_DATA_CUBE_HEIGHT", g_.out_height - 1);
        put(u, "D_DATA_CUBE_CHANNEL", p_.kernels - 1);
        put(u, "D_DST_BASE_ADDR_HIGH", high(a_.output));
        put(u, "D_DST_BASE_ADDR_LOW", low(a_.output));
        put(u, "D_DST_LINE_STRIDE", g_.out_line_stride);
        put(u, "D_DST_SURFACE_STRIDE", g_.out_surface_stride);
        x_engine("BS", p_.post.engines[0]);
        x_engine("BN", p_.post.engines[1]);
        y_engine(p_.post.ew());
        put(u, "D_FEATURE_MODE_CFG",
            (alone() ? 0u : 1u) | (p_.to_pdp ? 2u : 0u) | (winograd() ? 4u : 0u) | (p_.post.flush_nan ? 8u : 0u) | (p_.batch - 1) << 8);
        put(u, "D_DST_DMA_CFG", p_.output_primary);
        put(u, "D_DST_BATCH_STRIDE", g_.out_batch_stride);
        put(u, "D_DATA_FORMAT", processing() | static_cast<std::uint32_t>(p_.output.precision) << 2);
        put(u, "D_CVT_OFFSET", static_cast<std::uint32_t>(p_.output.offset));
        put(u, "D_CVT_SCALE", half(p_.output.scale));
        put(u, "D_CVT_SHIFT", p_.output.shift);
        // Stalls, table hits, saturated outputs, NaN and infinity: counting costs no cycle.
        put(u, "D_PERF_ENABLE", 1u | (p_.post.ew().lut ? 2u : 0u) | 4u | (processing() == 2 ? 8u : 0u));
    }

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
        if (e.alu.on && !e.alu.streamed()) write("_ALU_SRC_VALUE", half(e.alu.value));
        write("_MUL_CFG", (e.mul.streamed() ? 1u : 0u) | e.mul_shift << 8);
        if (e.mul.on && !e.mul.streamed()) write("_MUL_SRC_VALUE", half(e.mul.value));
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
        write("_CVT_SCALE_VALUE", half(c.scale));
        write("_CVT_TRUNCATE_VALUE", c.truncate);
    }

    /// The read engines: features where SDP works alone, operands of BS, BN and EW.
    void sdp_rdma()
    {
        const char* u = "SDP_RDMA";
        put(u, "D_DATA_CUBE_WIDTH", g_.out_width - 1);
        put(u, "D_DATA_CUBE_HEIGHT", g_.out_height - 1);
        put(u, "D_DATA_CUBE_CHANNEL", p_.kernels - 1);
        if (alone()) {
            put(u, "D_SRC_BASE_ADDR_LOW", low(a_.input));
            put(u, "D_SRC_BASE_ADDR_HIGH", high(a_.input));
            put(u, "D_SRC_LINE_STRIDE", g_.line_stride);
            put(u, "D_SRC_SURFACE_STRIDE", g_.surface_stride);
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
            put(u, of + "_BASE_ADDR_LOW", low(a_.operands[i]));
            put(u, of + "_BASE_ADDR_HIGH", high(a_.operands[i]));
            put(u, of + "_LINE_STRIDE", g_.operands[i].line_stride);
            put(u, of + "_SURFACE_STRIDE", g_.operands[i].surface_stride);
        }
        put(u, "D_FEATURE_MODE_CFG",
            (alone() ? 0u : 1u) | (winograd() ? 2u : 0u) | (alone() ? g_.in_precision : processing()) << 2 | processing() << 4 |
                static_cast<std::uint32_t>(p_.output.precision) << 6 | (p_.batch - 1) << 8);
        put(u, "D_SRC_DMA_CFG", alone() ? p_.input_primary : true);
    }

    const Pass& p_;
    const Geometry& g_;
    const Addresses& a_;
    const unsigned group_;
    const Hardware& hw_;
    PassRegisters out_;
};

}  // namespace

PassRegisters register_writes(const Pass& pass, const Geometry& geometry, const Addresses& address, unsigned group,
                              const Hardware& hardware)
{
    return Writer(pass, geometry, address, group, hardware).write();
}

}  // namespace dlasim
