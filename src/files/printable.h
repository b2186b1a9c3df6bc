// Text for a terminal: what comes from outside has its control characters as escapes, numbers have commas.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dlasim {

/// Every control character (ESC, newline, DEL, the C1 block) as \n, \t or \xNN; all else as it is.
/// `lines`: newlines stay.
std::string printable(std::string_view text, bool lines = false);
/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number);

}  // namespace dlasim
