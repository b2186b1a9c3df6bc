#include "lowering/plan.h"

#include <algorithm>

#include "base/error.h"
#include "lowering/planner.h"
#include "lowering/program_writer.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kRegion = 0x10000000;  // bytes of memory for input, weights, output and bias each
constexpr std::uint64_t kMaskBehindWeights = 0x8000000, kGroupSizesBehindWeights = 0xc000000;
constexpr std::uint8_t kUnwritten = 0xa5;  // what output memory holds before the run
constexpr std::uint32_t kEveryInterrupt = 0x3fffff;
constexpr unsigned kPdpStatusBit = 4;           // GLB bit of PDP's first register group
constexpr std::uint32_t kRubikStatus = 1 << 8;  // GLB bit of Rubik's first register group

std::uint64_t align_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b * b; }

}  // namespace

Planner::Planner(const Layer& layer, const Hardware& hw, const LayerTensors* tensors)
    : l_(layer),
      hw_(hw),
      t_(tensors),
      where_(layer.file.empty() ? layer.name : layer.file),
      base_{.input = layer.placement.input.address,
            .weights = layer.placement.weights.address,
            .mask = layer.placement.weights.address + kMaskBehindWeights,
            .group_sizes = layer.placement.weights.address + kGroupSizesBehindWeights,
            .output = layer.placement.output.address,
            .operands = {layer.placement.operands[0].address, layer.placement.operands[1].address, layer.placement.operands[2].address}}
{
}

void Planner::check_placement()
{
    struct Area {
        std::string name;
        bool primary;
        std::uint64_t begin, end;
        auto order() const { return std::pair{!primary, begin}; }
    };
    std::vector<Area> areas;
    const auto add = [&](const char* name, const Place& place, std::uint64_t begin, std::uint64_t end) {
        if (end > begin) areas.push_back({name, place.primary, begin, end});
    };
    const Placement& at = l_.placement;
    add("input", at.input, base_.input, next_.input);
    add("weights", at.weights, base_.weights, next_.weights);
    add("weight mask", at.weights, base_.mask, next_.mask);
    add("group sizes", at.weights, base_.group_sizes, next_.group_sizes);
    add("output", at.output, base_.output, next_.output);
    constexpr const char* kOperandsOf[] = {"operands of bs", "operands of bn", "operands of ew"};
    for (std::size_t i = 0; i < at.operands.size(); ++i) add(kOperandsOf[i], at.operands[i], base_.operands[i], next_.operands[i]);
    std::sort(areas.begin(), areas.end(), [](const Area& a, const Area& b) { return a.order() < b.order(); });
    for (std::size_t i = 0; i < areas.size(); ++i) {
        const Area& area = areas[i];
        if (!area.primary && !hw_.memory.has_secondary)
            throw ConfigError(where_ + "/placement",
                              "the " + area.name + " stand behind CVSRAM, expected DBB: " + hw_.name + " has no secondary port");
        if (i + 1 < areas.size() && area.primary == areas[i + 1].primary && area.end > areas[i + 1].begin)
            throw ConfigError(where_ + "/placement", "the " + area.name + " at " + std::to_string(area.begin) + " end at " +
                                                         std::to_string(area.end) + " and overlap the " + areas[i + 1].name + " at " +
                                                         std::to_string(areas[i + 1].begin) + ", expected areas apart");
        if (area.end > std::uint64_t{1} << 32)
            throw ConfigError(where_ + "/placement",
                              "the " + area.name + " end at " + std::to_string(area.end) + ", expected all below 4 GiB");
        plan_.ranges.push_back({where_ + "/placement: the " + area.name, {area.primary, area.begin}, area.end - area.begin});
    }
}

