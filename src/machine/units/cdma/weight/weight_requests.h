// The request side of the weights: what is fetched next.
//
//   (1) WT  ─ burst stream ─┐
//       WMB ─ burst stream ─┴─► (2) weighted round robin ─► stage ─┐
//       WGS ─ one read for 8 groups ──────────────────────────────┴─► (3) fixed priority: WGS ─► stage ─┐
//                                                                                                       ▼
//                                            (4) info FIFO ◄── DMA request ──► stage ──► port of the memory interface
//
// Without streams (configurable generation) the candidate of WT is the DMA request. A request is accepted when info FIFO and
// stage take it; then its burst stream moves on.
//
// Latency  candidate to port: 3 cycles with the arbiters, 1 without; one burst a cycle.
// Source   cdma.md 7.1, 7.2, 7.3.
#pragma once
#include <array>

#include "elements/round_robin.h"
#include "elements/stage.h"
#include "units/cdma/data/burst_stream.h"
#include "units/cdma/weight/weight_types.h"

namespace dlasim::cdma {

class WeightRequests {
public:
    /// `layer`: the one under way.
    WeightRequests(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos);

    /// The registers of a layer are known: its first bursts are made.
    void start();
    /// S_ARBITER: bursts in a row, less one, of weights and masks; from the next grant on.
    void set_arbiter(std::uint32_t arbiter);
    /// A cycle; `busy`: the weight half of the layer runs. True if anything changed.
    bool step(Channel<ReadRequest>& port, Cycle at, bool busy);

    /// A step in cycle `at` would change nothing: the last one did not, and nothing that it depends on is different.
    bool rests(const Channel<ReadRequest>& port, Cycle at) const
    {
        return still_ && !leaves(port, at) && !(stalled_ && stage_.ready());  // a full info FIFO is tried again
    }
    bool still() const { return still_; }
    /// The layer begins or ends.
    void disturb() { still_ = false; }

    // ---- space, at the end of a cycle
    void written(const WeightWrites& atoms);
    void announced(const WeightEntries& entries);
    void released(const WeightEntries& entries);
    /// The pending handshake.
    void forget_available();
    void group_size_used() { --sizes_onfly_; }

    bool accepted() const { return accepted_; }  // a request, in this cycle
    bool stalled() const { return stalled_; }    // there is one, and it was not accepted in this cycle
    /// The request in front of the port meets one that is ready.
    bool leaves(const Channel<ReadRequest>& port, Cycle at) const { return stage_.valid() && port.ready(at); }
    bool waits_for_space() const { return weights_wait_for_space() || mask_.waits_for_space(); }
    /// Requests are still to be made.
    bool more() const { return weights_.more() || mask_.more() || round_robin_out_.valid() || priority_out_.valid() || stage_.valid(); }
    bool weights_wait_for_space() const { return weights_.waits_for_space(); }

private:
    bool arbitrate(bool taken, bool busy);
    bool step_priority(bool taken, bool busy, bool& from_round_robin);
    bool step_round_robin(bool taken, bool busy);
    template <class Kind>
    Atoms atoms_of(Quantity<Kind> entries) const
    {
        return Atoms{entries.count() * atoms_per_entry_};
    }

    const facts::cdma::Facts silicon_;
    const std::uint32_t atoms_per_entry_, bank_atoms_;
    const LayerConfig& layer_;
    WeightFifos& fifos_;

    BurstStream weights_, mask_;                                     // (1)
    std::uint32_t size_reads_ = 0, size_reads_total_ = 0;            // WGS: requested, of the layer
    std::int64_t sizes_onfly_ = 0;                                   // group sizes requested and not used
    enum Requester : unsigned { kMask, kWeights, kRequesters };      // served first after reset: masks
    elements::WeightedRoundRobin arbiter_;                           // (2)
    std::array<std::uint32_t, kRequesters> bursts_in_a_row_{1, 1};   // S_ARBITER
    elements::Stage<WeightRequest> round_robin_out_, priority_out_;  // (2), (3)
    elements::Stage<ReadRequest> stage_;                             // (4)
    bool accepted_ = false, stalled_ = false, still_ = false;
};

}  // namespace dlasim::cdma
