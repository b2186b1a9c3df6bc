// Reads `"op": "lrn"`, in the spelling of ONNX.
//
//   {"op": "lrn", "lrn": {"size": 5, "alpha": 0.0001, "beta": 0.75, "bias": 1, "input_scale": 1, "output_scale": 1},
//    "input": {"width": 55, "height": 55, "channels": 96}, "precision": "int8", "placement": {"output": 2684354560}}
//
// Error  ConfigError with file, pointer, found and expected. What depends on the machine is refused by plan_transfer().
#pragma once
#include "config/json_object.h"
#include "config/model/lrn.h"

namespace dlasim {

/// Everything but name and data.
Lrn read_lrn(const JsonObject& top);
void put_lrn(OrderedJson& json, const Lrn& lrn);

}  // namespace dlasim
