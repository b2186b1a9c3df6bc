// Reads the descriptor of a reshape.
//
// Error  ConfigError with file, pointer, found and expected. What depends on the machine is refused by plan_transfer().
#pragma once
#include "config/layer/cube_reader.h"
#include "config/model/transfer.h"

namespace dlasim {

TransferKeys reshape_keys();
/// Everything but name and data.
Reshape read_reshape(const JsonObject& top);
void put_reshape(OrderedJson& json, const Reshape& reshape);

}  // namespace dlasim
