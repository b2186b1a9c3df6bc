// "Did you mean": what a word may have been meant for.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dlasim {

/// Letters to insert, remove, change or exchange with their neighbour to get from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that is a slip of the pen away, in capitals or not; none if there is none.
std::string meant(std::string_view word, const std::vector<std::string>& known);

/// ` (did you mean "width"?)` or the list of what is known.
std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace dlasim
