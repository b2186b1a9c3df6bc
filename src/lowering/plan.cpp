#include "lowering/plan.h"

#include <algorithm>

#include "base/error.h"
#include "lowering/planner.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kRegion = 0x10000000;  // bytes of memory for input, weights, output and bias each
constexpr std::uint64_t kMaskBehindWeights = 0x8000000, kGroupSizesBehindWeights = 0xc000000;
constexpr std::uint8_t kUnwritten = 0xa5;      // what output memory holds before the run
constexpr std::uint32_t kRubikStatus = 1 << 8; // GLB bit of Rubik's first register group

std::uint64_t align_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b * b; }

}  // namespace

Planner::Planner(const Layer& layer, const Hardware& hw, const LayerTensors* tensors)
    : l_(layer), hw_(hw), t_(tensors), where_(layer.file.empty() ? layer.name : layer.file),
      base_{.input = layer.placement.input, .weights = layer.placement.weights, .mask = layer.placement.weights + kMaskBehindWeights,
            .group_sizes = layer.placement.weights + kGroupSizesBehindWeights, .output = layer.placement.output, .bias = layer.placement.bias}
{
}

void Planner::check_placement() const
{
    struct Area {
        const char* name;
        std::uint64_t begin, end;
    };
    std::vector<Area> areas;
    const auto add = [&](const char* name, std::uint64_t begin, std::uint64_t end) {
        if (end > begin) areas.push_back({name, begin, end});
    };
    add("input", base_.input, next_.input);
    add("weights", base_.weights, next_.weights);
    add("weight mask", base_.mask, next_.mask);
    add("group sizes", base_.group_sizes, next_.group_sizes);
    add("output", base_.output, next_.output);
    add("bias", base_.bias, next_.bias);
    std::sort(areas.begin(), areas.end(), [](const Area& a, const Area& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i + 1 < areas.size(); ++i)
        if (areas[i].end > areas[i + 1].begin)
            throw ConfigError(where_ + "/placement", std::string("the ") + areas[i].name + " at " + std::to_string(areas[i].begin) + " end at " +
                              std::to_string(areas[i].end) + " and overlap the " + areas[i + 1].name + " at " + std::to_string(areas[i + 1].begin) +
                              ", expected areas apart");
    if (!areas.empty() && areas.back().end > (std::uint64_t{1} << 32))
        throw ConfigError(where_ + "/placement", std::string("the ") + areas.back().name + " end at " + std::to_string(areas.back().end) +
                          ", expected all below 4 GiB");
}

Plan Planner::plan()
{
    plan_.method.winograd = l_.mode == Mode::Winograd;
    plan_.mode = l_.image() ? "image" : plan_.method.winograd ? "winograd" : "direct";
    if (l_.op == Op::Deconvolution) {
        deconvolve();
    } else {
        const std::uint32_t together = groups_together();
        for (std::uint32_t g = 0; g < l_.groups; g += together) add_group_pass(g, std::min(together, l_.groups - g));
    }
    check_placement();
    write_program();
    return std::move(plan_);
}

/// Small groups share a pass: their kernels are zero for each other's channels.
std::uint32_t Planner::groups_together() const
{
    const std::uint32_t c = std::max(1u, hw_.mac.atomic_c / (l_.channels / l_.groups));
    const std::uint32_t k = std::max(1u, hw_.kernel_group(l_.precision) / (l_.kernels / l_.groups));
    return std::min({c, k, l_.groups});
}

Pass Planner::common_pass() const
{
    Pass p;
    p.mode = l_.image() ? PassMode::Image : plan_.method.winograd ? PassMode::Winograd : PassMode::Direct;
    p.precision = l_.precision;
    p.width = l_.width;
    p.height = l_.height;
    p.channels = l_.channels;
    p.kernels = l_.kernels;
    p.batch = l_.batch;
    p.kernel_width = l_.kernel_width;
    p.kernel_height = l_.kernel_height;
    p.stride = l_.stride;
    p.dilation = l_.dilation;
    p.pad = l_.pad;
    p.format = l_.format;
    p.x_offset = l_.x_offset;
    p.signed_pixels = l_.signed_pixels;
    p.conversion = l_.conversion;
    p.transform_truncate = l_.precision == Precision::Fp16 ? 0 : l_.winograd_truncate;
    p.bias = l_.bias;
    p.bias_shift = l_.bias_shift;
    p.relu = l_.activation == Activation::Relu;
    p.output = l_.output;
    p.group = plan_.passes.size() % 2;
    p.compressed.on = l_.compressed;
    p.address = next_;
    return p;
}

void Planner::add_group_pass(std::uint32_t group, std::uint32_t count)
{
    PlannedPass planned;
    planned.kernels = l_.kernels / l_.groups * count;
    planned.first_kernel = l_.kernels / l_.groups * group;
    Pass& p = planned.pass = common_pass();
    p.channels = l_.channels / l_.groups * count;
    p.kernels = planned.kernels;
    if (p.mode == PassMode::Image) {
        refuse_defective_rows();
        p.y_extension = rows_at_once();
        plan_.method.image_rows = 1u << p.y_extension;
    }
    // Compression needs the stream, the stream the geometry of the uncompressed weights.
    Pass uncompressed = p;
    uncompressed.compressed = {};
    planned.geometry = size_pass(uncompressed, hw_, where_);
    place_input(planned, l_.channels / l_.groups * group);
    finish_pass(std::move(planned), t_ ? block_of_groups(group, count) : Tensor{});
}

void Planner::finish_pass(PlannedPass planned, const Tensor& weights)
{
    place_weights(planned, weights);
    planned.geometry = size_pass(planned.pass, hw_, where_);
    place_output(planned);
    planned.registers = register_writes(planned.pass, planned.geometry, hw_);
    plan_.macs += planned.geometry.macs;
    plan_.passes.push_back(std::move(planned));
}

/// [spec] csc.md 6, point 10: with three slices or more these rows are summed wrongly in silicon.
void Planner::refuse_defective_rows() const
{
    const std::uint32_t row = l_.kernel_width * l_.channels, c = hw_.mac.atomic_c;
    if (!hw_.full() && row > 2 * c && (row - 1) % c == 0)
        throw ConfigError(where_, "found a kernel row of " + std::to_string(row) + " elements, expected none of n * " + std::to_string(c) +
                                      " + 1 elements: the silicon computes it wrongly");
}

/// Channel post-extension: two or four kernel rows in one operation where a row is short enough.
std::uint32_t Planner::rows_at_once() const
{
    const std::uint32_t row = l_.kernel_width * l_.channels;
    if (l_.rows_at_once > 1 && !hw_.full())
        throw ConfigError(where_, "found " + std::to_string(l_.rows_at_once) + " kernel rows at once, expected 1: " + hw_.name + " is given one");
    if (l_.rows_at_once != 0) return l_.rows_at_once / 2;  // size_pass refuses what does not fit
    if (!hw_.full()) return 0;
    if (row * 4 <= hw_.mac.atomic_c && l_.kernel_height >= 3) return 2;
    if (row * 2 <= hw_.mac.atomic_c && l_.kernel_height >= 2) return 1;
    return 0;
}

void Planner::add_image(const char* what, std::uint64_t address, Bytes bytes)
{
    if (t_) plan_.images.push_back({what, address, std::move(bytes)});
}

std::uint64_t Planner::reserve(std::uint64_t& next, std::uint64_t start, std::uint64_t bytes, const char* what)
{
    const std::uint64_t address = next;
    next += bytes;
    if (next - start > kRegion)
        throw ConfigError(where_, std::string(what) + " takes more than " + std::to_string(kRegion) + " bytes, expected less");
    return address;
}

void Planner::place_input(PlannedPass& planned, std::uint32_t first_channel)
{
    Pass& p = planned.pass;
    const Geometry& g = planned.geometry;
    if (p.mode == PassMode::Image) {
        const std::uint64_t uv = align_up(g.line_stride * p.height, 256);
        const std::uint64_t bytes = g.uv_line_stride != 0 ? uv + g.uv_line_stride * p.height : g.line_stride * p.height;
        p.address.input = reserve(next_.input, base_.input, align_up(bytes, 256), "the input");
        // The machine takes x_offset modulo the pixels of an atom: plane 1 has fewer, so its base moves on.
        const std::uint32_t pixels = hw_.memory.atom_bytes / (2 * p.format->plane_pixel_bytes);
        if (g.uv_line_stride != 0) p.address.input_uv = p.address.input + uv + std::uint64_t{p.x_offset / pixels} * hw_.memory.atom_bytes;
        if (t_) add_image("input", p.address.input, pixel_bytes(l_, t_->input, g, uv));
        return;
    }
    const Cube cube{g.line_stride, g.surface_stride, g.surface_stride * g.surfaces, hw_.memory.atom_bytes, p.element_bytes()};
    const std::uint64_t bytes = cube.batch_stride * p.batch;
    p.address.input = reserve(next_.input, base_.input, bytes, "the input");
    if (t_) add_image("input", p.address.input, feature_bytes(t_->input, first_channel, p.channels, cube, bytes));
}

/// The kernels of `count` groups as one block: zero where a kernel meets another group's channels.
Tensor Planner::block_of_groups(std::uint32_t group, std::uint32_t count) const
{
    if (l_.groups == 1) return t_->weights;
    const std::uint32_t c = l_.channels / l_.groups, k = l_.kernels / l_.groups;
    Tensor block(k * count, c * count, l_.kernel_height, l_.kernel_width);
    for (std::uint32_t ik = 0; ik < block.n; ++ik)
        for (std::uint32_t ic = 0; ic < c; ++ic)
            for (std::uint32_t r = 0; r < block.h; ++r)
                for (std::uint32_t s = 0; s < block.w; ++s) block.at(ik, ik / k * c + ic, r, s) = t_->weights.at(group * k + ik, ic, r, s);
    return block;
}

void Planner::place_weights(PlannedPass& planned, const Tensor& weights)
{
    Pass& p = planned.pass;
    const std::uint64_t bytes = planned.geometry.weight_bytes;
    p.address.weights = reserve(next_.weights, base_.weights, align_up(bytes, 256), "the weights");
    if (p.compressed.on && !hw_.weight_compression) size_pass(p, hw_, where_);  // refuses
    if (!t_) return;
    const std::vector<std::int16_t> stream = weight_stream(p, planned.geometry, hw_, weights);
    if (p.compressed.on) {
        CompressedWeights compressed = compress(p, planned.geometry, hw_, stream);
        p.compressed.weight_bytes = compressed.weights.size();
        p.compressed.mask_bytes = compressed.mask.size();
        p.address.mask = reserve(next_.mask, base_.mask, align_up(compressed.mask.size(), 256), "the weight mask");
        p.address.group_sizes = reserve(next_.group_sizes, base_.group_sizes, align_up(compressed.group_sizes.size(), 256), "the group sizes");
        add_image("weight mask", p.address.mask, std::move(compressed.mask));
        add_image("weight group sizes", p.address.group_sizes, std::move(compressed.group_sizes));
        add_image("weights", p.address.weights, std::move(compressed.weights));
    } else {
        Bytes memory = to_bytes(stream, p.element_bytes());
        memory.resize(bytes);
        add_image("weights", p.address.weights, std::move(memory));
    }
    if (!p.bias) return;
    const std::vector<std::int16_t> bias(t_->bias.begin() + planned.first_kernel, t_->bias.begin() + planned.first_kernel + planned.kernels);
    Bytes memory = to_bytes(bias, 2);
    // Operands are read a surface at a time.
    memory.resize(align_up(memory.size(), 4ull * hw_.memory.atom_bytes));
    p.address.bias = reserve(next_.bias, base_.bias, align_up(memory.size(), 256), "the bias");
    add_image("bias", p.address.bias, std::move(memory));
}

void Planner::place_output(PlannedPass& planned)
{
    const Geometry& g = planned.geometry;
    const std::uint64_t bytes = g.out_batch_stride * planned.pass.batch;
    const std::uint64_t address = planned.pass.address.output = reserve(next_.output, base_.output, bytes, "the output");
    add_image("output before the run", address, Bytes(bytes, kUnwritten));
    if (l_.op == Op::Deconvolution && (l_.stride.x > 1 || l_.stride.y > 1)) return;  // what Rubik makes of it counts
    const Cube cube{g.out_line_stride, g.out_surface_stride, g.out_batch_stride, hw_.memory.atom_bytes, g.out_element_bytes};
    plan_.outputs.push_back({address, bytes, cube, planned.first_kernel, planned.kernels});
}

std::uint32_t Planner::address_of(const std::string& name) const
{
    const std::size_t dot = name.find('.');
    const UnitRegisters* unit = find_unit(hw_.generation, name.substr(0, dot));
    return unit->base + unit->find(std::string_view(name).substr(dot + 1))->offset;
}
void Planner::write(const std::string& name, std::uint32_t value) { plan_.program.push_back(RegisterWrite{name, address_of(name), value}); }

/// [spec] programming.md 1: flush, then each pass into its register group; a group is written
/// again after the interrupt of the pass that used it. Rubik starts when all passes are done.
void Planner::write_program()
{
    const std::string flush = "CDMA.S_CBUF_FLUSH_STATUS";
    plan_.program.push_back(PollRegister{flush, address_of(flush), 1, 1});
    // SDP's interrupts only, it is the last to finish; and Rubik's where there is one.
    write("GLB.S_INTR_MASK", rubik_.empty() ? 0x3ffffc : 0x3ffffc & ~kRubikStatus);
    const std::size_t count = plan_.passes.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (i >= 2) plan_.program.push_back(WaitStatus{1u << (i % 2)});
        for (const RegisterValue& value : plan_.passes[i].registers.writes) write(value.name, value.value);
        for (const RegisterValue& value : plan_.passes[i].registers.enables) write(value.name, value.value);
        if (i == 0) plan_.program.push_back(MarkT0{});
    }
    if (count == 1) {
        plan_.program.push_back(WaitInterrupt{"SDP_0"});
    } else {
        for (std::size_t i = count - 2; i < count; ++i) plan_.program.push_back(WaitStatus{1u << (i % 2)});
    }
    if (rubik_.empty()) return;
    for (const RegisterValue& value : rubik_) write(value.name, value.value);
    plan_.program.push_back(WaitStatus{kRubikStatus});
}

Plan plan_layer(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors)
{
    return Planner(layer, hardware, &tensors).plan();
}

Plan plan_shape(const Layer& layer, const Hardware& hardware) { return Planner(layer, hardware, nullptr).plan(); }

Tensor collect_output(const Plan& plan, const Layer& layer, const ReadMemory& read)
{
    Tensor output(layer.batch, layer.kernels, layer.out_height(), layer.out_width());
    for (const OutputCube& part : plan.outputs)
        read_feature(read(part.address, part.bytes), part.cube, output, part.first_kernel, part.kernels);
    return output;
}

}  // namespace dlasim
