// Text from outside, fit for a terminal: control characters are written as escapes.
#pragma once
#include <string>
#include <string_view>

namespace dlasim {

/// Every control character (ESC, newline, DEL, the C1 block) as \n, \t or \xNN; all else as it is.
/// `lines`: newlines stay.
std::string printable(std::string_view text, bool lines = false);

}  // namespace dlasim
