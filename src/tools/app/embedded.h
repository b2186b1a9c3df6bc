// Files that are built in: what `dlasim reference` explains and `dlasim new` prints.
#pragma once
#include "base/files/embedded.h"

namespace dlasim {

/// GLOSSARY.md
const std::vector<EmbeddedFile>& glossary_files();
/// configs/templates: "layer", "network", "sweep", "suite".
const std::vector<EmbeddedFile>& template_files();

}  // namespace dlasim
