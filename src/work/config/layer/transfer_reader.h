// Reads the descriptors of what runs from memory to memory.
//
//   {"op": "bdma", "blocks": [{"source": {"memory": "dbb", "address": 2147483648, "line_stride": 1024, "surface_stride": 65536},
//                              "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 512, "lines": 28, "surfaces": 4}]}
//
// Error  ConfigError with file, pointer, found and expected. What depends on the machine is refused by plan_transfer().
#pragma once
#include "config/layer/cube_reader.h"
#include "config/model/transfer.h"

namespace dlasim {

/// In the order of Transfer::what.
const std::vector<TransferKeys>& transfer_keys();

/// True if the descriptor's `op` is one of them.
bool is_transfer(const Json& descriptor);
/// As layer_from_json().
Transfer transfer_from_json(const Json& json, const std::string& file, const std::string& pointer, const std::string& folder);
/// The descriptor with every default written out; reads back as the same.
OrderedJson transfer_json(const Transfer& transfer);
/// True if that dotted path can be a field of such a descriptor.
bool is_transfer_field(const std::string& path);

}  // namespace dlasim
