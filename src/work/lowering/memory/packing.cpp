#include "lowering/memory/packing.h"

#include <algorithm>

#include "base/bits.h"
#include "base/error.h"
#include "lowering/cut/row_parts.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kMaxLines = 8;  // [spec] programming.md 2: a stride
constexpr std::uint64_t kPackingAlignment = 256;

/// Consecutive surfaces of a plane with the number of lanes used.
struct Surfaces {
    Place place;
    std::uint32_t count = 0, lanes = 0;
};

std::optional<Surfaces> unpacked(const LayerPlan& plan, const Layer& layer, const Hardware& hw)
{
    const std::vector<OutputCube>& cubes = plan.outputs;
    if (cubes.size() < 2 || layer.batch != 1 || layer.partition.padded || layer.precision == Precision::Fp16 ||
        layer.output.precision != layer.precision)
        return {};
    const OutputCube& first = cubes.front();
    const std::uint32_t lanes = first.kernels, all = hw.memory.atom_bytes / layer.element_bytes();
    if (lanes >= all) return {};
    const std::uint32_t in_atom = ceil_div(all, lanes);
    if (all % lanes != 0 && in_atom > kMaxLines) return {};
    for (std::uint32_t i = 0; i < cubes.size(); ++i) {
        const std::uint32_t atom = i / in_atom * all, begin = atom + even_part(all, in_atom, i % in_atom),
                            end = atom + even_part(all, in_atom, i % in_atom + 1);
        if (cubes[i].first_kernel != begin || cubes[i].kernels != std::min(end, layer.kernels) - begin ||
            cubes[i].place.address != first.place.address + i * first.cube.strides.surface)
            return {};
    }
    return Surfaces{first.place, static_cast<std::uint32_t>(cubes.size()), lanes};
}

/// `together` surfaces become one.
Layer stage_layer(const Layer& of, const Surfaces& from, std::uint32_t together, std::uint32_t all)
{
    Layer stage;
    stage.name = of.name;
    stage.file = of.file;
    stage.precision = stage.output.precision = of.precision;
    stage.width = of.out_width() * of.out_height();
    stage.height = from.count;
    stage.channels = from.lanes;
    stage.kernels = std::min(from.lanes * together, all);
    stage.kernel_height = stage.stride.y = together;
    stage.pad.bottom = round_up(from.count, together) - from.count;
    stage.placement.input = from.place;
    return stage;
}

LayerTensors stage_tensors(const Layer& stage)
{
    LayerTensors tensors;
    tensors.weights = Tensor(stage.kernels, stage.channels, stage.kernel_height, 1);
    for (std::uint32_t line = 0, k = 0; line < stage.kernel_height; ++line) {
        const std::uint32_t begin = k, end = even_part(stage.kernels, stage.kernel_height, line + 1);
        for (; k < end; ++k) tensors.weights.at(k, k - begin, line, 0) = 1;
    }
    return tensors;
}

TouchedRange& range_at(std::vector<TouchedRange>& ranges, const Place& place)
{
    const auto found = std::find_if(ranges.begin(), ranges.end(), [&](const TouchedRange& range) { return range.place == place; });
    if (found == ranges.end()) throw InternalError("a tensor without memory");
    return *found;
}

Place behind(const TouchedRange& range) { return range.place + round_up(range.bytes, kPackingAlignment); }

void check_apart(const std::vector<TouchedRange>& ranges, const std::string& where)
{
    for (const TouchedRange& a : ranges) {
        if (a.place.address + a.bytes > kReachable)
            throw ConfigError(where,
                              a.where + " ends at " + std::to_string((a.place.address + a.bytes).byte()) + ", expected all below 4 GiB");
        for (const TouchedRange& b : ranges)
            if (a.place.primary == b.place.primary && a.place.address < b.place.address && a.place.address + a.bytes > b.place.address)
                throw ConfigError(where, a.where + " ends at " + std::to_string((a.place.address + a.bytes).byte()) +
                                             ", expected at most " + std::to_string(b.place.address.byte()) +
                                             ": tiles of less than an atom need extra space");
    }
}

}  // namespace

void pack_output(LayerPlan& plan, const Layer& layer, const Hardware& hardware, bool with_images)
{
    std::optional<Surfaces> surfaces = unpacked(plan, layer, hardware);
    if (!surfaces) return;
    const std::uint32_t all = hardware.memory.atom_bytes / layer.element_bytes();
    std::vector<TouchedRange> ranges = plan.ranges;
    std::vector<std::vector<PlannedPass>> packing;
    std::vector<PlannedImage> images;
    TouchedRange &weights = range_at(ranges, layer.placement.weights), &output = range_at(ranges, layer.placement.output);
    while (surfaces->lanes < all) {
        Layer stage = stage_layer(layer, *surfaces, std::min(kMaxLines, ceil_div(all, surfaces->lanes)), all);
        stage.placement.weights = behind(weights);
        stage.placement.output = behind(output);
        LayerPlan packed =
            with_images ? plan_layer(stage, hardware, stage_tensors(stage), Packing::None) : plan_shape(stage, hardware, Packing::None);
        if (packed.outputs.size() != 1) return;  // its weights, an atom of kernels of an atom each, are more than CBUF holds
        for (auto [range, place] : {std::pair{&weights, stage.placement.weights}, std::pair{&output, stage.placement.output}})
            range->bytes = place.address + range_at(packed.ranges, place).bytes - range->place.address;
        surfaces = {stage.placement.output, stage.out_height(), stage.kernels};
        packing.push_back(std::move(packed.passes));
        for (PlannedImage& image : packed.images) images.push_back(std::move(image));
    }
    check_apart(ranges, where_of(layer));
    plan.ranges = std::move(ranges);
    plan.packing = std::move(packing);
    for (PlannedImage& image : images) plan.images.push_back(std::move(image));
    const std::uint64_t line = std::uint64_t{layer.out_width()} * hardware.memory.atom_bytes, surface = line * layer.out_height(),
                        bytes = surface * surfaces->count;
    plan.outputs = {
        {surfaces->place, bytes, Cube{{line, surface, bytes}, hardware.memory.atom_bytes, layer.element_bytes()}, 0, layer.kernels}};
}

}  // namespace dlasim
