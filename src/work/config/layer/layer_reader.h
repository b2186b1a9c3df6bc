// Reads a layer descriptor: interfaces.md 2, ONNX spellings included.
// Error  ConfigError with file, pointer, found and expected.
#pragma once
#include "config/json_object.h"
#include "config/model/layer.h"

namespace dlasim {

Layer read_layer(const std::string& path);
/// `file` names the descriptor in messages, `folder` is what its paths are relative to.
Layer layer_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder);
/// The descriptor with every default written out; reads back as the same layer.
OrderedJson layer_json(const Layer& layer);
/// Replaces the value at a dotted path of a descriptor ("kernel.count", "blocks.0.lines"): for sweeps and random layers.
void set_layer_field(Json& json, const std::string& path, const Json& value, const std::string& where);
/// True if that dotted path is a field of a descriptor.
bool is_layer_field(const std::string& path);

}  // namespace dlasim
