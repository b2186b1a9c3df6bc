#pragma once
#include "config/json_object.h"
#include "config/partition.h"

namespace dlasim {

/// The keys "partition" and "plan" of a layer.
Partition read_partition(const JsonObject& layer);
/// Of the key "plan".
Minimise read_minimise(const JsonObject& object);
OrderedJson plan_json(Minimise minimise);
OrderedJson partition_json(const Partition& partition);

}  // namespace dlasim
