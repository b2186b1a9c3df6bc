// Standard output and standard error of the command line. A reader that has gone away or a full disk
// of them never ends the process: what is lost on standard error is lost, what is lost on
// standard output is reported as an error, unless its reader has gone.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/files/printable.h"

namespace dlasim {

/// Gives closed standard descriptors a place, so that no file of ours takes their number. First of all.
void open_standard_streams();

/// To standard error; newlines stay, other control characters become escapes, very long texts lose their middle. Never throws.
void say_error(std::string_view text) noexcept;
template <class... Arguments>
void say_error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
{
    say_error(std::string_view(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// To standard output, buffered; newlines stay, other control characters become escapes. On a terminal it is fitted to its width.
void say(std::string_view text);
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments)
{
    say(std::string_view(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

/// Writes out what is buffered. Throws ConfigError if any of standard output was lost; false where its reader has gone away, `| head`,
/// who wants to hear nothing more.
bool flush_standard_output();

}  // namespace dlasim
