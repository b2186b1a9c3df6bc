// Files that are built in: what sweep.html has of its own.
#pragma once
#include "base/files/embedded.h"

namespace dlasim {

const std::vector<EmbeddedFile>& sweep_page_files();

}  // namespace dlasim
