#pragma once
#include "config/json_object.h"
#include "config/model/partition.h"

namespace dlasim {

/// The keys "partition" and "plan" of a layer.
Partition read_partition(const JsonObject& layer);
/// Of the key "plan".
Minimise read_minimise(const JsonObject& object, Minimise without = Minimise::Parts);
/// Of the key "overlap" of a layer or a network; `words`: the number of allowed words.
Overlap read_overlap(const JsonObject& object, std::size_t words);
const std::string& overlap_name(Overlap overlap);
OrderedJson plan_json(Minimise minimise);
OrderedJson partition_json(const Partition& partition);

}  // namespace dlasim
