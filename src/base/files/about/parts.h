// Parts of dlasim that need a library of their own and that a build may be configured without: cmake/parts.cmake lists them.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace dlasim {

/// Refuses what needs a part that this build does not have. place: the file or option that asks for it; option: the part's CMake option.
[[noreturn]] inline void refuse_missing_part(const std::string& place, std::string_view option)
{
    throw ConfigError(
        place, "needs a part that this build of dlasim does not have, expected one configured with -D" + std::string(option) + "=ON");
}

}  // namespace dlasim
