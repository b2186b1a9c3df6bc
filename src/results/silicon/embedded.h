// Files that are built in: configs/technology.
#pragma once
#include <vector>

namespace dlasim::silicon {

struct EmbeddedFile {
    const char *name, *text;
};
const std::vector<EmbeddedFile>& technology_files();

}  // namespace dlasim::silicon
