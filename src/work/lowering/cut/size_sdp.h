// What SDP writes of a pass, and what its engines read.
#pragma once
#include "lowering/pass.h"

namespace dlasim {

/// `geometry` with the output and the operands; none if this SDP has not got what the pass asks for.
Fit<Geometry> with_sdp(const Geometry& geometry, const Pass& pass, const Hardware& hardware);

}  // namespace dlasim
