// Reads what every descriptor has that makes a cube of a cube, and lists its keys.
#pragma once
#include "config/json_object.h"
#include "config/model/transfer_cube.h"

namespace dlasim {

/// A descriptor that is no layer's.
struct TransferKeys {
    std::string op, title;
    std::span<const InputKey> top;
    std::vector<PlacedKey> placed;  // these and those below
};

/// Its input, within these channels, its precision and placement.
void read_cube(const JsonObject& top, Within channels, TransferCube& cube);
void read_cube_files(const JsonObject& data, const std::string& folder, TransferCube& cube);
void put_cube(OrderedJson& json, const TransferCube& cube);
void put_cube_files(OrderedJson& data, const TransferCube& cube);
/// The keys of them all, below those of the top.
std::vector<PlacedKey> cube_keys();

}  // namespace dlasim
