// Registers of a convolution: loadable.md 6.1.
#include <fmt/format.h>

#include <algorithm>

#include "facts/cdma.h"
#include "loadable/programmer.h"

namespace dlasim::loadable {
namespace {

constexpr std::int64_t less_one(std::uint32_t value) { return std::int64_t{value} - 1; }

}  // namespace

void Programmer::write_conv(const ConvOperation& op)
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
    check(op.destination.flies(), "writes memory by itself, expected SDP behind it");
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
    put("CACC.D_MISC_CFG", {{op.mode, 0, 1}, {op.precision, 12, 2}});
    put("CACC.D_DATAOUT_SIZE_0", {{less_one(out.width), 0, 13}, {less_one(out.height), 16, 13}});
    put("CACC.D_DATAOUT_SIZE_1", {{less_one(out.channels), 0, 13}});
    write("CACC.D_DATAOUT_ADDR", out_address.byte());
    write("CACC.D_BATCH_NUMBER", op.batch - 1u);
    write("CACC.D_LINE_STRIDE", out.line_stride);
    write("CACC.D_SURF_STRIDE", out.surface_stride);
    put("CACC.D_DATAOUT_MAP", {{single, 0, 1}, {single, 16, 1}});
    write("CACC.D_CLIP_CFG", op.output_converter.truncate);
    for (const char* unit : {"CMAC_A", "CMAC_B"}) put(std::string(unit) + ".D_MISC_CFG", {{op.mode, 0, 1}, {op.precision, 12, 2}});
}

void Programmer::write_csc(const ConvOperation& op)
{
    const std::int64_t kernels = less_one(op.destination.channels);
    const bool direct = op.mode == 0;
    put("CSC.D_MISC_CFG", {{op.mode, 0, 1},
                           {op.precision, 8, 2},
                           {op.precision, 12, 2},
                           {op.data_reuse, 16, 1},
                           {op.weight_reuse, 20, 1},
                           {op.skip_data_release, 24, 1},
                           {op.skip_weight_release, 28, 1}});
    put("CSC.D_DATAIN_FORMAT", {{!op.feature(), 0, 1}});
    put("CSC.D_DATAIN_SIZE_EXT_0", {{less_one(op.csc_width), 0, 13}, {less_one(op.csc_height), 16, 13}});
    put("CSC.D_DATAIN_SIZE_EXT_1", {{less_one(op.csc_channels), 0, 13}});
    put("CSC.D_BATCH_NUMBER", {{less_one(op.batch), 0, 5}});
    put("CSC.D_POST_Y_EXTENSION", {{op.post_extension, 0, 2}});
    put("CSC.D_ENTRY_PER_SLICE", {{less_one(op.entries), 0, facts::cdma::of(hw_).entry_bits}});
    put("CSC.D_WEIGHT_FORMAT", {{op.weight_format, 0, 1}});
    put("CSC.D_WEIGHT_SIZE_EXT_0", {{less_one(op.kernel_width), 0, 5}, {less_one(op.kernel_height), 16, 5}});
    put("CSC.D_WEIGHT_SIZE_EXT_1", {{less_one(op.kernel_channels), 0, 13}, {kernels, 16, 13}});
    write("CSC.D_WEIGHT_BYTES", op.weights.size);
    write("CSC.D_WMB_BYTES", op.mask.size);
    put("CSC.D_DATAOUT_SIZE_0", {{less_one(op.mac_width), 0, 13}, {less_one(op.mac_height), 16, 13}});
    put("CSC.D_DATAOUT_SIZE_1", {{kernels, 0, 13}});
    put("CSC.D_ATOMICS", {{std::int64_t{op.destination.width} * op.destination.height - 1, 0, 21}});
    put("CSC.D_RELEASE", {{less_one(op.released), 0, 12}});
    put("CSC.D_CONV_STRIDE_EXT", {{direct ? less_one(op.stride_x) : 0, 0, 3}, {direct ? less_one(op.stride_y) : 0, 16, 3}});
    put("CSC.D_DILATION_EXT", {{less_one(op.dilation_x), 0, 5}, {less_one(op.dilation_y), 16, 5}});
    put("CSC.D_ZERO_PADDING", {{direct ? op.pad_left : 0, 0, 5}, {direct ? op.pad_top : 0, 16, 5}});
    put("CSC.D_ZERO_PADDING_VALUE", {{op.pad_value, 0, 16}});
    const unsigned bank_bits = facts::cdma::of(hw_).bank_bits;
    put("CSC.D_BANK", {{less_one(op.data_banks), 0, bank_bits}, {less_one(op.weight_banks), 16, bank_bits}});
    write("CSC.D_PRA_CFG", op.winograd_truncate);
}

