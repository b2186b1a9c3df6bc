// A pass as register values. The order is free (a group is armed by its op-enables); ours is unit
// by unit along the data. [spec] programming.md 1 and 2.
#include "lowering/program/register_writer.h"
#include "registers/fields/cacc.h"
#include "registers/fields/cdma.h"
#include "registers/fields/cmac.h"
#include "registers/fields/csc.h"

namespace dlasim {
namespace {

class ConvolutionWriter {
public:
    ConvolutionWriter(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address)
        : out_(out), p_(pass), g_(geometry), a_(address)
    {
    }

    void write()
    {
        out_.unit("CDMA");
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
    void put(reg::Register at, std::uint64_t value) { out_.put(at, value); }
    void put(reg::FieldValue field) { out_.put(field); }
    void put(std::initializer_list<reg::FieldValue> fields) { out_.put(fields); }

    /// Of CDMA, of CSC.
    template <class Misc>
    void put_misc(std::uint32_t in_precision)
    {
        put({Misc::CONV_MODE(winograd()), Misc::IN_PRECISION(in_precision), Misc::PROC_PRECISION(processing()),
             Misc::DATA_REUSE(p_.reuse.data), Misc::WEIGHT_REUSE(p_.reuse.weights), Misc::SKIP_DATA_RLS(p_.reuse.keep_data),
             Misc::SKIP_WEIGHT_RLS(p_.reuse.keep_weights)});
    }
    template <class Bank>
    void put_banks()
    {
        put({Bank::DATA_BANK(g_.data_banks - 1), Bank::WEIGHT_BANK(g_.weight_banks - 1)});
    }

    void cdma_input()
    {
        using namespace reg::cdma;
        put({S_ARBITER::ARB_WEIGHT(15), S_ARBITER::ARB_WMB(3)});
        put_misc<struct D_MISC_CFG>(g_.in_precision);
        put({D_DATAIN_FORMAT::DATAIN_FORMAT(image()), D_DATAIN_FORMAT::PIXEL_FORMAT(image() ? p_.format->code : 0),
             D_DATAIN_FORMAT::PIXEL_SIGN_OVERRIDE(image() && p_.signed_pixels)});
        put({D_DATAIN_SIZE_0::DATAIN_HEIGHT(fetched() - 1), D_DATAIN_SIZE_0::DATAIN_WIDTH(p_.width - 1)});
        put(D_DATAIN_SIZE_1, p_.channels - 1);
        put({D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT((winograd() ? extended() : fetched()) - 1),
             D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT(g_.width_ext - 1)});
        put(D_PIXEL_OFFSET::PIXEL_X_OFFSET(p_.x_offset));
        put(D_DAIN_RAM_TYPE, p_.input_primary);
        put(D_DAIN_ADDR_HIGH_0, high_word(a_.input));
        put(D_DAIN_ADDR_LOW_0, low_word(a_.input));
        put(D_DAIN_ADDR_HIGH_1, high_word(a_.input_uv));
        put(D_DAIN_ADDR_LOW_1, low_word(a_.input_uv));
        put(D_LINE_STRIDE, g_.in_strides.line);
        put(D_LINE_UV_STRIDE, g_.in_strides.uv_line);
        put(D_SURF_STRIDE, g_.in_strides.surface);
        const bool direct = p_.mode == PassMode::Direct;
        put({D_DAIN_MAP::LINE_PACKED(direct && p_.lines_packed), D_DAIN_MAP::SURF_PACKED(direct && p_.surfaces_packed)});
        put(D_RESERVED_X_CFG, 0);
        put(D_RESERVED_Y_CFG, 0);
        put(D_BATCH_NUMBER, p_.batch - 1);
        put(D_BATCH_STRIDE, g_.in_strides.batch);
        put(D_ENTRY_PER_SLICE, g_.entries_per_slice - 1);
        put(D_FETCH_GRAIN, p_.grain - 1);
    }

    void cdma_weights()
    {
        using namespace reg::cdma;
        put(D_WEIGHT_FORMAT, p_.compressed.on);
        put(D_WEIGHT_SIZE_0, g_.kernel_bytes - 1);
        put(D_WEIGHT_SIZE_1, p_.kernels - 1);
        put(D_WEIGHT_RAM_TYPE, p_.weights_primary);
        put(D_WEIGHT_ADDR_HIGH, high_word(a_.weights));
        put(D_WEIGHT_ADDR_LOW, low_word(a_.weights));
        put(D_WEIGHT_BYTES, g_.weight_bytes);
        if (!p_.compressed.on) return;
        put(D_WGS_ADDR_HIGH, high_word(a_.group_sizes));
        put(D_WGS_ADDR_LOW, low_word(a_.group_sizes));
        put(D_WMB_ADDR_HIGH, high_word(a_.mask));
        put(D_WMB_ADDR_LOW, low_word(a_.mask));
        put(D_WMB_BYTES, p_.compressed.mask_bytes);
    }

    void cdma_rest()
    {
        using namespace reg::cdma;
        const InputConversion& c = p_.conversion;
        put(D_MEAN_FORMAT, c.per_component);
        if (c.per_component) {
            put({D_MEAN_GLOBAL_0::MEAN_RY(c.mean[0]), D_MEAN_GLOBAL_0::MEAN_GU(c.mean[1])});
            put({D_MEAN_GLOBAL_1::MEAN_BV(c.mean[2]), D_MEAN_GLOBAL_1::MEAN_AX(c.mean[3])});
        }
        put({D_CVT_CFG::CVT_EN(c.on), D_CVT_CFG::CVT_TRUNCATE(c.on ? c.shift : 0)});
        put(D_CVT_OFFSET::CVT_OFFSET(c.on ? c.offset : 0));
        put(D_CVT_SCALE::CVT_SCALE(c.on ? c.scale : 1));
        put({D_CONV_STRIDE::CONV_X_STRIDE(p_.stride.x - 1), D_CONV_STRIDE::CONV_Y_STRIDE(p_.stride.y - 1)});
        put({D_ZERO_PADDING::PAD_LEFT(p_.pad.left), D_ZERO_PADDING::PAD_RIGHT(g_.pad_right), D_ZERO_PADDING::PAD_TOP(p_.pad.top),
             D_ZERO_PADDING::PAD_BOTTOM(p_.pad.bottom)});
        put(D_ZERO_PADDING_VALUE::PAD_VALUE(p_.pad.value));
        put_banks<struct D_BANK>();
        put(D_NAN_FLUSH_TO_ZERO, p_.flush_nan);
        put(D_PERF_ENABLE, 1);
    }

    void csc()
    {
        using namespace reg::csc;
        out_.unit("CSC");
        put_misc<struct D_MISC_CFG>(processing());
        put(D_DATAIN_FORMAT, image());
        put({D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT(g_.width_ext - 1), D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT(g_.height_ext - 1)});
        put(D_DATAIN_SIZE_EXT_1, g_.channels_ext - 1);
        put(D_BATCH_NUMBER, p_.batch - 1);
        put(D_POST_Y_EXTENSION, p_.y_extension);
        put(D_ENTRY_PER_SLICE, g_.entries_per_slice - 1);
        put(D_WEIGHT_FORMAT, p_.compressed.on);
        put({D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT(g_.kernel_width - 1), D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT(g_.kernel_height - 1)});
        put({D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT(g_.kernel_channels - 1), D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL(p_.kernels - 1)});
        put(D_WEIGHT_BYTES, g_.weight_bytes);
        put(D_WMB_BYTES, p_.compressed.on ? p_.compressed.mask_bytes : 0);
        put({D_DATAOUT_SIZE_0::DATAOUT_WIDTH(g_.out_width - 1), D_DATAOUT_SIZE_0::DATAOUT_HEIGHT(g_.out_height - 1)});
        put(D_DATAOUT_SIZE_1, p_.kernels - 1);
        put(D_ATOMICS, std::uint64_t{g_.out_width} * g_.out_height - 1);
        put(D_RELEASE, (p_.reuse.released_lines != 0 ? p_.reuse.released_lines : g_.height_ext) - 1);
        put({D_CONV_STRIDE_EXT::CONV_X_STRIDE_EXT(g_.stride_ext.x - 1), D_CONV_STRIDE_EXT::CONV_Y_STRIDE_EXT(g_.stride_ext.y - 1)});
        put({D_DILATION_EXT::X_DILATION_EXT(p_.dilation.x - 1), D_DILATION_EXT::Y_DILATION_EXT(p_.dilation.y - 1)});
        put({D_ZERO_PADDING::PAD_LEFT(winograd() ? 0 : p_.pad.left), D_ZERO_PADDING::PAD_TOP(winograd() ? 0 : p_.pad.top)});
        put(D_ZERO_PADDING_VALUE::PAD_VALUE(p_.pad.value));
        put_banks<struct D_BANK>();
        put(D_PRA_CFG, p_.transform_truncate);
    }

    void cmac_and_cacc()
    {
        for (const char* unit : {"CMAC_A", "CMAC_B"}) {
            using namespace reg::cmac;
            out_.unit(unit);
            put({D_MISC_CFG::CONV_MODE(winograd()), D_MISC_CFG::PROC_PRECISION(processing())});
        }
        using namespace reg::cacc;
        out_.unit("CACC");
        put({D_MISC_CFG::CONV_MODE(winograd()), D_MISC_CFG::PROC_PRECISION(processing())});
        put({D_DATAOUT_SIZE_0::DATAOUT_WIDTH(g_.out_width - 1), D_DATAOUT_SIZE_0::DATAOUT_HEIGHT(g_.out_height - 1)});
        put(D_DATAOUT_SIZE_1, p_.kernels - 1);
        put(D_DATAOUT_ADDR, low_word(a_.output));
        put(D_BATCH_NUMBER, p_.batch - 1);
        // [spec] cacc.md 3.3: of a stride CACC uses bit 5 alone, so one of a large output is cut to what the register holds.
        const auto put_stride = [&](reg::Register at, std::uint64_t stride) { put(at, stride & out_.held(at)); };
        put_stride(D_LINE_STRIDE, g_.out_strides.line);
        // From one kernel group to the next: two surfaces where int8 is written as int16.
        put_stride(D_SURF_STRIDE, g_.out_strides.surface * (p_.element_bytes() == 1 && g_.out_element_bytes == 2 ? 2 : 1));
        put(D_DATAOUT_MAP, 0);
        put(D_CLIP_CFG, p_.accumulator_truncate);
    }

    RegisterWriter& out_;
    const Pass& p_;
    const Geometry& g_;
    const Addresses& a_;
};

}  // namespace

void write_pass(RegisterWriter& out, const Pass& pass, const Geometry& geometry, const Addresses& address, const UnitGroups& groups)
{
    const bool array = pass.convolves(), reads = sdp_reads(pass);
    if (array)
        for (const char* unit : {"CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC"}) out.unit(unit, groups.array);
    out.unit("SDP", groups.sdp);
    if (reads) out.unit("SDP_RDMA", groups.sdp_rdma);
    if (array) ConvolutionWriter(out, pass, geometry, address).write();
    write_sdp(out, pass, geometry, address);
    if (reads) out.enable("SDP_RDMA");
    out.enable("SDP");
    if (array)
        for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) out.enable(unit);
}

}  // namespace dlasim
