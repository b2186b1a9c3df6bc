// Where the tensors and weights of a network stand: every tensor has a place of its own, so that none is overwritten while it is read.
//
//   tensors   from kTensors on, each from a multiple of 256 bytes on; parts of a concatenation within it
//   weights   behind kWeights, step by step: weights, then the operands of SDP per kernel
#pragma once
#include <string>

#include "config/place.h"

namespace dlasim {

/// Memory that is taken from its start on.
class Region {
public:
    static constexpr std::uint64_t kAligned = 256;

    Region(const char* name, std::uint64_t begin, std::uint64_t end) : name_(name), next_(begin), end_(end) {}
    /// Throws ConfigError(where, ...) if there is no room.
    std::uint64_t take(std::uint64_t bytes, const std::string& where);

private:
    const char* name_;
    std::uint64_t next_, end_;
};

/// Tensors from here on, then weights up to kReachable.
inline constexpr std::uint64_t kTensors = 0x80000000, kWeights = 0xa0000000;

}  // namespace dlasim
