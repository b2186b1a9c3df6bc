// In place of timeloop.cpp in a build without problems of Timeloop.
#include "config/description.h"
#include "files/about/parts.h"

namespace dlasim {

Json timeloop_layer(const std::string&, const std::string& file) { refuse_missing_part(file, "DLASIM_TIMELOOP"); }

}  // namespace dlasim
