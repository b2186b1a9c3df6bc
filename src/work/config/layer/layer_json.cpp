// A layer as the descriptor that reads back as it.
#include "config/layer/layer_reader.h"
#include "config/layer/layer_words.h"
#include "config/layer/partition_reader.h"
#include "config/layer/place_reader.h"
#include "config/layer/pool_reader.h"
#include "config/layer/sdp_reader.h"
#include "config/model/fp16.h"
#include "config/tolerance_reader.h"

namespace dlasim {
namespace {

/// What an sdp layer does not have.
void convolution_json(OrderedJson& json, const Layer& layer)
{
    json["kernel"] = {{"width", layer.kernel_width}, {"height", layer.kernel_height}, {"count", layer.kernels}};
    json["stride"] = {{"x", layer.stride.x}, {"y", layer.stride.y}};
    json["dilation"] = {{"x", layer.dilation.x}, {"y", layer.dilation.y}};
    json["groups"] = layer.groups;
    json["pad"] = {{"left", layer.pad.left}, {"right", layer.pad.right}, {"top", layer.pad.top}, {"bottom", layer.pad.bottom}};
    if (layer.precision == Precision::Fp16) json["pad"]["value"] = double_from_fp16(static_cast<std::uint16_t>(layer.pad.value));
    else json["pad"]["value"] = layer.pad.value;
    json["precision"] = precision_name(layer.precision);
    json["mode"] = kLayerModes[static_cast<std::size_t>(layer.mode)];
    if (layer.mode == Mode::Winograd) json["winograd"] = {{"truncate", layer.winograd_truncate}};
    if (layer.rows_at_once != 0) json["image"] = {{"rows_at_once", layer.rows_at_once}};
    json["weights"] = {{"compressed", layer.compressed}, {"density", layer.density}};
    if (layer.overlap != Overlap::All) json["overlap"] = overlap_name(layer.overlap);
    if (layer.partition.minimise != Minimise::Parts) json["plan"] = plan_json(layer.partition.minimise);
    else if (layer.partition.on()) json["partition"] = partition_json(layer.partition);
}

}  // namespace

OrderedJson layer_json(const Layer& layer)
{
    OrderedJson json;
    json["name"] = layer.name;
    json["op"] = kLayerOps[static_cast<std::size_t>(layer.op)];
    json["input"] = {{"width", layer.width},
                     {"height", layer.height},
                     {"channels", layer.channels},
                     {"batch", layer.batch},
                     {"format", layer.format ? layer.format->name : "feature"}};
    if (layer.image()) {
        json["input"]["signed"] = layer.signed_pixels;
        json["input"]["x_offset"] = layer.x_offset;
        for (std::uint32_t c = 0; layer.conversion.per_component && c < layer.channels; ++c)
            json["input"]["mean"].push_back(layer.conversion.mean[c]);
    }
    if (layer.conversion.on)
        json["input"]["conversion"] = {
            {"offset", layer.conversion.offset}, {"scale", layer.conversion.scale}, {"shift", layer.conversion.shift}};
    if (layer.input_precision) json["input"]["precision"] = precision_name(*layer.input_precision);
    if (layer.flush_nan) json["input"]["nan_to_zero"] = true;
    if (!layer.convolves()) {
        json["precision"] = precision_name(layer.precision);
        if (layer.op == Op::Pool) json["pool"] = pool_json(*layer.pool);
    } else {
        convolution_json(json, layer);
    }
    const Placement& p = layer.placement;
    json["placement"] = {{"input", place_json(p.input)}, {"weights", place_json(p.weights)}, {"output", place_json(p.output)}};
    for (std::size_t i = 0; i < p.operands.size(); ++i) json["placement"][kEngineNames[i]] = place_json(p.operands[i]);
    if (layer.op != Op::Pool) put_post(json, layer);
    json["data"] = {{"seed", layer.data.seed}};
    for (const auto& [key, path] :
         {std::pair{"input", &layer.data.input}, std::pair{"weights", &layer.data.weights}, std::pair{"expected", &layer.data.expected}})
        if (!path->empty()) json["data"][key] = *path;
    put_tolerance(json["data"], layer.data.tolerance);
    for (std::size_t slot = 0; slot < kOperandNames.size(); ++slot)
        if (!layer.data.operands[slot].empty()) json["data"][kOperandNames[slot]] = layer.data.operands[slot];
    return json;
}

}  // namespace dlasim
