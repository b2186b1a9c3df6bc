#include "config/warning.h"

#include <set>
#include <utility>

#include "base/files/console.h"

namespace dlasim {
namespace {

void to_stderr(const std::string& text) { say_error("dlasim: warning: {}\n", printable(text)); }

WarningHandler current = to_stderr;

}  // namespace

void warn(const std::string& text)
{
    static std::set<std::string> said;
    if (said.insert(text).second) current(text);
}

WarningHandler set_warning_handler(WarningHandler handler) { return std::exchange(current, handler); }

}  // namespace dlasim
