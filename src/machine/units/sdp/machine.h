// The stages of SDP wired together: one cycle of everything from the write ports back to the input of CACC and to the
// read ports.
//
//              input                gates ◄── BRDMA, NRDMA, ERDMA (operands.h)
//   CACC ────► SKID ─┐                │
//                    ├─ mux ─► SKID ─►│ BS ─► BN ─► EW │─► converter ─┬─► output stage ─► WDMA ─► MCIF, CVIF
//   MRDMA ───────────┘  (1)            x_engine.h  y_engine.h         └─► stage ─► PDP
//   (features.h)
//
//   nv_full        SKIDs are SKID-PIPE; engines and converter are rigid; output stage PIPE
//   configurable   SKIDs are SKID-PIPE-B; every stage of engines and converter is elastic; output stage UNPACK to an atom
//
// (1) opens in the cycle after the start of a layer, closes after its last beat. An engine that is off is a wire. A
// cycle is evaluated from the sinks to the sources (elements/occupancy.h): stages carry occupancy, values.h knows what
// the beats are worth.
//
// Shapes   beat: silicon.beat_lanes elements.
// Latency  CACC to WDMA, engines off: 8 cycles in nv_full; 7 elsewhere, from the last beat of an atom.
// Source   sdp.md 2.2 to 2.9, 3.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "facts/sdp.h"
#include "units/sdp/layer.h"
#include "units/sdp/ports.h"
#include "units/sdp/read/read_front.h"
#include "units/sdp/read/read_layer.h"
#include "units/sdp/value/values.h"
#include "units/sdp/wdma.h"

namespace dlasim::sdp {

class Machine {
public:
    /// What a cycle did.
    struct Answer {
        bool changed = false;           // the next cycle may differ
        bool accepted = false;          // the beat of CACC was taken
        bool ready = false;             // for CACC, in the next cycle
        bool taken = false;             // a beat passed the mux
        bool worked = false;            // a piece of a beat passed into EW
        bool last = false;              // cycle L
        bool looked_up = false;         // a piece entered the look-up register of EW
        unsigned readers_finished = 0;  // bit: ReadEngine
    };

    /// The pipeline that the facts name. They and the values outlive it.
    static std::unique_ptr<Machine> make(const facts::sdp::Facts& silicon, Values& values, const SdpPorts& ports);
    virtual ~Machine() = default;

    /// Load pulse of the core: everything holds from the next cycle on.
    virtual void start(const LayerConfig& layer) = 0;
    /// Load pulse of a read engine.
    virtual void start(ReadEngine engine, const ReadLayer& layer) = 0;

    /// Takes the responses of memory.
    void receive(Cycle at);
    /// One cycle. CACC offers a beat or not; `late`: nothing arrives or leaves in it, and it is evaluated afterwards.
    virtual const Answer& cycle(Cycle at, bool offered, bool layer_end, bool late) = 0;
    /// Cycles after the one evaluated last in which nothing leaves, whatever is in the stages, as long as nothing arrives:
    /// they may be evaluated later.
    virtual Cycle quiet() const = 0;

    /// The reason why beats at the input stall, as of the cycle evaluated last: a read engine whose operands are missing, or PDP.
    virtual std::optional<ReadEngine> missing_operand() const = 0;
    virtual bool pdp_refuses() const = 0;
    /// The layer takes what CACC offers; else features of MRDMA.
    bool flying() const { return layer_.flying; }
    const ReadFront& front(ReadEngine engine) const { return fronts_[static_cast<unsigned>(engine)]; }
    /// Operands of a layer will never come.
    virtual bool operands_stuck() const = 0;
    bool mux_open() const { return mux_open_; }
    const Wdma& wdma() const { return wdma_; }
    /// Atoms asked for by the read engines.
    std::uint64_t atoms_read() const { return atoms_read_; }
    /// In the cycle evaluated last a request of that engine was refused.
    bool read_blocked(unsigned engine) const { return (reading_ >> engine & 1) && fronts_[engine].blocked(); }

protected:
    Machine(const facts::sdp::Facts& silicon, Values& values, const SdpPorts& ports);
    void pass_mux();
    void accept(bool layer_end);

    const facts::sdp::Facts& silicon_;
    Values& values_;
    LayerConfig layer_;
    Wdma wdma_;
    std::array<ReadFront, kReadEngines> fronts_;
    Answer answer_;
    bool mux_open_ = false;
    Ring<std::uint64_t> memory_beats_{4};  // beats of MRDMA's layers still to pass the mux
    unsigned reading_ = 0;                 // engines with a layer, by ReadEngine
    std::uint64_t atoms_read_ = 0;

private:
    std::array<bool, 2> input_last_{};  // layer_end of the beats in the input stage
    unsigned input_head_ = 0, input_tail_ = 0;
};

}  // namespace dlasim::sdp
