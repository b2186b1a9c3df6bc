// The stages of SDP wired together, for one generation: one cycle of everything from the write port
// back to the input of CACC.
//
// Source  sdp.md 2.2 to 2.9, 3.
#pragma once
#include <array>
#include <utility>

#include "units/sdp/operand_reader.h"
#include "units/sdp/to_pdp.h"
#include "units/sdp/wdma.h"
#include "units/sdp/y_engine.h"

namespace dlasim::sdp {

/// What depends on the generation only.
template <bool kFull>
struct SdpParts;

template <>
struct SdpParts<true> {
    using XEngine = FullXEngine;
    using YEngine = FullYEngine;
    using Mrdma = FullMrdma;
    using Gate = FullGate;
    using Mux = elements::Skid;

    /// p9 and the converter.
    struct Converter {
        elements::Skid input;
        elements::Rigid<facts::sdp::kRigidConverter> engine;
        void start(bool) {}
        bool valid() const { return engine.valid(); }
        unsigned latency() const { return 1 + engine.kLatency; }
        unsigned distance() const
        {
            if (engine.stage) return engine.distance();
            return engine.skid || input.valid() ? engine.kLatency : elements::kNoBeat;
        }
        void sweep(bool in, elements::Flow& flow)
        {
            engine.sweep(input.valid(), flow);
            input.sweep(in, flow);
        }
    };
    using Output = elements::Pipe;
};

template <>
struct SdpParts<false> {
    using XEngine = ElasticXEngine;
    using YEngine = ElasticYEngine;
    using Mrdma = ElasticMrdma;
    using Gate = ElasticGate;
    using Mux = elements::SkidB;

    struct Converter {
        std::array<elements::Skid, facts::sdp::kElasticConverter> stages{};
        bool compares = false;
        void start(bool compare) { compares = compare; }
        bool valid() const { return stages[facts::sdp::kElasticConverter - 1].valid(); }
        unsigned latency() const { return compares ? facts::sdp::kElasticConverterCompare : facts::sdp::kElasticConverter; }
        unsigned distance() const
        {
            for (unsigned i = 0; i < facts::sdp::kElasticConverter; ++i)
                if (stages[facts::sdp::kElasticConverter - 1 - i].valid()) return i;
            return elements::kNoBeat;
        }
        void sweep(bool in, elements::Flow& flow)
        {
            // In compare mode only the final stage is in the way.
            if (compares) return stages[facts::sdp::kElasticConverter - 1].sweep(in, flow);
            for (unsigned i = facts::sdp::kElasticConverter - 1; i > 0; --i) stages[i].sweep(stages[i - 1].valid(), flow);
            stages[0].sweep(in, flow);
        }
    };
    using Output = elements::Unpack;
};

/// What a cycle of the machine did.
struct SdpCycle {
    bool changed = false;           // the next cycle may differ
    bool accepted = false;          // the beat of CACC was taken
    bool taken = false;             // a beat passed the mux
    bool worked = false;            // a piece of a beat passed into EW
    bool last = false;              // cycle L
    bool looked_up = false;         // a piece entered the look-up register of EW
    unsigned readers_finished = 0;  // bit: ReadEngine
};

template <bool kFull>
class SdpMachine {
public:
    SdpMachine(const Hardware& hw, Values& values)
        : values_(values),
          wdma_(hw, values),
          bs_(hw.sdp, hw.sdp.bs_throughput),
          bn_(hw.sdp, hw.sdp.bn_throughput),
          ew_(hw.sdp),
          fronts_{ReadFront<kFull>{ReadEngine::Mrdma, contexts(hw, ReadEngine::Mrdma), values},
                  ReadFront<kFull>{ReadEngine::Brdma, contexts(hw, ReadEngine::Brdma), values},
                  ReadFront<kFull>{ReadEngine::Nrdma, contexts(hw, ReadEngine::Nrdma), values},
                  ReadFront<kFull>{ReadEngine::Erdma, contexts(hw, ReadEngine::Erdma), values}},
          mrdma_(fronts_[0]),
          readers_{OperandReader<kFull>{fronts_[1]}, OperandReader<kFull>{fronts_[2]}, OperandReader<kFull>{fronts_[3]}},
          gates_{gate_pair(hw, hw.sdp.bs_throughput, false), gate_pair(hw, hw.sdp.bn_throughput, false),
                 gate_pair(hw, hw.sdp.ew_throughput, true)}
    {
        const std::uint32_t throughput = hw.sdp.max_throughput();
        if constexpr (!kFull) output_.ratio = ratio(hw, throughput);
        from_memory_.ratio = kFull ? 1 : ratio(hw, throughput);
        for (auto& front : fronts_) front.set_atom(hw.memory.atom_bytes);
    }

