// Reads what SDP does for a layer: bias, activation, and in `post` its engines one by one and the output conversion.
//
//   "bias": true, "activation": "relu"       short for BS: {"alu": {"op": "sum", "per": "kernel"}}, {"relu": true}
//   "post": {"bs", "bn", "ew"}               an engine in full
//
// Error  ConfigError with file, pointer, found and expected.
#pragma once
#include <optional>

#include "config/json_object.h"
#include "config/model/layer.h"

namespace dlasim {

/// Needs the layer's precision. `top` is the descriptor.
void read_post(Layer& layer, const JsonObject& top);
/// `"post": {"pool": ...}`; the shape of the layer is known and good.
void read_post_pool(Layer& layer, const JsonObject& top);
/// Adds to a descriptor what read_post reads back as the same.
void put_post(OrderedJson& top, const Layer& layer);

/// The object that has `bias` or `activation`: the layer, or its `post` as in earlier versions, with one warning.
const JsonObject& holder_of(const char* key, const JsonObject& layer, const std::optional<JsonObject>& post);
/// ReLU, ReLU6 or leaky ReLU after BS and BN. Needs the layer's precision.
void rectify(Layer& layer, Activation activation);

/// The lookup table of EW, `where`: its place in the file.
Lut read_lut(const JsonObject& lut, Precision precision);
OrderedJson lut_json(const Lut& lut, Precision precision);

/// A number for a register or a table: an integer in its range, or what an fp16 or fp32 holds, as its bits.
enum class NumberKind { Int16, Int32, Fp16, Fp32 };
std::int32_t read_number(const JsonObject& object, const char* key, NumberKind kind, const char* meaning, std::int32_t fallback);
/// The same for one value; `where` is what JsonObject::where gives.
std::int32_t checked_number(const Json& value, const std::string& where, NumberKind kind, const char* meaning);
OrderedJson number_json(std::int32_t bits, NumberKind kind);

}  // namespace dlasim
