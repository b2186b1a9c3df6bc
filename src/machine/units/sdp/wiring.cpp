// The two pipelines, from one wiring: each is a set of parts.
#include <algorithm>
#include <bit>
#include <utility>

#include "units/sdp/converter.h"
#include "units/sdp/gate.h"
#include "units/sdp/machine.h"
#include "units/sdp/read/features.h"
#include "units/sdp/read/operands.h"
#include "units/sdp/to_pdp.h"
#include "units/sdp/x_engine.h"
#include "units/sdp/y_engine.h"

namespace dlasim::sdp {
namespace {

/// nv_full: pipelines that freeze as a whole, words of two atoms.
struct RigidParts {
    using Stage = elements::Skid;
    using XEngine = RigidXEngine;
    using YEngine = RigidYEngine;
    using Converter = RigidConverter;
    using PdpStage = elements::Pipe;
    using Gate = RigidGate;
    using Features = WordFeatures;
    using Operands = WordOperands;
};

/// The configurable generation: stages that move by themselves, words of an atom.
struct ElasticParts {
    using Stage = elements::SkidB;
    using XEngine = ElasticXEngine;
    using YEngine = ElasticYEngine;
    using Converter = ElasticConverter;
    using PdpStage = elements::SkidB;
    using Gate = ElasticGate;
    using Features = AtomFeatures;
    using Operands = AtomOperands;
};

/// The ready of a stage stays as it is while nothing enters; `out`: what is inside may go on.
bool at_rest(const elements::Skid& stage, bool /*out*/) { return stage.ready(); }
bool at_rest(const elements::SkidB& stage, bool out) { return stage.go && !stage.shadow && (!stage.full || out); }

template <class Parts>
class Wiring final : public Machine {
public:
    Wiring(const facts::sdp::Facts& silicon, Values& values, const SdpPorts& ports)
        : Machine(silicon, values, ports),
          bs_(silicon.pieces[0]),
          bn_(silicon.pieces[1]),
          ew_(silicon.pieces[2]),
          features_(silicon, fronts_[0]),
          operands_{Operands{fronts_[1]}, Operands{fronts_[2]}, Operands{fronts_[3]}},
          gates_{gates(0), gates(1), gates(2)}
    {
        output_.ratio = static_cast<std::uint8_t>(std::max(1u, silicon.result_lanes / silicon.beat_lanes));
        to_pdp_.connect(ports.pdp);
    }

    void start(const LayerConfig& layer) override;
    void start(ReadEngine engine, const ReadLayer& layer) override;
    const Answer& cycle(Cycle at, bool offered, bool layer_end, bool late) override;
    Cycle quiet() const override;
    bool operands_stuck() const override
    {
        return std::any_of(operands_.begin(), operands_.end(), [](const Operands& reader) { return reader.stuck(); });
    }

    std::optional<ReadEngine> missing_operand() const override;
    bool pdp_refuses() const override { return layer_.to_pdp && !to_pdp_.ready(); }

private:
    using Operands = typename Parts::Operands;
    using Gate = typename Parts::Gate;
    struct Gates {
        Gate alu, mul;
    };

    Gates gates(unsigned engine) const
    {
        const Gate gate(engine == 2, silicon_.operand_pieces[engine]);
        return {gate, gate};
    }
    unsigned distance_to_wdma() const;
    void fork(Cycle at, elements::Flow& flow);
    template <class Engine>
    void sweep_engine(Engine& engine, unsigned i, bool in, elements::Flow& flow);
    void sweep_readers(Cycle at, bool memory_ready);
    template <class Reader>
    void settle_reader(unsigned i, Reader& reader, const ReaderAnswer& did, Cycle at);

    typename Parts::Stage input_, mux_;
    typename Parts::XEngine bs_, bn_;
    typename Parts::YEngine ew_;
    typename Parts::Converter converter_;
    elements::Unpack output_;  // of one piece it is a PIPE
    ToPdp<typename Parts::PdpStage> to_pdp_;

