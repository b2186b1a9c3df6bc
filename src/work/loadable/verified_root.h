// The FlatBuffer of a loadable, verified: every offset and length is inside of the file.
#pragma once
#include <string>

#include "loadable_generated.h"

namespace dlasim::loadable {

/// Of a file's bytes, which it points into. ConfigError if they are no whole FlatBuffer of a loadable.
const fbs::Root& verified_root(const std::string& bytes, const std::string& file);

}  // namespace dlasim::loadable
