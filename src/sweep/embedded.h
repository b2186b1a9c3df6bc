// Files that are built in: configs/energy.
#pragma once
#include <vector>

namespace dlasim {

struct EmbeddedFile {
    const char *name, *text;
};
const std::vector<EmbeddedFile>& energy_files();

}  // namespace dlasim