    typename Parts::Features features_;
    // of BS, BN, EW
    std::array<Operands, 3> operands_;
    std::array<Gates, 3> gates_;
    std::array<OperandsTaken, 3> operand_out_{};
    std::array<OperandsTaken, 3> streams_{};  // those of the engine's layer
    unsigned streaming_ = 0;                  // engines whose layer has some: a bit each
};

template <class Parts>
void Wiring<Parts>::start(const LayerConfig& layer)
{
    layer_ = layer;
    wdma_.start(layer);
    bs_.start(layer.bs);
    bn_.start(layer.bn);
    ew_.start(layer.ew);
    converter_.start(layer.compares_lanes());
    const EngineLayer* engines[] = {&layer.bs, &layer.bn, &layer.ew};
    streaming_ = 0;
    for (unsigned i = 0; i < 3; ++i) {
        gates_[i].alu.start(engines[i]->alu_stream, engines[i]->alu_convert);
        gates_[i].mul.start(engines[i]->mul_stream, engines[i]->mul_convert);
        streams_[i] = {engines[i]->alu_stream, engines[i]->mul_stream};
        streaming_ |= unsigned{streams_[i].any()} << i;
    }
    mux_open_ = true;
}

template <class Parts>
void Wiring<Parts>::start(ReadEngine engine, const ReadLayer& layer)
{
    const unsigned i = static_cast<unsigned>(engine);
    fronts_[i].start(layer);
    if (engine == ReadEngine::Mrdma) {
        features_.start(layer);
        memory_beats_.push_back(layer.total_atoms() * silicon_.beats_of_atom(layer.input_bytes));
    } else {
        operands_[i - 1].start(layer);
    }
    reading_ |= 1u << i;
}

template <class Parts>
const Machine::Answer& Wiring<Parts>::cycle(Cycle at, bool offered, bool layer_end, bool late)
{
    answer_ = {};
    // Valid of the old state, from the mux on.
    const bool at_bs = mux_.valid();
    const bool at_bn = layer_.bs.on ? bs_.valid() : at_bs;
    const bool at_ew = layer_.bn.on ? bn_.valid() : at_bn;
    const bool at_converter = layer_.ew.on ? ew_.valid() : at_ew;

    // From the sink to the source.
    elements::Flow flow{wdma_.ready()};
    const Wdma::Answer& written = wdma_.sweep(at, output_.valid(), late);
    answer_.last = written.last;
    if (layer_.to_pdp || !to_pdp_.empty()) fork(at, flow);
    else output_.sweep(converter_.valid(), flow);
    converter_.sweep(at_converter, flow);
    if (layer_.ew.on) {
        sweep_engine(ew_, 2, at_ew, flow);
        answer_.looked_up = ew_.looked_up();
        answer_.worked = ew_.passed();
    }
    if (layer_.bn.on) sweep_engine(bn_, 1, at_bn, flow);
    if (layer_.bs.on) sweep_engine(bs_, 0, at_bs, flow);

    // The mux.
    const bool source = layer_.flying ? input_.valid() : features_.valid();
    mux_.sweep(source && mux_open_, flow);
    flow.ready = flow.ready && mux_open_;
    answer_.taken = flow.ready && source;
    elements::Flow memory{!layer_.flying && flow.ready};
    features_.sweep_output(memory);
    flow.ready = flow.ready && layer_.flying;
    input_.sweep(offered, flow);
    answer_.accepted = flow.ready && offered;
    answer_.ready = input_.ready();
    if (answer_.taken) pass_mux();
    if (answer_.accepted) accept(layer_end);
    answer_.changed = flow.changed || memory.changed || written.changed || answer_.taken || answer_.accepted;

    if (reading_ | streaming_) sweep_readers(at, memory.ready);
    return answer_;
}

/// A result goes to PDP and to WDMA at once.
template <class Parts>
void Wiring<Parts>::fork(Cycle at, elements::Flow& flow)
{
    to_pdp_.look(at);
    const bool room = !layer_.to_pdp || to_pdp_.ready();
    const bool completes = output_.missing() == 1;  // what WDMA takes is an atom, whose bytes PDP gets with its last piece
    output_.sweep(converter_.valid() && room, flow);
    if (layer_.to_pdp && converter_.valid() && room && flow.ready) {
        PoolBeat& beat = to_pdp_.push();
        beat.count = completes ? wdma_.beat_bytes() : 0;
        if (completes) values_.next(beat.bytes);
    }
    to_pdp_.sweep(at, flow);
    flow.ready = flow.ready && room;
}

/// Clocks an engine and remembers which operands it took.
template <class Parts>
template <class Engine>
void Wiring<Parts>::sweep_engine(Engine& engine, unsigned i, bool in, elements::Flow& flow)
{
    operand_out_[i] = engine.sweep(in, flow, gates_[i].alu.valid(), gates_[i].mul.valid());
}

/// Clocks gates and readers.
template <class Parts>
void Wiring<Parts>::sweep_readers(Cycle at, bool memory_ready)
{
    const unsigned busy = reading_ >> 1;
    for (unsigned left = busy | streaming_; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        Operands& reader = operands_[i];
        const auto [alu_taken, mul_taken] = std::exchange(operand_out_[i], {});
        elements::Flow alu{alu_taken}, mul{mul_taken};
        // The engine may still be in a layer of other operands than its reader.
        if (reader.uses_alu() || streams_[i].alu) gates_[i].alu.sweep(reader.alu.valid(), reader.alu.last(), alu);
        if (reader.uses_mul() || streams_[i].mul) gates_[i].mul.sweep(reader.mul.valid(), reader.mul.last(), mul);
        answer_.changed |= alu.changed || mul.changed;
        if (busy >> i & 1) settle_reader(i + 1, reader, reader.sweep(at, alu.ready, mul.ready), at);
    }
    if (reading_ & 1) settle_reader(0, features_, features_.sweep(at, memory_ready), at);
}

/// The end of a reader's layer, and its requests.
template <class Parts>
template <class Reader>
void Wiring<Parts>::settle_reader(unsigned i, Reader& reader, const ReaderAnswer& did, Cycle at)
{
    answer_.changed |= did.changed;
    if (did.finished) {
        answer_.readers_finished |= 1u << i;
        reading_ &= ~(1u << i);
    }
    std::uint32_t issued = 0;
    answer_.changed |= fronts_[i].sweep_requests(at, issued);
    if (issued == 0) return;
    reader.issued(issued);
    atoms_read_ += issued;
}

/// Of the engine that is the last one to lack some: those in front of it wait for it.
template <class Parts>
std::optional<ReadEngine> Wiring<Parts>::missing_operand() const
{
    for (unsigned i = 3; i-- > 0;)
        if ((streams_[i].alu && !gates_[i].alu.valid()) || (streams_[i].mul && !gates_[i].mul.valid()))
            return static_cast<ReadEngine>(i + 1);
    return std::nullopt;
}

template <class Parts>
Cycle Wiring<Parts>::quiet() const
{
    const unsigned beats = wdma_.beats_to_packet();
    if (beats == 0 || layer_.to_pdp || !to_pdp_.empty()) return 0;
    if (!at_rest(input_, layer_.flying && mux_open_ && mux_.ready())) return 0;
    Cycle cycles = kNever;
    for (unsigned left = reading_; left != 0; left &= left - 1) {
        if (!fronts_[static_cast<unsigned>(std::countr_zero(left))].idle()) return 0;
        cycles = facts::sdp::kReaderEndToStart;  // a reader may end in the very next cycle
    }
    const unsigned distance = distance_to_wdma();
    if (beats == elements::kNoBeat || distance == elements::kNoBeat) return cycles;
    return std::min(cycles, Cycle{distance} + beats + silicon_.interface_stages - 1);
}

/// Cycles until the output stage is full, at the earliest.
template <class Parts>
unsigned Wiring<Parts>::distance_to_wdma() const
{
    if (output_.valid()) return 0;
    unsigned behind = output_.missing();
    unsigned distance = converter_.distance();
    const auto next = [&](bool on, const auto& engine) {
        if (!on || distance != elements::kNoBeat) return;
        distance = engine.distance();
        if (distance == elements::kNoBeat) behind += engine.latency();
    };
    if (distance == elements::kNoBeat) behind += converter_.latency();
    next(layer_.ew.on, ew_);
    next(layer_.bn.on, bn_);
    next(layer_.bs.on, bs_);
    if (distance == elements::kNoBeat) {
        if (mux_.valid()) distance = 0;
        else if (input_.valid() || !layer_.flying) distance = 1;
        else return elements::kNoBeat;
    }
    return distance + behind;
}

}  // namespace

std::unique_ptr<Machine> Machine::make(const facts::sdp::Facts& silicon, Values& values, const SdpPorts& ports)
{
    if (silicon.rigid) return std::make_unique<Wiring<RigidParts>>(silicon, values, ports);
    return std::make_unique<Wiring<ElasticParts>>(silicon, values, ports);
}

}  // namespace dlasim::sdp
