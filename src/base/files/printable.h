// Text for people: what comes from outside has its control characters as escapes, numbers have commas.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dlasim {

/// Every character that is not seen - controls, ends of lines, marks that turn the direction of what follows, tags - as \n, \t, \xNN or
/// \uNNNN, and every byte that is no UTF-8 as \xNN; all else as it is. Whatever is printed or written as a table goes through it.
/// `lines`: newlines stay.
std::string printable(std::string_view text, bool lines = false);
/// A message is read by people, however long a name in it may be: very long ones lose their middle. No character is cut.
std::string shortened(std::string_view text);
/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number);

}  // namespace dlasim
