#include "base/files/about/version.h"

#include "commit.h"

namespace dlasim {

std::string version() { return std::string(DLASIM_VERSION) + (*DLASIM_COMMIT ? " (" DLASIM_COMMIT ")" : ""); }

}  // namespace dlasim
