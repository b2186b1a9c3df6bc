// The registers of an operation, unit by unit in the order in which NVIDIA's driver writes them: one description for the programmer, and
// for the recovery of an operation from its registers.
//
//   r(FIELD, member)          holds the member            r.word(REGISTER, member)   a register that is one number
//   r.less_one(FIELD, member) holds one less              r.place(.., cube, ..)      where a cube is
//   FIELD(value)              follows from other members: is written, and not read back
//
// Source  loadable.md 6.1, 6.3 to 6.5.
#pragma once
#include <initializer_list>
#include <string_view>

#include "base/place.h"
#include "loadable/descriptors.h"
#include "registers/fields/bdma.h"
#include "registers/fields/cdma.h"
#include "registers/fields/cdp.h"
#include "registers/fields/csc.h"
#include "registers/fields/pdp.h"
#include "workload/programmed.h"

namespace dlasim::loadable {

inline constexpr std::uint32_t kBdmaUnit = 32;  // bytes that BDMA counts lines in
// 1 / n of a pooling kernel, n = 1 to 8: with 16 fraction bits, and as a float of 17 bits, cut off. loadable.md 6.3.
inline constexpr std::uint32_t kReciprocal[] = {0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2aaa, 0x2492, 0x2000};
inline constexpr std::uint32_t kReciprocalFp16[] = {0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000};

/// Sets the members from a group of registers.
class RegisterReader {
public:
    explicit RegisterReader(const RegisterGroup& group) : group_(group) {}

    template <class T>
    reg::FieldValue operator()(reg::Field field, T& member) const
    {
        member = static_cast<T>(group_.get(field));
        return field(0u);
    }
    reg::FieldValue operator()(reg::Field field, CubeMemory& member) const
    {
        member = group_.get(field) != 0 ? CubeMemory::Primary : CubeMemory::Secondary;
        return field(0u);
    }
    template <class T>
    reg::FieldValue less_one(reg::Field field, T& member) const
    {
        member = static_cast<T>(group_.get(field) + 1);
        return field(0u);
    }
    template <class T>
    void word(reg::Register at, T& member) const
    {
        member = static_cast<T>(group_.get(at));
    }
    // What the layout writes otherwise than it reads it.
    template <class T>
    void known(reg::Field field, T& member) const
    {
        member = static_cast<T>(group_.get(field));
    }
    template <class T>
    void known_signed(reg::Field field, T& member) const
    {
        member = static_cast<T>(group_.get_signed(field));
    }
    /// One less, where there are several parts.
    template <class T>
    reg::FieldValue partial(reg::Field field, T& member, unsigned parts) const
    {
        return parts > 1 ? less_one(field, member) : field(0u);
    }
    void unit(std::string_view) const {}
    void put(reg::Register, std::uint64_t) const {}
    void put(reg::FieldValue) const {}
    void put(std::initializer_list<reg::FieldValue>) const {}
    void not_by_the_driver(reg::Register, std::uint64_t) const {}
    void place(reg::Register, reg::Register, const Cube&, const char*) const {}
    void wide(reg::Register, reg::Register, Address) const {}
    void wide_low(reg::Register, reg::Register, Address) const {}

private:
    const RegisterGroup& group_;
};

struct RegisterLayout {
    static constexpr std::int64_t less_one(std::uint32_t value) { return std::int64_t{value} - 1; }

