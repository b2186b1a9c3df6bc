// Registers of PDP, CDP and BDMA: loadable.md 6.3 to 6.5.
#include <fmt/format.h>

#include <algorithm>

#include "loadable/programmer.h"
#include "loadable/register_layout.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kMaxRepeats = 8192;  // lines and surfaces of a transfer

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
    RegisterLayout::pdp(*this, op, rdma, feature_address(out, "destination", op.precision));
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
    RegisterLayout::partial_in<struct reg::pdp_rdma::D_PARTIAL_WIDTH_IN>(*this, op);
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
    RegisterLayout::cdp_rdma(*this, op, feature_address(in, "source", op.precision));
    if (op.table >= 0) write_table("CDP", op.table, op.precision, reg::cdp::kLutTables);
    RegisterLayout::cdp(*this, op, feature_address(out, "destination", op.precision));
}

void Programmer::write(const BdmaOperation& op, bool)
{
    unit("BDMA");
    for (const Transfer& t : op.transfers) {
        check(t.line_bytes >= kBdmaUnit && t.line_bytes % kBdmaUnit == 0,
              fmt::format("copies lines of {} bytes, expected a multiple of {}", t.line_bytes, kBdmaUnit));
        check(t.lines >= 1 && t.lines <= kMaxRepeats && t.surfaces >= 1 && t.surfaces <= kMaxRepeats,
              fmt::format("copies {} lines of {} surfaces, expected 1 to {}", t.lines, t.surfaces, kMaxRepeats));
        if (nvidia_) read(reg::bdma::STATUS);  // whether a descriptor fits: 20 do
        const auto extent = [&](const Strides& by) { return by.surface * (t.surfaces - 1) + by.line * (t.lines - 1) + t.line_bytes; };
        const Address source =
            address(t.source, op.from_primary, 0, "source", extent({.line = t.source_line, .surface = t.source_surface}));
        RegisterLayout::transfer(*this, op, t, source,
                                 address(t.destination, op.to_primary, 0, "destination",
                                         extent({.line = t.destination_line, .surface = t.destination_surface})));
    }
}

}  // namespace dlasim::loadable
