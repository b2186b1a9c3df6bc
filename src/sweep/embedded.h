// Files that are built in: configs/energy, and the parts of sweep.html.
#pragma once
#include <vector>

namespace dlasim {

struct EmbeddedFile {
    const char *name, *text;
};
const std::vector<EmbeddedFile>& energy_files();
const std::vector<EmbeddedFile>& page_files();

}  // namespace dlasim
