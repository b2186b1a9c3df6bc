// Text for a terminal of 80 columns.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace dlasim {

inline constexpr std::size_t kColumns = 80;

/// The text, printable, in at most `most` letters: longer text loses its middle.
std::string cut_to(const std::string& text, std::size_t most);
/// Words in lines of at most kColumns, lines after the first indented; ends with a newline.
std::string folded(const std::string& text, std::size_t indent = 0);
/// Lines of cells, all with the same number of them: columns as wide as their cells, aligned on the right, those in `words` on the left.
/// If the last one is of words it ends at kColumns.
std::string table_text(const std::vector<std::vector<std::string>>& lines, std::initializer_list<std::size_t> words);
/// "+12.3 %" of a change from `before`, "x 7.29" where it is more than tenfold; empty where nothing changed or nothing was before.
std::string percent_text(std::int64_t before, std::int64_t change);

}  // namespace dlasim
