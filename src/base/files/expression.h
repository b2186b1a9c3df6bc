// Expressions in files that are read: gaps of a DRAM's constraint table, "max(BL/2, tCCD_L)"; exclusions and derived values of a
// sweep, "cbuf.banks * cbuf.bank_depth <= 8192".
//
//   or          and { || and }
//   and         comparison { && comparison }
//   comparison  sum [ == != < <= > >= sum ]          1 or 0; two texts are equal or not
//   sum         product { + - product }
//   product     term { * / % term }                  the division rounds down
//   term        integer  2.5  name  'text'  ( or )  - term  ! term  max(or, ..)  min(or, ..)
//
// A number with a fraction makes all that it meets such a number: its division does not round.
// Both sides of && and || are evaluated: a name that is not known is always seen.
//
// Error  ConfigError with the column: what cannot be read, what goes beyond 64 bits, a division by nothing, more than 32 levels.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace dlasim {

using ExpressionValue = std::variant<std::int64_t, double, std::string>;

/// Value of an expression of integers: sums alone, no comparison. `value_of` gives a name's value.
std::int64_t arithmetic(const std::string& text, const std::string& where, const std::function<std::int64_t(const std::string&)>& value_of);

/// Value of any expression.
ExpressionValue expression(const std::string& text, const std::string& where,
                           const std::function<ExpressionValue(const std::string&)>& value_of);

}  // namespace dlasim