    ReadFront<kFull>& front(unsigned engine) { return fronts_[engine]; }

    /// Load pulse of the core: everything holds from the next cycle on.
    void start(const Layer& layer)
    {
        layer_ = layer;
        wdma_.start(layer);
        bs_.start(layer.bs);
        bn_.start(layer.bn);
        ew_.start(layer.ew);
        converter_.start(layer.compares_lanes());
        const EngineLayer* engines[] = {&layer.bs, &layer.bn, &layer.ew};
        for (unsigned i = 0; i < 3; ++i) {
            gates_[i].first.start(engines[i]->alu_stream, engines[i]->alu_convert);
            gates_[i].second.start(engines[i]->mul_stream, engines[i]->mul_convert);
            streams_[i] = {engines[i]->alu_stream, engines[i]->mul_stream};
        }
        mux_open_ = true;
    }
    /// Load pulse of a read engine.
    void start(ReadEngine engine, const ReadLayer& layer)
    {
        const unsigned i = static_cast<unsigned>(engine);
        fronts_[i].start(layer);
        if (i == 0) {
            mrdma_.start(layer);
            const bool halves = kFull && layer.input == Precision::Int8;
            memory_beats_.push_back(layer.total_atoms() * (kFull ? (halves ? 2 : 1) : from_memory_.ratio));
        } else {
            readers_[i - 1].start(layer);
        }
        reading_ |= 1u << i;
    }

    bool ready() const { return input_.ready(); }
    bool mux_open() const { return mux_open_; }
    Wdma<kFull>& wdma() { return wdma_; }
    const Wdma<kFull>& wdma() const { return wdma_; }
    const ToPdp<kFull>& to_pdp() const { return to_pdp_; }

    const SdpCycle& cycle(Cycle at, bool offered, bool layer_end, typename Wdma<kFull>::PortsReady ports_ready, bool pdp_ready)
    {
        SdpCycle& result = now_;
        result = {};
        // Valid of the old state, from the mux on.
        const bool at_bs = mux_.valid();
        const bool at_bn = layer_.bs.on ? bs_.valid() : at_bs;
        const bool at_ew = layer_.bn.on ? bn_.valid() : at_bn;
        const bool at_converter = layer_.ew.on ? ew_.valid() : at_ew;

        // From the sink to the source.
        elements::Flow flow{wdma_.ready()};
        const auto& written = wdma_.sweep(output_.valid(), ports_ready);
        result.last = written.last;
        if (layer_.to_pdp || !to_pdp_.empty()) fork(pdp_ready, flow);
        else output_.sweep(converter_.valid(), flow);
        converter_.sweep(at_converter, flow);
        if (layer_.ew.on) {
            engine(ew_, 2, at_ew, flow);
            result.looked_up = ew_.looked_up();
            result.worked = ew_.passed();
        }
        if (layer_.bn.on) engine(bn_, 1, at_bn, flow);
        if (layer_.bs.on) engine(bs_, 0, at_bs, flow);

        // The mux.
        const bool source = layer_.flying ? input_.valid() : kFull ? mrdma_.valid() : from_memory_.valid();
        mux_.sweep(source && mux_open_, flow);
        flow.ready = flow.ready && mux_open_;
        result.taken = flow.ready && source;
        bool memory_ready = !layer_.flying && flow.ready;
        if constexpr (!kFull) {
            elements::Flow memory{memory_ready};
            from_memory_.sweep(mrdma_.valid(), memory);
            memory_ready = memory.ready;
            flow.changed |= memory.changed;
        }
        flow.ready = flow.ready && layer_.flying;
        input_.sweep(offered, flow);
        result.accepted = flow.ready && offered;
        if (result.taken) pass_mux();
        if (result.accepted) {
            input_last_[input_tail_] = layer_end;
            input_tail_ ^= 1;
        }
        result.changed = flow.changed || written.changed || result.taken || result.accepted;

        if (reading_ | gates_in_use()) read(at, memory_ready, result);
        return result;
    }

