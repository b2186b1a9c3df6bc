// The input of a layer, as its operation takes it: features with their conversion, or pixels.
#pragma once
#include "config/json_object.h"
#include "config/model/layer.h"

namespace dlasim {

Precision read_precision(const JsonObject& object, const char* key, Precision fallback);

/// `layer` has its operation and precision.
void read_input(Layer& layer, const JsonObject& top);
/// Features that SDP reads itself: no kernel, nothing that belongs to one.
void read_sdp_input(Layer& layer, const JsonObject& top);
/// Features that PDP pools: no kernel of weights, and no consumer.
void read_pool_input(Layer& layer, const JsonObject& top);

}  // namespace dlasim
