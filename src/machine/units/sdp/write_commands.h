// The order in which WDMA asks for the lines, pixel pairs or rows of a layer.
//
//   lines      for surface, for line                                       W atoms
//   batch      for surface, for line, for pair, for batch                  1 or 2
//   8to16      for surface, for line, for pair, for half                   1 or 2
//   Winograd   for surface, for 4 lines, for pair, for row                 2
//   1 x 1      once                                                        all
//
// A pair begins where the atom address is even, so the first and the last of a line may be single.
//
// Source  sdp.md 1.7.2, 1.7.3.
#pragma once
#include <algorithm>
#include <cstdint>

#include "traffic/memory.h"
#include "units/sdp/layer.h"

namespace dlasim::sdp {

struct WriteCommand {
    std::uint64_t address = 0;
    std::uint32_t atoms = 0;
    std::uint32_t beats = 0;  // WDMA input beats it takes
    bool last = false;        // of the layer: asks for an answer
};

class WriteCommands {
public:
    void start(const LayerConfig& layer);
    bool more() const { return more_; }
    WriteCommand next();

private:
    bool step(std::uint32_t& counter, std::uint32_t limit)
    {
        if (++counter < limit) return false;
        counter = 0;
        return true;
    }

    bool more_ = false, lines_ = false;
    std::uint32_t atom_ = 1, width_ = 1, beats_per_atom_ = 1, single_atoms_ = 0;
    std::uint32_t surfaces_ = 0, heights_ = 0, rows_ = 1, batches_ = 1, halves_ = 1;
    std::uint64_t line_stride_ = 0, batch_stride_ = 0, surface_step_ = 0, half_stride_ = 0, height_step_ = 0;
    std::uint64_t mask_ = UINT64_MAX;
    bool aligned_ = false;  // pairs begin at even atom addresses
    std::uint32_t s_ = 0, h_ = 0, x_ = 0, row_ = 0, b_ = 0, e_ = 0;
    std::uint64_t surface_ = 0, line_ = 0;
};

}  // namespace dlasim::sdp
