// In place of timeloop.cpp in a build without problems of Timeloop.
#include "base/files/about/parts.h"
#include "config/description.h"

namespace dlasim {

Json timeloop_layer(const std::string&, const std::string& file) { refuse_missing_part(file, "DLASIM_TIMELOOP"); }

}  // namespace dlasim
