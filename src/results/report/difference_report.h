// How far an output is from the tensor that its user expects: for layers and networks.
#pragma once
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "golden/memory/expected.h"

namespace dlasim {

/// Of `expected` in result.json.
nlohmann::ordered_json expected_json(const Difference& difference);
std::vector<PlacedKey> expected_keys();
/// The line of the table; nothing without an expected tensor.
std::string expected_line(const Difference* expected);
/// Of `direct`: a Winograd convolution against the direct one.
nlohmann::ordered_json direct_json(const Difference& difference);
std::vector<PlacedKey> direct_keys();
/// The line of the table; nothing without Winograd.
std::string direct_line(const Difference* direct);
/// found - expected as a NumPy file, fp32.
std::string difference_file(const Difference& difference, const std::vector<std::uint64_t>& shape);

}  // namespace dlasim