    template <class R, class O>
    static void csc(R& r, O& op)
    {
        using namespace reg::csc;
        r.unit("CSC");
        r.put({r(D_MISC_CFG::CONV_MODE, op.mode), D_MISC_CFG::IN_PRECISION(op.precision), r(D_MISC_CFG::PROC_PRECISION, op.precision),
               r(D_MISC_CFG::DATA_REUSE, op.data_reuse), r(D_MISC_CFG::WEIGHT_REUSE, op.weight_reuse),
               r(D_MISC_CFG::SKIP_DATA_RLS, op.skip_data_release), r(D_MISC_CFG::SKIP_WEIGHT_RLS, op.skip_weight_release)});
        const std::int64_t kernels = less_one(op.destination.channels);
        const bool direct = op.mode == 0;
        r.put(D_DATAIN_FORMAT::DATAIN_FORMAT(!op.feature()));
        r.put({r.less_one(D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT, op.csc_width),
               r.less_one(D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT, op.csc_height)});
        r.put(r.less_one(D_DATAIN_SIZE_EXT_1::DATAIN_CHANNEL_EXT, op.csc_channels));
        r.put(r.less_one(D_BATCH_NUMBER::BATCHES, op.batch));
        r.put(r(D_POST_Y_EXTENSION::Y_EXTENSION, op.post_extension));
        r.put(r.less_one(D_ENTRY_PER_SLICE::ENTRIES, op.entries));
        r.put(r(D_WEIGHT_FORMAT::WEIGHT_FORMAT, op.weight_format));
        r.put({r.less_one(D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT, op.kernel_width),
               r.less_one(D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT, op.kernel_height)});
        r.put({r.less_one(D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT, op.kernel_channels), D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL(kernels)});
        r.put(D_WEIGHT_BYTES, op.weights.size);
        r.put(D_WMB_BYTES, op.mask.size);
        r.put({r.less_one(D_DATAOUT_SIZE_0::DATAOUT_WIDTH, op.mac_width), r.less_one(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT, op.mac_height)});
        r.put(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL(kernels));
        r.put(D_ATOMICS::ATOMICS(std::int64_t{op.destination.width} * op.destination.height - 1));
        r.put(r.less_one(D_RELEASE::RLS_SLICES, op.released));
        r.put({D_CONV_STRIDE_EXT::CONV_X_STRIDE_EXT(direct ? less_one(op.stride_x) : 0),
               D_CONV_STRIDE_EXT::CONV_Y_STRIDE_EXT(direct ? less_one(op.stride_y) : 0)});
        r.put({r.less_one(D_DILATION_EXT::X_DILATION_EXT, op.dilation_x), r.less_one(D_DILATION_EXT::Y_DILATION_EXT, op.dilation_y)});
        r.put({D_ZERO_PADDING::PAD_LEFT(direct ? op.pad_left : 0), D_ZERO_PADDING::PAD_TOP(direct ? op.pad_top : 0)});
        r.put(D_ZERO_PADDING_VALUE::PAD_VALUE(op.pad_value));
        r.put({r.less_one(D_BANK::DATA_BANK, op.data_banks), r.less_one(D_BANK::WEIGHT_BANK, op.weight_banks)});
        r.word(D_PRA_CFG, op.winograd_truncate);
    }

