// What a terminal makes of a text that is written for any width: narrower gutters, wrapped lines, colours.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace dlasim {

/// Of the terminal of a descriptor: its columns, 80 if it does not say; 0: it is none.
std::size_t terminal_columns(int descriptor);
/// There is no NO_COLOR in the environment, and the terminal is not a dumb one.
bool colours_wanted();

/// Blank columns that all lines of a paragraph share become narrower until it fits; what is still longer is wrapped, at blanks, below its
/// second column. Lines that fit stay as they are.
std::string fitted(std::string_view text, std::size_t columns);
/// The first word of a verdict in green or red.
std::string coloured(std::string_view text);

}  // namespace dlasim
