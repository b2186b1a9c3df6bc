// Registers of PDP, CDP and BDMA: loadable.md 6.3 to 6.5.
#include <fmt/format.h>

#include <algorithm>

#include "base/bits.h"
#include "loadable/programmer.h"
#include "registers/fields/bdma.h"
#include "registers/fields/pdp.h"

namespace dlasim::loadable {
namespace {

// 1 / n of a pooling kernel, n = 1 to 8: with 16 fraction bits, and as a float of 17 bits, cut off. loadable.md 6.3.
constexpr std::uint32_t kReciprocal[] = {0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2aaa, 0x2492, 0x2000};
constexpr std::uint32_t kReciprocalFp16[] = {0x7c00, 0x7800, 0x7555, 0x7400, 0x7266, 0x7155, 0x7092, 0x7000};
constexpr std::uint32_t kBdmaUnit = 32;      // bytes that BDMA counts lines in
constexpr std::uint32_t kMaxRepeats = 8192;  // lines and surfaces of a transfer

/// Minus one; 0 stays 0.
std::int64_t less_one_or_zero(std::uint32_t value) { return std::int64_t{std::max(value, 1u)} - 1; }

}  // namespace

void Programmer::write(const PdpOperation& op, bool rdma)
{
    const Cube &in = op.source, &out = op.destination;
    check_precision(op.precision);
    check_size(in, "source");
    check_size(out, "destination");
    check(!out.on_the_fly(), "sends its output to another unit, expected memory");
    check(op.method <= 2, fmt::format("has method {}, expected 0 (average), 1 (max) or 2 (min)", op.method));
    check(op.kernel_width < 8 && op.kernel_height < 8,
          fmt::format("has a kernel of {} x {}, expected 8 x 8 at most", op.kernel_width + 1, op.kernel_height + 1));
    check(op.stride_x >= 1 && op.stride_x <= 8 && op.stride_y >= 1 && op.stride_y <= 8,
          fmt::format("has strides {} and {}, expected 1 to 8", op.stride_x, op.stride_y));
    check(op.splits >= 1 && op.splits <= 64, fmt::format("is split into {}, expected 1 to 64", op.splits));
    check(rdma || op.splits == 1, "is split, but reads from SDP, which is impossible");
    if (op.precision == 2)
        for (const std::int32_t value : op.pad_values) check(value == 0, fmt::format("pads fp16 with {}, expected 0", value));
    if (rdma) write_pdp_rdma(op);
    using namespace reg::pdp;
    unit("PDP");
    put(D_DATA_CUBE_IN_WIDTH, in.width - 1);
    put(D_DATA_CUBE_IN_HEIGHT, in.height - 1);
    put(D_DATA_CUBE_IN_CHANNEL, in.channels - 1);
    put(D_DATA_CUBE_OUT_WIDTH, out.width - 1);
    put(D_DATA_CUBE_OUT_HEIGHT, out.height - 1);
    put(D_DATA_CUBE_OUT_CHANNEL, out.channels - 1);
    put({D_OPERATION_MODE_CFG::POOLING_METHOD(op.method), D_OPERATION_MODE_CFG::FLYING_MODE(!in.on_the_fly()),
         D_OPERATION_MODE_CFG::SPLIT_NUM(op.splits - 1)});
    put({D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_FIRST(less_one_or_zero(op.partial_in[0])),
         D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_LAST(less_one_or_zero(op.partial_in[2])),
         D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_MID(less_one_or_zero(op.partial_in[1]))});
    put({D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_FIRST(less_one_or_zero(op.partial_out[0])),
         D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_LAST(less_one_or_zero(op.partial_out[2])),
         D_PARTIAL_WIDTH_OUT::PARTIAL_WIDTH_OUT_MID(less_one_or_zero(op.partial_out[1]))});
    put({D_POOLING_KERNEL_CFG::KERNEL_WIDTH(op.kernel_width), D_POOLING_KERNEL_CFG::KERNEL_HEIGHT(op.kernel_height),
         D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH(op.stride_x - 1), D_POOLING_KERNEL_CFG::KERNEL_STRIDE_HEIGHT(op.stride_y - 1)});
    const auto& reciprocal = op.precision == 2 ? kReciprocalFp16 : kReciprocal;
    put(D_RECIP_KERNEL_WIDTH, reciprocal[op.kernel_width]);
    put(D_RECIP_KERNEL_HEIGHT, reciprocal[op.kernel_height]);
    put({D_POOLING_PADDING_CFG::PAD_LEFT(op.pad_left), D_POOLING_PADDING_CFG::PAD_RIGHT(op.pad_right),
         D_POOLING_PADDING_CFG::PAD_TOP(op.pad_top), D_POOLING_PADDING_CFG::PAD_BOTTOM(op.pad_bottom)});
    constexpr std::uint32_t kNext = D_POOLING_PADDING_VALUE_2_CFG - D_POOLING_PADDING_VALUE_1_CFG;
    for (std::uint32_t i = 0; i < op.pad_values.size(); ++i)
        put(reg::Register{D_POOLING_PADDING_VALUE_1_CFG + i * kNext}, static_cast<std::uint32_t>(op.pad_values[i]));
    if (rdma) {
        put(D_SRC_LINE_STRIDE, in.line_stride);
        put(D_SRC_SURFACE_STRIDE, in.surface_stride);
    }
    wide_low(D_DST_BASE_ADDR_LOW, D_DST_BASE_ADDR_HIGH, feature_address(out, "destination", op.precision));
    put(D_DST_LINE_STRIDE, out.line_stride);
    put(D_DST_SURFACE_STRIDE, out.surface_stride);
    put(D_DST_RAM_CFG::DST_RAM_TYPE(out.memory == CubeMemory::Primary));
    put(D_DATA_FORMAT::INPUT_DATA(op.precision));
}

void Programmer::write_pdp_rdma(const PdpOperation& op)
{
    using namespace reg::pdp_rdma;
    const Cube& in = op.source;
    unit("PDP_RDMA");
    put(D_DATA_CUBE_IN_WIDTH, in.width - 1);
    put(D_DATA_CUBE_IN_HEIGHT, in.height - 1);
    put(D_DATA_CUBE_IN_CHANNEL, in.channels - 1);
    if (!nvidia_) put(D_FLYING_MODE, 1);
    wide(D_SRC_BASE_ADDR_HIGH, D_SRC_BASE_ADDR_LOW, feature_address(in, "source", op.precision));
    put(D_SRC_LINE_STRIDE, in.line_stride);
    put(D_SRC_SURFACE_STRIDE, in.surface_stride);
    put(D_DATA_FORMAT::INPUT_DATA(op.precision));
    put(D_SRC_RAM_CFG::SRC_RAM_TYPE(in.memory == CubeMemory::Primary));
    put(D_OPERATION_MODE_CFG::SPLIT_NUM(op.splits - 1));
    put({D_POOLING_KERNEL_CFG::KERNEL_WIDTH(op.kernel_width), D_POOLING_KERNEL_CFG::KERNEL_STRIDE_WIDTH(op.stride_x - 1)});
    put(D_POOLING_PADDING_CFG::PAD_WIDTH(op.pad_left));
    put({D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_FIRST(less_one_or_zero(op.partial_in[0])),
         D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_LAST(less_one_or_zero(op.partial_in[2])),
         D_PARTIAL_WIDTH_IN::PARTIAL_WIDTH_IN_MID(less_one_or_zero(op.partial_in[1]))});
}

void Programmer::write(const CdpOperation& op, bool)
{
    const Cube &in = op.source, &out = op.destination;
    check_precision(op.input_precision);
    check(op.input_precision == op.precision,
          fmt::format("reads precision {} and writes {}, expected the same", op.input_precision, op.precision));
    check_size(in, "source");
    check_size(out, "destination");
    check(op.window == 3 || op.window == 5 || op.window == 7 || op.window == 9,
          fmt::format("has a window of {}, expected 3, 5, 7 or 9", op.window));
    write_cdp_rdma(op);
    if (op.table >= 0) write_table("CDP", op.table, op.precision, reg::cdp::kLutTables);
    using namespace reg::cdp;
    unit("CDP");
    wide_low(D_DST_BASE_ADDR_LOW, D_DST_BASE_ADDR_HIGH, feature_address(out, "destination", op.precision));
    put(D_DST_LINE_STRIDE, out.line_stride);
    put(D_DST_SURFACE_STRIDE, out.surface_stride);
    put(D_DST_DMA_CFG::DST_RAM_TYPE(out.memory == CubeMemory::Primary));
    put(D_DATA_FORMAT::INPUT_DATA_TYPE(op.precision));
    put(D_LRN_CFG::NORMALZ_LEN((op.window - 1) / 2 - 1));
    put(D_DATIN_OFFSET::DATIN_OFFSET(op.input_converter.offset));
    put(D_DATIN_SCALE::DATIN_SCALE(op.input_converter.scale));
    put(D_DATIN_SHIFTER::DATIN_SHIFTER(op.input_converter.truncate));
    put(D_DATOUT_OFFSET, static_cast<std::uint32_t>(op.output_converter.offset));
    put(D_DATOUT_SCALE::DATOUT_SCALE(op.output_converter.scale));
    put(D_DATOUT_SHIFTER::DATOUT_SHIFTER(op.output_converter.truncate));
    put({D_FUNC_BYPASS::SQSUM_BYPASS(op.bypass_square_sum != 0), D_FUNC_BYPASS::MUL_BYPASS(op.bypass_multiplier != 0)});
}

void Programmer::write_cdp_rdma(const CdpOperation& op)
{
    using namespace reg::cdp_rdma;
    const Cube& in = op.source;
    unit("CDP_RDMA");
    put(D_DATA_CUBE_WIDTH, in.width - 1);
    put(D_DATA_CUBE_HEIGHT, in.height - 1);
    put(D_DATA_CUBE_CHANNEL, in.channels - 1);
    wide_low(D_SRC_BASE_ADDR_LOW, D_SRC_BASE_ADDR_HIGH, feature_address(in, "source", op.precision));
    put(D_SRC_LINE_STRIDE, in.line_stride);
    put(D_SRC_SURFACE_STRIDE, in.surface_stride);
    put(D_SRC_DMA_CFG::SRC_RAM_TYPE(in.memory == CubeMemory::Primary));
    put(D_DATA_FORMAT::INPUT_DATA(op.precision));
}

void Programmer::write(const BdmaOperation& op, bool)
{
    using namespace reg::bdma;
    unit("BDMA");
    for (const Transfer& t : op.transfers) {
        check(t.line_bytes >= kBdmaUnit && t.line_bytes % kBdmaUnit == 0,
              fmt::format("copies lines of {} bytes, expected a multiple of {}", t.line_bytes, kBdmaUnit));
        check(t.lines >= 1 && t.lines <= kMaxRepeats && t.surfaces >= 1 && t.surfaces <= kMaxRepeats,
              fmt::format("copies {} lines of {} surfaces, expected 1 to {}", t.lines, t.surfaces, kMaxRepeats));
        if (nvidia_) read(STATUS);  // whether a descriptor fits: 20 do
        const auto extent = [&](const Strides& by) { return by.surface * (t.surfaces - 1) + by.line * (t.lines - 1) + t.line_bytes; };
        wide_low(CFG_SRC_ADDR_LOW, CFG_SRC_ADDR_HIGH,
                 address(t.source, op.from_primary, 0, "source", extent({.line = t.source_line, .surface = t.source_surface})));
        wide_low(CFG_DST_ADDR_LOW, CFG_DST_ADDR_HIGH,
                 address(t.destination, op.to_primary, 0, "destination",
                         extent({.line = t.destination_line, .surface = t.destination_surface})));
        put(CFG_LINE, t.line_bytes / kBdmaUnit - 1);
        put({CFG_CMD::SRC_RAM_TYPE(op.from_primary), CFG_CMD::DST_RAM_TYPE(op.to_primary)});
        put(CFG_LINE_REPEAT, t.lines - 1);
        put(CFG_SRC_LINE, t.source_line);
        put(CFG_DST_LINE, t.destination_line);
        put(CFG_SURF_REPEAT, t.surfaces - 1);
        put(CFG_SRC_SURF, t.source_surface);
        put(CFG_DST_SURF, t.destination_surface);
        put(CFG_OP, 1);
    }
}

}  // namespace dlasim::loadable
