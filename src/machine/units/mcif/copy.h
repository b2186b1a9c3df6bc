// Copies of atoms and beats: the sizes that occur are known, so they need no call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dlasim::fabric {

inline void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes)
{
    switch (bytes) {
        case 64:
            std::memcpy(to, from, 64);
            break;
        case 32:
            std::memcpy(to, from, 32);
            break;
        case 16:
            std::memcpy(to, from, 16);
            break;
        case 8:
            std::memcpy(to, from, 8);
            break;
        default:
            std::memcpy(to, from, bytes);
    }
}

}  // namespace dlasim::fabric