Plan Planner::plan()
{
    plan_.method.winograd = l_.mode == Mode::Winograd;
    plan_.mode = l_.op == Op::Sdp        ? "sdp"
                 : l_.op == Op::Pool     ? "pool"
                 : l_.image()            ? "image"
                 : plan_.method.winograd ? "winograd"
                                         : "direct";
    check_pool();
    if (l_.op == Op::Sdp) {
        add_sdp_pass();
    } else if (l_.op == Op::Pool) {
        add_pool_pass();
    } else if (l_.op == Op::Deconvolution) {
        deconvolve();
    } else {
        const std::uint32_t together = groups_together();
        for (std::uint32_t g = 0; g < l_.groups; g += together) add_group_pass(g, std::min(together, l_.groups - g));
    }
    if (l_.post.compares() && plan_.passes.size() != 1)
        throw ConfigError(where_, "found a comparison in a layer of " + std::to_string(plan_.passes.size()) +
                                      " passes, expected one: its status says one pass");
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
    p.mode = l_.op == Op::Sdp        ? PassMode::Sdp
             : l_.op == Op::Pool     ? PassMode::Pool
             : l_.image()            ? PassMode::Image
             : plan_.method.winograd ? PassMode::Winograd
                                     : PassMode::Direct;
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
    p.flush_nan = l_.flush_nan;
    p.transform_truncate = l_.precision == Precision::Fp16 ? 0 : l_.winograd_truncate;
    p.input_precision = l_.input_precision;
    p.post = l_.post;
    p.output = l_.output;
    p.input_primary = l_.placement.input.primary;
    p.weights_primary = l_.placement.weights.primary;
    p.output_primary = l_.placement.output.primary;
    for (std::size_t i = 0; i < p.operands_primary.size(); ++i) p.operands_primary[i] = l_.placement.operands[i].primary;
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
    const Split parts = split(p, true);
    planned.geometry = size_parts(p, parts);
    place_input(planned, l_.channels / l_.groups * group);
    finish_parts(std::move(planned), parts, t_ ? block_of_groups(group, count) : Tensor{});
}

/// SDP alone: features from memory, its operations, features to memory.
void Planner::add_sdp_pass()
{
    PlannedPass planned;
    planned.kernels = l_.kernels;
    planned.pass = common_pass();
    planned.geometry = size_pass(planned.pass, hw_, where_);
    place_input(planned, 0);
    finish_pass(std::move(planned), {});
}

void Planner::finish_pass(PlannedPass planned, const Tensor& weights)
{
    if (planned.pass.convolves()) place_weights(planned, weights);
    planned.geometry = size_pass(planned.pass, hw_, where_);
    place_operands(planned);
    place_output(planned);
    planned.rows = planned.geometry.out_height;
    planned.fetched_lines = planned.pass.height;
    add_pass(std::move(planned));
}

void Planner::add_pass(PlannedPass planned)
{
    planned.pass.group = plan_.passes.size() % 2;
    if (planned.pass.mode != PassMode::Pool) planned.registers = register_writes(planned.pass, planned.geometry, hw_);
    if (planned.pool) {
        planned.pool->group = planned.pass.group;
        PassRegisters pdp = pool_writes(*planned.pool), &all = planned.registers;
        all.writes.insert(all.writes.end(), pdp.writes.begin(), pdp.writes.end());
        all.enables.insert(all.enables.begin(), pdp.enables.begin(), pdp.enables.end());  // SDP waits for PDP, the others for SDP
    }
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
        throw ConfigError(where_,
                          "found " + std::to_string(l_.rows_at_once) + " kernel rows at once, expected 1: " + hw_.name + " is given one");
    if (l_.rows_at_once != 0) return l_.rows_at_once / 2;  // size_pass refuses what does not fit
    if (!hw_.full()) return 0;
    const std::uint32_t step = l_.stride.x * l_.channels;
    const auto fits = [&](std::uint32_t rows) { return std::max(row, step) * rows <= hw_.mac.atomic_c; };
    if (fits(4) && l_.kernel_height >= 3) return 2;
    if (fits(2) && l_.kernel_height >= 2) return 1;
    return 0;
}

void Planner::add_image(const std::string& what, Place place, Bytes bytes)
{
    if (t_) plan_.images.push_back({what, place, std::move(bytes)});
}

