// The life cycle of a layer in CDMA: its two halves, what software reads of it.
//
//   IDLE ─► PEND ─► BUSY ─► DONE      each half for itself: data, weights
//     │       ▲ banks changed: CSC raises a request, CDMA acknowledges, the fall of the request starts BUSY
//     └──────────────► BUSY, or DONE at once where what is in the buffer is kept
//
// Source  cdma.md 2, 11.
#pragma once
#include <array>
#include <cstdint>

#include "links/wire.h"
#include "units/cdma/layer.h"

namespace dlasim::cdma {

enum class LayerState : std::uint8_t { Idle, Pending, Busy, Done };

/// The data or the weight half of the life cycle, and its pending handshake with CSC.
struct Half {
    LayerState life = LayerState::Idle;
    Cycle busy_at = kNever, done_at = kNever;

    /// The registered request and its history as of cycle `at`; `gap`: cycles since the last evaluation.
    void sample(const Wire<bool>& request, Cycle at, Cycle gap);
    /// A cycle of the handshake; `pends`: a layer runs and may be pending. True if the acknowledgement changed.
    bool handshake(Wire<bool>& ack, Cycle at, bool pends);

    bool settled() const { return request_now_ == request_before_[0] && request_before_[0] == request_before_[1]; }
    /// Nothing of the handshake changes in cycle `at`, and no counter is cleared.
    bool rests(const Wire<bool>& request, Cycle at) const
    {
        return settled() && !cleared() && request.settled(at) && request.latest() == request_now_;
    }
    /// Both sides of the handshake are 1: counters are cleared.
    bool cleared() const { return request_before_[0] && acknowledged_; }

private:
    bool acknowledged_ = false;             // the ack register
    std::array<bool, 2> request_before_{};  // the request one and two cycles ago
    bool request_now_ = false;
};

/// What software reads of a finished layer, by register group.
struct Results {
    std::uint64_t layers = 0;  // of the group so far
    std::uint32_t nan_data = 0, nan_weight = 0, inf_data = 0, inf_weight = 0;
    std::uint32_t data_stall = 0, weight_stall = 0, data_latency = 0, weight_latency = 0;
};

}  // namespace dlasim::cdma
