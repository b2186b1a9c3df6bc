// What SDP writes of a pass, and what its engines read.
#pragma once
#include "lowering/pass.h"

namespace dlasim {

/// `geometry` with the output and the operands; throws ConfigError(where, ...) for what this SDP has not got.
Geometry with_sdp(const Geometry& geometry, const Pass& pass, const Hardware& hardware, const std::string& where);

}  // namespace dlasim
