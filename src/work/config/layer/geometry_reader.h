// What convolutions and pooling say alike, in our keys or in those of ONNX: steps in x and y, padding on four sides.
#pragma once
#include <functional>

#include "config/json_object.h"
#include "config/model/geometry.h"

namespace dlasim {

/// `key` is an object {"x", "y"}, `onnx` a list of height and width; 1 where neither is there.
Extent read_extent(const JsonObject& object, const char* key, const char* onnx, Within range, const char* meaning);

/// "pad" is an object of the four sides, "pads" a list of top, left, bottom, right; 0 where neither is there. `near` holds for left and
/// top and for the list, `far` for right and bottom. `value` is asked for other keys of the object.
Sides read_sides(const JsonObject& object, Within near, Within far, const std::function<void(const JsonObject& pad)>& value);

}  // namespace dlasim
