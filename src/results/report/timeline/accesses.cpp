#include "report/timeline/accesses.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace dlasim {

std::string accesses_text(const RunResult& run)
{
    constexpr std::string_view kLetters = "rwIi";  // by Kind
    std::string text;
    for (const RegisterAccess& access : run.accesses)
        fmt::format_to(std::back_inserter(text), "{} {} {:05x} {:08x}\n", kLetters[static_cast<std::size_t>(access.kind)], access.cycle,
                       access.address, access.value);
    return text;
}

}  // namespace dlasim
