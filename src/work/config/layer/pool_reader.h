// Reads `"pool"`, of an operation of its own or after a convolution in `"post"`, ONNX spellings included:
//
//   {"function": "max", "kernel": {"width": 3, "height": 3}, "stride": {"x": 2, "y": 2}, "pad": {"left": 1, "top": 1}, "ceil_mode": 0}
//   {"function": "average", "kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 1, 1], "count_include_pad": 1}
//
// Error  ConfigError with file, pointer, found and expected. What depends on where the data come from is refused by plan_layer().
#pragma once
#include "config/json_object.h"
#include "config/model/layer.h"

namespace dlasim {

/// `parent` has the key "pool"; the pooled plane is `width` x `height`.
Pool read_pool(const JsonObject& parent, Precision precision, std::uint32_t width, std::uint32_t height);
OrderedJson pool_json(const Pool& pool);

}  // namespace dlasim
