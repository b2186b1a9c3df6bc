// Gaps of the constraint table are written as the standard writes them: "max(BL/2, tCCD_L)",
// "RL + BL/2 + tRTW - WL". Integers, names, + - * / ( ) max min; the division rounds down.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace dlasim::dram {

/// Value of the expression; `value_of` gives a name's value. Throws ConfigError(where, ...).
std::int64_t evaluate(const std::string& expression, const std::string& where,
                      const std::function<std::int64_t(const std::string&)>& value_of);

}  // namespace dlasim::dram
