#include "lowering/memory/interleave.h"

#include <algorithm>

#include "base/bits.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxChannels = 8192;  // [spec] sdp.md 1.3: D_DATA_CUBE_CHANNEL has 13 bits

/// Bytes from one to the next, of the cube of a copy; `step`: from copy to copy.
struct Steps {
    std::uint64_t line = 0, surface = 0, step = 0;
};
/// Copies of one phase: `count` of them; of the last one less is left where surfaces are lines.
struct Way {
    std::uint32_t count = 0;
    std::uint32_t width = 1, lines = 0, surfaces = 0;
    Steps in, out;
};

/// Where a copy begins.
struct Ends {
    Address source, target;
};

/// Of a single place neither reads nor writes look at the surface stride.
bool fits_registers(const Way& way) { return way.lines > 1 || way.width > 1 || way.surfaces == 1; }

std::vector<Way> ways_of(const ReshapePass& r, std::uint32_t atom, std::uint32_t surfaces)
{
    const std::uint64_t right = std::uint64_t{atom} * r.stride.x, down = r.out.line * r.stride.y;
    if (r.stride.x == 1) return {{1, r.width, r.height, surfaces, {r.in.line, r.in.surface, 0}, {down, r.out.surface, 0}}};
    return {{r.height, 1, r.width, surfaces, {atom, r.in.surface, r.in.line}, {right, r.out.surface, down}},
            {r.width, 1, r.height, surfaces, {r.in.line, r.in.surface, atom}, {down, r.out.surface, right}},
            {surfaces, 1, r.width, r.height, {atom, r.in.line, r.in.surface}, {right, down, r.out.surface}}};
}

/// Surfaces beyond what a cube can have are copies of their own.
std::uint32_t copies(const Way& way, std::uint32_t most) { return way.count * ceil_div(way.surfaces, most); }

Way best_way(const ReshapePass& r, std::uint32_t atom, std::uint32_t surfaces, std::uint32_t most)
{
    // Copying surface by surface is always possible.
    Way best{surfaces, 1, r.width, 1, {atom, 0, r.in.surface}, {std::uint64_t{atom} * r.stride.x, 0, r.out.surface}};
    bool found = false;
    for (const Way& way : ways_of(r, atom, surfaces))
        if (fits_registers(way) && (!found || copies(way, most) < copies(best, most))) {
            best = way;
            found = true;
        }
    return best;
}

/// Channels of a surface.
std::uint32_t per_atom(const ReshapePass& r, const Hardware& hw) { return hw.memory.atom_bytes / (r.precision == Precision::Int8 ? 1 : 2); }

Way way_of(const ReshapePass& r, const Hardware& hw)
{
    const std::uint32_t channels = per_atom(r, hw);
    return best_way(r, hw.memory.atom_bytes, ceil_div(r.channels, channels), kMaxChannels / channels);
}

PlannedPass copy_of(const ReshapePass& r, const Way& way, std::uint32_t surfaces, const Ends& at, const Hardware& hw)
{
    PlannedPass copy;
    Pass& p = copy.pass;
    p.mode = PassMode::Sdp;
    p.precision = p.output.precision = r.precision;
    p.width = way.width;
    p.height = way.lines;
    p.channels = p.kernels = surfaces * per_atom(r, hw);
    p.in_strides = {{.line = way.in.line, .surface = way.in.surface}, 0};
    p.out_strides = {.line = way.out.line, .surface = way.out.surface};
    p.input_primary = r.source.primary;
    p.output_primary = r.target.primary;
    copy.geometry = size_pass(p, hw, "a copy of a deconvolution's phase");
    copy.address.input = at.source;
    copy.address.output = at.target;
    copy.kernels = p.kernels;
    copy.rows = copy.fetched_lines = way.lines;
    return copy;
}

}  // namespace

std::vector<PlannedPass> interleaving_copies(const ReshapePass& r, const Hardware& hardware)
{
    const Way way = way_of(r, hardware);
    const std::uint32_t most = kMaxChannels / per_atom(r, hardware);
    std::vector<PlannedPass> all;
    for (std::uint32_t dy = 0; dy < r.stride.y; ++dy)
        for (std::uint32_t dx = 0; dx < r.stride.x; ++dx)
            for (std::uint32_t i = 0; i < way.count; ++i)
                for (std::uint32_t first = 0; first < way.surfaces; first += most) {
                    const std::uint64_t phase = std::uint64_t{dy} * r.stride.x + dx,
                                        column = std::uint64_t{dx} * hardware.memory.atom_bytes;
                    const Ends at{r.source.address + (phase * r.cube + i * way.in.step + first * way.in.surface),
                                  r.target.address + (dy * r.out.line + column + i * way.out.step + first * way.out.surface)};
                    all.push_back(copy_of(r, way, std::min(most, way.surfaces - first), at, hardware));
                }
    return all;
}

}  // namespace dlasim
