// Registers of a convolution: loadable.md 6.1.
#include <fmt/format.h>

#include <algorithm>

#include "loadable/programmer.h"
#include "registers/fields/cacc.h"
#include "registers/fields/cdma.h"
#include "registers/fields/cmac.h"
#include "registers/fields/csc.h"

namespace dlasim::loadable {
namespace {

constexpr std::int64_t less_one(std::uint32_t value) { return std::int64_t{value} - 1; }

}  // namespace

void Programmer::write(const ConvOperation& op, bool)
{
    check_precision(op.input_precision);
    check_precision(op.precision);
    check(op.mode <= 1, fmt::format("has mode {}, expected 0 (direct) or 1 (Winograd)", op.mode));
    check(op.mode == 0 || hw_.winograd, "is a Winograd convolution, which " + hw_.name + " does not have");
    check(op.batch == 1 || (op.batch >= 1 && hw_.batch), fmt::format("has a batch of {}, which {} does not have", op.batch, hw_.name));
    check(op.weight_format <= 1, fmt::format("has weight format {}, expected 0 (plain) or 1 (compressed)", op.weight_format));
    check(op.weight_format == 0 || hw_.weight_compression, "has compressed weights, which " + hw_.name + " does not have");
    check(op.output_converter.scale == 1 && op.output_converter.offset == 0,
          fmt::format("has an output converter of scale {} and offset {}, expected 1 and 0", op.output_converter.scale,
                      op.output_converter.offset));
    check(op.format <= 36, fmt::format("has data format {}, expected 0 to 36", op.format));
    check(
        op.data_banks >= 1 && op.weight_banks >= 1 && op.data_banks + op.weight_banks <= static_cast<int>(hw_.cbuf.banks),
        fmt::format("takes {} banks for data and {} for weights, but {} has {}", op.data_banks, op.weight_banks, hw_.name, hw_.cbuf.banks));
    check_size(op.source, "source");
    check_size(op.destination, "destination");
    check(op.destination.on_the_fly(), "writes memory, expected SDP after it");
    write_conv_outputs(op);
    write_csc(op);
    write_cdma(op);
}

/// CACC and CMAC.
void Programmer::write_conv_outputs(const ConvOperation& op)
{
    const Cube& out = op.destination;
    const bool single = out.width == 1 && out.height == 1;
    const Address out_address = out.address >= 0 ? address(out.address, true, out.offset, "destination", 0) : Address{};
    using namespace reg::cacc;
    unit("CACC");
    put({D_MISC_CFG::CONV_MODE(op.mode), D_MISC_CFG::PROC_PRECISION(op.precision)});
    put({D_DATAOUT_SIZE_0::DATAOUT_WIDTH(less_one(out.width)), D_DATAOUT_SIZE_0::DATAOUT_HEIGHT(less_one(out.height))});
    put(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL(less_one(out.channels)));
    put(D_DATAOUT_ADDR, out_address.byte());
    put(D_BATCH_NUMBER, op.batch - 1u);
    put(D_LINE_STRIDE, out.line_stride);
    put(D_SURF_STRIDE, out.surface_stride);
    put({D_DATAOUT_MAP::LINE_PACKED(single), D_DATAOUT_MAP::SURF_PACKED(single)});
    put(D_CLIP_CFG, op.output_converter.truncate);
    for (const char* cmac : {"CMAC_A", "CMAC_B"}) {
        using Misc = struct reg::cmac::D_MISC_CFG;
        unit(cmac);
        put({Misc::CONV_MODE(op.mode), Misc::PROC_PRECISION(op.precision)});
    }
}

void Programmer::write_csc(const ConvOperation& op)
{
    using namespace reg::csc;
    unit("CSC");
    const std::int64_t kernels = less_one(op.destination.channels);
    const bool direct = op.mode == 0;
    put({D_MISC_CFG::CONV_MODE(op.mode), D_MISC_CFG::IN_PRECISION(op.precision), D_MISC_CFG::PROC_PRECISION(op.precision),
         D_MISC_CFG::DATA_REUSE(op.data_reuse), D_MISC_CFG::WEIGHT_REUSE(op.weight_reuse), D_MISC_CFG::SKIP_DATA_RLS(op.skip_data_release),
         D_MISC_CFG::SKIP_WEIGHT_RLS(op.skip_weight_release)});
    put(D_DATAIN_FORMAT::DATAIN_FORMAT(!op.feature()));
    put({D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT(less_one(op.csc_width)), D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT(less_one(op.csc_height))});
    put(D_DATAIN_SIZE_EXT_1::DATAIN_CHANNEL_EXT(less_one(op.csc_channels)));
    put(D_BATCH_NUMBER::BATCHES(less_one(op.batch)));
    put(D_POST_Y_EXTENSION::Y_EXTENSION(op.post_extension));
    put(D_ENTRY_PER_SLICE::ENTRIES(less_one(op.entries)));
    put(D_WEIGHT_FORMAT::WEIGHT_FORMAT(op.weight_format));
    put({D_WEIGHT_SIZE_EXT_0::WEIGHT_WIDTH_EXT(less_one(op.kernel_width)),
         D_WEIGHT_SIZE_EXT_0::WEIGHT_HEIGHT_EXT(less_one(op.kernel_height))});
    put({D_WEIGHT_SIZE_EXT_1::WEIGHT_CHANNEL_EXT(less_one(op.kernel_channels)), D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL(kernels)});
    put(D_WEIGHT_BYTES, op.weights.size);
    put(D_WMB_BYTES, op.mask.size);
    put({D_DATAOUT_SIZE_0::DATAOUT_WIDTH(less_one(op.mac_width)), D_DATAOUT_SIZE_0::DATAOUT_HEIGHT(less_one(op.mac_height))});
    put(D_DATAOUT_SIZE_1::DATAOUT_CHANNEL(kernels));
    put(D_ATOMICS::ATOMICS(std::int64_t{op.destination.width} * op.destination.height - 1));
    put(D_RELEASE::RLS_SLICES(less_one(op.released)));
    put({D_CONV_STRIDE_EXT::CONV_X_STRIDE_EXT(direct ? less_one(op.stride_x) : 0),
         D_CONV_STRIDE_EXT::CONV_Y_STRIDE_EXT(direct ? less_one(op.stride_y) : 0)});
    put({D_DILATION_EXT::X_DILATION_EXT(less_one(op.dilation_x)), D_DILATION_EXT::Y_DILATION_EXT(less_one(op.dilation_y))});
    put({D_ZERO_PADDING::PAD_LEFT(direct ? op.pad_left : 0), D_ZERO_PADDING::PAD_TOP(direct ? op.pad_top : 0)});
    put(D_ZERO_PADDING_VALUE::PAD_VALUE(op.pad_value));
    put({D_BANK::DATA_BANK(less_one(op.data_banks)), D_BANK::WEIGHT_BANK(less_one(op.weight_banks))});
    put(D_PRA_CFG, op.winograd_truncate);
}

void Programmer::write_cdma(const ConvOperation& op)
{
    using namespace reg::cdma;
    unit("CDMA");
    const Cube& in = op.source;
    const std::uint32_t atom = hw_.memory.atom_bytes;
    Address base, weights;
    if (!in.on_the_fly())
        base = op.feature() ? feature_address(in, "source", op.input_precision)
                            : address(in, "source", std::uint64_t{in.line_stride} * (in.height - 1) + in.width);
    if (op.weights.address >= 0) weights = address(op.weights, "weights", op.weights.size);
    put({D_MISC_CFG::CONV_MODE(op.mode), D_MISC_CFG::IN_PRECISION(op.input_precision), D_MISC_CFG::PROC_PRECISION(op.precision),
         D_MISC_CFG::DATA_REUSE(op.data_reuse), D_MISC_CFG::WEIGHT_REUSE(op.weight_reuse), D_MISC_CFG::SKIP_DATA_RLS(op.skip_data_release),
         D_MISC_CFG::SKIP_WEIGHT_RLS(op.skip_weight_release)});
    put({D_DATAIN_FORMAT::DATAIN_FORMAT(!op.feature()), D_DATAIN_FORMAT::PIXEL_FORMAT(op.feature() ? 0 : op.format),
         D_DATAIN_FORMAT::PIXEL_MAPPING(op.pixel_mapping), D_DATAIN_FORMAT::PIXEL_SIGN_OVERRIDE(op.pixel_override)});
    put({D_DATAIN_SIZE_0::DATAIN_WIDTH(less_one(in.width)), D_DATAIN_SIZE_0::DATAIN_HEIGHT(less_one(in.height))});
    put(D_DATAIN_SIZE_1::DATAIN_CHANNEL(less_one(in.channels)));
    put({D_DATAIN_SIZE_EXT_0::DATAIN_WIDTH_EXT(less_one(op.csc_width)), D_DATAIN_SIZE_EXT_0::DATAIN_HEIGHT_EXT(less_one(op.csc_height))});
    if (!nvidia_) put(D_PIXEL_OFFSET, 0);
    put(D_DAIN_RAM_TYPE::DATAIN_RAM_TYPE(in.memory == CubeMemory::Primary));
    wide(D_DAIN_ADDR_HIGH_0, D_DAIN_ADDR_LOW_0, base);
    wide(D_DAIN_ADDR_HIGH_1, D_DAIN_ADDR_LOW_1, base + static_cast<std::uint64_t>(op.second_plane));
    put(D_LINE_STRIDE, in.line_stride);
    put(D_SURF_STRIDE, in.surface_stride);
    put(D_LINE_UV_STRIDE, op.second_line_stride);
    put({D_DAIN_MAP::LINE_PACKED(in.line_stride == in.width * atom),
         D_DAIN_MAP::SURF_PACKED(in.surface_stride == in.width * in.height * atom)});
    if (!nvidia_) {
        put(D_RESERVED_X_CFG, 0);
        put(D_RESERVED_Y_CFG, 0);
    }
    put(D_BATCH_NUMBER::BATCHES(less_one(op.batch)));
    put(D_BATCH_STRIDE, op.batch_stride);
    put(D_ENTRY_PER_SLICE::ENTRIES(less_one(op.entries)));
    put(D_FETCH_GRAIN::GRAINS(less_one(op.fetch_grain)));
    put(D_WEIGHT_FORMAT::WEIGHT_FORMAT(op.weight_format));
    put(D_WEIGHT_SIZE_0::BYTE_PER_KERNEL(std::int64_t{op.bytes_per_kernel} - 1));
    put(D_WEIGHT_SIZE_1::WEIGHT_KERNEL(less_one(op.destination.channels)));
    put(D_WEIGHT_RAM_TYPE::WEIGHT_RAM_TYPE(op.weights.memory == CubeMemory::Primary));
    wide(D_WEIGHT_ADDR_HIGH, D_WEIGHT_ADDR_LOW, weights);
    put(D_WEIGHT_BYTES, op.weights.size);
    if (op.weight_format == 1) {
        wide(D_WGS_ADDR_HIGH, D_WGS_ADDR_LOW, address(op.groups, "group sizes", op.groups.size));
        wide(D_WMB_ADDR_HIGH, D_WMB_ADDR_LOW, address(op.mask, "weight mask", op.mask.size));
        put(D_WMB_BYTES, op.mask.size);
    }
    put(D_MEAN_FORMAT::MEAN_FORMAT(op.mean_on));
    if (op.mean_on != 0) {
        put({D_MEAN_GLOBAL_0::MEAN_RY(op.mean[0]), D_MEAN_GLOBAL_0::MEAN_GU(op.mean[1])});
        put({D_MEAN_GLOBAL_1::MEAN_BV(op.mean[2]), D_MEAN_GLOBAL_1::MEAN_AX(op.mean[3])});
    }
    if (op.input_converter.enable != 0) {
        put({D_CVT_CFG::CVT_EN(1), D_CVT_CFG::CVT_TRUNCATE(op.input_converter.truncate)});
        put(D_CVT_OFFSET, static_cast<std::uint32_t>(op.input_converter.offset));
        put(D_CVT_SCALE, static_cast<std::uint32_t>(op.input_converter.scale));
    } else {
        put(D_CVT_CFG::CVT_EN(0));
    }
    put({D_CONV_STRIDE::CONV_X_STRIDE(less_one(op.stride_x)), D_CONV_STRIDE::CONV_Y_STRIDE(less_one(op.stride_y))});
    put({D_ZERO_PADDING::PAD_LEFT(op.pad_left), D_ZERO_PADDING::PAD_RIGHT(op.pad_right), D_ZERO_PADDING::PAD_TOP(op.pad_top),
         D_ZERO_PADDING::PAD_BOTTOM(op.pad_bottom)});
    put(D_ZERO_PADDING_VALUE::PAD_VALUE(op.pad_value));
    put({D_BANK::DATA_BANK(less_one(op.data_banks)), D_BANK::WEIGHT_BANK(less_one(op.weight_banks))});
}

}  // namespace dlasim::loadable
