#include "config/warning.h"

#include <cstdio>
#include <set>
#include <utility>

namespace dlasim {
namespace {

void to_stderr(const std::string& text) { std::fprintf(stderr, "dlasim: warning: %s\n", text.c_str()); }

WarningHandler current = to_stderr;

}  // namespace

void warn(const std::string& text)
{
    static std::set<std::string> said;
    if (said.insert(text).second) current(text);
}

WarningHandler set_warning_handler(WarningHandler handler) { return std::exchange(current, handler); }

}  // namespace dlasim