    /// Read after CSC, and after the format of the input. `atom`: bytes.
    template <class R, class O>
    static void cdma(R& r, O& op, Address input, Address weights, std::uint32_t atom)
    {
        using namespace reg::cdma;
        r.unit("CDMA");
        auto& in = op.source;
        r.put({D_MISC_CFG::CONV_MODE(op.mode), r(D_MISC_CFG::IN_PRECISION, op.input_precision), D_MISC_CFG::PROC_PRECISION(op.precision),
               D_MISC_CFG::DATA_REUSE(op.data_reuse), D_MISC_CFG::WEIGHT_REUSE(op.weight_reuse),
               D_MISC_CFG::SKIP_DATA_RLS(op.skip_data_release), D_MISC_CFG::SKIP_WEIGHT_RLS(op.skip_weight_release)});
        r.put({D_DATAIN_FORMAT::DATAIN_FORMAT(!op.feature()), D_DATAIN_FORMAT::PIXEL_FORMAT(op.feature() ? 0 : op.format),
               r(D_DATAIN_FORMAT::PIXEL_MAPPING, op.pixel_mapping), r(D_DATAIN_FORMAT::PIXEL_SIGN_OVERRIDE, op.pixel_override)});
        r.put({r.less_one(D_DATAIN_SIZE_0::DATAIN_WIDTH, in.width), r.less_one(D_DATAIN_SIZE_0::DATAIN_HEIGHT, in.height)});
        r.put(r.less_one(D_DATAIN_SIZE_1::DATAIN_CHANNEL, in.channels));
        r.put({D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT(less_one(op.csc_width)),
               D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT(less_one(op.csc_height))});
        r.not_by_the_driver(D_PIXEL_OFFSET, 0);
        r.put(r(D_DAIN_RAM_TYPE::DATAIN_RAM_TYPE, in.memory));
        r.wide(D_DAIN_ADDR_HIGH_0, D_DAIN_ADDR_LOW_0, input);
        r.wide(D_DAIN_ADDR_HIGH_1, D_DAIN_ADDR_LOW_1, input + static_cast<std::uint64_t>(op.second_plane));
        r.word(D_LINE_STRIDE, in.line_stride);
        r.word(D_SURF_STRIDE, in.surface_stride);
        r.word(D_LINE_UV_STRIDE, op.second_line_stride);
        r.put({D_DAIN_MAP::LINE_PACKED(in.line_stride == in.width * atom),
               D_DAIN_MAP::SURF_PACKED(in.surface_stride == in.width * in.height * atom)});
        r.not_by_the_driver(D_RESERVED_X_CFG, 0);
        r.not_by_the_driver(D_RESERVED_Y_CFG, 0);
        r.put(D_BATCH_NUMBER::BATCHES(less_one(op.batch)));
        r.word(D_BATCH_STRIDE, op.batch_stride);
        r.put(D_ENTRY_PER_SLICE::ENTRIES(less_one(op.entries)));
        r.put(r.less_one(D_FETCH_GRAIN::GRAINS, op.fetch_grain));
        r.put(D_WEIGHT_FORMAT::WEIGHT_FORMAT(op.weight_format));
        r.put(r.less_one(D_WEIGHT_SIZE_0::BYTE_PER_KERNEL, op.bytes_per_kernel));
        r.put(D_WEIGHT_SIZE_1::WEIGHT_KERNEL(less_one(op.destination.channels)));
        r.put(r(D_WEIGHT_RAM_TYPE::WEIGHT_RAM_TYPE, op.weights.memory));
        r.wide(D_WEIGHT_ADDR_HIGH, D_WEIGHT_ADDR_LOW, weights);
        r.word(D_WEIGHT_BYTES, op.weights.size);
        if (op.weight_format == 1) {
            r.place(D_WGS_ADDR_HIGH, D_WGS_ADDR_LOW, op.groups, "group sizes");
            r.place(D_WMB_ADDR_HIGH, D_WMB_ADDR_LOW, op.mask, "weight mask");
            r.word(D_WMB_BYTES, op.mask.size);
        }
        r.put(r(D_MEAN_FORMAT::MEAN_FORMAT, op.mean_on));
        if (op.mean_on != 0) {
            r.put({r(D_MEAN_GLOBAL_0::MEAN_RY, op.mean[0]), r(D_MEAN_GLOBAL_0::MEAN_GU, op.mean[1])});
            r.put({r(D_MEAN_GLOBAL_1::MEAN_BV, op.mean[2]), r(D_MEAN_GLOBAL_1::MEAN_AX, op.mean[3])});
        }
        auto& converter = op.input_converter;
        r.known(D_CVT_CFG::CVT_EN, converter.enable);
        if (converter.enable != 0) {
            r.put({D_CVT_CFG::CVT_EN(1), r(D_CVT_CFG::CVT_TRUNCATE, converter.truncate)});
            r.known_signed(D_CVT_OFFSET::CVT_OFFSET, converter.offset);
            r.put(D_CVT_OFFSET, static_cast<std::uint32_t>(converter.offset));
            r.known(D_CVT_SCALE::CVT_SCALE, converter.scale);
            r.put(D_CVT_SCALE, static_cast<std::uint32_t>(converter.scale));
        } else {
            r.put(D_CVT_CFG::CVT_EN(0));
        }
        r.put({r.less_one(D_CONV_STRIDE::CONV_X_STRIDE, op.stride_x), r.less_one(D_CONV_STRIDE::CONV_Y_STRIDE, op.stride_y)});
        r.put({r(D_ZERO_PADDING::PAD_LEFT, op.pad_left), r(D_ZERO_PADDING::PAD_RIGHT, op.pad_right), r(D_ZERO_PADDING::PAD_TOP, op.pad_top),
               r(D_ZERO_PADDING::PAD_BOTTOM, op.pad_bottom)});
        r.put(r(D_ZERO_PADDING_VALUE::PAD_VALUE, op.pad_value));
        r.put({D_BANK::DATA_BANK(less_one(op.data_banks)), D_BANK::WEIGHT_BANK(less_one(op.weight_banks))});
    }

