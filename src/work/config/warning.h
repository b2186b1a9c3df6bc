// What a reader takes although it should be written otherwise: said once, and the run goes on.
#pragma once
#include <string>

namespace dlasim {

using WarningHandler = void (*)(const std::string& text);
/// Said to stderr by default. A text is passed on once a process.
void warn(const std::string& text);
/// Returns the handler before.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace dlasim
