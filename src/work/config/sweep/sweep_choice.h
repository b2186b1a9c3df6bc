// Which points a sweep has: derived values, and what is excluded.
#pragma once
#include "config/sweep/sweep.h"

namespace dlasim {

/// A list of objects and expressions, as in the file. Throws ConfigError for what no point could mean.
void choose_points(Sweep& sweep, const Json& exclude, const KnownFigure& known);

}  // namespace dlasim
