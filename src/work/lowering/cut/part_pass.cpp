#include "lowering/cut/part_pass.h"

#include <algorithm>

#include "lowering/cut/strips.h"

namespace dlasim {

Fetch fetch_of(const Pass& pass, const RowPart& rows, std::uint32_t begin)
{
    if (pass.mode != PassMode::Winograd) return {begin, rows.end - begin, rows.pad_top, false};
    const std::int64_t first = std::int64_t{begin} * pass.stride.y - pass.pad.top,
                       last = std::int64_t{rows.end} * pass.stride.y - pass.pad.top;
    if (first >= pass.height) return {pass.height - 1, 1, static_cast<std::uint32_t>(last - first), true};
    const auto top = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -first)),
               line = static_cast<std::uint32_t>(std::max<std::int64_t>(0, first));
    if (last <= 0) return {0, 1, top, true};
    return {line, static_cast<std::uint32_t>(std::min<std::int64_t>(pass.height, last)) - line, top, false};
}

Pass part_pass(const Geometry& geometry, const Split& split, const Part& part)
{
    const Strip& strip = split.strip_of(part);
    const Pass& pass = strip.pass;
    Pass p = pass;
    const Fetch fetch = fetch_of(pass, part.rows, part.fetch_begin());
    const bool winograd = pass.mode == PassMode::Winograd;
    p.kernels = part.kernels.count;
    p.data_banks = split.data_banks;
    p.weight_banks = split.weight_banks;
    p.reuse = {part.reuse_data,     part.reuse_weights, part.keep_data,
               part.keep_weights,   fetch.lines,        part.rows.lines(),
               part.released_lines, part.rows.count,    winograd ? part.rows.end - part.fetch_begin() : 0};
    p.pad.top = fetch.pad_top;
    p.pad.bottom = part.rows.pad_bottom;
    // A single line of one pixel is fetched as packed surfaces, which those of a higher input are not.
    if (pass.width == 1 && pass.height > 1 && fetch.lines == 1) p.surfaces_packed = false;
    if (p.pool) p.pool = pool_of_rows(pass, part.rows.made_first, part.rows.made_count);
    p.out_strides = geometry.out_strides;
    p.out_strides.line *= strip.row_step;
    for (std::size_t i = 0; i < geometry.operands.size(); ++i) {
        p.operand_strides[i] = geometry.operands[i].strides;
        p.operand_strides[i].line *= strip.row_step;
    }
    return p;
}

Addresses part_addresses(const Addresses& all, const Geometry& geometry, const Strides& written, const Split& split, const Part& part,
                         std::uint32_t atom_bytes)
{
    const Strip& strip = split.strip_of(part);
    Addresses a = all;
    const std::uint64_t line = fetch_of(strip.pass, part.rows, part.fetch_begin()).line;
    a.input += strip.input_offset + line * (strip.pass.in_strides.line != 0 ? strip.pass.in_strides.line : geometry.in_strides.line);
    if (a.input_uv != Address{}) a.input_uv += strip.uv_offset + line * geometry.in_strides.uv_line;
    const std::uint64_t row = strip.row + std::uint64_t{part.rows.first} * strip.row_step;
    const std::uint64_t made_row = strip.pass.pool ? part.rows.made_first : row;
    a.output += made_row * written.line + std::uint64_t{strip.made_column} * atom_bytes;
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
        const OperandGeometry& o = geometry.operands[i];
        if (o.strides.line != 0) a.operands[i] += row * o.strides.line + strip.column * o.atoms * atom_bytes;
    }
    return a;
}

std::uint32_t fetched_lines(const Pass& pass, const Part& part)
{
    if (!part.fetches_data()) return 0;
    const Fetch fetch = fetch_of(pass, part.rows, part.fetch_begin());
    return fetch.only_padding ? 0 : fetch.lines;
}

}  // namespace dlasim
