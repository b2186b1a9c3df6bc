// Files that are built in: what the page of a run has of its own.
#pragma once
#include "base/files/embedded.h"

namespace dlasim {

const std::vector<EmbeddedFile>& run_page_files();

}  // namespace dlasim
