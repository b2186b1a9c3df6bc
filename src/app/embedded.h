// Files that are built in: what `dlasim reference` explains.
#pragma once
#include "files/embedded.h"

namespace dlasim {

/// GLOSSARY.md
const std::vector<EmbeddedFile>& glossary_files();

}  // namespace dlasim
