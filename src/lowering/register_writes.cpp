// A pass as register values. The order is free (a group is armed by its op-enables); ours is unit
// by unit along the data. [spec] programming.md 1 and 2.
#include "lowering/register_writer.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

class ConvolutionWriter final : public RegisterWriter {
public:
    ConvolutionWriter(const Pass& pass, const Geometry& geometry, const Addresses& address, const Hardware& hw)
        : RegisterWriter(hw), p_(pass), g_(geometry), a_(address)
    {
    }

    void write()
    {
        cdma_input();
        cdma_weights();
        cdma_rest();
        csc();
        cmac_and_cacc();
    }

private:
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
    std::uint32_t banks() const { return halves(g_.weight_banks - 1, g_.data_banks - 1); }

    void cdma_input()
    {
        const char* u = "CDMA";
        put(u, "S_ARBITER", 0x3000f);
        put(u, "D_MISC_CFG", misc(g_.in_precision));
        put(u, "D_DATAIN_FORMAT", image() ? 1u | p_.format->code << 8 | (p_.signed_pixels ? 1u : 0u) << 20 : 0u);
        put(u, "D_DATAIN_SIZE_0", halves(fetched() - 1, p_.width - 1));
        put(u, "D_DATAIN_SIZE_1", p_.channels - 1);
        put(u, "D_DATAIN_SIZE_EXT_0", halves((winograd() ? extended() : fetched()) - 1, g_.width_ext - 1));
        put(u, "D_PIXEL_OFFSET", p_.x_offset);
        put(u, "D_DAIN_RAM_TYPE", p_.input_primary);
        put(u, "D_DAIN_ADDR_HIGH_0", high_word(a_.input));
        put(u, "D_DAIN_ADDR_LOW_0", low_word(a_.input));
        put(u, "D_DAIN_ADDR_HIGH_1", high_word(a_.input_uv));
        put(u, "D_DAIN_ADDR_LOW_1", low_word(a_.input_uv));
        put(u, "D_LINE_STRIDE", g_.in_strides.line);
        put(u, "D_LINE_UV_STRIDE", g_.in_strides.uv_line);
        put(u, "D_SURF_STRIDE", g_.in_strides.surface);
        put(u, "D_DAIN_MAP", p_.mode == PassMode::Direct ? p_.packing : 0);
        put(u, "D_RESERVED_X_CFG", 0);
        put(u, "D_RESERVED_Y_CFG", 0);
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        put(u, "D_BATCH_STRIDE", g_.in_strides.batch);
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
        put(u, "D_WEIGHT_ADDR_HIGH", high_word(a_.weights));
        put(u, "D_WEIGHT_ADDR_LOW", low_word(a_.weights));
        put(u, "D_WEIGHT_BYTES", g_.weight_bytes);
        if (!p_.compressed.on) return;
        put(u, "D_WGS_ADDR_HIGH", high_word(a_.group_sizes));
        put(u, "D_WGS_ADDR_LOW", low_word(a_.group_sizes));
        put(u, "D_WMB_ADDR_HIGH", high_word(a_.mask));
        put(u, "D_WMB_ADDR_LOW", low_word(a_.mask));
        put(u, "D_WMB_BYTES", p_.compressed.mask_bytes);
    }

    void cdma_rest()
    {
        const char* u = "CDMA";
        const InputConversion& c = p_.conversion;
        put(u, "D_MEAN_FORMAT", c.per_component);
        if (c.per_component) {
            put(u, "D_MEAN_GLOBAL_0", halves(half_word(c.mean[1]), half_word(c.mean[0])));
            put(u, "D_MEAN_GLOBAL_1", halves(half_word(c.mean[3]), half_word(c.mean[2])));
        }
        put(u, "D_CVT_CFG", c.on ? 1u | c.shift << 4 : 0u);
        put(u, "D_CVT_OFFSET", c.on ? half_word(c.offset) : 0u);
        put(u, "D_CVT_SCALE", c.on ? half_word(c.scale) : 1u);
        put(u, "D_CONV_STRIDE", halves(p_.stride.y - 1, p_.stride.x - 1));
        put(u, "D_ZERO_PADDING", p_.pad.bottom << 24 | p_.pad.top << 16 | g_.pad_right << 8 | p_.pad.left);
        put(u, "D_ZERO_PADDING_VALUE", half_word(p_.pad.value));
        put(u, "D_BANK", banks());
        put(u, "D_NAN_FLUSH_TO_ZERO", p_.flush_nan);
        put(u, "D_PERF_ENABLE", 1);
    }

