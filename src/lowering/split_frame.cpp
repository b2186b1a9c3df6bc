#include "lowering/split_frame.h"

#include <algorithm>

namespace dlasim {

SplitFrame split_frame(const Pass& whole, const Hardware& hardware, const Partition& partition, bool by_kernels, const std::string& where)
{
    const bool winograd = whole.mode == PassMode::Winograd;
    Pass p = whole;
    p.compressed = {};
    if (by_kernels) p.kernels = 1;
    p.data_banks = p.weight_banks = 0;
    p.reuse = {};
    p.reuse.output_rows = winograd ? kTile : 1;
    p.reuse.total_lines = winograd ? 2 * kTile : std::min(p.height, p.span_y());
    const std::uint32_t out_height = (whole.height + whole.pad.top + whole.pad.bottom - whole.span_y()) / whole.stride.y + 1;
    if (winograd && hardware.winograd && out_height % kTile != 0)
        throw ConfigError(where,
                          "found an output of " + std::to_string(out_height) + " rows, expected multiples of 4: Winograd works on tiles");
    const Geometry geometry = size_pass(p, hardware, where);
    const CbufHardware& cbuf = hardware.cbuf;
    return {.pass = whole,
            .hw = hardware,
            .wish = partition,
            .by_kernels = by_kernels,
            .where = where + "/partition",
            .geometry = geometry,
            .out_height = out_height,
            .bank_depth = cbuf.bank_depth,
            .bank_bytes = std::uint64_t{cbuf.bank_depth} * cbuf.entry_bytes,
            .banks = std::uint64_t{cbuf.banks} - (whole.compressed.on ? 1 : 0),
            .line_entries = geometry.entries_per_slice * whole.batch};
}

std::uint64_t SplitFrame::weight_bytes(std::uint32_t kernels) const
{
    return round_up(geometry.kernel_bytes * kernels, std::uint64_t{hw.cbuf.entry_bytes});
}

}  // namespace dlasim
