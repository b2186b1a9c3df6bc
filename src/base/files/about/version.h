// The version of the program, with the commit that it was built from.
#pragma once
#include <string>

namespace dlasim {

/// "0.4.0 (1a2b3c4d5e)"; without the commit if it was not built in a repository.
std::string version();

}  // namespace dlasim
