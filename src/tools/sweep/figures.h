// What the tables say of a point that has run: figures taken from its result.json, and what follows from them. Nothing in it depends
// on the clock on the wall.
#pragma once
#include <string>
#include <vector>

#include "base/files/json_text.h"
#include "base/files/keys.h"

namespace dlasim {

/// Figures of a run, as columns in their order; `result` is the result.json of a layer, a transfer or a network. All of them are null
/// with an empty `result`: the point has none. The columns by client and by unit are there where there is something to say.
nlohmann::ordered_json figures_of(const nlohmann::ordered_json& result);
std::vector<PlacedKey> figure_keys();
/// A number as the tables show it: six digits.
double shown(double value);

}  // namespace dlasim
