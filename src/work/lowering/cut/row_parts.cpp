#include "lowering/cut/row_parts.h"

#include <algorithm>
#include <optional>

#include "lowering/cut/strips.h"

namespace dlasim {

std::vector<KernelPart> cut_kernels(const SplitFrame& frame, std::uint32_t most)
{
    const std::uint32_t kernels = frame.pass.kernels, group = frame.hw.kernel_group(frame.pass.precision);
    most = std::min(most, most_kernels(frame.pass, frame.hw));
    std::vector<KernelPart> parts;
    if (most < std::min(group, kernels) && !frame.wish.padded) {
        const std::uint32_t in_group = ceil_div(group, most);
        for (std::uint32_t i = 0, first = 0; first < kernels; ++i) {
            const std::uint32_t end = i / in_group * group + even_part(group, in_group, i % in_group + 1);
            parts.push_back({first, std::min(end, kernels) - first});
            first = end;
        }
        return parts;
    }
    for (std::uint32_t first = 0; first < kernels; first += most) parts.push_back({first, std::min(most, kernels - first)});
    return parts;
}

RowPart rows_of(const SplitFrame& frame, std::uint32_t strip, std::uint32_t first, std::uint32_t count)
{
    const Pass& p = frame.strips[strip].pass;
    const TouchedElements rows = needed_rows(p, first, count);
    RowPart part{strip, rows.begin, rows.count(), first, first + count + kTile, 0, p.pad.bottom, first, count};
    if (frame.winograd() || rows.count() == 0) return part;
    const std::int64_t from = std::int64_t{rows.begin} * p.stride.y - p.pad.top;
    const std::int64_t to = (std::int64_t{rows.end} - 1) * p.stride.y - p.pad.top + p.span_y();
    const std::int64_t height = p.height;
    if (from >= height) {
        // Below the input. CSC counts rows from the first line it has, so the window must be above one: all of it is padding.
        part.begin = p.height - 1;
        part.end = p.height;
        part.pad_top = static_cast<std::uint32_t>(to - from);
        part.pad_bottom = 0;
        return part;
    }
    part.begin = static_cast<std::uint32_t>(std::max<std::int64_t>(0, from));
    part.end = static_cast<std::uint32_t>(std::max<std::int64_t>(1, std::min(height, to)));
    part.pad_top = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -from));
    part.pad_bottom = static_cast<std::uint32_t>(std::max<std::int64_t>(0, to - height));
    return part;
}

bool programmable(const SplitFrame& frame, const RowPart& rows)
{
    return rows.lines() <= kMaxReleased && fetch_of(frame.strips[rows.strip].pass, rows, rows.begin).pad_top <= kMaxPadTop;
}

bool needs_two_rows(const SplitFrame& frame, const Strip& strip, const std::vector<KernelPart>& kernels)
{
    const Pass& p = frame.pass;
    const Geometry& g = frame.geometry;
    const std::uint32_t most = kernels.front().count, per_atom = frame.hw.memory.atom_bytes / p.element_bytes();
    const bool one_surface = most <= per_atom && g.out_element_bytes <= p.element_bytes();
    const bool together = p.batch == 1 || p.post.streams_elements();
    const bool alone = frame.strips.size() == 1 && strip.rows == 1;  // one place is all there is
    return strip.columns == 1 && !alone && together && !one_surface;
}

std::vector<RowPart> cut_rows(const SplitFrame& frame, std::uint32_t most_rows, DataEntries most_entries,
                              const std::vector<KernelPart>& kernels, std::size_t most_parts)
{
    std::vector<RowPart> parts;
    const std::vector<std::uint32_t>& listed = frame.wish.row_list;
    for (std::uint32_t strip = 0; strip < frame.strips.size(); ++strip) {
        const std::uint32_t rows = frame.strips[strip].made_rows;
        std::size_t number = 0;  // of the part in the strip
        const bool two = needs_two_rows(frame, frame.strips[strip], kernels);
        for (std::uint32_t first = 0; first < rows; first += parts.back().made_count) {
            std::optional<RowPart> part;
            const std::uint32_t left = rows - first, limit = listed.empty() ? most_rows : listed[std::min(number++, listed.size() - 1)];
            for (std::uint32_t count = frame.tile(); count <= std::min(limit, left); count += frame.tile()) {
                const RowPart longer = rows_of(frame, strip, first, count);
                if (frame.entries_of(longer) > most_entries || !programmable(frame, longer)) break;
                const bool alone = longer.count == 1 || (count < left && rows_of(frame, strip, first + count, left - count).count == 1);
                if (longer.count != 0 && !(two && alone)) part = longer;
            }
            if (!part || parts.size() == most_parts) return {};
            parts.push_back(*part);
        }
    }
    return parts;
}

}  // namespace dlasim
