// Files that are built in: the parts of sweep.html.
#pragma once
#include <vector>

namespace dlasim {

struct EmbeddedFile {
    const char *name, *text;
};
const std::vector<EmbeddedFile>& page_files();

}  // namespace dlasim
