// Which points a sweep has: derived values, and what is excluded.
#pragma once
#include "config/sweep/sweep.h"

namespace dlasim {

/// A list of objects and expressions, as in the file. Throws ConfigError for what no point could mean.
void choose_points(Sweep& sweep, const Json& exclude, const KnownFigure& known);

/// The value of the last axis of the kind; `base` where there is none, or it is not known yet.
const Json& swept(const Sweep& sweep, const std::vector<Json>& values, SweepAxis::Kind kind, const Json& base);
const Json& swept(const Sweep& sweep, const std::vector<Json>& values, SweepAxis::Kind kind, const Json&& base) = delete;
/// Of values of axes as far as they are known.
Hardware swept_hardware(const Sweep& sweep, const std::vector<Json>& values, HardwareRules rules);

}  // namespace dlasim
