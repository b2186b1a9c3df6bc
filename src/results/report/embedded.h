// Files that are built in: what the page of a run has of its own; the table of measured programs.
#pragma once
#include "base/files/embedded.h"

namespace dlasim {

const std::vector<EmbeddedFile>& run_page_files();
const std::vector<EmbeddedFile>& measured_program_files();

}  // namespace dlasim
