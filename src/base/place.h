// A byte address at one of the two memory ports.
#pragma once
#include <string>

#include "base/quantity.h"

namespace dlasim {

struct Place {
    bool primary = true;  // at DBB, else CVSRAM
    Address address;
    bool operator==(const Place&) const = default;
    friend constexpr Place operator+(Place place, std::uint64_t bytes) { return {place.primary, place.address + bytes}; }
};

/// Bytes that something uses; `where`: its name in messages.
struct TouchedRange {
    std::string where;
    Place place;
    std::uint64_t bytes = 0;
};

/// How lines, surfaces and batches follow each other in memory: bytes from one to the next.
struct Strides {
    std::uint64_t line = 0, surface = 0, batch = 0;
    bool operator==(const Strides&) const = default;
};

}  // namespace dlasim
