// The manifest beside the files of the driver, read again: where the channels of tensors in pieces are, which the files do not say.
//
// Error  ConfigError naming file and JSON pointer.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/json_object.h"
#include "config/model/channel_piece.h"

namespace dlasim {

inline constexpr const char* kManifestFormat = "dlasim.nvdla.manifest";

/// By name of the tensor; those whose channels are one after the other are not among them.
std::map<std::string, std::vector<ChannelPiece>> manifest_pieces(const Json& json, const std::string& file);
std::map<std::string, std::vector<ChannelPiece>> manifest_pieces(const std::string& path);

}  // namespace dlasim
