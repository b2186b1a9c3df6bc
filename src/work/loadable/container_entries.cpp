#include <fmt/format.h>

#include <algorithm>

#include "loadable/container.h"

namespace dlasim::loadable {

std::string text(const Version& version) { return fmt::format("{}.{}.{}", version.major, version.minor, version.sub_minor); }

std::vector<std::size_t> Loadable::bound(MemoryEntry::Flag flag) const
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < memories.size(); ++i)
        if (memories[i].is(flag) && memories[i].tensor < tensors.size()) found.push_back(i);
    std::sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) { return memories[a].bind < memories[b].bind; });
    return found;
}

bool Loadable::same_content(const Loadable& other) const
{
    return version == other.version && tasks == other.tasks && order == other.order && memories == other.memories &&
           addresses == other.addresses && blobs == other.blobs && tensors == other.tensors;
}

std::string Loadable::where(const char* what, std::size_t index) const { return fmt::format("{}: {} {}", file, what, index); }

}  // namespace dlasim::loadable
