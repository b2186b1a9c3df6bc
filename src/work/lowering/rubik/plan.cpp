// Reshapes: the layout of their cubes, their bounds and their program.
#include "base/bits.h"
#include "lowering/transfer/transfer_planner.h"
#include "registers/interrupts.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxReshapedBytes = 1u << 27;  // of the input, of the output
constexpr std::uint32_t kAtom = 32;

/// Planes are feature data whose atoms hold one element.
Cube planes(std::uint64_t line, std::uint32_t height, std::uint32_t element_bytes)
{
    return {{.line = line, .surface = line * height}, element_bytes, element_bytes};
}

std::uint64_t bytes_of(const Cube& cube, std::uint64_t surfaces) { return cube.strides.surface * surfaces; }

ReshapeLayout lay_out(const Reshape& r)
{
    const std::uint32_t bytes = r.element_bytes(), per_atom = kAtom / bytes, surfaces = ceil_div(r.out_channels(), per_atom);
    const auto feature = [&](std::uint64_t width, std::uint64_t height) {
        Cube cube{{.line = width * kAtom, .surface = width * kAtom * height}, kAtom, bytes};
        cube.strides.batch = bytes_of(cube, surfaces);
        return cube;
    };
    ReshapeLayout layout;
    layout.padded_channels = surfaces * per_atom;
    layout.padded_width = round_up(r.width, per_atom);
    const Cube planar = planes(std::uint64_t{layout.padded_width} * bytes, r.height, bytes);
    layout.input = r.mode == Reshape::Mode::Merge ? planar : feature(r.width, r.height);
    layout.output = r.mode == Reshape::Mode::Split ? planar : feature(r.out_width(), r.out_height());
    layout.input_bytes = r.mode == Reshape::Mode::Merge ? bytes_of(planar, r.channels) : layout.input.strides.batch * r.sub_cubes();
    layout.output_bytes = r.mode == Reshape::Mode::Split ? bytes_of(planar, r.channels) : layout.output.strides.batch;
    return layout;
}

ReshapePass pass_of(const Reshape& r, const ReshapeLayout& layout)
{
    ReshapePass pass;
    pass.mode = r.mode;
    pass.precision = r.precision;
    pass.width = r.width;
    pass.height = r.height;
    pass.channels = pass.out_channels = r.out_channels();  // of a sub-cube
    pass.source = r.input;
    pass.target = r.output;
    pass.in.line = layout.input.strides.line;
    pass.out.line = layout.output.strides.line;
    (r.mode == Reshape::Mode::Merge ? pass.in.plane : pass.in.surface) = layout.input.strides.surface;
    (r.mode == Reshape::Mode::Split ? pass.out.plane : pass.out.surface) = layout.output.strides.surface;
    if (r.mode == Reshape::Mode::Contract) pass.cube = layout.input.strides.batch;
    pass.stride = r.stride;
    return pass;
}

/// What it costs for all columns of a line, given the cost of a block of some of them.
template <class Cost>
std::uint64_t over_columns(std::uint32_t width, std::uint32_t block, Cost cost)
{
    return width / block * std::uint64_t{cost(block)} + (width % block != 0 ? cost(width % block) : 0);
}

/// [spec] rubik.md 1.5 and 2.3: beats into and out of the register file, and a command before the beats of each write.
std::vector<UnitBound> bounds_of(const Reshape& r)
{
    const std::uint32_t bytes = r.element_bytes(), per_atom = kAtom / bytes;
    const std::uint64_t surfaces = ceil_div(r.out_channels(), per_atom), planes = r.out_channels();
    const auto plane_atoms = [&](std::uint32_t columns) { return ceil_div(columns * bytes, kAtom); };
    const auto in_planes = [&](std::uint32_t columns) { return ceil_div(plane_atoms(columns), 2u); };
    const auto in_atoms = [](std::uint32_t columns) { return ceil_div(columns, 2u); };
    std::uint64_t fill = 0, drain = 0, store = 0;
    if (r.mode == Reshape::Mode::Split) {
        fill = surfaces * r.height * over_columns(r.width, 64, in_atoms);
        drain = planes * r.height * over_columns(r.width, 64, in_planes);
        store = planes * r.height * over_columns(r.width, 64, [&](std::uint32_t columns) { return 1 + in_planes(columns); });
    } else if (r.mode == Reshape::Mode::Merge) {
        fill = planes * r.height * over_columns(r.width, 64, in_planes);
        drain = surfaces * r.height * over_columns(r.width, 64, in_atoms);
        store = surfaces * r.height * over_columns(r.width, 64, [&](std::uint32_t columns) { return 1 + in_atoms(columns); });
    } else {
        const std::uint64_t lines = surfaces * r.out_height();
        fill = lines * r.stride.x * over_columns(r.width, 8, in_atoms);
        drain = lines * r.width * over_columns(r.stride.x, 8, in_atoms);
        store = r.stride.x <= 8
                    ? lines * (1 + in_atoms(r.out_width()))
                    : lines * r.width * over_columns(r.stride.x, 8, [&](std::uint32_t columns) { return 1 + in_atoms(columns); });
    }
    return {{"rubik_fill", fill}, {"rubik_drain", drain}, {"rubik_store", store}};
}

}  // namespace

TransferPlan plan_reshape(const Transfer& transfer, const Hardware& hardware)
{
    check_unit("RBK", transfer, hardware);
    const Reshape& r = *transfer.reshape();
    TransferPlan plan;
    plan.layout = lay_out(r);
    place_cubes(plan, transfer, {.input = r.input, .output = r.output, .most_bytes = kMaxReshapedBytes}, hardware);
    plan.bounds = bounds_of(r);

    ProgramWriter program(hardware, plan.program);
    program.begin(reg::glb::kRubik.bits());
    program.write(reshape_writes(pass_of(r, plan.layout), 0, hardware));
    program.add(MarkT0{});
    program.add(WaitInterrupt{"RBK_0"});
    return plan;
}

}  // namespace dlasim