std::uint64_t Planner::reserve(std::uint64_t& next, std::uint64_t start, std::uint64_t bytes, const std::string& what)
{
    const std::uint64_t address = next;
    next += bytes;
    if (next - start > kRegion) throw ConfigError(where_, what + " takes more than " + std::to_string(kRegion) + " bytes, expected less");
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
        if (t_) add_image("input", {p.input_primary, p.address.input}, pixel_bytes(l_, t_->input, g, uv));
        return;
    }
    const std::uint32_t input_bytes = p.stored_precision() != Precision::Int8 ? 2 : 1;
    const Cube cube{g.line_stride, g.surface_stride, g.surface_stride * g.surfaces, hw_.memory.atom_bytes, input_bytes};
    const std::uint64_t bytes = cube.batch_stride * p.batch;
    p.address.input = reserve(next_.input, base_.input, bytes, "the input");
    if (t_) add_image("input", {p.input_primary, p.address.input}, feature_bytes(t_->input, first_channel, p.channels, cube, bytes));
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
        p.compressed.group_ends = std::move(compressed.group_ends);
        p.address.mask = reserve(next_.mask, base_.mask, align_up(compressed.mask.size(), 256), "the weight mask");
        p.address.group_sizes =
            reserve(next_.group_sizes, base_.group_sizes, align_up(compressed.group_sizes.size(), 256), "the group sizes");
        add_image("weight mask", {p.weights_primary, p.address.mask}, std::move(compressed.mask));
        add_image("weight group sizes", {p.weights_primary, p.address.group_sizes}, std::move(compressed.group_sizes));
        add_image("weights", {p.weights_primary, p.address.weights}, std::move(compressed.weights));
    } else {
        Bytes memory = to_bytes(stream, p.element_bytes());
        memory.resize(bytes);
        add_image("weights", {p.weights_primary, p.address.weights}, std::move(memory));
    }
}

/// What the engines of SDP stream, cut to the pass: its kernels, and its places of the layer's output.
void Planner::place_operands(PlannedPass& planned)
{
    for (std::size_t i = 0; i < kEngineNames.size(); ++i) {
        Pass& p = planned.pass;
        if (!p.post.engines[i].streams()) continue;
        const std::uint64_t bytes = planned.geometry.operands[i].bytes;
        const std::string what = std::string("operands of ") + kEngineNames[i];
        p.address.operands[i] = reserve(next_.operands[i], base_.operands[i], align_up(bytes, 256), what);
        if (!t_) continue;
        const auto at = [&](bool mul, std::uint32_t k, std::uint32_t y, std::uint32_t x) -> std::int16_t {
            const Tensor& tensor = t_->operands[operand_slot(i, mul)];
            const std::uint32_t ky = planned.first.y + planned.step.y * y, kx = planned.first.x + planned.step.x * x;
            if (p.post.engines[i].per() == OperandPer::Kernel) return tensor.at(0, planned.first_kernel + k, 0, 0);
            // A phase of a deconvolution may end beyond the layer's output; what is computed there is cut off.
            return ky < tensor.h && kx < tensor.w ? tensor.at(0, planned.first_kernel + k, ky, kx) : std::int16_t{0};
        };
        add_image(what, {p.operands_primary[i], p.address.operands[i]}, operand_bytes(p, planned.geometry, i, hw_.memory.atom_bytes, at));
    }
}

void Planner::place_output(PlannedPass& planned)
{
    const Geometry& g = planned.geometry;
    if (planned.pass.post.compares()) return;  // nothing is written
    if (l_.pool) return place_pooled(planned);
    const std::uint64_t bytes = g.out_batch_stride * planned.pass.batch;
    const Place at{planned.pass.output_primary, reserve_output(bytes)};
    planned.pass.address.output = at.address;
    if (interleaved()) return;  // what Rubik makes of it counts
    const Cube cube{g.out_line_stride, g.out_surface_stride, g.out_batch_stride, hw_.memory.atom_bytes, g.out_element_bytes};
    plan_.outputs.push_back({at, bytes, cube, planned.first_kernel, planned.kernels});
}

/// What PDP writes in the place of SDP.
void Planner::place_pooled(PlannedPass& planned)
{
    Pass& p = planned.pass;
    const Geometry& g = planned.geometry;
    PoolPass& pool = planned.pool.emplace();
    pool.pool = *l_.pool;
    pool.precision = p.output.precision;
    pool.channels = p.kernels;
    pool.flying = p.to_pdp = l_.op != Op::Pool;
    pool.flush_nan = l_.op == Op::Pool && p.flush_nan;
    pool.geometry = size_pool(pool.pool, g.out_width, g.out_height, p.kernels, pool.precision, pool.flying, hw_, where_);
    pool.source = {p.input_primary, p.address.input};
    pool.line_stride = g.line_stride;
    pool.surface_stride = g.surface_stride;
    pool.target = {p.output_primary, reserve_output(pool.geometry.bytes)};
    p.address.output = pool.target.address;
    const Cube cube{pool.geometry.line_stride, pool.geometry.surface_stride, pool.geometry.bytes, hw_.memory.atom_bytes,
                    g.out_element_bytes};
    plan_.outputs.push_back({pool.target, pool.geometry.bytes, cube, planned.first_kernel, planned.kernels});
}