    /// Cycles after the one evaluated last in which nothing leaves, whatever is in the stages, as long
    /// as nothing arrives: they may be evaluated later.
    Cycle quiet() const
    {
        const unsigned beats = wdma_.beats_to_packet();
        if (beats == 0 || !input_at_rest() || layer_.to_pdp || !to_pdp_.empty()) return 0;
        Cycle cycles = kNever;
        for (unsigned i = 0; i < kReadEngines; ++i) {
            if (!(reading_ >> i & 1)) continue;
            if (!fronts_[i].idle()) return 0;
            cycles = facts::sdp::kReaderEndToStart;  // a reader may end in the very next cycle
        }
        const unsigned distance = distance_to_wdma();
        if (beats == elements::kNoBeat || distance == elements::kNoBeat) return cycles;
        return std::min(cycles, Cycle{distance} + beats + Wdma<kFull>::kInterface - 1);
    }

    bool operands_stuck() const
    {
        return std::any_of(readers_.begin(), readers_.end(), [](const auto& reader) { return reader.stuck(); });
    }
    std::uint64_t atoms_read() const { return atoms_read_; }
    std::uint64_t& stall(unsigned engine) { return stalls_[engine]; }
    bool read_blocked(unsigned engine) const { return (reading_ >> engine & 1) && fronts_[engine].blocked(); }

private:
    using Parts = SdpParts<kFull>;
    using GatePair = std::pair<typename Parts::Gate, typename Parts::Gate>;

    static std::uint8_t ratio(const Hardware& hw, std::uint32_t throughput)
    {
        return static_cast<std::uint8_t>(std::max(1u, hw.memory.atom_bytes / throughput));
    }
    static GatePair gate_pair(const Hardware& hw, std::uint32_t throughput, bool ew)
    {
        const typename Parts::Gate gate(ew, ratio(hw, throughput));
        return {gate, gate};
    }
    static std::uint32_t contexts(const Hardware& hw, ReadEngine engine)
    {
        return facts::sdp::of(hw).contexts[static_cast<unsigned>(engine)];
    }
    bool gates_in_use() const { return streams_[0].any() || streams_[1].any() || streams_[2].any(); }

