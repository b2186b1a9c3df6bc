// When a layer is done, and when its interrupt leaves.
//
//   last data handed over ──┬─ PDP_RDMA has ended ─► done ─► group queue ─┐
//                           └─ waits for it ────────►                     ├─► interrupt
//   acknowledge of memory ──► remembered while that wait lasts ───────────┘
//
// An acknowledge that finds the queue empty is lost, and with it the interrupt: so in silicon. Programs whose windows fit
// exactly never see it.
//
// Source  pdp.md 1.9, 1.10, 4.7.
#pragma once
#include <cstdint>
#include <optional>

#include "base/ring.h"

namespace dlasim::pdp {

class Completion {
public:
    struct Inputs {
        bool start = false, flying = false;  // a layer starts; the registers select SDP
        bool last_data = false;              // the last data of the layer entered the write interface
        bool reader_done = false;            // PDP_RDMA
        bool acknowledged = false;
        unsigned group = 0;  // of the layer that runs
    };

    /// The done pulse is in this cycle.
    bool done() const { return done_; }
    /// What is held here decides something in the next cycle by itself.
    bool pending() const { return done_ || done_before_ || (waiting_ && reader_done_); }
    /// A layer waits for its acknowledge.
    bool waits() const { return !groups_.empty(); }

    /// The clock edge; the group whose interrupt pulse is in the next cycle.
    std::optional<unsigned> clock(const Inputs& in);

private:
    bool reader_done_ = false, waiting_ = false, remembered_ = false;
    bool done_ = false, done_before_ = false;
    Ring<unsigned> groups_{4};
};

}  // namespace dlasim::pdp
