// Deconvolution: every phase of the stride is a small convolution of its own; Rubik's contraction
// interleaves their outputs. With stride 1 a single pass writes the output itself.
//
//   output x = m * stride + d     source column q - j, j = 0..taps - 1, kernel column phase + stride * j
//                                 where  phase = (d + pad) mod stride,  q = m + (d + pad) / stride
//
//   input ──► pass per (dy, dx) ──► sub-cubes, one after the other ──► Rubik contract ──► output cube
//
// Source  rubik.md 1.1 to 1.4; Deconvolution of the unit description.
#include <algorithm>

#include "base/error.h"
#include "lowering/planner.h"
#include "lowering/rubik_pass.h"

namespace dlasim {

/// One direction of one phase.
struct Planner::Axis {
    Axis(std::uint32_t d, std::uint32_t stride, std::uint32_t kernel, std::uint32_t pad, std::uint32_t size, std::uint32_t out_size)
        : place(d),
          phase((d + pad) % stride),
          step(stride),
          taps(kernel > phase ? (kernel - phase + stride - 1) / stride : 1),
          empty(kernel <= phase),
          out((out_size + stride - 1) / stride)
    {
        const std::int64_t shift = (d + pad) / stride;
        const std::int64_t first = shift - (std::int64_t{taps} - 1), last = std::int64_t{out} - 1 + shift;  // columns that are read
        skipped = static_cast<std::uint32_t>(std::clamp<std::int64_t>(first, 0, std::int64_t{size} - 1));
        const std::int64_t end = std::clamp<std::int64_t>(last + 1, skipped + 1, size);
        used = static_cast<std::uint32_t>(end - skipped);
        before = static_cast<std::uint32_t>(std::max<std::int64_t>(0, skipped - first));
        after = static_cast<std::uint32_t>(std::max<std::int64_t>(0, last + 1 - end));
        reachable = first < size && last >= 0;
    }
    std::uint32_t place, phase, step, taps;  // place: its first output among the layer's
    bool empty;                              // no tap of the kernel falls on this phase: the output is the bias
    std::uint32_t out;                       // outputs of a phase
    std::uint32_t skipped = 0, used = 0, before = 0, after = 0;
    bool reachable = true;
};

Pass Planner::phase_pass(const Axis& x, const Axis& y) const
{
    Pass p = common_pass();
    p.kernel_width = x.taps;
    p.kernel_height = y.taps;
    p.stride = p.dilation = {1, 1};
    p.pad = {x.before, x.after, y.before, y.after, 0};
    p.line_stride = l_.width * hw_.memory.atom_bytes;
    p.surface_stride = p.line_stride * l_.height;
    p.width = x.used;
    p.height = y.used;
    if (x.used != l_.width) p.packing = 0x10000;  // lines of the input are longer than what is read of them
    // A single place is fetched as packed surfaces, which those of a larger input are not.
    if (x.used == 1 && y.used == 1 && (l_.width > 1 || l_.height > 1)) p.packing &= 0xffff;
    p.address.input = input_address_ + std::uint64_t{y.skipped} * p.line_stride + std::uint64_t{x.skipped} * hw_.memory.atom_bytes;
    return p;
}

Tensor Planner::phase_weights(const Axis& x, const Axis& y) const
{
    Tensor weights(l_.kernels, l_.channels, y.taps, x.taps);
    if (x.empty || y.empty) return weights;
    for (std::uint32_t k = 0; k < weights.n; ++k)
        for (std::uint32_t c = 0; c < weights.c; ++c)
            for (std::uint32_t r = 0; r < y.taps; ++r)
                for (std::uint32_t s = 0; s < x.taps; ++s)
                    weights.at(k, c, r, s) = t_->weights.at(k, c, y.phase + y.step * (y.taps - 1 - r), x.phase + x.step * (x.taps - 1 - s));
    return weights;
}

void Planner::add_phase(const Axis& x, const Axis& y, const Split& split, std::uint32_t data_banks, std::uint32_t weight_banks)
{
    PlannedPass planned;
    planned.kernels = l_.kernels;
    planned.first = {x.place, y.place};
    planned.step = l_.stride;
    planned.pass = phase_pass(x, y);
    planned.pass.data_banks = data_banks;
    planned.pass.weight_banks = weight_banks;
    planned.geometry = size_parts(planned.pass, split);
    finish_parts(std::move(planned), split, t_ ? phase_weights(x, y) : Tensor{});
}

void Planner::deconvolve()
{
    const bool strided = l_.stride.x > 1 || l_.stride.y > 1;
    const auto expect = [&](bool holds, const std::string& problem) {
        if (!holds) throw ConfigError(where_, problem);
    };
    expect(!strided || hw_.rubik, "found a deconvolution of stride " + std::to_string(l_.stride.x) + " x " + std::to_string(l_.stride.y) +
                                      ", expected stride 1: " + hw_.name + " has no Rubik to interleave its phases");
    expect(l_.dilation == Extent{}, "found a dilated deconvolution, expected dilation 1");
    expect(l_.groups == 1, "found a deconvolution of " + std::to_string(l_.groups) + " groups, expected 1");
    expect(!l_.image() && !plan_.method.winograd && !l_.compressed, "found a deconvolution in another mode, expected plain feature data");
    expect(l_.batch == 1, "found a deconvolution of batch " + std::to_string(l_.batch) + ", expected 1");
    expect(!l_.post.compares(), "found a comparison behind a deconvolution, expected none: its status says one pass");

    std::vector<std::pair<Axis, Axis>> phases;
    for (std::uint32_t dy = 0; dy < l_.stride.y; ++dy)
        for (std::uint32_t dx = 0; dx < l_.stride.x; ++dx)
            phases.push_back({Axis(dx, l_.stride.x, l_.kernel_width, l_.pad.left, l_.width, l_.out_width()),
                              Axis(dy, l_.stride.y, l_.kernel_height, l_.pad.top, l_.height, l_.out_height())});
    // Constant banks: changing them between passes would drain the pipeline. Phases that are cut have their own.
    std::uint32_t data_banks = 0, weight_banks = 0;
    std::vector<Split> splits;
    for (const auto& [x, y] : phases) {
        expect(x.reachable && y.reachable && x.before < 32 && y.before < 32 && x.after < 64 && y.after < 64,
               "found an output phase far outside of the input, expected paddings smaller than the kernel");
        const Pass phase = phase_pass(x, y);
        splits.push_back(split(phase, false));
        if (!splits.back().whole()) continue;
        const Geometry g = size_pass(phase, hw_, where_);
        data_banks = std::max(data_banks, g.data_banks);
        weight_banks = std::max(weight_banks, g.weight_banks);
    }
    weight_banks = std::min(weight_banks, hw_.cbuf.banks - data_banks);

    PlannedPass whole;  // the input, once for all phases
    whole.pass = common_pass();
    whole.pass.kernel_width = whole.pass.kernel_height = 1;
    whole.pass.stride = {1, 1};
    whole.pass.pad = {};
    whole.pass.reuse.total_lines = 1;  // placed whole, fetched by the phases
    whole.geometry = size_pass(whole.pass, hw_, where_);
    place_input(whole, 0);
    input_address_ = whole.pass.address.input;
    for (std::size_t i = 0; i < phases.size(); ++i) add_phase(phases[i].first, phases[i].second, splits[i], data_banks, weight_banks);
    if (strided) contract(phases.front().first.out, phases.front().second.out);
}

/// [spec] rubik.md 1.2 to 1.4: sub-cube (dy, dx) stands at dy * stride x + dx cubes.
void Planner::contract(std::uint32_t width, std::uint32_t height)
{
    const Geometry& g = plan_.passes.front().geometry;
    const std::uint64_t atom = hw_.memory.atom_bytes, cube_bytes = g.out_batch_stride;
    const std::uint64_t line = std::uint64_t{width} * l_.stride.x * atom, surface = line * height * l_.stride.y;
    const std::uint64_t bytes = surface * g.out_surfaces;
    if (width * l_.stride.x > 8192)
        throw ConfigError(where_, "found an output line of " + std::to_string(width * l_.stride.x) + " places, expected at most 8192");
    const std::uint64_t source = plan_.passes.front().pass.address.output;
    const std::uint64_t target = reserve_output(bytes);
    RubikPass pass;
    pass.mode = RubikMode::Contract;
    pass.precision = g.out_element_bytes == 1 ? Precision::Int8 : Precision::Int16;
    pass.width = width;
    pass.height = height;
    pass.channels = pass.out_channels = l_.kernels;
    pass.source = {l_.placement.output.primary, source};
    pass.target = {l_.placement.output.primary, target};
    pass.in_line = g.out_line_stride;
    pass.in_surface = g.out_surface_stride;
    pass.out_line = line;
    pass.out_surface = surface;
    pass.cube = cube_bytes;
    pass.stride = l_.stride;
    rubik_ = rubik_writes(pass);
    plan_.copied_bytes = bytes;
    plan_.outputs.push_back({{l_.placement.output.primary, target},
                             bytes,
                             Cube{line, surface, bytes, hw_.memory.atom_bytes, g.out_element_bytes},
                             0,
                             l_.kernels});
}

}  // namespace dlasim
