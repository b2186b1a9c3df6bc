// The pipeline stages of the silicon, as occupancy only: how many places hold a beat.
//
//        in_valid ──►┌───────┐──► valid()
//   flow.ready ◄─────│ stage │◄── flow.ready         sweep(in_valid, flow): the clock edge
//                    └───────┘
//
// A cycle is evaluated from the sink to the source: valid() of every stage belongs to the old state
// until the stage is swept, and sweeping turns the ready of the next stage into the ready for the
// stage in front. So one walk upstream is one clock cycle. The flow also remembers whether any stage
// changed: if none did, the next cycle will be the same as this one.
//
// Source  sdp.md 2.1; the comments name the elements as they are named there.
#pragma once
#include <bit>
#include <cstdint>

namespace dlasim::elements {

/// A distance: no beat is on its way.
inline constexpr unsigned kNoBeat = UINT32_MAX;

struct Flow {
    bool ready = false;    // of the consumer of the stage that is swept next
    bool changed = false;  // a stage has another state than before
};

/// SKID-PIPE and PIPE-SKID (two places), FIFO-R(n) (n + 1 places): latency 1, registered ready.
template <std::uint8_t kPlaces>
struct Places {
    std::uint8_t held = 0;
    bool valid() const { return held != 0; }
    bool ready() const { return held < kPlaces; }
    void sweep(bool in, Flow& flow)
    {
        const bool room = held < kPlaces, leaves = flow.ready && held != 0, enters = in && room;
        held = static_cast<std::uint8_t>(held + enters - leaves);
        flow.changed |= enters != leaves;
        flow.ready = room;
    }
};
using Skid = Places<2>;

/// SKID-PIPE-B: as SKID-PIPE, but ready falls after every stall, caught beat or not.
struct SkidB {
    bool full = false, shadow = false, go = true;
    bool valid() const { return full; }
    bool ready() const { return go; }
    void sweep(bool in, Flow& flow)
    {
        const bool was_ready = go, moves = flow.ready || !full;
        const bool next = go ? in : shadow, kept = go ? in : shadow, now = moves ? next : full;
        flow.changed |= moves != go || kept != shadow || now != full;
        shadow = kept;
        go = moves;
        full = now;
        flow.ready = was_ready;
    }
};

/// SKID-PIPE, or SKID-PIPE-B where it `stalls`: which of the two is known when the machine is built.
struct EitherSkid {
    bool stalls = false;
    bool full = false, shadow = false, go = true;
    bool valid() const { return full; }
    bool ready() const { return go; }
    unsigned held() const { return unsigned{full} + unsigned{shadow}; }
    /// Nothing inside, and it will accept.
    bool at_rest() const { return !full && !shadow && go; }
    /// A beat inside, and it will accept: with a beat in and one out every cycle it stays so.
    bool flows() const { return full && !shadow && go; }
    void sweep(bool in, Flow& flow)
    {
        if (in && full && go && flow.ready) {  // flows on as it is
            flow.changed = true;
            return;
        }
        const bool was_ready = go, moves = flow.ready || !full;
        const bool next = go ? in : shadow, now = moves ? next : full, kept = !moves && next;
        const bool goes = moves || (!stalls && !kept);
        flow.changed |= goes != go || kept != shadow || now != full || (full && flow.ready);
        full = now;
        shadow = kept;
        go = goes;
        flow.ready = was_ready;
    }
};

/// PIPE: one place, combinational ready.
struct Pipe {
    bool full = false;
    bool valid() const { return full; }
    bool ready(bool out) const { return out || !full; }
    void sweep(bool in, Flow& flow)
    {
        flow.ready = ready(flow.ready);
        const bool now = flow.ready ? in : full;
        flow.changed |= now != full;
        full = now;
    }
};

/// PACK(r): one wide word in, r narrow ones out.
struct Pack {
    std::uint8_t ratio = 1, piece = 0;
    bool full = false;
    bool valid() const { return full; }
    bool at_last_piece() const { return piece + 1 == ratio; }
    void sweep(bool in, Flow& flow)
    {
        const bool last = at_last_piece(), emits = full && flow.ready;
        flow.ready = !full || (flow.ready && last);
        if (emits) {
            piece = last ? 0 : static_cast<std::uint8_t>(piece + 1);
            flow.changed |= ratio != 1;
        }
        const bool now = flow.ready ? in : full;
        flow.changed |= now != full;
        full = now;
    }
};

/// UNPACK(r): r narrow words in, one wide one out.
struct Unpack {
    std::uint8_t ratio = 1, piece = 0;
    bool full = false;
    bool valid() const { return full; }
    /// Narrow words missing for the next wide one.
    unsigned missing() const { return ratio - piece; }
    void sweep(bool in, Flow& flow)
    {
        flow.ready = !full || flow.ready;
        if (!flow.ready) return;
        const bool was_full = full;
        full = false;
        if (in) {
            flow.changed |= ratio != 1;
            if (++piece == ratio) {
                piece = 0;
                full = true;
            }
        }
        flow.changed |= full != was_full;
    }
};

/// FIFO-H(n): falls through, combinational ready.
template <std::uint8_t kDepth>
struct FallThrough {
    std::uint8_t held = 0;
    bool valid(bool in) const { return held != 0 || in; }
    void sweep(bool in, Flow& flow)
    {
        const bool out = flow.ready;
        flow.ready = out || held < kDepth;
        const bool enters = in && flow.ready, leaves = out && (held != 0 || enters);
        held = static_cast<std::uint8_t>(held + enters - leaves);
        flow.changed |= enters != leaves;
    }
};

/// FIFO-R2(1): one word, an output register and a hold register steered by the registered read ready.
struct Rod {
    bool busy = false, word = false, hold = false, full = false, was_full = false, was_read = true;
    bool operator==(const Rod&) const = default;
    bool valid() const { return full; }
    bool ready() const { return !busy; }
    void clock(bool in, bool out)
    {
        const bool push = in && !busy;
        const bool keep = hold && was_full && !was_read;
        const bool any = word || push;
        const bool pop = any && !(hold && keep);
        const bool next = keep ? hold : any;
        const int words = word + push - pop;
        was_full = full;
        if (!full || out) full = next;
        hold = any || (hold && keep);
        busy = words == 1 && !pop;
        word = words != 0;
        was_read = out;
    }
};

/// HLS(n): a rigid pipeline after a one-entry skid; a beat may need an operand in its first stage.
template <unsigned kDepth>
struct Rigid {
    std::uint16_t stage = 0;  // bit k: stage k + 1 is valid
    bool skid = false, operand = false, needs_operand = false;

