// Layers and networks, from any file: our own JSON, or the file of another simulator.
//
//   FILE.json            as it is
//   FILE.csv             a topology of SCALE-Sim: a network whose layers have inputs of their own (foreign/scale_sim.cpp)
//   FILE.yaml, FILE.yml  a problem of Timeloop: a layer, or a network of its tiles (foreign/timeloop.cpp)
//
// A new format is a reader of this form in a file of its own, and a line in description.cpp.
//
// Error  ConfigError with file, line and column, found and expected.
#pragma once
#include <string>

#include "config/json_object.h"

namespace dlasim {

/// By the ending of the file.
bool is_description(const std::string& path);
Json read_description(const std::string& path);

/// `text` is the file's contents; `file` names it in messages, and the network or layer.
Json scale_sim_network(const std::string& text, const std::string& file);
Json timeloop_layer(const std::string& text, const std::string& file);

}  // namespace dlasim
