// What BDMA copies: a block of lines, and the walk over it.
//
//   for every surface, for every line        one read request, one write command
//
// Shapes  a line is 1 to 8192 atoms of 32 bytes; strides are bytes.
// Source  bdma.md 1.1, 1.3.
#pragma once
#include <cstdint>

#include "registers/register_file.h"

namespace dlasim::bdma {

enum Interface : unsigned { kMc, kCv };

/// Where the lines lie in one of the memories.
struct Place {
    Interface interface = kCv;
    std::uint64_t address = 0;
    std::uint32_t line_stride = 0, surface_stride = 0;
};

/// What CFG_OP takes a copy of.
struct Descriptor {
    Place source, destination;
    std::uint32_t last_atom = 0;                    // of a line
    std::uint32_t last_line = 0, last_surface = 0;  // repeats

    static Descriptor decode(const RegisterFile& registers);
    std::uint32_t line_atoms() const { return last_atom + 1; }
};

/// The lines of a descriptor, at its source or at its destination.
class LineWalk {
public:
    LineWalk() = default;
    LineWalk(const Descriptor& descriptor, const Place& place);
    std::uint64_t address() const { return address_; }
    bool last() const { return line_ == last_line_ && surface_ == last_surface_; }
    /// To the next line; false after the last one.
    bool next();
    /// Lines so far.
    std::uint64_t lines() const { return surface_ * (std::uint64_t{last_line_} + 1) + line_; }

private:
    std::uint32_t last_line_ = 0, last_surface_ = 0, line_stride_ = 0, surface_stride_ = 0;
    std::uint64_t surface_address_ = 0, address_ = 0;
    std::uint32_t line_ = 0, surface_ = 0;
};

}  // namespace dlasim::bdma