    /// The ready for CACC stays as it is while nothing arrives.
    bool input_at_rest() const
    {
        if constexpr (kFull) return input_.ready();
        else return input_.go && !input_.shadow && (!input_.full || (layer_.flying && mux_open_ && mux_.ready()));
    }
    /// Cycles until the output stage is full, at the earliest.
    unsigned distance_to_wdma() const
    {
        if (output_.valid()) return 0;
        unsigned behind = 1;
        if constexpr (!kFull) behind = output_.missing();
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

    /// A result goes to PDP and to WDMA at once.
    void fork(bool pdp_ready, elements::Flow& flow)
    {
        const bool room = !layer_.to_pdp || to_pdp_.ready(pdp_ready);
        bool completes = true;  // what WDMA takes is an atom, whose bytes PDP gets with its last piece
        if constexpr (!kFull) completes = output_.missing() == 1;
        output_.sweep(converter_.valid() && room, flow);
        const bool enters = layer_.to_pdp && converter_.valid() && room && flow.ready;
        if (enters) {
            PoolBeat& beat = to_pdp_.push();
            beat.count = completes ? wdma_.beat_bytes() : 0;
            if (completes) values_.next(beat.bytes);
        }
        to_pdp_.sweep(enters, pdp_ready, flow);
        flow.ready = flow.ready && room;
    }

    /// A beat passes the mux; behind the last one of the layer it closes.
    void pass_mux()
    {
        bool last;
        if (layer_.flying) {
            last = input_last_[input_head_];
            input_head_ ^= 1;
        } else {
            last = --memory_beats_.front() == 0;
            if (last) memory_beats_.pop_front();
        }
        if (last) mux_open_ = false;
    }

    /// Clocks an engine and remembers which operands it took.
    template <class Engine>
    void engine(Engine& engine, unsigned i, bool in, elements::Flow& flow)
    {
        operand_out_[i] = engine.sweep(in, flow, gates_[i].first.valid(), gates_[i].second.valid());
    }

    /// Clocks gates and readers.
    void read(Cycle at, bool memory_ready, SdpCycle& result)
    {
        for (unsigned i = 0; i < 3; ++i) {
            const bool busy = reading_ >> (i + 1) & 1;
            if (!busy && !streams_[i].any()) continue;
            auto& reader = readers_[i];
            const auto [alu_taken, mul_taken] = std::exchange(operand_out_[i], {});
            elements::Flow alu{alu_taken}, mul{mul_taken};
            // The engine may still be in a layer of other operands than its reader.
            if (reader.uses_alu() || streams_[i].alu) gates_[i].first.sweep(reader.alu.valid(), reader.alu.last(), alu);
            if (reader.uses_mul() || streams_[i].mul) gates_[i].second.sweep(reader.mul.valid(), reader.mul.last(), mul);
            result.changed |= alu.changed || mul.changed;
            if (!busy) continue;
            const ReaderAnswer answer = reader.sweep(at, alu.ready, mul.ready);
            finish_reader(i + 1, answer, result);
            requests(i + 1, reader, at, result);
        }
        if (reading_ & 1) {
            finish_reader(0, mrdma_.sweep(at, memory_ready), result);
            requests(0, mrdma_, at, result);
        }
    }
    template <class Reader>
    void requests(unsigned i, Reader& reader, Cycle at, SdpCycle& result)
    {
        const ReadRequest* issued = nullptr;
        result.changed |= fronts_[i].sweep_requests(at, issued);
        if (!issued) return;
        reader.issued(*issued);
        atoms_read_ += issued->atoms;
    }
    void finish_reader(unsigned i, const ReaderAnswer& answer, SdpCycle& result)
    {
        result.changed |= answer.changed;
        if (answer.finished) {
            result.readers_finished |= 1u << i;
            reading_ &= ~(1u << i);
        }
    }

    Values& values_;
    Layer layer_;
    Wdma<kFull> wdma_;
    typename Parts::XEngine bs_, bn_;
    typename Parts::YEngine ew_;
    typename Parts::Mux input_, mux_;
    typename Parts::Converter converter_;
    typename Parts::Output output_;
    ToPdp<kFull> to_pdp_;
    elements::Pack from_memory_;  // configurable: atoms of MRDMA to beats
    bool mux_open_ = false;
    std::array<bool, 2> input_last_{};  // layer_end of the beats in the input stage
    unsigned input_head_ = 0, input_tail_ = 0;
    Ring<std::uint64_t> memory_beats_{4};  // beats of MRDMA's layers still to pass the mux

    std::array<ReadFront<kFull>, kReadEngines> fronts_;
    typename Parts::Mrdma mrdma_;
    std::array<OperandReader<kFull>, 3> readers_;
    std::array<GatePair, 3> gates_;
    std::array<OperandsTaken, 3> operand_out_{};
    std::array<OperandsTaken, 3> streams_{};  // those of the engine's layer
    std::array<std::uint64_t, kReadEngines> stalls_{};
    SdpCycle now_;
    std::uint64_t atoms_read_ = 0;
    unsigned reading_ = 0;  // engines with a layer, by ReadEngine
};

}  // namespace dlasim::sdp
