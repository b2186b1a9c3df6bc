#include "jobs/traffic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/bits.h"
#include "facts/abilities.h"

namespace dlasim {
namespace {

/// Atoms of a line of pixels, of both planes.
std::uint64_t pixel_line(const Pass& p, std::uint64_t atom)
{
    const std::uint64_t bytes = (std::uint64_t{p.x_offset} + p.width) * p.format->plane_pixel_bytes;
    return round_up(bytes, atom) + (p.format->planes == 2 ? round_up(2 * std::uint64_t{p.width} * p.format->plane_pixel_bytes, atom) : 0);
}

std::uint64_t input_moved(const PlannedPass& planned, const Hardware& hw)
{
    const Pass& p = planned.pass;
    const std::uint64_t atom = hw.memory.atom_bytes, columns = p.mode == PassMode::Pool ? planned.pool->geometry.width : p.width;
    const std::uint64_t line = p.mode == PassMode::Image ? pixel_line(p, atom) : columns * atom * planned.geometry.surfaces;
    return line * planned.fetched_lines * p.batch;
}

std::uint64_t operand_moved(const PlannedPass& planned, std::size_t engine, const Hardware& hw)
{
    const Pass& p = planned.pass;
    const Geometry& g = planned.geometry;
    const OperandGeometry& o = g.operands[engine];
    const std::uint64_t atom = hw.memory.atom_bytes;
    if (o.strides.line == 0) return o.bytes;
    return o.atoms * g.out_width * atom * g.out_height * ceil_div<std::uint64_t>(p.kernels, atom / p.element_bytes());
}

std::uint64_t output_moved(const PlannedPass& planned, const Hardware& hw)
{
    const Pass& p = planned.pass;
    const Geometry& g = planned.geometry;
    if (planned.pool) return planned.pool->geometry.bytes;
    return p.post.compares() ? 0 : g.out_width * hw.memory.atom_bytes * g.out_height * g.out_surfaces * p.batch;
}

/// Along an axis, products of an element that is there with a tap whose sum is there: those with padding move nothing.
std::uint64_t products(std::uint64_t places, std::uint64_t limit, std::uint64_t taps, std::uint64_t stride, std::uint64_t dilation,
                       std::uint64_t before)
{
    std::uint64_t count = 0;
    for (std::uint64_t tap = 0; tap < taps; ++tap) {  // places with 0 <= place * stride + offset - before < limit
        const std::uint64_t offset = tap * dilation;
        const std::uint64_t begin = before > offset ? ceil_div(before - offset, stride) : 0;
        const std::uint64_t end = before + limit > offset ? ceil_div(before + limit - offset, stride) : 0;
        count += std::min(end, places) - std::min(begin, std::min(end, places));
    }
    return count;
}

double products(const Layer& l)
{
    const bool scatters = l.op == Op::Deconvolution;
    const auto along = [&](std::uint64_t in, std::uint64_t out, std::uint64_t taps, std::uint64_t stride, std::uint64_t dilation,
                           std::uint64_t before) {
        return static_cast<double>(scatters ? products(in, out, taps, stride, dilation, before)
                                            : products(out, in, taps, stride, dilation, before));
    };
    return along(l.width, l.out_width(), l.kernel_width, l.stride.x, l.dilation.x, l.pad.left) *
           along(l.height, l.out_height(), l.kernel_height, l.stride.y, l.dilation.y, l.pad.top) *
           static_cast<double>(l.kernel_channels()) * l.kernels * l.batch;
}

std::uint64_t communication(const Layer& l, const LayerPlan& plan, const Hardware& hw)
{
    if (!l.convolves() || plan.method.winograd || l.compressed || l.pool || l.post.compares()) return 0;
    const bool bytes = l.precision == Precision::Int8 || l.output.precision == Precision::Int8 || l.stored_precision() == Precision::Int8 ||
                       (l.image() && l.format->eight_bit);
    const double element = bytes ? 1 : 2;
    const bool scatters = l.op == Op::Deconvolution;
    const double reuse = scatters ? static_cast<double>(l.kernel_width) * l.kernel_height
                                  : static_cast<double>(ceil_div(l.kernel_width, l.stride.x)) * ceil_div(l.kernel_height, l.stride.y);
    // Sums in CACC, those that are on their way to SDP too.
    const double sums = 2.0 * static_cast<double>(facts::abilities(hw).longest_stripe) * hw.kernel_group(l.precision);
    const double buffer = static_cast<double>(hw.cbuf.banks) * hw.cbuf.bank_depth * hw.cbuf.entry_bytes / element;
    return static_cast<std::uint64_t>(element * communication_bound(products(l), reuse, buffer + sums));
}

constexpr std::array kTensorKeys{
    Key<TensorTraffic>{{"bytes", "integer", "bytes", "of memory that it takes"},
                       [](const TensorTraffic& t) -> OrderedJson { return t.bytes == 0 ? kAbsent : OrderedJson(t.bytes); }},
    Key<TensorTraffic>{{"moved", "integer", "bytes", "that all tiles read or write of it"}, value_of<&TensorTraffic::moved>},
    Key<TensorTraffic>{{"times", "number", "", "how many times each byte of it moves"},
                       [](const TensorTraffic& t) -> OrderedJson { return t.bytes == 0 ? kAbsent : OrderedJson(t.times()); }},
};

}  // namespace

double communication_bound(double products, double reuse, double on_chip)
{
    return std::max(0.0, 2 * products / std::sqrt(reuse * on_chip) - 2 * on_chip);
}

std::uint64_t Traffic::moved() const
{
    std::uint64_t bytes = 0;
    for (const TensorTraffic& tensor : tensors) bytes += tensor.moved;
    return bytes;
}

std::uint64_t Traffic::compulsory() const
{
    std::uint64_t total = 0;
    // Lines that no window touches are not fetched; what phases are put together from need not have been written.
    for (const TensorTraffic& tensor : tensors) total += std::min(tensor.bytes, tensor.moved);
    return total;
}

Traffic traffic_of(const LayerPlan& plan, const Layer& layer, const Hardware& hw)
{
    const Pass& first = plan.passes.front().pass;
    std::uint64_t input = 0, weights = 0, output = 0;
    std::array<std::uint64_t, 3> operands{}, operand_bytes{};
    std::map<Address, std::uint64_t> kernel_sets;                    // bytes
    std::array<std::map<Address, std::uint64_t>, 3> operand_sets{};  // by kernels
    for (const PlannedPass& planned : plan.passes) {
        const Pass& p = planned.pass;
        const std::uint64_t set = planned.geometry.weight_bytes + (p.compressed.on ? p.compressed.mask_bytes : 0);
        input += input_moved(planned, hw);
        if (p.convolves() && planned.fetches_weights) weights += set;
        if (p.convolves()) kernel_sets[planned.address.weights] = set;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const std::uint64_t moved = operand_moved(planned, i, hw);
            operands[i] += moved;
            // Per element every part has places of its own, per kernel those of one set are the same.
            if (planned.geometry.operands[i].strides.line != 0) operand_bytes[i] += moved;
            else operand_sets[i][planned.address.operands[i]] = moved;
        }
        output += output_moved(planned, hw);
    }
    std::uint64_t set_bytes = 0;
    for (const auto& [address, bytes] : kernel_sets) set_bytes += bytes;
    for (std::size_t i = 0; i < operands.size(); ++i)
        for (const auto& [address, bytes] : operand_sets[i]) operand_bytes[i] += bytes;
    Traffic traffic;
    const auto add = [&](const TensorTraffic& tensor) {
        if (tensor.moved != 0) traffic.tensors.push_back(tensor);
    };
    add({"input", first.input_primary, false, plan.input_bytes, input});
    add({"weights", first.weights_primary, false, set_bytes, weights});
    constexpr std::array kNames{"bs", "bn", "ew"};
    for (std::size_t i = 0; i < operands.size(); ++i) add({kNames[i], first.operands_primary[i], false, operand_bytes[i], operands[i]});
    add({"output", first.output_primary, true, output, output});
    add({"phases", first.output_primary, false, 0, plan.copied_bytes});
    add({"phases", first.output_primary, true, 0, plan.copied_bytes});
    std::uint64_t packed_read = 0, packed_written = 0;
    for (const std::vector<PlannedPass>& stage : plan.packing)
        for (const PlannedPass& planned : stage) {
            packed_read += input_moved(planned, hw) + (planned.fetches_weights ? planned.geometry.weight_bytes : 0);
            packed_written += output_moved(planned, hw);
        }
    add({"parts", first.output_primary, false, 0, packed_read});
    add({"parts", first.output_primary, true, 0, packed_written});
    traffic.communication = communication(layer, plan, hw);
    return traffic;
}

OrderedJson tensors_json(const Traffic& traffic)
{
    OrderedJson tensors = OrderedJson::object();
    for (const TensorTraffic& tensor : traffic.tensors)
        tensors[std::string(tensor.name) + (tensor.bytes != 0 ? "" : tensor.written ? "_written" : "_read")] = written(kTensorKeys, tensor);
    return tensors;
}

std::vector<PlacedKey> tensor_keys() { return placed(kTensorKeys, ""); }

}  // namespace dlasim