    void csc()
    {
        const char* u = "CSC";
        put(u, "D_MISC_CFG", misc(processing()));
        put(u, "D_DATAIN_FORMAT", image());
        put(u, "D_DATAIN_SIZE_EXT_0", halves(g_.height_ext - 1, g_.width_ext - 1));
        put(u, "D_DATAIN_SIZE_EXT_1", g_.channels_ext - 1);
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        put(u, "D_POST_Y_EXTENSION", p_.y_extension);
        put(u, "D_ENTRY_PER_SLICE", g_.entries_per_slice - 1);
        put(u, "D_WEIGHT_FORMAT", p_.compressed.on);
        put(u, "D_WEIGHT_SIZE_EXT_0", halves(g_.kernel_height - 1, g_.kernel_width - 1));
        put(u, "D_WEIGHT_SIZE_EXT_1", halves(p_.kernels - 1, g_.kernel_channels - 1));
        put(u, "D_WEIGHT_BYTES", g_.weight_bytes);
        put(u, "D_WMB_BYTES", p_.compressed.on ? p_.compressed.mask_bytes : 0);
        put(u, "D_DATAOUT_SIZE_0", halves(g_.out_height - 1, g_.out_width - 1));
        put(u, "D_DATAOUT_SIZE_1", p_.kernels - 1);
        put(u, "D_ATOMICS", std::uint64_t{g_.out_width} * g_.out_height - 1);
        put(u, "D_RELEASE", (p_.reuse.released_lines != 0 ? p_.reuse.released_lines : g_.height_ext) - 1);
        put(u, "D_CONV_STRIDE_EXT", halves(g_.stride_ext.y - 1, g_.stride_ext.x - 1));
        put(u, "D_DILATION_EXT", halves(p_.dilation.y - 1, p_.dilation.x - 1));
        put(u, "D_ZERO_PADDING", winograd() ? 0 : halves(p_.pad.top, p_.pad.left));
        put(u, "D_ZERO_PADDING_VALUE", half_word(p_.pad.value));
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
        put(u, "D_DATAOUT_SIZE_0", halves(g_.out_height - 1, g_.out_width - 1));
        put(u, "D_DATAOUT_SIZE_1", p_.kernels - 1);
        put(u, "D_DATAOUT_ADDR", low_word(a_.output));
        put(u, "D_BATCH_NUMBER", p_.batch - 1);
        // Used by multi-batch only; elsewhere a stride of a wide layer is cut to what the register holds.
        const std::uint32_t mask = find_unit(hw_, u)->find(std::string_view("D_LINE_STRIDE"))->write_mask | (hw_.memory.atom_bytes - 1);
        put(u, "D_LINE_STRIDE", p_.batch > 1 ? g_.out_strides.line : g_.out_strides.line & mask);
        // From one kernel group to the next: two surfaces where int8 is written as int16.
        const std::uint64_t step = g_.out_strides.surface * (p_.element_bytes() == 1 && g_.out_element_bytes == 2 ? 2 : 1);
        put(u, "D_SURF_STRIDE", p_.batch > 1 ? step : step & mask);
        put(u, "D_DATAOUT_MAP", 0);
        put(u, "D_CLIP_CFG", p_.accumulator_truncate);
    }

    const Pass& p_;
    const Geometry& g_;
    const Addresses& a_;
};

}  // namespace

PassRegisters register_writes(const Pass& pass, const Geometry& geometry, const Addresses& address, const UnitGroups& groups,
                              const Hardware& hardware)
{
    ConvolutionWriter out(pass, geometry, address, hardware);
    const bool array = pass.convolves(), reads = sdp_reads(pass);
    if (array)
        for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"}) out.put(unit, "S_POINTER", groups.array);
    out.put("SDP", "S_POINTER", groups.sdp);
    if (reads) out.put("SDP_RDMA", "S_POINTER", groups.sdp_rdma);
    if (array) out.write();
    write_sdp(out, pass, geometry, address);
    if (reads) out.enable("SDP_RDMA");
    out.enable("SDP");
    if (array)
        for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) out.enable(unit);
    return out.take();
}

}  // namespace dlasim
