// How far a word is from another: for "did you mean".
#pragma once
#include <cstddef>
#include <string_view>

namespace dlasim {

/// Letters to insert, remove or change to get from one word to the other.
std::size_t letters_apart(std::string_view a, std::string_view b);

}  // namespace dlasim
