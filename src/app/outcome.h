// What `run`, `net` and `loadable` say at their end.
#pragma once
#include <string>

#include "files/output_folder.h"

namespace dlasim {

/// The table of a run, and where its result is.
void say_outcome(const std::string& table, const OutputFolder& folder);

}  // namespace dlasim
