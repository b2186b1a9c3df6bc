#include "lowering/cut/strips.h"

#include <algorithm>
#include <numeric>

#include "base/bits.h"

namespace dlasim {
namespace {

/// Rows of a strip, and the lines that they read.
struct Phase {
    std::uint32_t row = 0, step = 1, rows = 0;         // of the output
    std::uint32_t line = 0, line_step = 1, lines = 0;  // of the input
    std::uint32_t pad = 0, stride = 1, dilation = 1;
};

/// Columns of a strip, and those that they read.
struct Columns {
    std::uint32_t made = 0, made_count = 0;  // of what is written
    TouchedElements output;                  // that these need
    std::uint32_t begin = 0, end = 0;        // of the input
    std::uint32_t left = 0, right = 0;       // padding
};

Phase phase_of(const Pass& p, std::uint32_t number, std::uint32_t phases)
{
    const std::uint32_t s = p.stride.y, d = p.dilation.y;
    Phase phase;
    phase.row = number;
    phase.step = phases;
    phase.rows = ceil_div(output_rows(p) - number, phases);
    phase.line_step = d;
    phase.stride = s * phases / d;
    const std::int64_t first = std::int64_t{number} * s - p.pad.top, rest = (first % d + d) % d;
    const std::int64_t line = first >= 0 ? first : rest;
    if (line >= p.height) {
        // Nothing but padding: all windows above a line that none of them reads.
        phase.lines = 1;
        phase.pad = (phase.rows - 1) * phase.stride + p.kernel_height;
        return phase;
    }
    phase.line = static_cast<std::uint32_t>(line);
    phase.lines = ceil_div(p.height - phase.line, d);
    phase.pad = static_cast<std::uint32_t>((line - first) / d);
    return phase;
}

std::vector<Phase> phases_of(const Pass& p, bool phases)
{
    if (!phases || p.kernel_height == 1 || p.dilation.y == 1)
        return {{0, 1, output_rows(p), 0, 1, p.height, p.pad.top, p.stride.y, p.dilation.y}};
    const std::uint32_t count = p.dilation.y / std::gcd(p.dilation.y, p.stride.y);
    std::vector<Phase> all;
    for (std::uint32_t number = 0; number < std::min(count, output_rows(p)); ++number) all.push_back(phase_of(p, number, count));
    return all;
}

std::optional<std::vector<Columns>> columns_of(const Pass& p, std::uint32_t most)
{
    const std::uint32_t made = made_columns(p), width = output_columns(p), span = (p.kernel_width - 1) * p.dilation.x + 1;
    std::vector<Columns> all;
    for (std::uint32_t first = 0; first < made; first += most) {
        const std::uint32_t count = std::min(most, made - first);
        const TouchedElements output = p.pool ? touched_elements(p.pool->x, width, first, count) : TouchedElements{first, first + count};
        if (output.count() == width) return {{{0, made, output, 0, p.width, p.pad.left, p.pad.right}}};
        if (output.count() == 0) return {};
        const std::int64_t from = std::int64_t{output.begin} * p.stride.x - p.pad.left,
                           to = from + std::int64_t{output.count() - 1} * p.stride.x + span;
        const std::int64_t begin = std::max<std::int64_t>(0, from), end = std::min<std::int64_t>(p.width, to);
        if (begin >= end) return {};
        all.push_back({first, count, output, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                       static_cast<std::uint32_t>(begin - from), static_cast<std::uint32_t>(to - end)});
    }
    return all;
}

/// Of windows that touch these elements and no others.
PoolAxis axis_of(const PoolAxis& axis, const TouchedElements& touched) { return {axis.kernel, axis.stride, touched.before, touched.after}; }

Strip strip_of(const Pass& p, const Phase& phase, const Columns& columns, const InputStrides& whole, std::uint32_t atom)
{
    Strip strip{p, columns.output.begin, phase.row, phase.step, columns.output.count(), phase.rows};
    strip.made_column = columns.made;
    strip.made_columns = columns.made_count;
    strip.input_column = columns.begin;
    strip.made_rows = p.pool ? made_rows(p) : phase.rows;
    Pass& s = strip.pass;
    if (s.pool) s.pool->x = axis_of(s.pool->x, columns.output);
    s.width = columns.end - columns.begin;
    s.height = phase.lines;
    s.stride.y = phase.stride;
    s.dilation.y = phase.dilation;
    const std::uint32_t needed = (phase.rows - 1) * s.stride.y + s.span_y();
    s.pad = {columns.left, columns.right, phase.pad, needed - std::min(needed, phase.pad + phase.lines), p.pad.value};
    s.in_strides = {{.line = whole.line * phase.line_step, .surface = whole.surface}, whole.uv_line * phase.line_step};
    // Lines are apart; and a single pixel is none of packed surfaces.
    s.lines_packed = false;
    s.surfaces_packed = s.width != 1;
    strip.input_offset = phase.line * whole.line;
    if (p.mode != PassMode::Image) {
        strip.input_offset += std::uint64_t{columns.begin} * atom;
        return strip;
    }
    const std::uint32_t bytes = p.format->plane_pixel_bytes, x = p.x_offset + columns.begin;
    const std::uint32_t pixels = atom / bytes, uv_pixels = std::max(1u, atom / (2 * bytes));
    s.x_offset = x % pixels;
    strip.input_offset += std::uint64_t{x / pixels} * atom;
    strip.uv_offset = phase.line * whole.uv_line + std::uint64_t{x / uv_pixels - p.x_offset / uv_pixels} * atom;
    return strip;
}

}  // namespace

std::uint32_t output_columns(const Pass& p)
{
    return (p.width + p.pad.left + p.pad.right - ((p.kernel_width - 1) * p.dilation.x + 1)) / p.stride.x + 1;
}

std::uint32_t output_rows(const Pass& p) { return (p.height + p.pad.top + p.pad.bottom - p.span_y()) / p.stride.y + 1; }

std::uint32_t made_columns(const Pass& p) { return p.pool ? p.pool->x.outputs(output_columns(p), p.pool->ceil) : output_columns(p); }

std::uint32_t made_rows(const Pass& p) { return p.pool ? p.pool->y.outputs(output_rows(p), p.pool->ceil) : output_rows(p); }

TouchedElements needed_rows(const Pass& p, std::uint32_t first, std::uint32_t count)
{
    return p.pool ? touched_elements(p.pool->y, output_rows(p), first, count) : TouchedElements{first, first + count};
}

Pool pool_of_rows(const Pass& p, std::uint32_t first, std::uint32_t count)
{
    Pool pool = *p.pool;
    pool.y = axis_of(pool.y, needed_rows(p, first, count));
    pool.ceil = false;
    return pool;
}

Fit<PoolGeometry> pooled_as_it_is(const Pass& p, const Hardware& hardware)
{
    const CubeSize made{.width = output_columns(p), .height = output_rows(p), .channels = p.kernels};
    return size_pool(*p.pool, made, p.output.precision, true, hardware);
}

Fit<PoolGeometry> pooled_strip(const Strip& strip, const Hardware& hardware)
{
    const Pass& p = strip.pass;
    const CubeSize made{.width = strip.columns, .height = needed_rows(p, 0, strip.made_rows).count(), .channels = p.kernels};
    return size_pool(pool_of_rows(p, 0, strip.made_rows), made, p.output.precision, true, hardware);
}

std::vector<Strip> one_strip(const Pass& pass)
{
    Strip strip{pass, 0, 0, 1, output_columns(pass), output_rows(pass)};
    strip.made_columns = made_columns(pass);
    strip.made_rows = made_rows(pass);
    if (pass.pool) strip.pass.pool->x = axis_of(pass.pool->x, touched_elements(pass.pool->x, strip.columns, 0, strip.made_columns));
    return {strip};
}

std::optional<std::vector<Strip>> cut_strips(const Pass& pass, const Hardware& hardware, std::uint32_t most_columns, bool phases)
{
    if (pass.pool && phases) return {};  // a window takes rows of several
    const std::vector<Phase> rows = phases_of(pass, phases);
    const std::optional<std::vector<Columns>> columns = columns_of(pass, most_columns);
    if (!columns) return {};
    if (rows.size() == 1 && columns->front().output.count() == output_columns(pass)) return one_strip(pass);
    if (pass.mode == PassMode::Winograd) return {};
    const InputStrides whole = input_strides(pass, hardware);
    std::vector<Strip> strips;
    for (const Columns& c : *columns)
        for (const Phase& r : rows) strips.push_back(strip_of(pass, r, c, whole, hardware.memory.atom_bytes));
    return strips;
}

}  // namespace dlasim