    template <class In, class R, class O>
    static void partial_in(R& r, O& op)
    {
        r.put({r.partial(In::PARTIAL_WIDTH_IN_FIRST, op.partial_in[0], op.splits),
               r.partial(In::PARTIAL_WIDTH_IN_LAST, op.partial_in[2], op.splits),
               r.partial(In::PARTIAL_WIDTH_IN_MID, op.partial_in[1], op.splits)});
    }

    template <class R, class O>
    static void pdp(R& r, O& op, bool rdma, Address output)
    {
        using namespace reg::pdp;
        using Out = struct reg::pdp::D_PARTIAL_WIDTH_OUT;
        r.unit("PDP");
        auto &in = op.source, &out = op.destination;
        r.put(r.less_one(D_DATA_CUBE_IN_WIDTH::CUBE_IN_WIDTH, in.width));
        r.put(r.less_one(D_DATA_CUBE_IN_HEIGHT::CUBE_IN_HEIGHT, in.height));
        r.put(r.less_one(D_DATA_CUBE_IN_CHANNEL::CUBE_IN_CHANNEL, in.channels));
        r.put(r.less_one(D_DATA_CUBE_OUT_WIDTH::CUBE_OUT_WIDTH, out.width));
        r.put(r.less_one(D_DATA_CUBE_OUT_HEIGHT::CUBE_OUT_HEIGHT, out.height));
        r.put(r.less_one(D_DATA_CUBE_OUT_CHANNEL::CUBE_OUT_CHANNEL, out.channels));
        r.put({r(D_OPERATION_MODE_CFG::POOLING_METHOD, op.method), D_OPERATION_MODE_CFG::FLYING_MODE(!in.on_the_fly()),
               r.less_one(D_OPERATION_MODE_CFG::SPLIT_NUM, op.splits)});
        partial_in<struct reg::pdp::D_PARTIAL_WIDTH_IN>(r, op);
        r.put({r.partial(Out::PARTIAL_WIDTH_OUT_FIRST, op.partial_out[0], op.splits),
               r.partial(Out::PARTIAL_WIDTH_OUT_LAST, op.partial_out[2], op.splits),
               r.partial(Out::PARTIAL_WIDTH_OUT_MID, op.partial_out[1], op.splits)});
        r.put({r(D_POOLING_KERNEL_CFG::KERNEL_WIDTH, op.kernel_width), r(D_POOLING_KERNEL_CFG::KERNEL_HEIGHT, op.kernel_height),
               r.less_one(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH, op.stride_x),
               r.less_one(D_POOLING_KERNEL_CFG::KERNEL_STRIDE_HEIGHT, op.stride_y)});
        const auto& reciprocal = op.precision == 2 ? kReciprocalFp16 : kReciprocal;
        r.put(D_RECIP_KERNEL_WIDTH, reciprocal[op.kernel_width]);
        r.put(D_RECIP_KERNEL_HEIGHT, reciprocal[op.kernel_height]);
        r.put({r(D_POOLING_PADDING_CFG::PAD_LEFT, op.pad_left), r(D_POOLING_PADDING_CFG::PAD_RIGHT, op.pad_right),
               r(D_POOLING_PADDING_CFG::PAD_TOP, op.pad_top), r(D_POOLING_PADDING_CFG::PAD_BOTTOM, op.pad_bottom)});
        constexpr std::uint32_t kNext = D_POOLING_PADDING_VALUE_2_CFG - D_POOLING_PADDING_VALUE_1_CFG;
        for (std::uint32_t i = 0; i < op.pad_values.size(); ++i) {
            r.known_signed(D_POOLING_PADDING_VALUE_1_CFG::PAD_VALUE_1X + i * kNext, op.pad_values[i]);
            r.put(reg::Register{D_POOLING_PADDING_VALUE_1_CFG + i * kNext}, static_cast<std::uint32_t>(op.pad_values[i]));
        }
        if (rdma) {
            r.put(D_SRC_LINE_STRIDE, in.line_stride);
            r.put(D_SRC_SURFACE_STRIDE, in.surface_stride);
        }
        r.wide_low(D_DST_BASE_ADDR_LOW, D_DST_BASE_ADDR_HIGH, output);
        r.word(D_DST_LINE_STRIDE, out.line_stride);
        r.word(D_DST_SURFACE_STRIDE, out.surface_stride);
        r.put(r(D_DST_RAM_CFG::DST_RAM_TYPE, out.memory));
        r.put(r(D_DATA_FORMAT::INPUT_DATA, op.precision));
    }

