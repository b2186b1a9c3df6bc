// The pipeline stages SDP is built of, as occupancy only: which places hold a beat.
//
//        in_valid ──►┌───────┐──► valid()
//   ready(...) ◄─────│ stage │◄── out_ready          clock(in_valid, out_ready): the clock edge
//                    └───────┘
//
// A cycle is evaluated from the sink to the source: valid() of all stages (registers, or registers
// and the valid in front of them) belongs to the old state while ready runs upstream, so one sweep
// that asks a stage for its ready, clocks it and goes on to the stage before it is one clock cycle.
// clock() may be called only with the in_valid and out_ready of that cycle.
//
// Source  sdp.md 2.1; the comments name the elements as they are named there.
#pragma once
#include <cstdint>

namespace dlasim::sdp_stage {

/// SKID-PIPE and PIPE-SKID: two places, registered ready.
struct Skid {
    std::uint8_t held = 0;
    bool operator==(const Skid&) const = default;
    bool valid() const { return held != 0; }
    bool ready() const { return held < 2; }
    void clock(bool in, bool out)
    {
        held = static_cast<std::uint8_t>(held - (out && held != 0) + (in && held < 2));
    }
    /// Clocks and returns the ready of this cycle.
    bool sweep(bool in, bool out)
    {
        const bool was_ready = ready();
        clock(in, out);
        return was_ready;
    }
};

/// SKID-PIPE-B: as SKID-PIPE, but ready falls after every stall, caught beat or not.
struct SkidB {
    bool full = false, shadow = false, go = true;
    bool operator==(const SkidB&) const = default;
    bool valid() const { return full; }
    bool ready() const { return go; }
    void clock(bool in, bool out)
    {
        const bool moves = out || !full, next = go ? in : shadow;
        if (go) shadow = in;
        go = moves;
        if (moves) full = next;
    }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = go;
        clock(in, out);
        return was_ready;
    }
};

/// PIPE: one place, combinational ready.
struct Pipe {
    bool full = false;
    bool operator==(const Pipe&) const = default;
    bool valid() const { return full; }
    bool ready(bool out) const { return out || !full; }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = ready(out);
        if (was_ready) full = in;
        return was_ready;
    }
};

/// PACK(r): one wide word in, r narrow ones out.
struct Pack {
    std::uint8_t ratio = 1, piece = 0;
    bool full = false;
    bool operator==(const Pack&) const = default;
    bool valid() const { return full; }
    bool last() const { return piece + 1 == ratio; }
    bool ready(bool out) const { return !full || (out && last()); }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = ready(out);
        if (full && out) piece = last() ? 0 : static_cast<std::uint8_t>(piece + 1);
        if (was_ready) full = in;
        return was_ready;
    }
};

/// UNPACK(r): r narrow words in, one wide one out.
struct Unpack {
    std::uint8_t ratio = 1, piece = 0;
    bool full = false;
    bool operator==(const Unpack&) const = default;
    bool valid() const { return full; }
    bool ready(bool out) const { return !full || out; }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = ready(out);
        if (was_ready) {
            full = false;
            if (in && ++piece == ratio) {
                piece = 0;
                full = true;
            }
        }
        return was_ready;
    }
};

/// FIFO-H(n): falls through, combinational ready.
template <std::uint8_t kDepth>
struct FallThrough {
    std::uint8_t held = 0;
    bool operator==(const FallThrough&) const = default;
    bool valid(bool in) const { return held != 0 || in; }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = out || held < kDepth;
        held = static_cast<std::uint8_t>(held + (in && was_ready));
        if (out && held) --held;
        return was_ready;
    }
};

/// FIFO-R(n): n words and an output register.
template <std::uint8_t kDepth>
struct FifoR {
    std::uint8_t held = 0;
    bool full = false;
    bool operator==(const FifoR&) const = default;
    bool valid() const { return full; }
    bool ready() const { return held < kDepth; }
    bool sweep(bool in, bool out)
    {
        const bool was_ready = ready();
        bool push = in && was_ready;
        if (out || !full) {
            full = held || push;
            if (held) --held;
            else push = false;
        }
        held = static_cast<std::uint8_t>(held + push);
        return was_ready;
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
        const std::uint8_t words = static_cast<std::uint8_t>(word + push - pop);
        was_full = full;
        if (!full || out) full = next;
        hold = any || (hold && keep);
        busy = words == 1 && !pop;
        word = words != 0;
        was_read = out;
    }
};

/// HLS(n): a rigid pipeline behind a one-place skid; a beat may need an operand in its first stage.
template <unsigned kDepth>
struct Rigid {
    std::uint16_t stage = 0;  // bit k: stage k + 1 is valid
    bool skid = false, operand = false, needs_operand = false;

    bool operator==(const Rigid&) const = default;
    bool valid() const { return stage >> (kDepth - 1) & 1; }
    bool ready() const { return !skid; }
    bool wants_operand() const { return needs_operand && (stage & 1) && !operand; }
    bool sweep(bool in, bool out, bool operand_valid = false)
    {
        const bool was_ready = !skid;
        const bool stall = valid() && !out, first = stage & 1;
        const bool taken = wants_operand() && operand_valid;
        const bool go = !(needs_operand && first) || operand || taken;
        const bool waiting = skid || in, enters = waiting && !stall && go;
        if (first && !stall && go) operand = false;
        else if (taken) operand = true;
        if (!stall) {
            const unsigned moved = (stage & ~1u) << 1 | unsigned{first && go} << 1;
            stage = static_cast<std::uint16_t>((moved | (enters || (first && !go))) & ((1u << kDepth) - 1));
        }
        skid = waiting && !enters;
        return was_ready;
    }
};

/// RAM-FIFO behind `kBefore` register stages that never stall: only the way of its words to the output.
template <unsigned kBefore>
struct RamFifo {
    std::uint8_t arriving = 0;   // bit k: a word that is readable in k + 1 cycles
    bool full = false;           // the output register
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
};

}  // namespace dlasim::sdp_stage
