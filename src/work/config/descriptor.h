// What one file describes: a layer of the convolution pipeline, or a transfer beside it.
#pragma once
#include <variant>

#include "config/json_object.h"
#include "config/model/layer.h"
#include "config/model/transfer.h"

namespace dlasim {

using Descriptor = std::variant<Layer, Transfer>;

/// Its `op` says which. `file` names it in messages, `folder` is what its paths are relative to.
Descriptor descriptor_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder);
/// Of the data that are made.
void set_seed(Descriptor& descriptor, std::uint64_t seed);
/// It names a tensor that its output is compared with.
bool has_expected(const Descriptor& descriptor);
/// Of the comparison with an expected tensor, where the descriptor has none.
void set_tolerance(Descriptor& descriptor, const Tolerance& tolerance);

}  // namespace dlasim
