// Registers of PDP, CDP, BDMA and Rubik: loadable.md 6.3 to 6.6.
#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "loadable/programmer.h"

namespace dlasim::loadable {
namespace {

// 1 / n of a pooling kernel, n = 1 to 8: with 16 fraction bits, and as a float of 17 bits, cut off. loadable.md 6.3.
constexpr std::uint32_t kReciprocal[] = {0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2aaa, 0x2492, 0x2000};
constexpr std::uint32_t kReciprocalFp16[] = {0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000};
constexpr std::uint32_t kBdmaUnit = 32;       // bytes that BDMA counts lines in
constexpr std::uint32_t kMostRepeats = 8192;  // lines and surfaces of a transfer

/// Minus one; 0 stays 0.
std::int64_t less_one_or_zero(std::uint32_t value) { return std::int64_t{std::max(value, 1u)} - 1; }

}  // namespace

void Programmer::write_pdp(const PdpOperation& op, bool rdma)
{
    const Cube &in = op.source, &out = op.destination;
    check_precision(op.precision);
    check_size(in, "source");
    check_size(out, "destination");
    check(!out.flies(), "hands its output to another unit, expected memory");
    check(op.method <= 2, fmt::format("has method {}, expected 0 (average), 1 (max) or 2 (min)", op.method));
    check(op.kernel_width < 8 && op.kernel_height < 8,
          fmt::format("has a kernel of {} x {}, expected 8 x 8 at most", op.kernel_width + 1, op.kernel_height + 1));
    check(op.stride_x >= 1 && op.stride_x <= 8 && op.stride_y >= 1 && op.stride_y <= 8,
          fmt::format("has strides {} and {}, expected 1 to 8", op.stride_x, op.stride_y));
    check(op.splits >= 1 && op.splits <= 64, fmt::format("is split into {}, expected 1 to 64", op.splits));
    check(rdma || op.splits == 1, "is split, but fed by SDP, which cannot be");
    if (op.precision == 2)
        for (const std::int32_t value : op.pad_values) check(value == 0, fmt::format("pads fp16 with {}, expected 0", value));
    const std::initializer_list<Field> partial_in = {{less_one_or_zero(op.partial_in[0]), 0, 10},
                                                     {less_one_or_zero(op.partial_in[2]), 10, 10},
                                                     {less_one_or_zero(op.partial_in[1]), 20, 10}};
    if (rdma) {
        write_all({{"PDP_RDMA.D_DATA_CUBE_IN_WIDTH", in.width - 1},
                   {"PDP_RDMA.D_DATA_CUBE_IN_HEIGHT", in.height - 1},
                   {"PDP_RDMA.D_DATA_CUBE_IN_CHANNEL", in.channels - 1},
                   {"PDP_RDMA.D_FLYING_MODE", 1}});
        wide("PDP_RDMA.D_SRC_BASE_ADDR_HIGH", "PDP_RDMA.D_SRC_BASE_ADDR_LOW", feature_address(in, "source", op.precision));
        write_all({{"PDP_RDMA.D_SRC_LINE_STRIDE", in.line_stride}, {"PDP_RDMA.D_SRC_SURFACE_STRIDE", in.surface_stride}});
        put("PDP_RDMA.D_DATA_FORMAT", {{op.precision, 0, 2}});
        put("PDP_RDMA.D_SRC_RAM_CFG", {{in.memory == CubeMemory::Primary, 0, 1}});
        put("PDP_RDMA.D_OPERATION_MODE_CFG", {{op.splits - 1, 0, 8}});
        put("PDP_RDMA.D_POOLING_KERNEL_CFG", {{op.kernel_width, 0, 4}, {op.stride_x - 1, 4, 4}});
        put("PDP_RDMA.D_POOLING_PADDING_CFG", {{op.pad_left, 0, 4}});
        put("PDP_RDMA.D_PARTIAL_WIDTH_IN", partial_in);
    }
    write_all({{"PDP.D_DATA_CUBE_IN_WIDTH", in.width - 1},
               {"PDP.D_DATA_CUBE_IN_HEIGHT", in.height - 1},
               {"PDP.D_DATA_CUBE_IN_CHANNEL", in.channels - 1},
               {"PDP.D_DATA_CUBE_OUT_WIDTH", out.width - 1},
               {"PDP.D_DATA_CUBE_OUT_HEIGHT", out.height - 1},
               {"PDP.D_DATA_CUBE_OUT_CHANNEL", out.channels - 1}});
    put("PDP.D_OPERATION_MODE_CFG", {{op.method, 0, 2}, {!in.flies(), 4, 1}, {op.splits - 1, 8, 8}});
    put("PDP.D_PARTIAL_WIDTH_IN", partial_in);
    put("PDP.D_PARTIAL_WIDTH_OUT", {{less_one_or_zero(op.partial_out[0]), 0, 10},
                                    {less_one_or_zero(op.partial_out[2]), 10, 10},
                                    {less_one_or_zero(op.partial_out[1]), 20, 10}});
    put("PDP.D_POOLING_KERNEL_CFG",
        {{op.kernel_width, 0, 4}, {op.kernel_height, 8, 4}, {op.stride_x - 1, 16, 4}, {op.stride_y - 1, 20, 4}});
    const auto& reciprocal = op.precision == 2 ? kReciprocalFp16 : kReciprocal;
    write_all({{"PDP.D_RECIP_KERNEL_WIDTH", reciprocal[op.kernel_width]}, {"PDP.D_RECIP_KERNEL_HEIGHT", reciprocal[op.kernel_height]}});
    put("PDP.D_POOLING_PADDING_CFG", {{op.pad_left, 0, 3}, {op.pad_right, 8, 3}, {op.pad_top, 4, 3}, {op.pad_bottom, 12, 3}});
    for (std::size_t i = 0; i < op.pad_values.size(); ++i)
        write(fmt::format("PDP.D_POOLING_PADDING_VALUE_{}_CFG", i + 1), static_cast<std::uint32_t>(op.pad_values[i]));
    if (rdma) write_all({{"PDP.D_SRC_LINE_STRIDE", in.line_stride}, {"PDP.D_SRC_SURFACE_STRIDE", in.surface_stride}});
    wide("PDP.D_DST_BASE_ADDR_HIGH", "PDP.D_DST_BASE_ADDR_LOW", feature_address(out, "destination", op.precision));
    write_all({{"PDP.D_DST_LINE_STRIDE", out.line_stride}, {"PDP.D_DST_SURFACE_STRIDE", out.surface_stride}});
    put("PDP.D_DST_RAM_CFG", {{out.memory == CubeMemory::Primary, 0, 1}});
    put("PDP.D_DATA_FORMAT", {{op.precision, 0, 2}});
}

void Programmer::write_cdp(const CdpOperation& op)
{
    const Cube &in = op.source, &out = op.destination;
    check_precision(op.input_precision);
    check(op.input_precision == op.precision,
          fmt::format("reads precision {} and writes {}, expected the same", op.input_precision, op.precision));
    check_size(in, "source");
    check_size(out, "destination");
    check(op.window == 3 || op.window == 5 || op.window == 7 || op.window == 9,
          fmt::format("has a window of {}, expected 3, 5, 7 or 9", op.window));
    write_all({{"CDP_RDMA.D_DATA_CUBE_WIDTH", in.width - 1},
               {"CDP_RDMA.D_DATA_CUBE_HEIGHT", in.height - 1},
               {"CDP_RDMA.D_DATA_CUBE_CHANNEL", in.channels - 1}});
    wide("CDP_RDMA.D_SRC_BASE_ADDR_HIGH", "CDP_RDMA.D_SRC_BASE_ADDR_LOW", feature_address(in, "source", op.precision));
    write_all({{"CDP_RDMA.D_SRC_LINE_STRIDE", in.line_stride}, {"CDP_RDMA.D_SRC_SURFACE_STRIDE", in.surface_stride}});
    put("CDP_RDMA.D_SRC_DMA_CFG", {{in.memory == CubeMemory::Primary, 0, 1}});
    put("CDP_RDMA.D_DATA_FORMAT", {{op.precision, 0, 2}});
    if (op.table >= 0) write_table("CDP", op.table, op.precision);
    wide("CDP.D_DST_BASE_ADDR_HIGH", "CDP.D_DST_BASE_ADDR_LOW", feature_address(out, "destination", op.precision));
    write_all({{"CDP.D_DST_LINE_STRIDE", out.line_stride}, {"CDP.D_DST_SURFACE_STRIDE", out.surface_stride}});
    put("CDP.D_DST_DMA_CFG", {{out.memory == CubeMemory::Primary, 0, 1}});
    put("CDP.D_DATA_FORMAT", {{op.precision, 0, 2}});
    put("CDP.D_LRN_CFG", {{(op.window - 1) / 2 - 1, 0, 2}});
    const auto convert = [&](const std::string& name, const Converter& c, unsigned offset_bits, unsigned shift_bits) {
        put("CDP.D_" + name + "_OFFSET", {{c.offset, 0, offset_bits}});
        put("CDP.D_" + name + "_SCALE", {{c.scale, 0, 16}});
        put("CDP.D_" + name + "_SHIFTER", {{c.truncate, 0, shift_bits}});
    };
    convert("DATIN", op.input_converter, 16, 5);
    convert("DATOUT", op.output_converter, 32, 6);
    put("CDP.D_FUNC_BYPASS", {{op.bypass_square_sum != 0, 0, 1}, {op.bypass_multiplier != 0, 1, 1}});
}

void Programmer::write_bdma(const BdmaOperation& op)
{
    for (const Transfer& t : op.transfers) {
        check(t.line_bytes >= kBdmaUnit && t.line_bytes % kBdmaUnit == 0,
              fmt::format("copies lines of {} bytes, expected a multiple of {}", t.line_bytes, kBdmaUnit));
        check(t.lines >= 1 && t.lines <= kMostRepeats && t.surfaces >= 1 && t.surfaces <= kMostRepeats,
              fmt::format("copies {} lines of {} surfaces, expected 1 to {}", t.lines, t.surfaces, kMostRepeats));
        const auto extent = [&](const Strides& by) { return by.surface * (t.surfaces - 1) + by.line * (t.lines - 1) + t.line_bytes; };
        wide("BDMA.CFG_SRC_ADDR_HIGH", "BDMA.CFG_SRC_ADDR_LOW",
             address(t.source, op.from_primary, 0, "source", extent({.line = t.source_line, .surface = t.source_surface})));
        wide("BDMA.CFG_DST_ADDR_HIGH", "BDMA.CFG_DST_ADDR_LOW",
             address(t.destination, op.to_primary, 0, "destination",
                     extent({.line = t.destination_line, .surface = t.destination_surface})));
        write("BDMA.CFG_LINE", t.line_bytes / kBdmaUnit - 1);
        put("BDMA.CFG_CMD", {{op.from_primary, 0, 1}, {op.to_primary, 1, 1}});
        write_all({{"BDMA.CFG_LINE_REPEAT", t.lines - 1},
                   {"BDMA.CFG_SRC_LINE", t.source_line},
                   {"BDMA.CFG_DST_LINE", t.destination_line},
                   {"BDMA.CFG_SURF_REPEAT", t.surfaces - 1},
                   {"BDMA.CFG_SRC_SURF", t.source_surface},
                   {"BDMA.CFG_DST_SURF", t.destination_surface},
                   {"BDMA.CFG_OP", 1}});
    }
}

void Programmer::write_rubik(const RubikOperation& op)
{
    enum Mode { kContract, kSplit, kMerge };
    const Cube &in = op.source, &out = op.destination;
    check(op.mode <= kMerge, fmt::format("has mode {}, expected 0 (contract), 1 (split) or 2 (merge)", op.mode));
    check_precision(op.precision);
    check_size(in, "source");
    check_size(out, "destination");
    const std::uint32_t element = op.precision == 0 ? 1 : 2;
    put("RBK.D_MISC_CFG", {{op.mode, 0, 2}, {op.precision, 8, 2}});
    put("RBK.D_DAIN_RAM_TYPE", {{in.memory == CubeMemory::Primary, 0, 1}});
    put("RBK.D_DATAIN_SIZE_0", {{in.width - 1, 0, 13}, {in.height - 1, 16, 13}});
    put("RBK.D_DATAIN_SIZE_1", {{in.channels - 1, 0, 13}});
    wide("RBK.D_DAIN_ADDR_HIGH", "RBK.D_DAIN_ADDR_LOW", address(in, "source", 1));
    if (op.mode == kMerge) write("RBK.D_DAIN_PLANAR_STRIDE", in.plane_stride);
    else write("RBK.D_DAIN_SURF_STRIDE", in.surface_stride);
    write("RBK.D_DAIN_LINE_STRIDE", in.line_stride);
    put("RBK.D_DAOUT_RAM_TYPE", {{out.memory == CubeMemory::Primary, 0, 1}});
    put("RBK.D_DATAOUT_SIZE_1", {{out.channels - 1, 0, 13}});
    wide("RBK.D_DAOUT_ADDR_HIGH", "RBK.D_DAOUT_ADDR_LOW", address(out, "destination", 1));
    write("RBK.D_DAOUT_LINE_STRIDE", out.line_stride);
    if (op.mode == kSplit) write("RBK.D_DAOUT_PLANAR_STRIDE", out.plane_stride);
    else write("RBK.D_DAOUT_SURF_STRIDE", out.surface_stride);
    if (op.mode != kContract) return;
    write("RBK.D_CONTRACT_STRIDE_0", ceil_div(out.channels * element, 32u) * in.surface_stride);
    write("RBK.D_CONTRACT_STRIDE_1", std::uint64_t{op.stride_y} * out.line_stride);
    put("RBK.D_DECONV_STRIDE", {{op.stride_x - 1, 0, 5}, {op.stride_y - 1, 16, 5}});
}

}  // namespace dlasim::loadable
