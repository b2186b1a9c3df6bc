// PDP's pooling, bit for bit: the steps from elements in memory to one element of the output.
//
//   bytes ─► pool_read ─► pool_along_line ... ─► pool_end_line ─► pool_across_lines ... ─► pool_write ─► bytes
//                         elements of a window   pad of the line   lines of a window       pad, reciprocals
//
// A lane is 32 bits: an integer (sum or extremum), or the pattern of an fp16 (maximum, minimum) or fp17 (average).
// Every cut is a plain wrap, nothing saturates. All functions work on `count` independent lanes.
//
// Source  pdp.md 3.
// Error   0: every vector of tests/golden/numerics_test.cpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "facts/hardware.h"

namespace dlasim::numerics {

enum class PoolMethod : std::uint8_t { Average = 0, Maximum = 1, Minimum = 2 };

struct PoolConfig {
    Precision precision = Precision::Int8;
    PoolMethod method = PoolMethod::Maximum;
    bool nan_to_zero = false;
    unsigned padded_bits = 15;  // of an int8 sum with its padding: facts::pdp
    std::uint32_t kernel_width = 1, kernel_height = 1;
    std::array<std::uint32_t, 8> pad{};               // [n]: register PADDING_VALUE_n, n times the pad value; [0] is 0
    std::uint32_t recip_width = 0, recip_height = 0;  // registers, 17 bits

    std::size_t element_bytes() const { return precision == Precision::Int8 ? 1 : 2; }
};

/// Elements as memory holds them, little endian.
void pool_read(const PoolConfig& c, const std::uint8_t* bytes, std::int32_t* lanes, std::size_t count);
/// The next element of the window on its line.
void pool_along_line(const PoolConfig& c, std::int32_t* window, const std::int32_t* next, std::size_t count);
/// The line of the window is complete with `real` elements; the others are padding.
void pool_end_line(const PoolConfig& c, std::int32_t* window, std::uint32_t real, std::size_t count);
/// The next line of the window.
void pool_across_lines(const PoolConfig& c, std::int32_t* window, const std::int32_t* line, std::size_t count);
/// The window is complete with `real` lines: one element of the output a lane.
void pool_write(const PoolConfig& c, const std::int32_t* window, std::uint32_t real, std::uint8_t* bytes, std::size_t count);

}  // namespace dlasim::numerics
