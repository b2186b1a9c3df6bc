// The requests of a read engine for a layer, in order.
//
//   a single pixel, operands per kernel   once                                            everything
//   lines                                 for surface, for line (features: for batch)     W atoms
//   16to8                                 for surface, for line, for segment, for half    8 atoms
//   Winograd, operands                    for surface, for 4 lines, for pair, for row     2 pixels
//
// Source  sdp.md 1.5, 1.6.1.
#pragma once
#include <cstdint>

#include "traffic/memory.h"
#include "units/sdp/read/read_layer.h"

namespace dlasim::sdp {

class ReadRequests {
public:
    void start(const ReadLayer& layer);
    bool more() const { return more_; }
    const ReadRequest& front() const { return front_; }
    void pop();

private:
    void make();

    ReadLayer layer_;
    bool more_ = false, single_ = false;
    ReadRequest front_;
    std::uint32_t s_ = 0, h_ = 0, x_ = 0, row_ = 0, half_ = 0, pass_ = 0;
};

}  // namespace dlasim::sdp
