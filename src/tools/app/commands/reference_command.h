// `dlasim reference`: every counter and every key of what is read and written, from their declarations; docs/REFERENCE.md is its output.
#pragma once
#include <string>

namespace dlasim {

/// Prints the page, as JSON with `json`; of counters and keys called `name` only, if it is not empty.
/// Throws ConfigError if there is none.
int reference_command(const std::string& name, bool json);

}  // namespace dlasim
