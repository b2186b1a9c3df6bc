#include "lowering/plan.h"

#include <algorithm>

#include "lowering/memory/packing.h"
#include "lowering/program/layer_program.h"

namespace dlasim {
namespace {

Cut cut_of(const std::vector<PassParts>& passes)
{
    Cut cut;
    for (const PassParts& pass : passes) {
        cut.kernels = cut.kernels || pass.sets.size() > 1;
        for (const Part& part : pass.split.parts) {
            const Strip& strip = pass.split.strip_of(part);
            cut.rows = cut.rows || part.rows.made_count < strip.made_rows;
            cut.columns = cut.columns || strip.made_column != 0;
            cut.phases = cut.phases || strip.row_step != 1;
        }
    }
    return cut;
}

std::uint64_t bytes_of(const std::vector<Stretch>& stretches)
{
    std::uint64_t bytes = 0;
    for (const Stretch& stretch : stretches) bytes += stretch.bytes;
    return bytes;
}

LayerPlan plan(const Layer& layer, const Hardware& hw, const LayerTensors* tensors, Packing packing)
{
    Shape shape = shape_of(layer, hw);
    const std::vector<PassParts> parts = parts_of(shape, layer, hw);
    std::vector<std::vector<StoredKernels>> kernels = stored_kernels(shape, parts, tensors, hw);
    Places places = places_of(layer, shape, parts, kernels, hw);
    std::vector<PlannedPass> passes = passes_of(layer, shape, parts, kernels, places, hw);
    std::vector<PlannedImage> images;
    if (tensors) images = images_of(layer, *tensors, shape, parts, std::move(kernels), places, hw);
    const bool cut = std::any_of(parts.begin(), parts.end(), [](const PassParts& p) { return !p.split.whole(); });
    std::uint64_t macs = 0;
    for (const PlannedPass& pass : passes) macs += pass.geometry.macs;
    const bool one_pass = shape.passes.size() == 1;
    LayerPlan planned{std::move(shape.mode),
                      shape.method,
                      cut,
                      cut_of(parts),
                      std::move(passes),
                      std::move(images),
                      std::move(places.outputs),
                      std::move(places.ranges),
                      bytes_of(places.inputs),
                      places.copied_bytes,
                      places.contraction,
                      {},
                      macs};
    if (one_pass && cut && packing == Packing::Possible) pack_output(planned, layer, hw, tensors != nullptr);
    ++lowering_counters().layers;
    return planned;
}

}  // namespace

LayerPlan plan_layer(const Layer& layer, const Hardware& hardware, const LayerTensors& tensors, Packing packing)
{
    return plan(layer, hardware, &tensors, packing);
}
LayerPlan plan_shape(const Layer& layer, const Hardware& hardware, Packing packing) { return plan(layer, hardware, nullptr, packing); }

LayerPlan plan_that_fits(const Layer& layer, const Hardware& hardware)
{
    LayerPlan planned = plan_shape(layer, hardware);
    layer_program(layer, planned, hardware);
    return planned;
}

}  // namespace dlasim
