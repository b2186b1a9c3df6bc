#include <fmt/format.h>

#include "app/nvdla/driver_files.h"
#include "app/nvdla/driver_manifest.h"
#include "base/error.h"
#include "lowering/plan.h"
#include "lowering/program/layer_program.h"

namespace dlasim {
namespace {

/// The input's image: what the caller binds.
const PlannedImage& only_input(const LayerPlan& plan, const std::string& where)
{
    const PlannedImage* found = nullptr;
    for (const PlannedImage& image : plan.images) {
        if (image.what != ImageOf::Input) continue;
        if (found) throw ConfigError(where, "reads its input as several cubes, expected one: a file binds an input as one tensor");
        found = &image;
    }
    if (!found) throw ConfigError(where, "reads no input, expected one");
    return *found;
}

Strides source_strides(const LayerPlan& plan)
{
    const PlannedPass& first = plan.passes.front();
    if (first.pass.mode == PassMode::Pool) return first.pool->source_strides;
    return first.geometry.in_strides;
}

}  // namespace

DriverFiles driver_files(const Layer& described, const Hardware& hardware, const std::string& name)
{
    Layer layer = described;
    layer.partition.own_lines = true;
    const std::string where = where_of(layer);
    if (layer.post.compares()) throw ConfigError(where, "compares and makes no tensor, expected an output");
    const LayerPlan plan = plan_layer(layer, hardware, load_tensors(layer));
    const PlannedImage& input = only_input(plan, where);
    const OutputLayout output = output_layout(plan, layer);
    if (!output.one_tensor)
        throw ConfigError(
            where, fmt::format("leaves its output in {} regions, expected one tensor: NVIDIA's runtime binds no other", output.regions));
    const OutputCube& written = plan.outputs.front();
    std::vector<loadable::BoundTensor> bound;
    loadable::TensorEntry in = driver_tensor("input", layer.stored_precision(), {layer.width, layer.height, layer.channels}, layer.format,
                                             source_strides(plan), hardware, where);
    loadable::TensorEntry out =
        driver_tensor("output", layer.output.precision, {layer.result_width(), layer.result_height(), layer.kernels}, nullptr,
                      written.cube.strides, hardware, where);
    in.n = out.n = layer.batch;
    bound.push_back({false, input.place, input.bytes.size(), in});
    bound.push_back({true, written.place, output.tensor_bytes * layer.batch, out});
    loadable::FileSource source{hardware, where, bound, {}, {}};
    for (const PlannedImage& image : plan.images)
        if (image.what != ImageOf::Input && image.what != ImageOf::Output) source.constants.push_back({image.place, image.bytes});
    const Program program = layer_program(layer, plan, hardware);
    std::vector<loadable::RecoveredTask> tasks = loadable::recover_operations(program, hardware, where, [](std::size_t) { return false; });
    DriverFiles files;
    files.operations = tasks.front().operations.size();
    files.files.push_back(loadable::driver_file(std::move(tasks.front()), source));
    files.manifest = tensors_manifest(hardware, name, bound);
    loadable::TensorEntry entry = bound.front().tensor;
    entry.size = input.bytes.size();
    files.golden.push_back({"input.npy", loadable::npy_text(entry, loadable::unpacked(entry, input.bytes, where))});
    return files;
}

}  // namespace dlasim
