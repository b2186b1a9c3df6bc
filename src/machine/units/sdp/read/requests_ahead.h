// How far the two sides of MRDMA's FIFOs may work ahead of each other.
//
//   context queue ─► command register ─┬─► FIFO(4) of the side that writes words
//                                      └─► FIFO(4) of the side that reads beats
//
// The register empties when both have space. An entry leaves with the last word, and with the last beat, of its
// request: the queue is not full before six requests more are open than it has entries.
//
// Source  sdp.md 2.8; open_points.md F3.
#pragma once
#include "facts/sdp.h"
#include "units/sdp/read/context_queue.h"

namespace dlasim::sdp {

class RequestsAhead {
public:
    /// `pairs`: two requests are one command of the reading side.
    void start(bool pairs);
    /// What the sides see in this cycle: the content of their FIFOs, and what falls through.
    void look();
    bool writable() const { return to_write_ != 0 || moves_; }
    bool readable() const { return to_read_ != 0 || reads_; }
    /// True if anything changed, or will.
    bool step(ContextQueue& contexts, Cycle at, bool written, bool read);

private:
    unsigned to_write_ = 0, to_read_ = 0;
    bool command_ = false, moves_ = false, reads_ = false;
    bool pairs_ = false, even_ = true;
};

}  // namespace dlasim::sdp
