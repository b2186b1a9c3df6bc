#include "lowering/cut/split_frame.h"

#include <algorithm>
#include <utility>

#include "lowering/cut/strips.h"

namespace dlasim {

namespace {

/// Of one row of output and one kernel.
Fit<Geometry> least_part(const Strip& strip, const Hardware& hardware, bool by_kernels)
{
    const bool winograd = strip.pass.mode == PassMode::Winograd;
    Pass p = strip.pass;
    p.compressed = {};
    if (by_kernels) p.kernels = 1;
    p.data_banks = p.weight_banks = 0;
    p.reuse = {};
    p.reuse.output_rows = winograd ? kTile : 1;
    p.reuse.total_lines = winograd ? 2 * kTile : std::min(p.height, p.span_y());
    return fits(p, hardware);
}

}  // namespace

Fit<SplitFrame> split_frame(const Pass& whole, std::vector<Strip> strips, const Hardware& hardware, const Partition& partition,
                            bool by_kernels, const std::string& where)
{
    const std::uint32_t out_height = strips.front().rows;
    if (whole.mode == PassMode::Winograd && hardware.winograd && out_height % kTile != 0)
        return {{}, "found an output of " + std::to_string(out_height) + " rows, expected multiples of 4: Winograd works on tiles"};
    std::optional<Geometry> first;
    std::vector<DataEntries> line_entries;
    line_entries.reserve(strips.size());
    for (const Strip& strip : strips) {
        Fit<Geometry> least = least_part(strip, hardware, by_kernels);
        if (!least) return {{}, std::move(least.problem)};
        if (strip.pass.pool)
            if (Fit<PoolGeometry> pooled = pooled_strip(strip, hardware); !pooled) return {{}, std::move(pooled.problem)};
        line_entries.emplace_back(least->entries_per_slice * whole.batch);
        if (!first) first = *least;
    }
    const CbufHardware& cbuf = hardware.cbuf;
    return {SplitFrame{.pass = whole,
                       .hw = hardware,
                       .wish = partition,
                       .by_kernels = by_kernels,
                       .where = where + "/partition",
                       .geometry = *first,
                       .strips = std::move(strips),
                       .bank_depth = cbuf.bank_depth,
                       .bank_bytes = std::uint64_t{cbuf.bank_depth} * cbuf.entry_bytes,
                       .banks = std::uint64_t{cbuf.banks} - (whole.compressed.on ? 1 : 0),
                       .line_entries = std::move(line_entries)}};
}

std::uint32_t SplitFrame::most_rows() const
{
    std::uint32_t rows = 0;
    for (const Strip& strip : strips) rows = std::max(rows, strip.made_rows);
    return rows;
}

std::uint64_t SplitFrame::weight_bytes(std::uint32_t kernels) const
{
    return round_up(geometry.kernel_bytes * kernels, std::uint64_t{hw.cbuf.entry_bytes});
}

}  // namespace dlasim
