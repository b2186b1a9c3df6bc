// Numbers by seed and position, without state: the same everywhere, whoever asks first.
#pragma once
#include <cstdint>

namespace dlasim {

/// The i-th number of a stream: splitmix64, without state, the same everywhere.
class Stream {
public:
    Stream(std::uint64_t seed, std::uint64_t number) : base_(mix(seed * 0x9e3779b97f4a7c15u + number)) {}
    std::uint64_t operator()(std::uint64_t i) const { return mix(base_ + i * 0x9e3779b97f4a7c15u); }

private:
    static std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t base_;
};

}  // namespace dlasim
