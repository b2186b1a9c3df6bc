// Accepted input that should be written differently: reported once, and the run continues.
#pragma once
#include <string>

namespace dlasim {

using WarningHandler = void (*)(const std::string& text);
/// To stderr by default. Each text is passed on once per process.
void warn(const std::string& text);
/// Returns the handler before.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace dlasim
