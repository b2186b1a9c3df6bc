// What is done with time that repeats itself (platform/repeats/recurrence.h).
#pragma once
#include <cstdint>

namespace dlasim {

enum class Repeats : std::uint8_t {
    Simulated,  // as all other time
    Skipped,    // it is taken in one step: the same result
    Checked     // simulated, and compared with what the step would have led to: what differs ends the run
};

}  // namespace dlasim
