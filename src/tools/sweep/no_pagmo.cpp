// In place of search.cpp in a build without the search of sweeps.
#include "base/files/about/parts.h"
#include "sweep/search.h"

namespace dlasim {

void require_search() { refuse_missing_part("--search", "DLASIM_SEARCH"); }

SearchOutcome search(const SearchProblem&, std::size_t, std::uint32_t)
{
    require_search();
    return {};
}

}  // namespace dlasim
