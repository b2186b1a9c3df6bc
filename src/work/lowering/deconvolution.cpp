#include "lowering/deconvolution.h"

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"
#include "lowering/program/reshape_pass.h"

namespace dlasim {
namespace {

/// One direction of one phase.
struct Axis {
    Axis(std::uint32_t d, std::uint32_t stride, std::uint32_t kernel, std::uint32_t pad, std::uint32_t size, std::uint32_t out_size)
    {
        const std::uint32_t phase = (d + pad) % stride, count = kernel > phase ? ceil_div(kernel - phase, stride) : 1;
        taps = {count, std::int64_t{phase} + std::int64_t{stride} * (count - 1), -std::int64_t{stride}, kernel <= phase};
        const std::int64_t shift = (d + pad) / stride, out = ceil_div(out_size, stride);
        const std::int64_t first = shift - (std::int64_t{count} - 1), last = out - 1 + shift;  // columns that are read
        skipped = static_cast<std::uint32_t>(std::clamp<std::int64_t>(first, 0, std::int64_t{size} - 1));
        const std::int64_t end = std::clamp<std::int64_t>(last + 1, skipped + 1, size);
        used = static_cast<std::uint32_t>(end - skipped);
        before = static_cast<std::uint32_t>(std::max<std::int64_t>(0, skipped - first));
        after = static_cast<std::uint32_t>(std::max<std::int64_t>(0, last + 1 - end));
        reachable = first < size && last >= 0;
    }
    Taps taps;
    std::uint32_t skipped, used, before, after;  // of the input: not read, read; padding
    bool reachable;
};

bool strided(const Layer& l) { return l.stride.x > 1 || l.stride.y > 1; }

void check(const Layer& l, const Hardware& hw)
{
    const auto expect = [&](bool holds, const std::string& problem) {
        if (!holds) throw ConfigError(where_of(l), problem);
    };
    expect(l.dilation == Extent{}, "found a dilated deconvolution, expected dilation 1");
    expect(l.groups == 1, "found a deconvolution of " + std::to_string(l.groups) + " groups, expected 1");
    expect(!l.image() && l.mode != Mode::Winograd && !l.compressed, "found a deconvolution in another mode, expected plain feature data");
    expect(l.batch == 1, "found a deconvolution of batch " + std::to_string(l.batch) + ", expected 1");
    expect(!l.post.compares(), "found a comparison after a deconvolution, expected none: its status covers one pass only");
    const std::uint32_t line = ceil_div(l.out_width(), l.stride.x) * l.stride.x, most = longest_contracted_line(hw);
    expect(!strided(l) || line <= most,
           "found an output line of " + std::to_string(line) + " positions, expected at most " + std::to_string(most));
}

ShapedPass phase(const Layer& l, const Hardware& hw, const Pass& common, std::uint32_t dx, std::uint32_t dy)
{
    const Axis x(dx, l.stride.x, l.kernel_width, l.pad.left, l.width, l.out_width()),
        y(dy, l.stride.y, l.kernel_height, l.pad.top, l.height, l.out_height());
    if (!x.reachable || !y.reachable || x.before >= 32 || y.before >= 32 || x.after >= 64 || y.after >= 64)
        throw ConfigError(where_of(l), "found an output phase far outside of the input, expected paddings smaller than the kernel");
    ShapedPass shaped{.pass = common, .first = {dx, dy}, .step = l.stride, .kernels = {.x = x.taps, .y = y.taps}};
    Pass& p = shaped.pass;
    p.kernel_width = x.taps.count;
    p.kernel_height = y.taps.count;
    p.stride = {1, 1};
    p.pad = {x.before, x.after, y.before, y.after, 0};
    if (p.in_strides.line == 0) p.in_strides.line = std::uint64_t{l.width} * hw.memory.atom_bytes;
    if (p.in_strides.surface == 0) p.in_strides.surface = p.in_strides.line * l.height;
    p.width = x.used;
    p.height = y.used;
    if (x.used != l.width) p.lines_packed = false;  // lines of the input are longer than what is read of them
    // A single place is fetched as packed surfaces, which those of a larger input are not.
    if (x.used == 1 && y.used == 1 && (l.width > 1 || l.height > 1 || l.input_line != 0)) p.surfaces_packed = false;
    shaped.input_offset = y.skipped * p.in_strides.line + std::uint64_t{x.skipped} * hw.memory.atom_bytes;
    return shaped;
}

}  // namespace

std::vector<ShapedPass> phase_passes(const Layer& layer, const Hardware& hardware, const Pass& common)
{
    check(layer, hardware);
    std::vector<ShapedPass> phases;
    for (std::uint32_t dy = 0; dy < layer.stride.y; ++dy)
        for (std::uint32_t dx = 0; dx < layer.stride.x; ++dx) phases.push_back(phase(layer, hardware, common, dx, dy));
    return phases;
}

std::optional<Extent> sub_cube(const Layer& layer)
{
    if (!strided(layer)) return std::nullopt;
    return Extent{ceil_div(layer.out_width(), layer.stride.x), ceil_div(layer.out_height(), layer.stride.y)};
}

}  // namespace dlasim
