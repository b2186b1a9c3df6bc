// Files that are built in: what every page has inside.
#pragma once
#include <string_view>
#include <vector>

namespace dlasim {

struct EmbeddedFile {
    const char *name, *text;
};
const std::vector<EmbeddedFile>& page_files();
/// "" if there is none of that name.
const char* embedded(const std::vector<EmbeddedFile>& files, std::string_view name);

}  // namespace dlasim