void Programmer::write_cdma(const ConvOperation& op)
{
    const Cube& in = op.source;
    const std::uint32_t atom = hw_.memory.atom_bytes;
    Address base, weights;
    if (!in.flies())
        base = op.feature() ? feature_address(in, "source", op.input_precision)
                            : address(in, "source", std::uint64_t{in.line_stride} * (in.height - 1) + in.width);
    if (op.weights.address >= 0) weights = address(op.weights, "weights", op.weights.size);
    put("CDMA.D_MISC_CFG", {{op.mode, 0, 1},
                            {op.input_precision, 8, 2},
                            {op.precision, 12, 2},
                            {op.data_reuse, 16, 1},
                            {op.weight_reuse, 20, 1},
                            {op.skip_data_release, 24, 1},
                            {op.skip_weight_release, 28, 1}});
    put("CDMA.D_DATAIN_FORMAT",
        {{!op.feature(), 0, 1}, {op.feature() ? 0 : op.format, 8, 6}, {op.pixel_mapping, 16, 1}, {op.pixel_override, 20, 1}});
    put("CDMA.D_DATAIN_SIZE_0", {{less_one(in.width), 0, 13}, {less_one(in.height), 16, 13}});
    put("CDMA.D_DATAIN_SIZE_1", {{less_one(in.channels), 0, 13}});
    put("CDMA.D_DATAIN_SIZE_EXT_0", {{less_one(op.csc_width), 0, 13}, {less_one(op.csc_height), 16, 13}});
    write("CDMA.D_PIXEL_OFFSET", 0);
    put("CDMA.D_DAIN_RAM_TYPE", {{in.memory == CubeMemory::Primary, 0, 1}});
    wide("CDMA.D_DAIN_ADDR_HIGH_0", "CDMA.D_DAIN_ADDR_LOW_0", base);
    wide("CDMA.D_DAIN_ADDR_HIGH_1", "CDMA.D_DAIN_ADDR_LOW_1", base + static_cast<std::uint64_t>(op.second_plane));
    write("CDMA.D_LINE_STRIDE", in.line_stride);
    write("CDMA.D_SURF_STRIDE", in.surface_stride);
    write("CDMA.D_LINE_UV_STRIDE", op.second_line_stride);
    put("CDMA.D_DAIN_MAP", {{in.line_stride == in.width * atom, 0, 1}, {in.surface_stride == in.width * in.height * atom, 16, 1}});
    write("CDMA.D_RESERVED_X_CFG", 0);
    write("CDMA.D_RESERVED_Y_CFG", 0);
    put("CDMA.D_BATCH_NUMBER", {{less_one(op.batch), 0, 5}});
    write("CDMA.D_BATCH_STRIDE", op.batch_stride);
    put("CDMA.D_ENTRY_PER_SLICE", {{less_one(op.entries), 0, facts::cdma::of(hw_).entry_bits}});
    put("CDMA.D_FETCH_GRAIN", {{less_one(op.fetch_grain), 0, 12}});
    put("CDMA.D_WEIGHT_FORMAT", {{op.weight_format, 0, 1}});
    put("CDMA.D_WEIGHT_SIZE_0", {{std::int64_t{op.bytes_per_kernel} - 1, 0, 18}});
    put("CDMA.D_WEIGHT_SIZE_1", {{less_one(op.destination.channels), 0, 13}});
    put("CDMA.D_WEIGHT_RAM_TYPE", {{op.weights.memory == CubeMemory::Primary, 0, 1}});
    wide("CDMA.D_WEIGHT_ADDR_HIGH", "CDMA.D_WEIGHT_ADDR_LOW", weights);
    write("CDMA.D_WEIGHT_BYTES", op.weights.size);
    if (op.weight_format == 1) {
        wide("CDMA.D_WGS_ADDR_HIGH", "CDMA.D_WGS_ADDR_LOW", address(op.groups, "group sizes", op.groups.size));
        wide("CDMA.D_WMB_ADDR_HIGH", "CDMA.D_WMB_ADDR_LOW", address(op.mask, "weight mask", op.mask.size));
        write("CDMA.D_WMB_BYTES", op.mask.size);
    }
    put("CDMA.D_MEAN_FORMAT", {{op.mean_on, 0, 1}});
    if (op.mean_on != 0) {
        put("CDMA.D_MEAN_GLOBAL_0", {{op.mean[0], 0, 16}, {op.mean[1], 16, 16}});
        put("CDMA.D_MEAN_GLOBAL_1", {{op.mean[2], 0, 16}, {op.mean[3], 16, 16}});
    }
    if (op.input_converter.enable != 0) {
        put("CDMA.D_CVT_CFG", {{1, 0, 1}, {op.input_converter.truncate, 4, 6}});
        write("CDMA.D_CVT_OFFSET", static_cast<std::uint32_t>(op.input_converter.offset));
        write("CDMA.D_CVT_SCALE", static_cast<std::uint32_t>(op.input_converter.scale));
    } else {
        put("CDMA.D_CVT_CFG", {{0, 0, 1}});
    }
    put("CDMA.D_CONV_STRIDE", {{less_one(op.stride_x), 0, 3}, {less_one(op.stride_y), 16, 3}});
    put("CDMA.D_ZERO_PADDING", {{op.pad_left, 0, 5}, {op.pad_right, 8, 6}, {op.pad_top, 16, 5}, {op.pad_bottom, 24, 6}});
    put("CDMA.D_ZERO_PADDING_VALUE", {{op.pad_value, 0, 16}});
    const unsigned bank_bits = facts::cdma::of(hw_).bank_bits;
    put("CDMA.D_BANK", {{less_one(op.data_banks), 0, bank_bits}, {less_one(op.weight_banks), 16, bank_bits}});
}

}  // namespace dlasim::loadable
