// `ulp`, `atol` and `rtol`, beside the tensor that is expected: in layers, networks and suites.
#pragma once
#include "config/json_object.h"
#include "config/model/tolerance.h"

namespace dlasim {

/// What the object does not have is as in `otherwise`. Without an expected tensor a tolerance is refused, if one is `needed`.
Tolerance read_tolerance(const JsonObject& object, const Tolerance& otherwise = {}, bool needed = true);
/// The keys that are not 0.
void put_tolerance(OrderedJson& json, const Tolerance& tolerance);

}  // namespace dlasim