/// PDP alone: features from memory, pooled, to memory.
void Planner::add_pool_pass()
{
    PlannedPass planned;
    planned.kernels = l_.kernels;
    planned.pass = common_pass();
    planned.geometry = size_pass(planned.pass, hw_, where_);
    place_input(planned, 0);
    place_output(planned);
    planned.rows = planned.pool->geometry.out_height;
    planned.fetched_lines = planned.pool->geometry.height;
    add_pass(std::move(planned));
}

/// [spec] pdp.md 1.4: PDP takes the cube of SDP surface by surface, line by line, as SDP's registers say it.
void Planner::check_pool() const
{
    if (!l_.pool) return;
    if (l_.precision != Precision::Int8 && !hw_.full())
        throw ConfigError(where_,
                          std::string("found ") + precision_name(l_.precision) + ", expected int8: PDP of " + hw_.name + " pools no other");
    if (l_.op == Op::Pool) return;
    const auto refuse = [&](bool found, const char* what, const char* why) {
        if (found) throw ConfigError(where_ + "/post/pool", std::string("found a pooling behind ") + what + ", expected none: " + why);
    };
    refuse(l_.batch != 1, "several batches", "SDP hands them over in turns of pixels");
    refuse(l_.mode == Mode::Winograd, "a Winograd convolution", "SDP hands over four lines at once");
    refuse(l_.op == Op::Deconvolution, "a deconvolution", "its phases are put together in memory");
    refuse(l_.post.compares(), "a comparison", "it has no output");
    refuse(l_.partition.on(), "a layer in parts", "a window takes rows of several");
    refuse(l_.output.precision != l_.precision, "a conversion to another width", "SDP hands over other surfaces then");
}

std::uint64_t Planner::reserve_output(std::uint64_t bytes)
{
    const Place at{l_.placement.output.primary, reserve(next_.output, base_.output, bytes, "the output")};
    add_image("output before the run", at, Bytes(bytes, kUnwritten));
    return at.address;
}

std::uint32_t Planner::address_of(const std::string& name) const { return program_address(hw_, name); }
void Planner::write(const std::string& name, std::uint32_t value) { plan_.program.push_back(RegisterWrite{name, address_of(name), value}); }

/// [spec] sdp.md 1.3: the tables are no part of a register group, one writing serves all passes.
void Planner::write_lut()
{
    const Lut& lut = *l_.post.ew().lut;
    constexpr std::uint32_t kLo = 1 << 16, kWrite = 1 << 17;
    const auto low = [](std::int32_t value, unsigned width) { return static_cast<std::uint32_t>(value) & ((1u << width) - 1); };
    for (const bool lo : {false, true}) {
        write("SDP.S_LUT_ACCESS_CFG", kWrite | (lo ? kLo : 0));
        for (std::size_t i = 0; i < (lo ? Lut::kLoEntries : Lut::kLeEntries); ++i)
            write("SDP.S_LUT_ACCESS_DATA", low((lo ? lut.lo : lut.le).entries[i], 16));
        const LutTable& table = lo ? lut.lo : lut.le;
        const std::string name = lo ? "SDP.S_LUT_LO_" : "SDP.S_LUT_LE_";
        write(name + "START", static_cast<std::uint32_t>(table.start));
        write(name + "END", static_cast<std::uint32_t>(table.end));
        write(name + "SLOPE_SCALE", low(table.underflow.scale, 16) | low(table.overflow.scale, 16) << 16);
        write(name + "SLOPE_SHIFT", low(table.underflow.shift, 5) | low(table.overflow.shift, 5) << 5);
    }
    write("SDP.S_LUT_CFG", (lut.le.exponential ? 0u : 1u) | (lut.underflow_lo ? 1u << 4 : 0) | (lut.overflow_lo ? 1u << 5 : 0) |
                               (lut.hybrid_lo ? 1u << 6 : 0));
    write("SDP.S_LUT_INFO", low(lut.le.index_offset, 8) | low(lut.le.index_select, 8) << 8 | low(lut.lo.index_select, 8) << 16);
}

