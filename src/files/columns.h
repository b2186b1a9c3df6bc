// Text for a terminal of 80 columns.
#pragma once
#include <cstdint>
#include <string>

namespace dlasim {

inline constexpr std::size_t kColumns = 80;

/// The text, printable, in at most `most` letters: longer text loses its middle.
std::string cut_to(const std::string& text, std::size_t most);
/// Words in lines of at most kColumns, lines after the first indented; ends with a newline.
std::string folded(const std::string& text, std::size_t indent = 0);
/// "+12.3 %" of a change from `before`, "x 7.29" where it is more than tenfold; empty where nothing changed or nothing was before.
std::string percent_text(std::int64_t before, std::int64_t change);

}  // namespace dlasim
