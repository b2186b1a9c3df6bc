#include "lowering/shape.h"

#include <algorithm>

#include "base/error.h"
#include "facts/abilities.h"
#include "lowering/deconvolution.h"

namespace dlasim {
namespace {

struct ModeName {
    PassMode mode;
    const char* name;
};

constexpr std::uint32_t kMaxPadRight = 63;  // [spec] cdma.md 1.1

ModeName mode_of(const Layer& l)
{
    if (l.op == Op::Sdp) return {PassMode::Sdp, "sdp"};
    if (l.op == Op::Pool) return {PassMode::Pool, "pool"};
    if (l.image()) return {PassMode::Image, "image"};
    if (l.mode == Mode::Winograd) return {PassMode::Winograd, "winograd"};
    return {PassMode::Direct, "direct"};
}

/// [spec] pdp.md 1.4: PDP takes the cube of SDP surface by surface, line by line, as SDP's registers say it.
void check_pool(const Layer& l, const Hardware& hw)
{
    if (!l.pool) return;
    if (l.precision != Precision::Int8 && !facts::abilities(hw).words)
        throw ConfigError(where_of(l),
                          std::string("found ") + precision_name(l.precision) + ", expected int8: PDP of " + hw.name + " pools no other");
    if (l.op == Op::Pool) return;
    const auto refuse = [&](bool found, const char* what, const char* why) {
        if (found) throw ConfigError(where_of(l) + "/post/pool", std::string("found a pooling after ") + what + ", expected none: " + why);
    };
    refuse(l.batch != 1, "several batches", "SDP sends them alternating between pixels");
    refuse(l.mode == Mode::Winograd, "a Winograd convolution", "SDP sends four lines together");
    refuse(l.op == Op::Deconvolution, "a deconvolution", "its phases are merged in memory");
    refuse(l.post.compares(), "a comparison", "it has no output");
    refuse(l.output.precision != l.precision, "a conversion to another width", "SDP then sends other surfaces");
}

/// Columns of zeros to the right of a kernel of pixels, with which the silicon sums its rows as they are; none if there are none such.
std::uint32_t columns_of_zeros(const Layer& l, const Hardware& hw)
{
    const facts::Abilities can = facts::abilities(hw);
    const auto wrong = [&](std::uint32_t more) { return can.sums_wrongly((l.kernel_width + more) * l.channels, l.out_width()); };
    if (!wrong(0)) return 0;
    const std::uint32_t room = kMaxPadRight - std::min(kMaxPadRight, l.pad.right);
    for (std::uint32_t more = 1; more <= std::min(room, can.pixel_slice); ++more)
        if (!wrong(more)) return more;
    return 0;
}

/// Channel post-extension: two or four kernel rows in one operation where a row is short enough. As D_POST_Y_EXTENSION has it.
std::uint32_t rows_at_once(const Layer& l, const Hardware& hw)
{
    const std::uint32_t row = l.kernel_width * l.channels;
    if (l.rows_at_once != 0) return l.rows_at_once / 2;  // size_pass refuses what does not fit
    const std::uint32_t step = l.stride.x * l.channels;
    const auto fits = [&](std::uint32_t rows) { return std::max(row, step) * rows <= hw.mac.atomic_c; };
    if (fits(4) && l.kernel_height >= 3) return 2;
    if (fits(2) && l.kernel_height >= 2) return 1;
    return 0;
}

/// What every pass of the layer has in common.
Pass common_pass(const Layer& l, PassMode mode)
{
    Pass p;
    p.mode = mode;
    p.precision = l.precision;
    p.width = l.width;
    p.height = l.height;
    p.channels = l.channels;
    p.kernels = l.kernels;
    p.batch = l.batch;
    p.kernel_width = l.kernel_width;
    p.kernel_height = l.kernel_height;
    p.stride = l.stride;
    p.dilation = l.dilation;
    p.pad = l.pad;
    p.out_strides.surface = l.output_surface;
    p.in_strides.line = l.input_line;
    p.in_strides.surface = l.input_surface;
    p.lines_packed = l.input_line == 0;
    p.surfaces_packed = p.lines_packed || l.width != 1;  // a single place of lines that are apart is none of packed surfaces
    p.format = l.format;
    p.x_offset = l.x_offset;
    p.signed_pixels = l.signed_pixels;
    p.conversion = l.conversion;
    p.flush_nan = l.flush_nan;
    p.transform_truncate = l.precision == Precision::Fp16 ? 0 : l.winograd_truncate;
    p.input_precision = l.input_precision;
    p.post = l.post;
    p.output = l.output;
    if (l.op != Op::Pool) p.pool = l.pool;
    p.input_primary = l.placement.input.primary;
    p.weights_primary = l.placement.weights.primary;
    p.output_primary = l.placement.output.primary;
    for (std::size_t i = 0; i < p.operands_primary.size(); ++i) p.operands_primary[i] = l.placement.operands[i].primary;
    p.compressed.on = l.compressed;
    return p;
}

/// Small groups share a pass.
std::uint32_t groups_together(const Layer& l, const Hardware& hw)
{
    const std::uint32_t c = std::max(1u, hw.mac.atomic_c / (l.channels / l.groups));
    const std::uint32_t k = std::max(1u, hw.kernel_group(l.precision) / (l.kernels / l.groups));
    return std::min({c, k, l.groups});
}

/// Of stride 2 a line of the pass is a pair of lines, and none of them is read twice.
bool takes_pairs(const Layer& l) { return l.stride.y == 2; }
std::uint32_t lines_of_pass(const Layer& l) { return takes_pairs(l) ? ceil_div(l.height, 2u) : l.height; }

/// The line of the pass that the last tap of the last window reads.
std::uint32_t last_line(const Layer& l)
{
    return takes_pairs(l) ? l.out_height() - l.pad.top : (l.out_height() - 1) * l.stride.y + 1 - l.pad.top;
}

/// The kernel as two rows of an atom of the array, which is a line and the one below it: the first row alone, then the others; of pairs
/// of lines those that window and padding make neighbours.
///
///            pass    channels of a line     of the line below
///            row 0   row 0                  -
///            row 1   row 1                  row 2
///   pairs    row 0   row 0                  row 1                    with a line of padding above:   -        row 0
///            row 1   row 2                  -                                                        row 1    row 2
void take_two_rows(ShapedPass& shaped, const Layer& l, const Hardware& hw)
{
    Pass& p = shaped.pass;
    if (p.in_strides.line == 0) p.in_strides.line = std::uint64_t{l.width} * hw.memory.atom_bytes;
    shaped.input_bytes = l.input_surface != 0 ? l.input_surface : p.in_strides.line * l.height;
    p.in_strides.surface = p.in_strides.line;
    shaped.kernels.second_row = hw.memory.atom_bytes;
    shaped.kernels.y = {.count = 2};
    p.channels = 2 * hw.memory.atom_bytes;
    p.kernel_height = 2;
    p.height = std::min(lines_of_pass(l), last_line(l) + 1);
    if (takes_pairs(l)) {
        shaped.kernels.y = {.count = 2, .first = -std::int64_t{l.pad.top}, .step = 2};
        p.stride.y = 1;
        p.in_strides.line *= 2;
        p.lines_packed = false;
        p.surfaces_packed = l.width != 1;
    }
    p.pad.bottom = last_line(l) + 1 - p.height;
}

std::vector<ShapedPass> group_passes(const Layer& l, const Hardware& hw, Pass common)
{
    std::uint32_t zeros = 0;
    if (common.mode == PassMode::Image) {
        common.y_extension = rows_at_once(l, hw);
        zeros = columns_of_zeros(l, hw);
        common.kernel_width += zeros;
        common.pad.right += zeros;
    }
    const std::uint32_t together = groups_together(l, hw), channels = l.channels / l.groups, kernels = l.kernels / l.groups;
    std::vector<ShapedPass> passes;
    for (std::uint32_t group = 0; group < l.groups; group += together) {
        const std::uint32_t count = std::min(together, l.groups - group);
        ShapedPass pass{.pass = common, .first_channel = channels * group, .first_kernel = kernels * group};
        pass.pass.channels = channels * count;
        pass.pass.kernels = kernels * count;
        pass.kernels = {count, {.count = common.kernel_width}, {.count = l.kernel_height}};
        pass.input = passes.size();
        if (l.two_kernel_rows) take_two_rows(pass, l, hw);
        pass.pass.alike = ceil_div(l.groups, together);
        passes.push_back(pass);
    }
    return passes;
}

}  // namespace

bool takes_two_rows(const Layer& l, const Hardware& hw)
{
    const bool depthwise = l.op == Op::Convolution && l.groups == l.channels && l.kernels == l.channels && l.groups > 1;
    const bool bytes = l.precision == Precision::Int8 && l.stored_precision() == Precision::Int8 && !l.compressed && !l.image();
    return depthwise && bytes && l.mode != Mode::Winograd && l.batch == 1 && l.kernel_height == 3 && l.dilation.y == 1 && l.height > 2 &&
           l.pad.top <= 1 && l.pad.bottom <= 1 && hw.mac.atomic_c == 2 * hw.memory.atom_bytes &&
           groups_together(l, hw) == std::min(l.groups, hw.memory.atom_bytes);
}

bool second_rows_inside(const Layer& l)
{
    if (takes_pairs(l)) return 2 * std::min(last_line(l), lines_of_pass(l) - 1) + 1 < l.height;
    return last_line(l) + 1 < l.height;
}

Shape shape_of(const Layer& layer, const Hardware& hardware)
{
    check_pool(layer, hardware);
    const auto [mode, name] = mode_of(layer);
    const Pass common = common_pass(layer, mode);
    if (!layer.convolves()) return {name, {}, {{.pass = common}}, std::nullopt};
    const bool winograd = layer.mode == Mode::Winograd;
    if (layer.op == Op::Deconvolution)
        return {name, {winograd, 1, hardware.mac.atomic_c}, phase_passes(layer, hardware, common), sub_cube(layer)};
    std::vector<ShapedPass> passes = group_passes(layer, hardware, common);
    const Method method{winograd, 1u << passes.front().pass.y_extension, hardware.mac.atomic_c};
    return {name, method, std::move(passes), std::nullopt};
}

}  // namespace dlasim
