// How many of its random trials a law runs. A build with sanitizers is many times slower and runs a fifth (tests/CMakeLists.txt).
#pragma once

namespace dlasim {

/// A share of `all`, never none.
constexpr unsigned rounds(unsigned all) { return (all + DLASIM_ROUNDS_DIVISOR - 1) / DLASIM_ROUNDS_DIVISOR; }

}  // namespace dlasim
