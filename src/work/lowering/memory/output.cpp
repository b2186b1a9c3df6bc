#include <algorithm>

#include "lowering/plan.h"

namespace dlasim {

OutputLayout output_layout(const LayerPlan& plan, const Layer& layer)
{
    OutputLayout layout;
    if (plan.outputs.empty()) return layout;  // a comparison writes nothing
    const OutputCube& first = plan.outputs.front();
    const Cube& cube = first.cube;
    // An atom of kernels is one surface, or two where int8 becomes int16.
    const std::uint32_t per_atom = cube.atom_bytes / layer.element_bytes(), surfaces = cube.element_bytes > layer.element_bytes() ? 2 : 1;
    const std::uint64_t tensor = (layer.kernels + per_atom - 1) / per_atom * surfaces * cube.strides.surface;
    layout.regions = plan.outputs.size();
    layout.tensor_bytes = tensor * layer.batch;
    for (const OutputCube& part : plan.outputs) {
        layout.bytes = std::max(layout.bytes, part.place.address + part.bytes - first.place.address);
        layout.one_tensor = layout.one_tensor && part.first_kernel % per_atom == 0 && part.cube.strides.line == cube.strides.line &&
                            part.cube.strides.surface == cube.strides.surface && (layer.batch == 1 || part.cube.strides.batch == tensor) &&
                            part.place.primary == first.place.primary &&
                            part.place.address == first.place.address + part.first_kernel / per_atom * surfaces * cube.strides.surface;
    }
    return layout;
}

Tensor collect_output(const LayerPlan& plan, const Layer& layer, const ReadMemory& read)
{
    Tensor output(layer.batch, layer.kernels, layer.result_height(), layer.result_width());
    // What is one tensor is read as one, whatever its parts.
    if (const OutputLayout layout = output_layout(plan, layer); layout.one_tensor && layout.regions != 0) {
        const OutputCube& first = plan.outputs.front();
        read_feature(read(first.place, layout.tensor_bytes), first.cube, output, {0, layer.kernels});
        return output;
    }
    for (const OutputCube& part : plan.outputs)
        read_feature(read(part.place, part.bytes), part.cube, output, {part.first_kernel, part.kernels});
    return output;
}

}  // namespace dlasim
