#pragma once
#include "config/json_object.h"
#include "config/partition.h"

namespace dlasim {

/// The key "partition" of a layer; without it nothing is cut.
Partition read_partition(const JsonObject& layer);
OrderedJson partition_json(const Partition& partition);

}  // namespace dlasim