    bool valid() const { return stage >> (kDepth - 1) & 1; }
    bool ready() const { return !skid; }
    bool empty() const { return !stage && !skid; }
    bool wants_operand() const { return needs_operand && (stage & 1) && !operand; }
    /// Cycles until the foremost beat can be at the output; pre: not empty.
    unsigned distance() const { return kDepth - static_cast<unsigned>(std::bit_width(stage)); }
    static constexpr unsigned kLatency = kDepth;
    void sweep(bool in, Flow& flow, bool operand_valid = false)
    {
        const bool was_ready = !skid, stall = valid() && !flow.ready, first = stage & 1;
        const bool taken = wants_operand() && operand_valid;
        const bool go = !(needs_operand && first) || operand || taken;
        const bool waiting = skid || in, enters = waiting && !stall && go, now_skid = waiting && !enters;
        flow.changed |= taken || now_skid != skid;
        if (first && !stall && go) operand = false;
        else if (taken) operand = true;
        if (!stall) {
            const unsigned moved = (stage & ~1u) << 1 | unsigned{first && go} << 1;
            const auto now = static_cast<std::uint16_t>((moved | (enters || (first && !go))) & ((1u << kDepth) - 1));
            flow.changed |= now != stage;
            stage = now;
        }
        skid = now_skid;
        flow.ready = was_ready;
    }
};

/// RAM-FIFO after `kBefore` register stages that never stall: only the path of its words to the output.
template <unsigned kBefore>
struct RamFifo {
    std::uint8_t arriving = 0;  // bit k: a word that is readable in k + 1 cycles
    bool full = false;          // the output register
    std::uint32_t readable = 0;
    bool valid() const { return full; }
    /// `in`: a word arrives at the first stage in this cycle.
    void clock(bool in, bool pop)
    {
        readable += arriving & 1;
        arriving = static_cast<std::uint8_t>(arriving >> 1 | unsigned{in} << (kBefore + 1));
        if (pop || !full) {
            full = readable != 0;
            if (full) --readable;
        }
    }
    bool idle() const { return arriving == 0; }
    /// Cycles until a word on its way can be at the output, at the earliest; pre: not idle.
    unsigned distance() const { return static_cast<unsigned>(std::countr_zero(arriving)) + 1; }
};

}  // namespace dlasim::elements
