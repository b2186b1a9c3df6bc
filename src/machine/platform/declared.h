// What the units of the machine count: the rows that their counters are declared with, for the reference page.
#pragma once
#include <string_view>
#include <vector>

#include "base/counters.h"

namespace dlasim {

struct DeclaredUnit {
    std::vector<std::string_view> names;  // in result.json: units that are alike have one declaration
    std::string_view what;                // one line
    std::vector<CounterRow> rows;
};

/// All units, in the order of the report.
std::vector<DeclaredUnit> declared_units();

}  // namespace dlasim
