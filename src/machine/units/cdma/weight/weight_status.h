// The status unit of the weight side: notifies CSC of every complete kernel group in the CBUF.
//
//   CBUF writes ─► fetched ─┐
//   WGS FIFO ─► needed ─────┴─► group complete? ─► message to CSC        last group ─► DONE
//
// A message announces all entries fetched since the one before it, those of the next group too. In the cycle after it the
// unit looks for the size of the next group.
//
// Latency  group complete to message 4 cycles, last one to DONE 10; at most one message in two cycles.
// Source   cdma.md 7.5.
#pragma once
#include <cstdint>

#include "traffic/convolution.h"
#include "units/cdma/weight/weight_types.h"

namespace dlasim::cdma {

class WeightStatus {
public:
    /// `layer`: the one under way; `filled`: to CSC.
    WeightStatus(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos, Pulse<WeightUpdate>& filled);

    void start();
    /// A cycle of a running layer. True if anything changed.
    bool step(Cycle at);
    /// End of the cycle: these atoms are in the buffer.
    void written(const WeightWrites& atoms);

    bool completed() const { return completed_; }                  // a group, in this cycle
    const WeightEntries& announced() const { return announced_; }  // entries, in this cycle
    void quiet() { completed_ = false, announced_ = {}; }          // a cycle without a running layer
    Cycle done_at() const { return done_at_; }

private:
    /// What the group under way needs and what there is, of weights or of masks.
    struct Fetched {
        std::uint64_t need = 0;                  // bits, from the start of the layer
        std::uint64_t units = 0, announced = 0;  // units of the ring, from the start of the layer
    };
    bool complete(const Fetched& fetched) const;
    std::uint32_t announce(Fetched& fetched) const;
    void finish_group(Cycle at);
    void size_group();

    const std::uint32_t unit_atoms_, unit_bits_, units_per_entry_;
    const LayerConfig& layer_;
    WeightFifos& fifos_;
    Pulse<WeightUpdate>& filled_;

    std::uint32_t group_ = 0;  // groups that are complete
    bool sized_ = false;       // what the group under way needs is known: req_valid
    Fetched weights_, mask_;
    bool completed_ = false;
    WeightEntries announced_;
    Cycle done_at_ = kNever;
};

}  // namespace dlasim::cdma
