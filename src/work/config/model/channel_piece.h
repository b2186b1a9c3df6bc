// Channels of a tensor that are together in memory: a tensor in several pieces has unused places between them.
#pragma once
#include <cstdint>

namespace dlasim {

/// Channels [first, first + count) begin at `at` of the cube.
struct ChannelPiece {
    std::uint32_t first = 0, count = 0, at = 0;
    bool operator==(const ChannelPiece&) const = default;
};

}  // namespace dlasim
