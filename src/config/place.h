// Where something stands: a byte address behind one of the two memory ports.
#pragma once
#include <cstdint>

namespace dlasim {

struct Place {
    bool primary = true;  // behind DBB, else behind CVSRAM
    std::uint64_t address = 0;
    bool operator==(const Place&) const = default;
};

}  // namespace dlasim
