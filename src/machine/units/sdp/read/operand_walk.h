// Where a stream of operands is in its layer.
//
// Source  sdp.md 1.6.3; open_points.md 1: pixels pair up from the start of a line.
#pragma once
#include <cstdint>

#include "units/sdp/read/read_layer.h"

namespace dlasim::sdp {

/// Pixels and surfaces of a layer in the order of the data.
class OperandWalk {
public:
    void start(const ReadLayer& layer);
    bool on() const { return on_; }
    bool surface_ends() const { return pixel_ + 1 == pixels_; }
    bool ends() const { return surface_ends() && surface_ + 1 == surfaces_; }
    void step();

private:
    std::uint64_t pixels_ = 0, pixel_ = 0;
    std::uint32_t surfaces_ = 0, surface_ = 0;
    bool on_ = false;
};

/// The replay of operands per element in a multi-batch layer: pixel by pixel of a pair, for every batch.
///
/// The collector pairs the atoms of a command, the replay the pixels of a line. Of a single pixel one command fetches all
/// surfaces, so the collector pairs surfaces; the replay ends its step after the first of a pair, nobody takes the
/// second, and the pair is never released: the layer hangs, as in the silicon.
class PairReplay {
public:
    static std::uint32_t pixels_of_command(const ReadLayer& layer) { return layer.one_pixel() ? layer.surfaces : layer.width; }

    void start(const ReadLayer& layer);
    bool on() const { return on_; }
    bool stuck() const { return stuck_; }
    /// Pixel of the pair: 0 or 1.
    std::uint32_t second() const { return second_; }
    bool last_pass() const { return batch_ + 1 == batches_; }
    void step();

private:
    bool on_ = false, stuck_ = false;
    std::uint32_t width_ = 1, batches_ = 1;
    std::uint32_t collected_ = 1;                   // pixels in a command
    std::uint32_t x_ = 0, second_ = 0, batch_ = 0;  // pair, pixel of it, pass
};

}  // namespace dlasim::sdp