    template <class R, class O>
    static void cdp(R& r, O& op, Address output)
    {
        using namespace reg::cdp;
        r.unit("CDP");
        auto& out = op.destination;
        r.wide_low(D_DST_BASE_ADDR_LOW, D_DST_BASE_ADDR_HIGH, output);
        r.word(D_DST_LINE_STRIDE, out.line_stride);
        r.word(D_DST_SURFACE_STRIDE, out.surface_stride);
        r.put(r(D_DST_DMA_CFG::DST_RAM_TYPE, out.memory));
        r.put(r(D_DATA_FORMAT::INPUT_DATA_TYPE, op.precision));
        r.put(D_LRN_CFG::NORMALZ_LEN((op.window - 1) / 2 - 1));
        r.known_signed(D_DATIN_OFFSET::DATIN_OFFSET, op.input_converter.offset);
        r.put(D_DATIN_OFFSET::DATIN_OFFSET(op.input_converter.offset));
        r.put(r(D_DATIN_SCALE::DATIN_SCALE, op.input_converter.scale));
        r.put(r(D_DATIN_SHIFTER::DATIN_SHIFTER, op.input_converter.truncate));
        r.word(D_DATOUT_OFFSET, op.output_converter.offset);
        r.put(r(D_DATOUT_SCALE::DATOUT_SCALE, op.output_converter.scale));
        r.put(r(D_DATOUT_SHIFTER::DATOUT_SHIFTER, op.output_converter.truncate));
        r.known(D_FUNC_BYPASS::SQSUM_BYPASS, op.bypass_square_sum);
        r.known(D_FUNC_BYPASS::MUL_BYPASS, op.bypass_multiplier);
        r.put({D_FUNC_BYPASS::SQSUM_BYPASS(op.bypass_square_sum != 0), D_FUNC_BYPASS::MUL_BYPASS(op.bypass_multiplier != 0)});
    }

    template <class R, class O>
    static void cdp_rdma(R& r, O& op, Address input)
    {
        using namespace reg::cdp_rdma;
        r.unit("CDP_RDMA");
        auto& in = op.source;
        r.put(r.less_one(D_DATA_CUBE_WIDTH::WIDTH, in.width));
        r.put(r.less_one(D_DATA_CUBE_HEIGHT::HEIGHT, in.height));
        r.put(r.less_one(D_DATA_CUBE_CHANNEL::CHANNEL, in.channels));
        r.wide_low(D_SRC_BASE_ADDR_LOW, D_SRC_BASE_ADDR_HIGH, input);
        r.word(D_SRC_LINE_STRIDE, in.line_stride);
        r.word(D_SRC_SURFACE_STRIDE, in.surface_stride);
        r.put(r(D_SRC_DMA_CFG::SRC_RAM_TYPE, in.memory));
        r.known(D_DATA_FORMAT::INPUT_DATA, op.input_precision);
        r.put(D_DATA_FORMAT::INPUT_DATA(op.precision));
    }

    /// A descriptor of BDMA.
    template <class R, class O, class T>
    static void transfer(R& r, O& op, T& t, Address source, Address destination)
    {
        using namespace reg::bdma;
        r.wide_low(CFG_SRC_ADDR_LOW, CFG_SRC_ADDR_HIGH, source);
        r.wide_low(CFG_DST_ADDR_LOW, CFG_DST_ADDR_HIGH, destination);
        r.put(CFG_LINE, t.line_bytes / kBdmaUnit - 1);
        r.put({r(CFG_CMD::SRC_RAM_TYPE, op.from_primary), r(CFG_CMD::DST_RAM_TYPE, op.to_primary)});
        r.put(r.less_one(CFG_LINE_REPEAT::NUMBER, t.lines));
        r.word(CFG_SRC_LINE, t.source_line);
        r.word(CFG_DST_LINE, t.destination_line);
        r.put(r.less_one(CFG_SURF_REPEAT::NUMBER, t.surfaces));
        r.word(CFG_SRC_SURF, t.source_surface);
        r.word(CFG_DST_SURF, t.destination_surface);
        r.put(CFG_OP, 1);
    }
};

}  // namespace dlasim::loadable
