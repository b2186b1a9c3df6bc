// The weight side: weights, and in nv_full with compression their masks (WMB) and group sizes (WGS).
//
//              (1) requests ──► port of the memory interface ──► (2) responses ──► CBUF writes
//                     │  └──────────► info FIFO ─────────────────────┘  │   │          │
//                     │                                 WGS FIFO ◄──────┘   ▼          │
//   space in the rings└──── on fly, stored, available          │        (3) values ──► CBUF
//                                                              ▼                       │
//                                      message to CSC ◄── (4) status: groups complete ◄┘
//
// Every part sees the others as they were at the start of the cycle; what is written, announced and released in it is
// accounted at its end.
//
// Source  cdma.md 7; facts in facts/cdma.h.
#pragma once
#include <array>
#include <string>

#include "units/cdma/port_counters.h"
#include "units/cdma/weight/weight_requests.h"
#include "units/cdma/weight/weight_responses.h"
#include "units/cdma/weight/weight_status.h"
#include "units/cdma/weight/weight_types.h"
#include "units/cdma/weight/weight_values.h"

namespace dlasim::cdma {

class WeightSide {
public:
    WeightSide(const Hardware& hw, ReadLink& primary, ReadLink* secondary, CdmaCscLink& csc, Cbuf& cbuf, bool values);

    /// A layer starts: its registers are known from now on.
    void start(const LayerConfig& layer);
    /// The register of both groups: its shares act on the next grant.
    void set_arbiter(std::uint32_t arbiter) { requests_.set_arbiter(arbiter); }
    /// The weight half of the layer is BUSY from this cycle on.
    void busy(Cycle at);
    /// The layer is over.
    void stop()
    {
        busy_ = false;
        requests_.disturb();
    }
    /// False if cycle `at` changes nothing: nothing moved in the last one and no input is different.
    bool due(Cycle at) const { return awake_ || link_->response.valid(at) || requests_.leaves(link_->request, at) || horizon() <= at; }
    /// Evaluates a cycle; `clear`: both sides of the pending handshake are 1. True if the next one must be evaluated too.
    bool step(Cycle at, bool clear);
    /// Accounts `cycles` quiet cycles after the last evaluated one.
    void idle(Cycle cycles)
    {
        performance_.repeat(cycles);
        moved_ = false;
    }
    /// DONE from this cycle on; kNever if not yet known.
    Cycle done_at() const { return status_.done_at(); }
    /// The next cycle with something to do if no link wakes the unit.
    Cycle horizon() const { return csc_.weight_released.next(); }

    const PortCounters& performance() const { return performance_; }
    std::uint64_t atoms_read() const { return values_.atoms_read(); }
    std::uint32_t nans() const { return values_.nans(); }
    std::uint32_t infs() const { return values_.infs(); }

    bool moved() const { return moved_; }      // something passed a register in the last evaluated cycle
    bool blocked() const { return blocked_; }  // waits for space or for the memory interface
    std::string waiting_for() const;

    // ---- for the log, as of DataSide
    bool response_waits() const { return !link_->response.ready_next(); }
    bool in_flight() const { return fifos_.info.size() != 0; }
    bool asks_in_vain() const { return requests_.stalled(); }
    bool queue_full() const { return !fifos_.info.ready(); }
    bool asks_more() const { return busy_ && requests_.more(); }
    /// In the cycle evaluated last any of these may have become another.
    bool tells() const { return tells_; }
    bool lacks_space() const { return busy_ && requests_.waits_for_space(); }

    void attach(Probe* write_probe) { responses_.write_probe = write_probe; }

private:
    bool account(Cycle at, const WeightWrites& written);
    bool take_releases(Cycle at);

    const facts::cdma::Facts silicon_;
    NoPort no_port_;
    std::array<ReadLink*, 2> links_;  // secondary, primary
    ReadLink* link_;
    CdmaCscLink& csc_;
    LayerConfig layer_;
    bool busy_ = false, awake_ = true;

    WeightFifos fifos_;
    WeightRequests requests_;    // (1)
    WeightValues values_;        // (3)
    WeightResponses responses_;  // (2)
    WeightStatus status_;        // (4)
    WeightEntries released_;     // by CSC: registered once
    bool release_due_ = false;

    PortCounters performance_;
    bool moved_ = false, blocked_ = false, tells_ = false;
    std::array<bool, 3> shown_{};  // to the log
};

}  // namespace dlasim::cdma
