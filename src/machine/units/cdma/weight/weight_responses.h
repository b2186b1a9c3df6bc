// The response side of the weights: from the port to the CBUF writes.
//
//   full          port ─► stage ─┬─► WT, WMB: (1) holding register of an atom each ─► half entry of 64 bytes to the CBUF
//                                └─► WGS: (2) group sizes into their FIFO, one a cycle; the port takes nothing meanwhile
//   configurable  port ─► stage ─► stage ─► FIFO (8) ─► (3) guard: entries of the ring ─► atom to the CBUF
//
// The head of the info FIFO says which stream a beat belongs to; it leaves with the last atom of its request.
//
// Latency  port to CBUF write: 1 cycle after the stage (full), 5 (configurable).
// Source   cdma.md 3.1, 3.2, 7.1, 7.4.
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/stage.h"
#include "links/probe.h"
#include "units/cdma/weight/weight_types.h"
#include "units/cdma/weight/weight_values.h"

namespace dlasim::cdma {

class WeightResponses {
public:
    /// `layer`: the one under way.
    WeightResponses(const Hardware& hw, const LayerConfig& layer, WeightFifos& fifos, WeightValues& values, Cbuf& cbuf);

    void start();
    /// A cycle; the atoms written are visible at the CBUF's weight port in the next one. True if anything changed.
    bool step(Channel<ReadBeat>& port, Cycle at, WeightWrites& written);
    /// CSC has read these entries to their end.
    void released(Entries entries) { guard_released_ += entries.count(); }

    bool completed() const { return completed_; }  // a request, in this cycle
    bool moved() const { return moved_; }          // a beat left the stages in this cycle

    Probe* write_probe = nullptr;

private:
    bool step_half_entries(Channel<ReadBeat>& port, Cycle at, WeightWrites& written);
    bool step_atoms(Channel<ReadBeat>& port, Cycle at, WeightWrites& written);
    bool push_group_size();
    void unpack(std::uint32_t atoms, Cycle at, WeightWrites& written);
    void answered(std::uint32_t atoms);
    void buffer_write(Cycle at);
    std::uint64_t room() const { return std::uint64_t{layer_.weight_banks} * bank_entries_; }  // (3) entries

    const facts::cdma::Facts silicon_;
    const std::uint32_t atoms_per_entry_, bank_entries_;
    const LayerConfig& layer_;
    WeightFifos& fifos_;
    WeightValues& values_;
    Cbuf& cbuf_;

    std::array<elements::Stage<std::uint8_t>, 2> stages_;  // atoms of a beat; full has the first one only
    std::uint32_t received_ = 0;                           // atoms of the request at the head of the info FIFO
    bool completed_ = false, moved_ = false;

    std::uint32_t held_weights_ = 0, held_mask_ = 0;        // (1) atoms
    std::uint32_t sizes_to_push_ = 0, size_reads_ = 0;      // (2) sizes of the read under way; reads answered
    ResponseFifo fifo_;                                     // (3)
    Ring<ReadBeat> beats_{16};                              // in the stages and the FIFO
    std::uint64_t guard_written_ = 0, guard_released_ = 0;  // atoms, entries; cleared by hardware reset only
};

}  // namespace dlasim::cdma