/// [spec] programming.md 1: flush, then each pass into its register group; a group is written
/// again after the interrupt of the pass that used it. Rubik starts when all passes are done.
void Planner::write_program()
{
    const std::string flush = "CDMA.S_CBUF_FLUSH_STATUS";
    plan_.program.push_back(PollRegister{flush, address_of(flush), 1, 1});
    // SDP's interrupts only, it is the last to finish; and Rubik's where there is one.
    const unsigned bit = l_.pool ? kPdpStatusBit : 0;  // the unit that writes the output
    write("GLB.S_INTR_MASK", kEveryInterrupt & ~(3u << bit) & ~(rubik_.empty() ? 0 : kRubikStatus));
    if (l_.post.ew().lut) write_lut();
    const std::size_t count = plan_.passes.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (i >= 2) plan_.program.push_back(WaitStatus{1u << (bit + i % 2)});
        for (const RegisterValue& value : plan_.passes[i].registers.writes) write(value.name, value.value);
        for (const RegisterValue& value : plan_.passes[i].registers.enables) write(value.name, value.value);
        if (i == 0) plan_.program.push_back(MarkT0{});
    }
    if (count == 1) {
        plan_.program.push_back(WaitInterrupt{l_.pool ? "PDP_0" : "SDP_0"});
    } else {
        for (std::size_t i = count - 2; i < count; ++i) plan_.program.push_back(WaitStatus{1u << (bit + i % 2)});
    }
    const std::string status = "SDP.D_STATUS";
    if (l_.post.compares()) plan_.program.push_back(RegisterRead{status, address_of(status)});
    if (rubik_.empty()) return;
    for (const RegisterValue& value : rubik_) write(value.name, value.value);
    plan_.program.push_back(WaitStatus{kRubikStatus});
}

Plan plan_layer(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors)
{
    return Planner(layer, hardware, &tensors).plan();
}

Plan plan_shape(const Layer& layer, const Hardware& hardware) { return Planner(layer, hardware, nullptr).plan(); }

OutputLayout output_layout(const Plan& plan, const Layer& layer)
{
    OutputLayout layout;
    if (plan.outputs.empty()) return layout;  // a comparison writes nothing
    const OutputCube& first = plan.outputs.front();
    const Cube& cube = first.cube;
    // An atom of kernels is one surface, or two where int8 becomes int16.
    const std::uint32_t per_atom = cube.atom_bytes / layer.element_bytes(), surfaces = cube.element_bytes > layer.element_bytes() ? 2 : 1;
    const std::uint64_t tensor = (layer.kernels + per_atom - 1) / per_atom * surfaces * cube.surface_stride;
    layout.regions = plan.outputs.size();
    layout.tensor_bytes = tensor * layer.batch;
    for (const OutputCube& part : plan.outputs) {
        layout.bytes = std::max(layout.bytes, part.place.address + part.bytes - first.place.address);
        layout.one_tensor = layout.one_tensor && part.first_kernel % per_atom == 0 && part.cube.line_stride == cube.line_stride &&
                            part.cube.surface_stride == cube.surface_stride && (layer.batch == 1 || part.cube.batch_stride == tensor) &&
                            part.place.primary == first.place.primary &&
                            part.place.address == first.place.address + part.first_kernel / per_atom * surfaces * cube.surface_stride;
    }
    return layout;
}

Tensor collect_output(const Plan& plan, const Layer& layer, const ReadMemory& read)
{
    Tensor output(layer.batch, layer.kernels, layer.result_height(), layer.result_width());
    // What is one tensor is read as one, whatever its parts.
    if (const OutputLayout layout = output_layout(plan, layer); layout.one_tensor && layout.regions != 0) {
        const OutputCube& first = plan.outputs.front();
        read_feature(read(first.place, layout.tensor_bytes), first.cube, output, 0, layer.kernels);
        return output;
    }
    for (const OutputCube& part : plan.outputs)
        read_feature(read(part.place, part.bytes), part.cube, output, part.first_kernel, part.kernels);
    return output;
}

}  // namespace dlasim
