// A layer of CDP as its registers say it, and the order in which its data travel.
//
//   for every line, for every block of 8 pixels, for every surface        one read and one write command
//       for every chunk f of an atom, for every pixel of the block        one beat
//
// Shapes  lines, pixels, surfaces and channels count from 0; a surface is an atom of channels.
// Source  cdp.md 1.1, 2.
#pragma once
#include <cstdint>

#include "facts/cdp.h"
#include "facts/hardware.h"
#include "numerics/cdp.h"
#include "registers/register_file.h"

namespace dlasim::cdp {

/// The cube, in and out.
struct Cube {
    std::uint32_t width = 1, height = 1, channels = 1, surfaces = 1;
};

/// Where a cube lies in memory.
struct Place {
    std::uint64_t base = 0;
    std::uint32_t line_stride = 0, surface_stride = 0;
    bool primary = true;
};

/// What CDP_RDMA reads.
struct ReadLayer {
    Cube cube;
    Place source;
    bool counts_stalls = false;

    static ReadLayer decode(const Hardware& hardware, const RegisterFile& registers);
};

/// What CDP does with it.
struct LayerConfig {
    Place destination;
    numerics::CdpConfig values;
    bool counts_stalls = false;

    static LayerConfig decode(const Hardware& hardware, const RegisterFile& registers);
};

/// One surface of a block: what a command is for.
struct Pass {
    std::uint64_t address = 0;
    std::uint32_t surface = 0;
    std::uint8_t pixels = 0;
    bool last_surface = false, last_block = false, last_line = false;  // of the block, the line, the cube
    bool last() const { return last_surface && last_block && last_line; }
};

/// Walks over the passes of a cube.
class PassWalk {
public:
    PassWalk() = default;
    PassWalk(const Cube& cube, const Place& place, std::uint32_t atom_bytes, std::uint64_t address_mask);
    bool more() const { return more_; }
    /// pre: more()
    Pass next();

private:
    Cube cube_;
    Place place_;
    std::uint32_t atom_ = 0;
    std::uint64_t mask_ = 0;
    bool more_ = false;
    std::uint64_t line_ = 0, block_ = 0, surface_address_ = 0;
    std::uint32_t y_ = 0, x_ = 0, surface_ = 0;
};

/// One beat between the stages of the core.
struct Beat {
    std::uint8_t pixel = 0, pixels = 0, chunk = 0;
    bool last_surface = false, last_block = false, last_line = false;
    bool last_pixel() const { return pixel + 1 == pixels; }
};

/// Walks over the beats of a cube.
class BeatWalk {
public:
    void start(const Cube& cube, std::uint32_t chunks);
    /// To the next beat. After the last one there is none.
    void step();
    const Beat& beat() const { return beat_; }

private:
    void open(const Pass& pass);

    PassWalk passes_;
    std::uint32_t chunks_ = 1;
    bool fresh_ = true;
    Beat beat_;
};

}  // namespace dlasim::cdp
